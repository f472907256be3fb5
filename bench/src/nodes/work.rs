//! The work of the processes of a launch, in a file that all of them read, and the files in which they tell the outcome.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use corecast_race::failure::Failure;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::MAX_NODE_MEMBERS;

/// The numbers of members of the hosts: one that all hosts have, or one for each, as in `1+3`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostMembers(Vec<usize>);

impl HostMembers {
    /// This number on each host.
    #[must_use]
    pub fn even(members: usize) -> Self {
        Self(vec![members])
    }

    /// The number on a host, from 0.
    #[must_use]
    pub fn at(&self, host: usize) -> usize {
        self.0[host % self.0.len()]
    }

    /// The greatest number on a host.
    #[must_use]
    pub fn most(&self) -> usize {
        self.0.iter().copied().max().unwrap_or(1)
    }

    /// The least number on a host.
    #[must_use]
    pub fn least(&self) -> usize {
        self.0.iter().copied().min().unwrap_or(1)
    }

    /// The number on this many hosts together.
    #[must_use]
    pub fn total(&self, hosts: usize) -> usize {
        (0..hosts).map(|host| self.at(host)).sum()
    }

    /// True if there is a number for each of this many hosts, or one for all.
    #[must_use]
    pub fn fits(&self, hosts: usize) -> bool {
        self.0.len() == 1 || self.0.len() == hosts
    }

    /// True if all hosts have the same number.
    #[must_use]
    pub fn is_even(&self) -> bool {
        self.0.iter().all(|&members| members == self.0[0])
    }
}

impl FromStr for HostMembers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| part.parse().ok().filter(|count| (1..=MAX_NODE_MEMBERS).contains(count));
        let numbers: Option<Vec<usize>> = text.split('+').map(number).collect();
        let expected =
            || format!("expected numbers of members from 1 to {MAX_NODE_MEMBERS}, such as 4, or 1+3 for two hosts");
        numbers.map(Self).ok_or_else(expected)
    }
}

impl fmt::Display for HostMembers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(usize::to_string).collect::<Vec<_>>().join("+"))
    }
}

/// How members become processes and threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodesShape {
    /// One process on each host, with a thread for each member.
    Threads,
    /// One MPI process on each host, which `corecast run` starts beside the other members.
    Nested,
    /// An MPI process for each member, those of a host one after the other.
    Ranks,
    /// An MPI process for each member, dealt to the hosts in turns.
    DealtRanks,
    /// The library alone, with a process for each member.
    Plain,
}

impl NodesShape {
    /// The shapes in which operations are checked. A single rank on each host is dealt in turns in any case.
    pub(super) fn checked(members: usize) -> &'static [Self] {
        let shapes = &[Self::Threads, Self::Nested, Self::Ranks, Self::DealtRanks];
        if members == 1 { &shapes[..3] } else { shapes }
    }

    /// True if every member is a process of MPI, so that several of a host can lead.
    pub(super) fn can_have_lanes(self) -> bool {
        matches!(self, Self::Ranks | Self::DealtRanks)
    }

    /// MPI processes on the hosts.
    pub(super) fn processes(self, members: &HostMembers) -> HostMembers {
        match self {
            Self::Threads | Self::Nested => HostMembers::even(1),
            Self::Ranks | Self::DealtRanks | Self::Plain => members.clone(),
        }
    }
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodesOp {
    /// All wait for all.
    Barrier,
    /// One gives values to all, another one each time.
    Broadcast,
    /// All get the sums of the values of all.
    Allreduce,
}

impl NodesOp {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Broadcast => "broadcast",
            Self::Allreduce => "allreduce",
        }
    }
}

/// An operation with values of this length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Case {
    pub(super) op: NodesOp,
    pub(super) bytes: usize,
}

/// The task of all processes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Task {
    /// Check and time each case, for about this long.
    Time { cases: Vec<Case>, budget_ms: u64 },
    /// This number of random operations, each checked.
    Check { rounds: u64, seed: u64 },
    /// A wait of all members for rank 0.
    Idle,
    /// Measure messages between the hosts, this number in each direction of a pair, and time operations for about as long.
    Model { exchanges: u32, budget_ms: u64 },
    /// This many times: operations until one fails, and then some among the survivors. The leader of a host may have a place to
    /// die at.
    Die { deaths: usize, at: Option<DeathAt> },
}

/// A place in an operation between nodes at which a leader dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeathPlace {
    /// The values of the host's members are combined, and no message has left.
    Combined,
    /// Its first messages are on their way.
    Started,
    /// All messages have come, and the host's members have not been released.
    Finished,
}

impl DeathPlace {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Combined => "combined",
            Self::Started => "started",
            Self::Finished => "finished",
        }
    }
}

/// The death of a host's leader at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DeathAt {
    /// The host, from 0.
    pub(super) host: usize,
    pub(super) place: DeathPlace,
    /// The pass of the place at which it dies.
    pub(super) pass: u64,
}

impl DeathAt {
    /// As `CORECAST_CRASH_AT` takes it. Only leaders pass these places.
    pub(super) fn variable(self) -> String {
        format!("far-{}:{}", self.place.name(), self.pass)
    }
}

/// The work of a launch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Work {
    pub(super) shape: NodesShape,
    /// Members on the hosts.
    pub(super) members: HostMembers,
    /// The members of each host that share long slices: more than one only among ranks.
    pub(super) lanes: usize,
    pub(super) task: Task,
    /// The folder of outcomes.
    pub(super) folder: PathBuf,
}

/// The outcome at a member that has seen another one's death.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Told {
    /// The monotonic clock when its operation failed, in nanoseconds.
    pub(super) at_ns: u64,
    /// The rank that the error names, over all nodes.
    pub(super) named: Option<usize>,
    /// The node that the error names.
    pub(super) node: Option<usize>,
    /// The error's words.
    pub(super) words: String,
}

/// The outcome at a member of the group of survivors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct After {
    /// The monotonic clock after its first operation, in nanoseconds.
    pub(super) at_ns: u64,
    /// Members of the new group.
    pub(super) members: usize,
    /// True if this one leads its node there.
    pub(super) leads: bool,
}

/// The begin of the names of files in which processes tell that they have failed.
const FAILED: &str = "failed-";

impl Work {
    pub(super) fn path(&self) -> PathBuf {
        self.folder.join("work.json")
    }

    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let text = fs::read(path).map_err(Failure::while_doing("read the work of a launch"))?;
        serde_json::from_slice(&text).map_err(Failure::refused)
    }

    /// Writes an outcome, so that it is there as a whole or not at all.
    pub(super) fn tell(&self, name: &str, outcome: &impl Serialize) -> Result<(), Failure> {
        put(&self.folder.join(name), outcome)
    }

    /// The outcome of this name, if it is there.
    pub(super) fn told<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_slice(&fs::read(self.folder.join(name)).ok()?).ok()
    }

    /// The words of processes that have failed.
    pub(super) fn failures(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| name.starts_with(FAILED)).collect();
        names.sort();
        names.iter().filter_map(|name| self.told(name)).collect()
    }
}

/// The name of the file in which a process of a host tells that it has failed.
pub(super) fn failed_name(host: &str, process: u32) -> String {
    format!("{FAILED}{host}-{process}")
}

/// Writes a value as JSON.
pub(super) fn put(path: &Path, value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_vec(value).map_err(Failure::refused)?;
    let fresh = path.with_extension("new");
    fs::write(&fresh, text).map_err(Failure::while_doing("write an outcome"))?;
    fs::rename(&fresh, path).map_err(Failure::while_doing("write an outcome"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_members_are_for_all_hosts_or_for_each() {
        let even: HostMembers = "4".parse().expect("a number");
        assert_eq!(
            (even.at(0), even.at(7), even.most(), even.fits(8), even.to_string()),
            (4, 4, 4, true, "4".to_owned())
        );
        let uneven: HostMembers = "1+3".parse().expect("two numbers");
        assert_eq!((uneven.at(0), uneven.at(1), uneven.most(), uneven.to_string()), (1, 3, 3, "1+3".to_owned()));
        assert!(uneven.fits(2) && !uneven.fits(3) && !uneven.is_even());
        assert_eq!([even.total(3), uneven.total(2)], [12, 4]);
        let alike: HostMembers = "2+2".parse().expect("two numbers");
        assert!(alike.is_even() && alike.fits(2) && !alike.fits(3));
        for wrong in ["", "0", "1+", "+1", "1+0", "1000", "two"] {
            assert!(wrong.parse::<HostMembers>().is_err(), "{wrong}");
        }
    }
}
