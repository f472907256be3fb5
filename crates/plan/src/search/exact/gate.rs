//! Decides which states the pruned tables hold: those that may be a part of a better tree.
//!
//! A part in which v informs X earns at least the prices of the members of X and of the sets that it must enter: those
//! that X meets and that v is not in. The rest of the tree informs all others, and enters every set that it meets, too,
//! but for those of the root.

use super::super::bound::{PartPrices, Potential};
use super::sets::spread;
use super::tables::{IN_TIME, ROUNDING, TICKS};

/// Sets with members as bits, with prices.
type Priced = Vec<(usize, i32)>;

/// Facts about the states; members are numbered as in the tables, the root last.
pub(super) struct Gate {
    names: Vec<usize>,
    potential: Potential,
    /// The earnings of a part, if v is in none of the sets that it meets: by the set of members that it informs.
    parts: Vec<i32>,
    /// The earnings of the rest of a tree that informs a set of members.
    rests: Vec<i32>,
    /// The sets that each member is in, smallest first, with what they and all larger ones earn.
    chains: Vec<Priced>,
}

impl Gate {
    /// `names` are the members' numbers in the problem.
    pub(super) fn new(names: &[usize], prices: &PartPrices, potential: Potential) -> Self {
        let root = names.len() - 1;
        let bits = |set: u64| (0..=root).filter(|&v| set >> names[v] & 1 == 1).fold(0, |bits, v| bits | 1 << v);
        let sets: Priced = prices.sets.iter().map(|&(set, price)| (bits(set), price as i32)).collect();
        let members: Vec<i32> = names[..root].iter().map(|&name| prices.members[name] as i32).collect();
        let duties: Priced = sets.iter().copied().filter(|(set, _)| set >> root & 1 == 0).collect();
        Self {
            names: names.to_vec(),
            potential,
            parts: earned(&members, &sets),
            rests: earned(&members, &duties),
            chains: (0..=root).map(|v| chain(v, &sets)).collect(),
        }
    }

    /// The time in ticks below which v must have informed the set, to be of use; `None` if it is of none.
    pub(super) fn limit(&self, v: usize, set: usize) -> Option<u32> {
        let all = spread(v, set);
        let without = self.chains[v].iter().find(|(of_v, _)| of_v & all != 0).map_or(0, |(_, prices)| *prices);
        let (part, rest) = (self.parts[all] - without, self.rests[self.rests.len() - 1 - all]);
        let left = self.potential.left(self.names[v], f64::from(part), f64::from(rest))?;
        Some(((left * TICKS) as u32 + ROUNDING).min(IN_TIME))
    }
}

/// The least earnings from informing each set of members from outside of all sets.
fn earned(members: &[i32], sets: &Priced) -> Vec<i32> {
    let chains: Vec<Priced> = (0..members.len()).map(|v| holding(v, sets).collect()).collect();
    let mut earned = vec![0; 1 << members.len()];
    for all in 1..earned.len() {
        let (v, others) = (all.trailing_zeros() as usize, all & (all - 1));
        let entered = chains[v].iter().take_while(|(set, _)| set & others == 0).map(|(_, price)| price);
        earned[all] = earned[others] + members[v] + entered.sum::<i32>();
    }
    earned
}

fn holding(v: usize, sets: &Priced) -> impl Iterator<Item = (usize, i32)> {
    sets.iter().copied().filter(move |(set, _)| set >> v & 1 == 1)
}

fn chain(v: usize, sets: &Priced) -> Priced {
    let mut chain: Priced = holding(v, sets).collect();
    let mut sum = 0;
    for (_, price) in chain.iter_mut().rev() {
        sum += *price;
        *price = sum;
    }
    chain
}
