//! The members that had not begun an operation when its time was up.

use std::fmt;

/// The number of members listed by rank.
const NAMED: usize = 8;

/// The members that had not begun an operation. The text lists the first eight.
///
/// No member is missing if all have begun the operation. Then their values are still on the way, or a member in between has
/// not gone on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Missing {
    /// The first of them, ascending.
    named: [u16; NAMED],
    members: u16,
}

impl Missing {
    /// Of these ranks, ascending.
    pub(crate) fn of(ranks: impl Iterator<Item = usize>) -> Self {
        let mut missing = Self::default();
        for rank in ranks {
            let place = missing.members();
            if let Some(named) = missing.named.get_mut(place) {
                *named = rank as u16;
            }
            missing.members += 1;
        }
        missing
    }

    /// How many.
    #[must_use]
    pub fn members(&self) -> usize {
        usize::from(self.members)
    }

    /// The ranks of the first eight, ascending.
    pub fn ranks(&self) -> impl Iterator<Item = usize> + '_ {
        self.named.iter().take(self.members()).map(|&rank| usize::from(rank))
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.members == 0 {
            return f.write_str("all members have begun it");
        }
        f.write_str(if self.members == 1 { "member" } else { "members" })?;
        for (i, rank) in self.ranks().enumerate() {
            write!(f, "{} {rank}", if i > 0 { "," } else { "" })?;
        }
        match self.members() - self.ranks().count() {
            0 => {}
            others => write!(f, " and {others} others")?,
        }
        f.write_str(if self.members == 1 { " has not begun it" } else { " have not begun it" })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_first_are_named_and_all_are_counted() {
        let told = |ranks: std::ops::Range<usize>| Missing::of(ranks).to_string();
        assert_eq!(told(0..0), "all members have begun it");
        assert_eq!(told(7..8), "member 7 has not begun it");
        assert_eq!(told(4000..4002), "members 4000, 4001 have not begun it");
        assert_eq!(told(0..10), "members 0, 1, 2, 3, 4, 5, 6, 7 and 2 others have not begun it");
        assert_eq!(Missing::of(3..4096).members(), 4093);
    }
}
