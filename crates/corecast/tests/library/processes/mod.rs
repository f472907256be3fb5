//! Processes that share channels, and are killed, stopped or forked meanwhile: what the others get, and what is left.
//!
//! A test that needs another process starts this very program with a role (`roles.rs`). Each test has a directory of its
//! own, and looks in the end whether anything is left there.

mod crowd;
mod forked;
mod killed;
mod roles;
mod stopped;

use std::path::Path;
use std::time::{Duration, Instant};

use corecast::base::region::{RegionPlan, SharedRegion};
use corecast::base::rendezvous::{self, HostedRegion, SocketDir};
use corecast::channel::mcast::{self, Delivery};
use corecast::channel::ump;

/// Long enough for anything that happens at all.
const PATIENCE: Duration = Duration::from_secs(20);
/// The name that all meet at.
const NAME: &str = "stage";
/// The longest message of the tests, in bytes.
const LONGEST: usize = 300;

/// A region that others find by its name, with the channels `ump` and `mcast`.
struct Stage {
    folder: tempfile::TempDir,
    meeting: HostedRegion,
}

impl Stage {
    fn new() -> Self {
        let plan = ump::bytes::spec(ump::Config::default().holding(LONGEST)).declare(RegionPlan::new(), "ump");
        let config = mcast::Config {
            slots: 8,
            block_bytes: LONGEST,
            readers: 16,
            delivery: Delivery::Overwrite,
            ..mcast::Config::default()
        };
        let plan = plan.and_then(|plan| mcast::bytes::spec(config).declare(plan, "mcast")).expect("good names");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let region = SharedRegion::memfd(&plan).expect("memory");
        let meeting = rendezvous::host(&dir(folder.path()), NAME, region).expect("a free name");
        Self { folder, meeting }
    }

    fn region(&self) -> &SharedRegion {
        self.meeting.region()
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Leaves, as the last one. Nothing is left then.
    fn end(self) {
        let Self { folder, meeting } = self;
        drop(meeting);
        let left = std::fs::read_dir(dir(folder.path()).path()).expect("made by the host");
        assert_eq!(left.map(|file| file.expect("readable").file_name()).collect::<Vec<_>>(), [""; 0]);
    }
}

/// Where the sockets are.
fn dir(folder: &Path) -> SocketDir {
    SocketDir::at(folder.join("sockets"))
}

/// The message of this number: as long as the number says, with bytes that follow from it.
fn message(number: u64) -> Vec<u8> {
    let len = [8, 56, 57, 300, 17, 120][number as usize % 6];
    let bytes = (8..len).map(|i: u64| (i ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u8);
    number.to_le_bytes().into_iter().chain(bytes).collect()
}

/// The number of a message; panics if any byte is not as it was sent.
#[track_caller]
fn check(bytes: &[u8]) -> u64 {
    let number = u64::from_le_bytes(*bytes.first_chunk().expect("messages begin with their number"));
    assert_eq!(bytes, message(number), "message {number} is torn");
    number
}

/// Waits until `holds`.
#[track_caller]
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < PATIENCE, "never: {what}");
        std::thread::yield_now();
    }
}
