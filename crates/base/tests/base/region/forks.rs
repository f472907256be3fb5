//! A fork between attaching and using.

use corecast_base::region::{ForkPolicy, Forked, Liveness, SectionError, SharedRegion};
use corecast_base::rendezvous::{self, SocketDir};
use corecast_base::sync::{AtomicU64, Ordering};
use rustix::process::{Pid, WaitOptions, waitpid};

use super::{eventually, plan, region_dir};

/// Runs `f` in a forked child; true if it returned true there.
pub(super) fn in_child(f: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs nothing but `f`, which takes no lock that another thread may hold, and ends without unwinding.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let is_fine = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).unwrap_or(false);
        // SAFETY: ends the child, running nothing of this program.
        unsafe { libc::_exit(i32::from(!is_fine)) };
    }
    let (_, status) = waitpid(Pid::from_raw(pid), WaitOptions::empty())
        .expect("our child")
        .expect("it was waited for until it ended");
    status.exit_status() == Some(0)
}

#[test]
fn a_forked_child_is_told_so_by_every_call_and_touches_nothing() {
    let (_temporary, dir) = region_dir();
    for region in [
        SharedRegion::heap(&plan()).expect("memory"),
        SharedRegion::memfd(&plan()).expect("memory"),
        SharedRegion::named(&dir, "forks", &plan()).expect("a free name"),
    ] {
        let entry = region.entry("orders").expect("declared");
        let section = region.section(&entry);
        let me = region.me();
        let child_region = region.clone();
        assert!(in_child(|| {
            let told = child_region.check_fork() == Err(Forked)
                && child_region.participants() == Err(Forked)
                && child_region.reap(|_| ()) == Err(Forked)
                && child_region.try_exclusively(|| ()) == Err(Forked)
                && child_region.liveness(me) == Liveness::Dead
                && child_region.share().is_err()
                && section.place::<AtomicU64>(0).err() == Some(SectionError::Forked(Forked))
                && section.start() == Err(Forked);
            drop((child_region, section));
            told
        }));
        assert_eq!((region.check_fork(), region.liveness(me)), (Ok(()), Liveness::Alive));
        assert_eq!(region.participants().expect("not forked").len(), 1);
    }
    assert_eq!(std::fs::read_dir(dir.path()).expect("made").count(), 0, "the parent took the name away, not the child");
}

#[test]
fn the_last_handle_dropped_in_a_child_says_no_goodbye() {
    let region = SharedRegion::memfd(&plan()).expect("memory");
    let guest = SharedRegion::from_fd(region.share().expect("/proc")).expect("a good region");
    let them = guest.me();
    let mut guest = Some(guest);
    assert!(in_child(|| {
        drop(guest.take());
        true
    }));
    assert_eq!(region.liveness(them), Liveness::Alive);
    drop(guest);
    assert_eq!(region.liveness(them), Liveness::Left);
}

#[test]
fn a_child_ends_no_meeting_and_keeps_none() {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let dir = SocketDir::at(temporary.path().join("sockets"));
    let region = SharedRegion::memfd(&plan()).expect("memory");
    let mut host = Some(rendezvous::host(&dir, "play", region).expect("a free name"));
    let mut guest = Some(rendezvous::connect(&dir, "play").expect("a host"));
    assert!(in_child(|| {
        drop((host.take(), guest.take()));
        true
    }));
    let guest = guest.expect("dropped in the child only");
    let me = guest.region().me();
    assert_eq!(host.as_ref().map(|host| host.region().liveness(me)), Some(Liveness::Alive));
    drop(host);
    eventually("the guest takes over from the parent, whom no child keeps alive", || guest.is_host());
}

#[test]
fn a_child_may_attach_anew() {
    let region = SharedRegion::memfd(&plan()).expect("memory");
    let fd = region.share().expect("/proc");
    assert!(in_child(|| {
        let child = SharedRegion::from_fd(fd.try_clone().expect("a descriptor")).expect("a good region");
        let word = child.section(&child.entry("orders").expect("declared")).words(0, 1).expect("inside");
        word[0].store(7, Ordering::Relaxed);
        child.me() != region.me() && child.liveness(region.me()) == Liveness::Alive
    }));
    let word = region.section(&region.entry("orders").expect("declared")).words(0, 1).expect("inside");
    assert_eq!(word[0].load(Ordering::Relaxed), 7);
}

#[test]
fn a_region_may_be_left_to_children() {
    let region = SharedRegion::memfd(&plan()).expect("memory");
    let guest = SharedRegion::from_fd(region.share().expect("/proc")).expect("a good region");
    guest.set_fork_policy(ForkPolicy::Inherit).expect("allowed");
    let them = guest.me();
    let word = guest.section(&guest.entry("orders").expect("declared")).words(0, 1).expect("inside");
    let mut guest = Some(guest);
    assert!(in_child(|| {
        word[0].store(7, Ordering::Relaxed);
        let is_told = guest.as_ref().is_some_and(|guest| guest.check_fork() == Ok(()));
        drop(guest.take());
        is_told
    }));
    assert_eq!((word[0].load(Ordering::Relaxed), region.liveness(them)), (7, Liveness::Alive));
}
