//! The outcome of a run.

use std::path::PathBuf;

use corecast_race::gate::Gate;
use serde::Serialize;

/// How long a run lasts, and how its processes are started.
#[derive(Clone, Debug)]
pub struct CrashOptions {
    /// The run ends with the first episode that is over after this number of seconds.
    pub seconds: u64,
    /// The run ends with the first episode after this number of kills and stops.
    pub kills: Option<u64>,
    /// Whether the nodes send each other messages. Then one is killed or stopped at a time, and only while all others are there.
    pub is_by_messages: bool,
    /// Whether groups keep files. Then all nodes are killed now and then, and the group is made anew from its files.
    pub has_files: bool,
    /// The seed of all choices.
    pub seed: u64,
    /// The folder that gets a file for each fault.
    pub faults: PathBuf,
    /// The program that [`crash_node`](super::crash_node) is called in.
    pub program: PathBuf,
    /// The arguments it is called with, before the words that `crash_node` takes.
    pub arguments: Vec<String>,
}

/// The outcome of `corecast bench replica --crash`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CrashReport {
    /// The commit this was built from, if it was in a repository.
    pub commit: Option<String>,
    /// The seed of all choices: each episode has its own, derived from it.
    pub seed: u64,
    /// True if the nodes sent each other messages, and shared no memory.
    pub messages: bool,
    /// True if the groups kept files, and were made anew from them.
    pub files: bool,
    /// The length of the run, in seconds.
    pub seconds: f64,
    /// The groups that were made, one after another.
    pub episodes: u64,
    /// The counts of all episodes together.
    #[serde(flatten)]
    pub counts: CrashEpisode,
    /// Pauses, one row for each kind of event.
    pub rows: Vec<CrashRow>,
    /// Everything that must not happen and did.
    pub faults: Vec<CrashFault>,
    /// The demand, and whether it holds here.
    pub gates: Vec<Gate>,
}

/// Counts of one episode, or of several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CrashEpisode {
    /// Processes killed with SIGKILL.
    pub kills: u64,
    /// Processes stopped with SIGSTOP, and continued later.
    pub stops: u64,
    /// Processes that killed themselves at a place in the code.
    pub crash_points: u64,
    /// Processes that joined a group again after a death.
    pub respawns: u64,
    /// Groups that were made anew from their files, after all of their processes had been killed or were gone.
    pub restarts: u64,
    /// Processes that got little memory.
    pub cramped: u64,
    /// Processes that ended by themselves, as the group had put them out.
    pub put_out: u64,
    /// Processes that could not join.
    pub not_joined: u64,
    /// Sessions that ended although their process lived.
    pub expired: u64,
    /// Writes with an answer.
    pub writes: u64,
    /// Reads with an answer.
    pub reads: u64,
    /// Counters that have lost increments which were answered. Of a group that is gone, all that had some.
    pub lost: u64,
    /// Writes that were applied more than once.
    pub twice: u64,
    /// Histories of one key that were checked.
    pub histories: u64,
    /// Histories for which there is no order.
    pub not_linearizable: u64,
    /// Histories that the checker could not decide within its limit.
    pub undecided: u64,
    /// Groups whose replicas differed at the end.
    pub diverged: u64,
    /// Groups in which nothing was answered for ten seconds, although a member was running.
    pub stuck: u64,
    /// Groups whose last member killed itself, at a place in the code, after the process that is spared had been put out as too
    /// slow. All that was answered is gone with them, and counts as lost.
    pub gone: u64,
}

/// The pauses after one kind of event.
#[derive(Clone, Debug, Serialize)]
pub struct CrashRow {
    /// The nodes that were killed or stopped.
    pub event: &'static str,
    /// How often.
    pub events: usize,
    /// From just before the signal until a write was answered that was asked for after it, in milliseconds: the median.
    pub median_ms: Option<f64>,
    /// The 99th percentile of the same.
    pub p99_ms: Option<f64>,
    /// The longest.
    pub max_ms: Option<f64>,
}

/// A thing that must not happen.
#[derive(Clone, Debug, Serialize)]
pub struct CrashFault {
    /// The seed of the episode.
    pub seed: u64,
    /// The words for it.
    pub what: String,
    /// The file with the history, if it could be written.
    pub file: Option<PathBuf>,
}

impl CrashEpisode {
    /// Adds the counts of an episode.
    pub(super) fn add(&mut self, more: &Self) {
        for (sum, count) in self.all_mut().into_iter().zip(more.clone().all_mut()) {
            *sum += *count;
        }
    }

    /// All counts, in one order.
    fn all_mut(&mut self) -> [&mut u64; 19] {
        let Self { kills, stops, crash_points, respawns, restarts, cramped, put_out, not_joined, .. } = self;
        let Self { expired, writes, reads, lost, twice, histories, not_linearizable, undecided, .. } = self;
        let Self { diverged, stuck, gone, .. } = self;
        [
            kills,
            stops,
            crash_points,
            respawns,
            restarts,
            cramped,
            put_out,
            not_joined,
            expired,
            writes,
            reads,
            lost,
            twice,
            histories,
            not_linearizable,
            undecided,
            diverged,
            stuck,
            gone,
        ]
    }
}
