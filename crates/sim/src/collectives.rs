//! Broadcasts and reductions of corecast on a simulated machine.

use std::str::FromStr;

use corecast_base::LINE_BYTES;
use corecast_collective::Member;
use corecast_plan::Tree;
use corecast_sim_core::Machine;
use serde::{Deserialize, Serialize};

use crate::error::SimError;
use crate::members::{Called, EpisodeEnd, Episodes, OperationTimes, group, play};
use crate::rounds::alone;

/// An operation of all members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// The root's value goes to all: an episode lasts from the root's entry, which is the last one, to the last exit.
    Broadcast,
    /// The root gets the sum of all values: an episode lasts from the last entry to the root's exit.
    Reduce,
    /// All get the sum of all values: an episode lasts from the last entry to the last exit.
    Allreduce,
}

/// A text that names no operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown operation '{name}': expected broadcast, reduce or allreduce")]
pub struct UnknownCollective {
    /// The text.
    pub name: String,
}

impl FromStr for Operation {
    type Err = UnknownCollective;

    fn from_str(name: &str) -> Result<Self, UnknownCollective> {
        let found = Self::ALL.into_iter().find(|operation| operation.name() == name);
        found.ok_or_else(|| UnknownCollective { name: name.to_owned() })
    }
}

impl Operation {
    /// All operations.
    pub const ALL: [Self; 3] = [Self::Broadcast, Self::Reduce, Self::Allreduce];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::Allreduce => "allreduce",
        }
    }
}

/// An operation to simulate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collective {
    /// The operation.
    pub operation: Operation,
    /// The member that has or gets the value; by default the root of the tree.
    pub root: Option<usize>,
    /// The length of each member's values, of 8 bytes each. Long ones are slices, whose lines are read one after the other: the
    /// simulated machine fetches none ahead, as machines do.
    pub words: usize,
}

/// The outcome of an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectiveOutcome {
    /// The planner of the tree that the operation goes along: the shape's name, or that of the block that found it.
    pub planner: String,
    /// The root of the operation.
    pub root: usize,
    /// The tree that the group has for it: in an allreduce, that of its broadcast.
    pub tree: Tree,
    /// Its times.
    pub times: OperationTimes,
}

/// Lets the members of a group call an operation, and checks each result.
///
/// # Errors
/// As [`barriers`](crate::barriers); [`SimError::Group`] also if there are no words, or no such shape or root.
pub fn collectives(
    machine: &Machine,
    collective: Collective,
    episodes: &Episodes,
) -> Result<CollectiveOutcome, SimError> {
    let _alone = alone();
    let group = group(machine, episodes, None)?;
    let plan = match collective.operation {
        Operation::Reduce => &group.choice().reduce,
        Operation::Broadcast | Operation::Allreduce => &group.choice().broadcast,
    };
    let root = collective.root.unwrap_or(plan.tree.root());
    let words = collective.words;
    if root >= group.size() || words == 0 {
        return Err(SimError::group(format!("root {root} and {words} words for {} members", group.size())));
    }
    let (last, end) = match collective.operation {
        Operation::Broadcast => (Some(root), EpisodeEnd::All),
        Operation::Reduce => (None, EpisodeEnd::Member(root)),
        Operation::Allreduce => (None, EpisodeEnd::All),
    };
    let mut values = Values::new(words);
    let operation = move |me: &mut Member, number: usize| match collective.operation {
        Operation::Broadcast => values.broadcast(me, root, number as u64 + 1),
        Operation::Reduce => values.reduce(me, root, number),
        Operation::Allreduce => values.allreduce(me, number),
    };
    let (times, _) = play(machine, &group, episodes, Called { operation, last, end, traced_us: 0 })?;
    Ok(CollectiveOutcome { planner: plan.planner.clone(), root, tree: plan.tree.clone(), times })
}

const NONE_LEAVES: &str = "no member leaves";

/// The values of a member.
struct Values {
    /// Longer than the values by a line, so that they begin with one.
    words: Vec<u64>,
    len: usize,
}

impl Values {
    fn new(len: usize) -> Self {
        Self { words: vec![0; len + LINE_BYTES / size_of::<u64>()], len }
    }

    /// All values, which are set to this one.
    fn set(&mut self, value: u64) -> &mut [u64] {
        let begin = self.words.as_ptr().align_offset(LINE_BYTES);
        let values = &mut self.words[begin..][..self.len];
        values.fill(value);
        values
    }

    fn broadcast(&mut self, me: &mut Member, root: usize, sent: u64) {
        let values = self.set(if me.rank() == root { sent } else { 0 });
        match &mut *values {
            [value] => me.broadcast(root, value),
            values => me.broadcast_slice(root, values),
        }
        .expect(NONE_LEAVES);
        assert!(values.iter().all(|&value| value == sent), "a broadcast brings the root's values");
    }

    fn reduce(&mut self, me: &mut Member, root: usize, number: usize) {
        let own = (me.rank() + number) as u64;
        let values = self.set(own);
        match &mut *values {
            [value] => *value = me.reduce(root, own, |a, b| a + b).expect(NONE_LEAVES).unwrap_or(own),
            values => me.reduce_slice(root, values, |a, b| a + b).expect(NONE_LEAVES),
        }
        let is_right = values.iter().all(|&value| value == sum(me.size(), number));
        assert!(me.rank() != root || is_right, "a reduction adds all values up");
    }

    fn allreduce(&mut self, me: &mut Member, number: usize) {
        let own = (me.rank() + number) as u64;
        let values = self.set(own);
        match &mut *values {
            [value] => *value = me.allreduce(own, |a, b| a + b).expect(NONE_LEAVES),
            values => me.allreduce_slice(values, |a, b| a + b).expect(NONE_LEAVES),
        }
        assert!(values.iter().all(|&value| value == sum(me.size(), number)), "an allreduce adds all values up");
    }
}

impl Clone for Values {
    fn clone(&self) -> Self {
        Self::new(self.len)
    }
}

/// The sum of the values of all members.
fn sum(members: usize, number: usize) -> u64 {
    (0..members).map(|rank| (rank + number) as u64).sum()
}
