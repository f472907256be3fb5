//! The teams that a thread forks: one for each nesting depth, used again for every region, so that a region allocates nothing.
//!
//! When a thread ends, its teams go to a list from which other threads take them.

use std::ffi::c_void;
use std::ptr;
use std::sync::{MutexGuard, OnceLock, PoisonError};

use corecast_base::sync::Mutex;
use corecast_preload::Errno;

use crate::runtime::is_forked;
use crate::team::Team;
use crate::thread::{ThreadState, here};

/// The members that the smallest team has lines for.
const SMALLEST: usize = 8;
/// The largest team that is served; the lines of such a team take a megabyte.
const LARGEST: usize = 4096;

static FREE: Mutex<Vec<&'static Team>> = Mutex::new(Vec::new());

/// The team of this thread at its present depth, with lines for at least `members`. `None` if the depth, the number of hidden
/// seats or that of members is beyond what is served. It counts among all teams until it is closed, if it is nested, or until the
/// thread ends: so long a runtime keeps its threads.
#[inline]
pub(crate) fn team_for(thread: &ThreadState, members: usize) -> Option<&'static Team> {
    let team = own_team_for(thread, members)?;
    team.count(members, !thread.seat().team.is_null());
    Some(team)
}

#[inline]
fn own_team_for(thread: &ThreadState, members: usize) -> Option<&'static Team> {
    let team = thread.teams.get(thread.depth.get()).filter(|_| thread.hidden.has_room())?.get();
    // SAFETY: null, or a team, which is never freed.
    let team = unsafe { team.as_ref() };
    team.filter(|team| team.capacity() >= members).or_else(|| replace(thread, members))
}

#[cold]
fn replace(thread: &ThreadState, members: usize) -> Option<&'static Team> {
    if members > LARGEST {
        return None;
    }
    let _errno = Errno::keep();
    if !returns_at_exit() {
        return None;
    }
    let mut free = free();
    let fitting = free.iter().position(|team| team.capacity() >= members);
    let taken = fitting.map(|at| free.swap_remove(at));
    let capacity = members.next_power_of_two().max(SMALLEST);
    let team: &'static Team = taken.unwrap_or_else(|| Box::leak(Box::new(Team::new(capacity))));
    let before = thread.teams[thread.depth.get()].replace(team);
    // SAFETY: null, or a team, which is never freed.
    free.extend(unsafe { before.as_ref() }.inspect(|before| before.forget()));
    Some(team)
}

/// Sees to it that the teams of this thread come back when it ends; false if the system has no room for that.
fn returns_at_exit() -> bool {
    static KEY: OnceLock<Option<libc::pthread_key_t>> = OnceLock::new();
    let make = || {
        let mut key = 0;
        // SAFETY: a place for the key, and a function that stays.
        (unsafe { libc::pthread_key_create(&mut key, Some(give_back)) } == 0).then_some(key)
    };
    let Some(key) = *KEY.get_or_init(make) else { return false };
    let mark = ptr::from_ref(&FREE).cast::<c_void>();
    // SAFETY: a key of this object; the value is only a mark that calls for the function.
    unsafe { libc::pthread_setspecific(key, mark) == 0 }
}

/// Called when a thread ends. It may fork regions after that, which calls for it again. In a child of `fork` no team is served
/// any more, and a thread that is not there may hold the list.
unsafe extern "C" fn give_back(_mark: *mut c_void) {
    if is_forked() {
        return;
    }
    here(|thread| {
        let mut free = free();
        for place in &thread.teams {
            // SAFETY: null, or a team, which is never freed.
            free.extend(unsafe { place.replace(ptr::null()).as_ref() }.inspect(|team| team.forget()));
        }
    });
}

fn free() -> MutexGuard<'static, Vec<&'static Team>> {
    FREE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn team(members: usize) -> Option<*const Team> {
        here(|thread| team_for(thread, members).map(ptr::from_ref))
    }

    #[test]
    fn a_thread_keeps_its_team_and_a_later_thread_takes_it() {
        // Larger than those of other tests, which run at the same time.
        let first = std::thread::spawn(|| {
            let first = team(1000).expect("a team");
            assert_eq!((team(2), team(1024)), (Some(first), Some(first)));
            assert!(team(2000) != Some(first) && team(LARGEST + 1).is_none());
            first.addr()
        });
        let first = first.join().expect("it does not panic");
        let second = std::thread::spawn(move || team(700).expect("a team").addr()).join().expect("it does not panic");
        assert_eq!(second, first);
    }

    #[test]
    fn a_thread_of_a_child_ends_though_another_one_held_the_list() {
        let held = free();
        // SAFETY: the child calls what is written for it, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: the handler of children, in one.
            unsafe { crate::runtime::after_fork() };
            // SAFETY: ends the child, if nothing else does.
            unsafe { libc::alarm(20) };
            // SAFETY: as at the end of a thread.
            unsafe { give_back(ptr::null_mut()) };
            // SAFETY: ends the child.
            unsafe { libc::_exit(0) };
        }
        drop(held);
        let mut status = -1;
        // SAFETY: a child of this process, and a place for its status.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0, "it waited for the list");
    }
}
