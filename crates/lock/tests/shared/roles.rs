//! The roles of other processes: this program, started with a role in its environment.

use corecast_base::region::{ForkPolicy, SharedRegion};
use corecast_lock::shared::{SharedLock, SharedLockError};
use corecast_testing::actor::{Actor, Role, say, wait_for_dismissal};

use super::{Counter, LOCK};

/// Starts a process that attaches to the region, and returns at once.
pub(crate) fn start(role: &str, region: &SharedRegion) -> Actor {
    Actor::inheriting("roles::play", role, &region.share().expect("/proc is there"))
}

/// Waits until its threads sleep, but for those that always do.
pub(crate) fn await_sleep(actor: &Actor) {
    let tasks = format!("/proc/{}/task", actor.pid().as_raw_nonzero());
    super::eventually("the actor sleeps in a futex", || {
        let tasks = std::fs::read_dir(&tasks).expect("it lives").filter_map(Result::ok);
        let texts = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("stat")).ok());
        let states: Vec<_> =
            texts.filter_map(|text| text.rsplit_once(") ").map(|(_, rest)| rest.starts_with('S'))).collect();
        states.iter().all(|&sleeps| sleeps)
    });
}

/// Not a test: what this program does when it is an actor.
#[test]
fn play() {
    let Some(role) = Role::of_this_process() else { return };
    let region = SharedRegion::from_fd(role.descriptor()).expect("a good region");
    let lock = SharedLock::open(&region, LOCK).expect("a good lock");
    match role.name.as_str() {
        "count" => count(&region, &lock),
        "hold" => hold(&lock),
        "wait" => wait(&lock),
        "leave" => leave(&lock),
        "fork" => fork(&lock),
        "fork with the memory" => {
            region.set_fork_policy(ForkPolicy::Inherit).expect("a policy of this system");
            fork(&lock);
        }
        other => panic!("no such role: {other}"),
    }
}

/// Adds when the test nods.
fn count(region: &SharedRegion, lock: &SharedLock) {
    let counter = Counter::of(region);
    say("ready");
    wait_for_dismissal();
    (0..super::ROUNDS).for_each(|_| counter.add(lock));
    say("done");
}

/// Holds the lock until it is killed, or the test nods.
fn hold(lock: &SharedLock) {
    let guard = lock.lock().expect("it is free");
    say("held");
    wait_for_dismissal();
    drop(guard);
    say("freed");
    wait_for_dismissal();
}

/// Waits for the lock, and tells how it got it.
fn wait(lock: &SharedLock) {
    say("waiting");
    let (how, guard) = match lock.lock() {
        Ok(guard) => ("taken", guard),
        Err(SharedLockError::OwnerDied(guard)) => ("the owner died", guard),
        Err(other) => panic!("{other}"),
    };
    say(how);
    drop(guard);
    wait_for_dismissal();
}

/// Leaves the region while it holds the lock.
fn leave(lock: &SharedLock) {
    std::mem::forget(lock.lock().expect("it is free"));
    say("held");
    wait_for_dismissal();
}

/// A forked child neither takes the lock nor frees what its parent holds.
fn fork(lock: &SharedLock) {
    let guard = lock.lock().expect("it is free");
    // SAFETY: the child looks at the lock and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let refused = [lock.lock(), lock.try_lock(), lock.lock_timeout(std::time::Duration::ZERO)];
        let are_refused = refused.iter().all(|result| matches!(result, Err(SharedLockError::Forked(_))));
        // SAFETY: the parent's guard is none of the child's, which is refused before anything is freed.
        let are_refused = are_refused && unsafe { lock.force_unlock() }.is_err();
        drop(guard);
        // SAFETY: ends the child, running nothing of this program.
        unsafe { libc::_exit(if are_refused { 0 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: our child, and a place for its status.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    say(if waited == child && status == 0 { "refused" } else { "the child did something else" });
    wait_for_dismissal();
    drop(guard);
}
