//! The work of the processes of a launch, in a file that all of them read, and the files in which they tell the outcome.

use std::fs;
use std::path::{Path, PathBuf};

use corecast_race::failure::Failure;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

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

    /// MPI processes on each host.
    pub(super) fn processes(self, members: usize) -> usize {
        match self {
            Self::Threads | Self::Nested => 1,
            Self::Ranks | Self::DealtRanks | Self::Plain => members,
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
    /// This many times: operations until one fails, and then some among the survivors.
    Die { deaths: usize },
}

/// The work of a launch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Work {
    pub(super) shape: NodesShape,
    /// Members on each host.
    pub(super) members: usize,
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
}

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
        let mut names: Vec<String> = names.filter(|name| name.starts_with("failed-")).collect();
        names.sort();
        names.iter().filter_map(|name| self.told(name)).collect()
    }
}

/// Writes a value as JSON.
pub(super) fn put(path: &Path, value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_vec(value).map_err(Failure::refused)?;
    let fresh = path.with_extension("new");
    fs::write(&fresh, text).map_err(Failure::while_doing("write an outcome"))?;
    fs::rename(&fresh, path).map_err(Failure::while_doing("write an outcome"))
}
