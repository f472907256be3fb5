//! Regions among processes: participants that live and die, attachments that are refused, and the files that are left.
//!
//! A test that needs another process starts this very program with a role (`roles`).

mod attach;
mod forks;
mod life;
mod meet;
mod names;
mod roles;
mod sealed;
mod space;

use std::time::{Duration, Instant};

use corecast_base::region::{RegionDir, RegionPlan};

/// Two channels, the first of 4096 bytes, and four slots.
fn plan() -> RegionPlan {
    let plan = RegionPlan::new().add("orders", 1, [64, 0, 0, 0, 0, 0], 4096).expect("a good name");
    plan.add("replies", 2, [0; 6], 100).expect("a good name").participants(4).expect("a few")
}

/// A directory for named regions that ends with the test.
fn region_dir() -> (tempfile::TempDir, RegionDir) {
    // In memory, where regions belong: file systems on disks may lack what they need.
    let temporary = tempfile::tempdir_in("/dev/shm").expect("a temporary directory");
    let dir = RegionDir::at(temporary.path().join("regions"));
    (temporary, dir)
}

/// Waits until `holds`.
#[track_caller]
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(20), "not within 20 s: {what}");
        std::thread::yield_now();
    }
}
