//! No memory for all of a region is said when it is made, not when it is used.

use std::fs;

use corecast_base::region::{CreateError, RegionDir, RegionPlan, SharedRegion};

use super::plan;
use super::roles;

#[test]
fn a_limit_on_file_sizes_is_no_space() {
    let actor = roles::start("create without space", "");
    assert!(actor.said.starts_with("no space for a region of "), "{}", actor.said);
    actor.dismiss();
}

#[test]
fn a_full_file_system_is_no_space() {
    let temporary = tempfile::tempdir_in("/dev/shm").expect("a temporary directory");
    let target = temporary.path().join("small");
    fs::create_dir(&target).expect("a directory");
    let options = c"size=1m,mode=700";
    if let Err(error) = rustix::mount::mount("tmpfs", &target, "tmpfs", rustix::mount::MountFlags::empty(), options) {
        let reason = format!("needs the right to mount a small file system ({error})");
        return corecast_testing::skipped("a full file system", reason);
    }
    let large = plan().add("large", 3, [0; 6], 2 << 20).expect("a channel");
    let refused = SharedRegion::named(&RegionDir::at(&target), "large", &large);
    let left = fs::read_dir(&target).expect("mounted").count();
    rustix::mount::unmount(&target, rustix::mount::UnmountFlags::empty()).expect("mounted here");
    assert!(matches!(refused, Err(CreateError::NoSpace { bytes, .. }) if bytes > 2 << 20), "{refused:?}");
    assert_eq!(left, 0);
}

#[test]
fn a_plan_beyond_its_limit_is_told() {
    let huge = RegionPlan::new().add("huge", 1, [0; 6], 2 << 30).expect("a channel");
    let refused = SharedRegion::heap(&huge).expect_err("too large").to_string();
    assert!(refused.contains("larger than the 1073741824 allowed"), "{refused}");
    // More than any machine has; the limit is raised, so the system refuses.
    let absurd = RegionPlan::new().add("absurd", 1, [0; 6], 1 << 38).expect("a channel").limit_bytes(u64::MAX);
    let refused = SharedRegion::memfd(&absurd);
    assert!(matches!(refused, Err(CreateError::NoSpace { .. })), "{refused:?}");
}
