//! How long users wait while a checkpoint is taken: a reader and a writer work without a break at the node that asks for it,
//! whose state is written out.
//!
//! Windows with a checkpoint alternate with windows of the same length without one. The longest read and the longest write that
//! were under way in a window are its pauses: where threads share CPUs the windows without a checkpoint have some, too.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use corecast::base::Clock;
use corecast::base::sync::{AtomicBool, AtomicU64, Ordering};
use corecast::replica::{Level, Node};

use super::host::Setting;
use super::payloads::{Log, Logs};
use super::report::PauseRow;
use super::series::Series;
use crate::stats::Samples;
use corecast_race::failure::Failure;

/// How long a checkpoint may take, and then a user's operation.
const LIMIT: Duration = Duration::from_secs(10);
/// The time between two looks at the users.
const LOOK: Duration = Duration::from_micros(50);

/// The operations of one user, as the initiator sees them.
#[derive(Debug, Default)]
struct User {
    /// Ticks of the longest operation that has ended in this window: written by the user, taken by the initiator.
    longest: AtomicU64,
    /// Operations that have ended, counted by the user.
    done: AtomicU64,
}

/// The users, and whether they are to stop: written by the initiator, or by a user whose operation failed.
#[derive(Debug, Default)]
struct Users {
    reader: User,
    writer: User,
    is_over: AtomicBool,
}

/// Pauses of users while a group of logs with a blob of these bytes takes checkpoints, until the time is over.
pub(super) fn pauses(series: &Series, setting: &Setting, bytes: usize, time: Duration) -> Result<PauseRow, Failure> {
    let logs = Logs::open(series, setting, bytes)?;
    let initiator = logs.nodes.last().expect("a group has a node");
    let users = Users::default();
    let found = thread::scope(|scope| {
        let reader = scope.spawn(|| users.reader.work(&users, || read(initiator)));
        let writer = scope.spawn(|| {
            let mut session = initiator.session().map_err(Failure::refused);
            users.writer.work(&users, || write(session.as_mut().map_err(|failure| failure.clone())?))
        });
        let found = users.watch(initiator, time);
        users.stop();
        for user in [reader, writer] {
            user.join().expect("no user panics")?;
        }
        found
    })?;
    Ok(found.row(series, setting, bytes))
}

fn read(node: &Node<Log>) -> Result<(), Failure> {
    node.read(Level::Linearizable, &()).map(drop).map_err(Failure::refused)
}

fn write(session: &mut corecast::replica::Session<Log>) -> Result<(), Failure> {
    session.execute_timeout(&vec![1; 16], LIMIT).map(drop).map_err(Failure::refused)
}

impl User {
    /// One operation after the other.
    fn work(&self, users: &Users, mut operation: impl FnMut() -> Result<(), Failure>) -> Result<(), Failure> {
        let mut begin = Clock::get().ticks();
        while users.go_on() {
            operation().inspect_err(|_| users.stop())?;
            let now = Clock::get().ticks_in_order();
            // ORDERING: Relaxed, the number is all that is said
            self.longest.fetch_max(now.saturating_sub(begin), Ordering::Relaxed);
            // ORDERING: Release, pairs with the Acquire in has_passed [user-done]
            self.done.fetch_add(1, Ordering::Release);
            begin = now;
        }
        Ok(())
    }

    fn has_passed(&self, count: u64) -> bool {
        // ORDERING: Acquire, pairs with the Release in work [user-done]
        self.done.load(Ordering::Acquire) >= count
    }

    /// The longest operation since the last call, in microseconds.
    fn take_longest(&self) -> f64 {
        // ORDERING: Relaxed, the number is all that is said
        Clock::get().ns(self.longest.swap(0, Ordering::Relaxed)) / 1e3
    }
}

impl Users {
    fn stop(&self) {
        // ORDERING: Relaxed, the flag publishes nothing but itself
        self.is_over.store(true, Ordering::Relaxed);
    }

    fn go_on(&self) -> bool {
        // ORDERING: Relaxed, the flag publishes nothing but itself
        !self.is_over.load(Ordering::Relaxed)
    }

    /// Waits until each user has ended the operation that is under way, and the next one.
    fn pass(&self) -> Result<(), Failure> {
        let until = Instant::now() + LIMIT;
        for user in [&self.reader, &self.writer] {
            // ORDERING: Relaxed, the count is compared with itself
            let goal = user.done.load(Ordering::Relaxed) + 2;
            while !user.has_passed(goal) {
                if Instant::now() > until || !self.go_on() {
                    return Err(Failure::Hung { missing: vec![0], limit_ms: LIMIT.as_millis() });
                }
                thread::sleep(LOOK);
            }
        }
        Ok(())
    }

    fn take_longest(&self) -> [f64; 2] {
        [self.reader.take_longest(), self.writer.take_longest()]
    }

    /// Windows with a checkpoint and without one in turns.
    fn watch(&self, initiator: &Node<Log>, time: Duration) -> Result<Found, Failure> {
        let mut found = Found::default();
        self.pass()?;
        let until = Instant::now() + time;
        while found.beside.is_empty() || Instant::now() < until {
            self.take_longest();
            let begin = Instant::now();
            initiator.checkpoint(&mut io::sink(), LIMIT).map_err(Failure::refused)?;
            let took = begin.elapsed();
            self.pass()?;
            found.beside.push(self.take_longest());
            thread::sleep(took);
            self.pass()?;
            found.alone.push(self.take_longest());
        }
        Ok(found)
    }
}

/// The longest read and write of each window, in microseconds.
#[derive(Debug, Default)]
struct Found {
    beside: Vec<[f64; 2]>,
    alone: Vec<[f64; 2]>,
}

impl Found {
    fn row(&self, series: &Series, setting: &Setting, bytes: usize) -> PauseRow {
        let quantile = |windows: &[[f64; 2]], user: usize, share| {
            Samples::of(windows.iter().map(|window| window[user])).quantile(share)
        };
        let median = |windows, user| quantile(windows, user, 0.5);
        PauseRow {
            series: series.name,
            replicas: setting.members,
            bytes,
            checkpoints: self.beside.len(),
            read_us: median(&self.beside, 0),
            read_p99_us: quantile(&self.beside, 0, 0.99),
            read_alone_us: median(&self.alone, 0),
            write_us: median(&self.beside, 1),
            write_p99_us: quantile(&self.beside, 1, 0.99),
            write_alone_us: median(&self.alone, 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replica::series::forms;
    use corecast::base::wait::Wait;

    #[test]
    fn every_window_has_a_read_and_a_write() {
        let setting = Setting { members: 2, clients: 1, cpus: Vec::new(), wait: Wait::Adaptive };
        for series in forms() {
            let row = pauses(series, &setting, 4096, Duration::from_millis(5)).expect("a group");
            assert!(row.checkpoints > 0, "{row:?}");
            for us in [row.read_us, row.read_alone_us, row.write_us, row.write_alone_us] {
                assert!(us > Some(0.0), "{row:?}");
            }
        }
    }
}
