//! How long the server waits for its replica within one turn: all clients together have one limit, and the end of the server is
//! heard meanwhile.

use std::cell::Cell;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How long all operations and questions of a turn may take. A change of roles takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a wait may last before the server looks whether it is to end.
const LOOK: Duration = Duration::from_millis(250);

/// When the waits of a turn are over. The first one that ends without a result lets all others of the turn end at once.
#[derive(Debug)]
pub(crate) struct Deadline {
    until: Cell<Instant>,
    /// Readable once the server is to end.
    stop: UnixStream,
}

impl Deadline {
    /// Of a server that ends when the other end of `stop` is closed.
    pub(super) fn new(stop: UnixStream) -> Self {
        Self { until: Cell::new(Instant::now()), stop }
    }

    /// A turn begins.
    pub(super) fn begin(&self, now: Instant) {
        self.until.set(now + PATIENCE);
    }

    /// The time that is left of the turn, for a wait that cannot be asked for again.
    pub(crate) fn left(&self) -> Duration {
        self.until.get().saturating_duration_since(Instant::now())
    }

    /// Calls `attempt`, which gets a limit to its wait and returns an error that `is_late` where that was too short, until it
    /// ends otherwise or the time is up.
    pub(crate) fn retry<T, E>(
        &self,
        mut attempt: impl FnMut(Duration) -> Result<T, E>,
        is_late: impl Fn(&E) -> bool,
    ) -> Result<T, E> {
        loop {
            match attempt(self.left().min(LOOK)) {
                Err(error) if is_late(&error) && !self.is_over() => {}
                result => return result,
            }
        }
    }

    /// True if nothing more is waited for in this turn.
    #[cold]
    fn is_over(&self) -> bool {
        let now = Instant::now();
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let is_stopping = || poll(&mut [PollFd::new(&self.stop, PollFlags::IN)], Some(&at_once)).is_ok_and(|n| n > 0);
        if self.until.get() > now && is_stopping() {
            self.until.set(now);
        }
        self.until.get() <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An operation of a replica that hangs, and how often it was asked.
    fn ask(deadline: &Deadline) -> usize {
        let mut asked = 0;
        let result = deadline.retry(
            |_| {
                asked += 1;
                Err::<(), _>("late")
            },
            |error| *error == "late",
        );
        assert_eq!(result, Err("late"));
        asked
    }

    #[test]
    fn all_waits_of_a_turn_have_one_limit() {
        let (stop, _stopper) = UnixStream::pair().expect("sockets");
        let deadline = Deadline::new(stop);
        deadline.begin(Instant::now().checked_sub(PATIENCE).expect("the machine runs for longer"));
        assert_eq!([ask(&deadline), ask(&deadline)], [1, 1], "the time of the turn is up");
        deadline.begin(Instant::now());
        let (mut limits, mut results) = (Vec::new(), vec![Ok(7), Err("late")]);
        let mut attempt = |limit| {
            limits.push(limit);
            results.pop().expect("not asked again")
        };
        assert_eq!(deadline.retry(&mut attempt, |error| *error == "late"), Ok(7));
        assert_eq!(limits, [LOOK; 2]);
        assert_eq!(deadline.retry(|_| Err::<(), _>("refused"), |error| *error == "late"), Err("refused"));
    }

    #[test]
    fn the_end_of_the_server_ends_all_waits() {
        let (stop, stopper) = UnixStream::pair().expect("sockets");
        let deadline = Deadline::new(stop);
        deadline.begin(Instant::now());
        drop(stopper);
        assert_eq!([ask(&deadline), ask(&deadline)], [1, 1]);
        assert_eq!(deadline.until.get().saturating_duration_since(Instant::now()), Duration::ZERO);
    }
}
