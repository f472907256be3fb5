//! How a member ends an interval, whatever runtime it is of: by crossing its team's lines, or by the runtime's barrier.

use crate::lines::Crossing;
use crate::runtime::Runtime;
use crate::statistics::{self, BARRIERS, TASKS};
use crate::team::Seat;
use crate::thread::{ThreadState, here};

/// The seat of this thread in a team of this runtime. `None` if it has none, or the construct belongs to another region than
/// the team's: one that the shim does not see, such as a target region that runs on the host.
#[inline]
pub(crate) fn seat_of(thread: &ThreadState, runtime: &Runtime) -> Option<Seat> {
    let seat = thread.seat();
    let is_here = !seat.team.is_null() && std::ptr::eq(seat.runtime, runtime) && seat.level == runtime.level();
    match seat.size {
        _ if !is_here => None,
        0 => ask(thread, seat, runtime),
        _ => Some(seat),
    }
}

/// Asks the runtime for the number of this thread in the region of its seat, and for the number of members.
#[inline(never)]
fn ask(thread: &ThreadState, seat: Seat, runtime: &Runtime) -> Option<Seat> {
    // SAFETY: a seat that is served has a team, which lives until the process ends.
    let team = unsafe { &*seat.team };
    let number = |told: i32| usize::try_from(told).unwrap_or(0);
    let seat = team.seat(number(runtime.thread_num()), number(runtime.num_threads()));
    thread.sit(seat);
    (!seat.team.is_null()).then_some(seat)
}

/// Ends the interval in which this thread is. The runtime's barrier runs tasks, for which the thread has no seat: a task that
/// one of them creates belongs to an interval in which one is announced already.
#[inline]
pub(crate) fn end_interval(thread: &ThreadState, seat: Seat, real_barrier: impl FnOnce()) {
    // SAFETY: a seat that is served has a team, which lives until the process ends.
    let team = unsafe { &*seat.team };
    match team.cross(seat) {
        Crossing::Fast => statistics::of(BARRIERS).serve(),
        Crossing::Diverted => {
            thread.stand_up();
            real_barrier();
            statistics::of(BARRIERS).divert();
        }
    }
    thread.sit(Seat { interval: seat.interval + 1, ..seat });
}

/// Announces a task that this thread is about to create to the team that it is in, and counts it.
#[inline]
pub(crate) fn announce_task() {
    if announce_uncounted() {
        statistics::of(TASKS).serve();
    }
}

/// Announces a task that an entry of the runtime may have announced and counted before; true if this thread is in a team.
#[inline]
pub(crate) fn announce_uncounted() -> bool {
    here(|thread| {
        let seat = thread.seat();
        // SAFETY: null, or a team, which lives until the process ends.
        let team = unsafe { seat.team.as_ref() };
        team.inspect(|team| team.announce_task(seat)).is_some()
    })
}
