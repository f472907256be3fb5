//! The effort of a search for a plan.

use std::fmt;
use std::str::FromStr;

/// The amount of work for a plan. It is counted in steps and not in time, so that the same request gives the
/// same plan everywhere; the times are those of two current cores for one tree. Operations of both phases search for
/// several and take two to four times as long.
///
/// ```
/// use corecast_plan::Effort;
/// assert_eq!("patient".parse(), Ok(Effort::Patient));
/// assert_eq!(Effort::default(), Effort::Normal);
/// assert!("hard".parse::<Effort>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effort {
    /// The best of a few greedy trees: under 2 ms for 64 members.
    Quick,
    /// The optimum to 12 members; else a search of 10 ms to 20 members, 50 ms to 64 and 200 ms beyond.
    #[default]
    Normal,
    /// The optimum to 16 members, else a search of 5 s.
    Patient,
    /// The optimum with its proof to 22 members, in seconds to a minute; beyond, as `Patient`, and the plan says so.
    Exact,
}

/// A text that does not name an [`Effort`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{name}' is not an effort; expected quick, normal, patient or exact")]
pub struct UnknownEffort {
    /// The text.
    pub name: String,
}

impl Effort {
    /// Every effort, least first.
    pub const ALL: [Self; 4] = [Self::Quick, Self::Normal, Self::Patient, Self::Exact];

    /// Up to this many members the optimum of one tree is within its time.
    #[must_use]
    pub fn exact_reach(self) -> usize {
        match self {
            Self::Quick => 2,
            Self::Normal => 12,
            Self::Patient => 16,
            Self::Exact => 22,
        }
    }

    /// The quality of its plans and the time it takes, in a line.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Quick => "the best of a few greedy trees: under 2 ms for 64 members",
            Self::Normal => "the cheapest tree to 12 members, else a search of 10 to 200 ms",
            Self::Patient => "the cheapest tree to 16 members, else a search of 5 s",
            Self::Exact => "the cheapest tree with its proof to 22 members, in up to a minute; beyond, as patient",
        }
    }

    /// The name that users type.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Normal => "normal",
            Self::Patient => "patient",
            Self::Exact => "exact",
        }
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Effort {
    type Err = UnknownEffort;

    fn from_str(name: &str) -> Result<Self, UnknownEffort> {
        let known = Self::ALL.into_iter().find(|effort| effort.name() == name);
        known.ok_or_else(|| UnknownEffort { name: name.to_owned() })
    }
}
