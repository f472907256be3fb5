//! The common parts of the tests of spoilt memory: the values that another process may write, and the watch over calls that
//! must return.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// The time limit of every call that has one.
pub(crate) const LIMIT: Duration = Duration::from_micros(50);
/// Longer than a machine with other work takes for one step.
const SLACK: Duration = Duration::from_secs(60);

/// Runs `work` in a thread of its own, which is given what tells the test which step it begins. The test fails if a step
/// does not end within a minute. How fast it is otherwise makes no difference.
#[track_caller]
pub(crate) fn watched(work: impl FnOnce(&mut dyn FnMut(String)) + Send + 'static) {
    let (steps, told) = channel();
    let worker = std::thread::spawn(move || work(&mut |step| steps.send(step).expect("the test listens")));
    let mut last = "the beginning".to_owned();
    loop {
        match told.recv_timeout(SLACK) {
            Ok(step) => last = step,
            Err(RecvTimeoutError::Timeout) => panic!("a call does not return: {last}"),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    assert!(worker.join().is_ok(), "a call panicked: {last}");
}

/// The values that another process may write over `now`: small and large numbers, those near the present one, and those
/// that are a lap of `slots` away, as a number, as the word of a mcast slot, and as fields of a header.
pub(crate) fn values(now: u64, slots: u64) -> Vec<u64> {
    let mut values = vec![0, 1, 2, 3, 4, 5, 7, 8, 16, 63, 255, 0x100, 0x200, 0x201, 0x300, 1 << 10, 1 << 11];
    values.extend([u64::from(u32::MAX), 1 << 31, 1 << 32, 1 << 40, 1 << 53, 1 << 62, i64::MAX as u64, 1 << 63]);
    values.extend([u64::MAX - 1, u64::MAX, !now]);
    for step in [1, slots, 2 * slots, 1 << 10, 1 << 32, 1 << 40, 1 << 56] {
        values.extend([now.wrapping_add(step), now.wrapping_sub(step)]);
    }
    values.extend([now ^ 0x100, now ^ 0x200, now ^ 0x300, now ^ 1 << 32, now & u64::from(u32::MAX)]);
    values.sort_unstable();
    values.dedup();
    values
}
