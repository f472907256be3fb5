//! Chooses how long blocks last, and how many there are.

use std::time::Duration;

use crate::failure::Failure;

/// The pace of a race.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The time that a block should last.
    pub block: Duration,
    /// Fewer rounds are run only if the contenders are so slow that the time is over twice before.
    pub min_rounds: usize,
    /// More rounds are not run even if there is time.
    pub max_rounds: usize,
    /// Operations verified before a contender is timed.
    pub check_rounds: u64,
    /// The time that a block may last before its contender is given up. Long, as corecast's own fails the run then, and on a busy
    /// machine a thread waits for its CPU for many times the length of a block.
    pub limit: Duration,
}

impl Pace {
    /// Enough samples for a table that is kept.
    pub const THOROUGH: Self = Self {
        block: Duration::from_millis(2),
        min_rounds: 31,
        max_rounds: 101,
        check_rounds: 500,
        limit: Duration::from_secs(10),
    };

    /// Enough to see who is ahead.
    pub const QUICK: Self = Self {
        block: Duration::from_millis(1),
        min_rounds: 9,
        max_rounds: 31,
        check_rounds: 100,
        limit: Duration::from_secs(5),
    };
}

/// How many operations fill a block of this length, found by `run`, which does that many and tells how long they took.
///
/// # Errors
/// That of `run`.
pub fn iterations_that_fill(
    block: Duration,
    mut run: impl FnMut(u64) -> Result<Duration, Failure>,
) -> Result<u64, Failure> {
    let mut iterations = 1;
    loop {
        let took = run(iterations)?.max(Duration::from_nanos(1));
        let wanted = iterations as f64 * block.as_secs_f64() / took.as_secs_f64();
        if took >= block / 4 || iterations >= 1 << 24 {
            return Ok(wanted.clamp(1.0, 1e9) as u64);
        }
        // Towards a block, but in steps: the first iterations are slower than all that follow.
        iterations = (wanted as u64).clamp(iterations + 1, iterations * 8);
    }
}
