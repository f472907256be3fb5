//! Names: given once, taken away by the last one, or by gc after a kill.

use std::fs;
use std::sync::Barrier;

use corecast_base::region::{AttachError, CreateError, Liveness, SharedRegion, gc};
use corecast_base::sync::Ordering;
use rustix::process::Signal;

use super::roles;
use super::{plan, region_dir};

fn names(dir: &corecast_base::region::RegionDir) -> Vec<String> {
    let entries = fs::read_dir(dir.path()).expect("a directory");
    entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect()
}

#[test]
fn of_two_creators_one_wins() {
    let (_temporary, dir) = region_dir();
    for _ in 0..100 {
        let (start, end) = (Barrier::new(2), Barrier::new(2));
        let create = || {
            start.wait();
            let made = SharedRegion::named(&dir, "race", &plan());
            end.wait();
            made.map(|region| assert_eq!(region.me().index, 0))
        };
        let outcomes = std::thread::scope(|scope| {
            let one = scope.spawn(create);
            let other = scope.spawn(create);
            [one.join().expect("no panic"), other.join().expect("no panic")]
        });
        assert_eq!(outcomes.iter().filter(|made| made.is_ok()).count(), 1, "{outcomes:?}");
        assert!(outcomes.iter().any(|made| matches!(made, Err(CreateError::Exists(_)))), "{outcomes:?}");
        assert_eq!(names(&dir), [""; 0]);
    }
}

#[test]
fn the_last_participant_removes_the_name() {
    let (_temporary, dir) = region_dir();
    let creator = SharedRegion::named(&dir, "shared", &plan()).expect("a free name");
    let guest = SharedRegion::open(&dir, "shared").expect("a good region");
    guest.expect_plan(&plan()).expect("the same channels");
    drop(creator);
    assert_eq!(names(&dir), ["shared"]);
    // A place holds on to the slot, and so to the name, when the region itself is gone.
    let words = guest.section(&guest.entry("replies").expect("declared")).words(0, 16).expect("inside");
    drop(guest);
    assert_eq!(names(&dir), ["shared"]);
    words[15].store(1, Ordering::Relaxed);
    drop(words);
    assert_eq!(names(&dir), [""; 0]);
    assert!(matches!(SharedRegion::open(&dir, "shared"), Err(AttachError::NotFound(_))));
}

#[test]
fn the_last_process_takes_the_name_away() {
    let (_temporary, dir) = region_dir();
    let place = dir.path().display().to_string();
    let creator = roles::start("create", &place);
    let guest = roles::start("open", &place);
    creator.signal(Signal::KILL);
    drop(creator);
    assert_eq!(names(&dir), ["play"], "its creator is dead, but it is used");
    guest.dismiss();
    assert_eq!(names(&dir), [""; 0], "although one slot is that of a dead one");
}

#[test]
fn gc_removes_unused_regions_and_nothing_else() {
    let (_temporary, dir) = region_dir();
    assert_eq!(gc(&dir).expect("no directory is no trouble"), []);
    let used = SharedRegion::named(&dir, "used", &plan()).expect("a free name");
    fs::write(dir.path().join("notes.txt"), "not a region, but long enough".repeat(1000)).expect("a file");
    let creator = roles::start("create", &dir.path().display().to_string());
    assert_eq!(gc(&dir).expect("a directory of ours"), []);
    creator.signal(Signal::KILL);
    drop(creator);
    let removed = gc(&dir).expect("a directory of ours");
    assert_eq!(removed.len(), 1);
    assert_eq!(removed[0].path, dir.path().join("play").display().to_string());
    assert!(removed[0].bytes > 4096);
    let mut left = names(&dir);
    left.sort_unstable();
    assert_eq!(left, ["notes.txt", "used"]);
    assert_eq!(used.liveness(used.me()), Liveness::Alive);
}

#[test]
fn a_name_of_the_dead_is_free_and_one_of_the_living_is_not() {
    let (_temporary, dir) = region_dir();
    let creator = roles::start("create", &dir.path().display().to_string());
    let old = SharedRegion::observe(&dir, "play").expect("a good region");
    let taken = SharedRegion::named(&dir, "play", &plan()).expect_err("in use").to_string();
    assert!(taken.ends_with("/play exists and is in use"), "{taken}");
    creator.signal(Signal::KILL);
    drop(creator);
    let region = SharedRegion::named(&dir, "play", &plan()).expect("free");
    assert_ne!(region.generation(), old.generation());
    assert_eq!(names(&dir), ["play"]);
}

#[test]
fn an_observer_takes_no_slot_and_writes_nothing() {
    let (_temporary, dir) = region_dir();
    let region = SharedRegion::named(&dir, "seen", &plan()).expect("a free name");
    let entry = region.entry("orders").expect("declared");
    region.section(&entry).words(8, 1).expect("inside")[0].store(9, Ordering::Relaxed);
    let observer = SharedRegion::observe(&dir, "seen").expect("a good region");
    assert_eq!(observer.entries(), region.entries());
    assert_eq!(observer.word(&entry, 8), Ok(Some(9)));
    assert_eq!((observer.word(&entry, 4096), observer.word(&entry, 3)), (Ok(None), Ok(None)));
    let seen = observer.participants().expect("not forked");
    assert_eq!((seen.len(), seen[0].pid, seen[0].liveness), (1, std::process::id(), Liveness::Alive));
    assert_eq!(observer.creator().1, std::process::id());
    drop(region);
    assert_eq!(names(&dir), [""; 0], "an observer does not count");
    assert_eq!(observer.participants(), Ok(Vec::new()));
}
