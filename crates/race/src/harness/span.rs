//! The span of a block: from the common start to the last end.

use super::task::Stamps;
use crate::op::Op;

/// Ticks that a block took.
///
/// Where participants keep each other in step nothing is done before the last of them has begun, and the block begins
/// with that one. A sender of a stream need not wait for its receiver: there the block begins with the first.
pub fn of(op: Op, timings: &[Stamps]) -> u64 {
    let starts = timings.iter().map(|timing| timing.start);
    let start = if op.is_stream() { starts.min() } else { starts.max() };
    let end = timings.iter().map(|timing| timing.end).max();
    end.unwrap_or(0).saturating_sub(start.unwrap_or(0))
}

/// For each window how long after its agreed start the last participant had done its part; `None` if one began late.
pub(crate) fn of_windows(timings: &[Stamps]) -> Vec<Option<u64>> {
    let windows = timings.iter().map(|timing| timing.windows.len()).min().unwrap_or(0);
    let last = |i: usize| timings.iter().try_fold(0, |last, timing| Some(timing.windows[i]?.max(last)));
    (0..windows).map(last).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(start: u64, end: u64, windows: &[Option<u64>]) -> Stamps {
        Stamps { start, end, windows: windows.to_vec(), ..Stamps::default() }
    }

    #[test]
    fn blocks_end_with_the_last_and_begin_as_the_operation_demands() {
        let timings = [timing(100, 900, &[]), timing(150, 1000, &[])];
        assert_eq!(of(Op::Barrier, &timings), 850);
        assert_eq!(of(Op::Stream, &timings), 900);
    }

    #[test]
    fn a_window_takes_as_long_as_its_slowest_and_counts_only_if_nobody_was_late() {
        let first = timing(0, 0, &[Some(10), Some(50), None]);
        let second = timing(0, 0, &[Some(30), Some(20), Some(5)]);
        assert_eq!(of_windows(&[first, second]), [Some(30), Some(50), None]);
    }
}
