//! How the group of an episode is laid out, as words that a node is started with.

use std::path::PathBuf;
use std::time::Duration;

use corecast::replica::net::{self, Spread};
use corecast::replica::wal::Fsync;
use corecast::replica::{Config, Placement};
use corecast_race::failure::Failure;

/// Keys that all clients share, at any time.
pub(super) const KEYS: u64 = 4;
/// After this time clients turn to other keys: the histories stay short.
pub(super) const GENERATION: Duration = Duration::from_millis(250);
/// The slots of a group.
const SLOTS: usize = 16;
/// The longest time that joining may take.
const JOINING: Duration = Duration::from_secs(10);

/// The layout of a group, and the place of one process in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NodePlan {
    /// The folder of the episode: the name of the group and the histories lie there.
    pub(super) folder: PathBuf,
    /// The number of the process in the episode.
    pub(super) number: u64,
    /// Whether the process makes the group: the first one, and where the group keeps files the first after the death of all.
    pub(super) founds: bool,
    /// The seed of its clients.
    pub(super) seed: u64,
    /// Clients in the process.
    pub(super) clients: u64,
    /// The commands in the log.
    pub(super) window: u64,
    /// Whether the leader accepts itself.
    pub(super) is_fused: bool,
    /// The nodes that a group over messages begins with; 0 for a group in shared memory.
    pub(super) founders: u64,
    /// The bytes of a log after which a node takes a snapshot; 0 for a group without files.
    pub(super) snapshot_every: u64,
    /// The most bytes that a file of the process may have, in memory, too; 0 if there is no limit.
    pub(super) room_bytes: u64,
    /// When the episode began, in nanoseconds of the monotonic clock.
    pub(super) began_ns: u64,
}

impl NodePlan {
    /// The words that [`parse`](Self::parse) reads.
    pub(super) fn words(&self) -> Vec<String> {
        let Self { number, seed, clients, window, founders, snapshot_every, room_bytes, began_ns, .. } = *self;
        let flags = [self.founds, self.is_fused].map(u64::from);
        let numbers = [number, seed, clients, window, founders, snapshot_every, room_bytes, began_ns];
        let folder = self.folder.display().to_string();
        std::iter::once(folder).chain(flags.into_iter().chain(numbers).map(|number| number.to_string())).collect()
    }

    /// Of the words of a command line.
    pub(super) fn parse(words: &[String]) -> Result<Self, Failure> {
        let refused = || Failure::Refused("expected a folder and ten numbers".to_owned());
        let (folder, numbers) = words.split_first().ok_or_else(refused)?;
        let numbers: Result<Vec<u64>, _> = numbers.iter().map(|word| word.parse()).collect();
        let numbers: [u64; 10] = numbers.ok().and_then(|numbers| numbers.try_into().ok()).ok_or_else(refused)?;
        let [founds, is_fused, number, seed, clients, window, founders, snapshot_every, room_bytes, began_ns] = numbers;
        Ok(Self {
            folder: folder.into(),
            number,
            founds: founds == 1,
            seed,
            clients,
            window,
            is_fused: is_fused == 1,
            founders,
            snapshot_every,
            room_bytes,
            began_ns,
        })
    }

    /// Whether the group keeps files.
    pub(super) fn has_files(&self) -> bool {
        self.snapshot_every > 0
    }

    /// The folder of the group's files.
    fn files(&self) -> PathBuf {
        self.folder.join("files")
    }

    /// When results are durable, as the seed has it. No process loses power, so none of them may lose a result.
    fn fsync(&self) -> Fsync {
        match self.seed / 3 % 3 {
            0 => Fsync::Always,
            1 => Fsync::EverySecond,
            _ => Fsync::Never,
        }
    }

    /// The same as a configuration.
    pub(super) fn config(&self) -> Config {
        let placement = if self.is_fused { Placement::Fused } else { Placement::Separate };
        let config = Config::default().slots(SLOTS).window(self.window).bulk_bytes(1 << 20);
        let config = config.placement(placement).joining(JOINING);
        if self.has_files() {
            config.durable(self.files(), self.fsync()).snapshot_every(self.snapshot_every)
        } else {
            config
        }
    }

    /// The same as a configuration over messages. The seed chooses how decisions spread.
    pub(super) fn net_config(&self) -> net::Config {
        // A chain from the first acceptor on, with the first leader at its side.
        let parent = |node: usize| match node {
            0 => Some(1),
            1 => None,
            other => Some(other - 1),
        };
        let spread = match self.seed % 3 {
            0 => Spread::Sequential,
            1 => Spread::Tree((0..SLOTS).map(parent).collect()),
            _ => Spread::Ring,
        };
        let config = net::Config::new(self.founders as usize).slots(SLOTS).window(self.window);
        let config = config.spread(spread).joining(JOINING);
        if self.has_files() {
            config.durable(self.files(), self.fsync()).snapshot_every(self.snapshot_every)
        } else {
            config
        }
    }

    /// The same for a process that may take no more than this for a file. It has no clients, whose histories are files.
    pub(super) fn cramped(&self, room_bytes: u64) -> Self {
        Self { room_bytes, clients: if room_bytes == 0 { self.clients } else { 0 }, ..self.clone() }
    }

    /// The file with the history of a client.
    pub(super) fn history(&self, client: u64) -> PathBuf {
        self.folder.join(format!("{client}.history"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_the_plan_again() {
        let plan = NodePlan {
            folder: PathBuf::from("a folder"),
            number: 3,
            founds: false,
            seed: 1,
            clients: 2,
            window: 256,
            is_fused: true,
            founders: 4,
            snapshot_every: 4096,
            room_bytes: 7,
            began_ns: 9,
        };
        assert_eq!(NodePlan::parse(&plan.words()), Ok(plan));
        assert!(NodePlan::parse(&["a folder".to_owned()]).is_err());
    }
}
