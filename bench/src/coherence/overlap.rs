//! The loads that a CPU has under way together, of lines that another CPU has written.
//!
//! One participant writes the lines of a row. The other one loads them: each from an address that the load before gives, so one
//! after the other, or all from addresses that it knows. The first time over the second is the number of loads under way, as far
//! as the CPU that answers keeps up; a row has more lines than a core has room for misses.

use corecast::base::sync::Ordering;
use fastrand::Rng;

use super::group::{Group, Meeting};
use super::instruction;
use super::lines::Lines;
use super::operation::timed;
use super::timer::Correction;
use crate::stats::median;
use corecast_race::failure::Failure;

/// The lines of a row.
const ROW: usize = 32;
/// Rows, by turns of either kind.
const ROWS: usize = 400;
/// In the last line of a row, in the place of the next one's number.
const END: u64 = u64::MAX;

/// The number of loads under way between the two CPUs of `group`, of which the first one writes. `correction` is that of the
/// second one's timer.
pub(super) fn loads_under_way(group: &Group, correction: Correction, seed: u64) -> Result<Option<f64>, Failure> {
    let lines = Lines::untouched(ROW * ROWS, &mut Rng::with_seed(seed));
    lines.touch_on(group.cpus[0])?;
    let done = group.run(&|rank, meeting| take_part(rank, meeting, &lines))?;
    let times = |kind: usize| {
        let ticks = done[1].iter().skip(kind).step_by(2);
        median(&ticks.map(|&ticks| correction.ns(ticks, false)).collect::<Vec<_>>()).filter(|&ns| ns > 0.0)
    };
    Ok(times(0).zip(times(1)).map(|(in_turn, together)| in_turn / together))
}

/// The ticks of each row, of the second participant.
fn take_part(rank: usize, meeting: &Meeting<'_>, lines: &Lines) -> Result<Vec<u64>, Failure> {
    let mut all = Vec::with_capacity(ROWS);
    for row in 0..ROWS {
        meeting.heed_user();
        let first = row * ROW;
        match rank {
            0 => write(lines, first),
            _ => (first..first + ROW).for_each(|line| lines.know_page(line)),
        }
        meeting.meet()?;
        if rank > 0 {
            // The meeting's own stores are not to be waited for within the row.
            instruction::full_fence();
            all.push(load(lines, first, row % 2 == 0)?);
        }
        meeting.meet()?;
    }
    Ok(all)
}

/// Writes the number of the next line to each line of a row.
fn write(lines: &Lines, first: usize) {
    for line in first..first + ROW {
        let next = if line + 1 == first + ROW { END } else { line as u64 + 1 };
        // ORDERING: Relaxed, the participants meet before the other one looks
        lines.word(line).store(next, Ordering::Relaxed);
    }
}

/// The ticks of the loads of a row.
fn load(lines: &Lines, first: usize, is_in_turn: bool) -> Result<u64, Failure> {
    // ORDERING: Relaxed, the participants have met since the lines were written
    let next = |line: usize| lines.word(line).load(Ordering::Relaxed);
    let ((ticks, seen), expected) = if is_in_turn {
        (timed(|| (1..ROW).fold(next(first), |line, _| next(line as usize))), END)
    } else {
        let numbers = first as u64 + 1..(first + ROW) as u64;
        (timed(|| (first..first + ROW).map(next).fold(0, u64::wrapping_add)), numbers.fold(END, u64::wrapping_add))
    };
    if seen == expected {
        return Ok(ticks);
    }
    Err(Failure::Wrong(format!("the loads of lines from {first} on have seen {seen} at last, not {expected}")))
}

#[cfg(test)]
mod tests {
    use corecast::base::CpuId;
    use corecast::machine::pin;

    use super::super::timer;
    use super::*;
    use corecast_race::cancel::Cancel;

    #[test]
    fn some_loads_are_under_way() {
        let allowed = pin::affinity().expect("own mask");
        let cpus: Vec<CpuId> = allowed.as_slice().iter().copied().cycle().take(2).collect();
        let (_, correction) = timer::measure(cpus[1]).expect("a steady timer");
        let found = loads_under_way(&Group { cpus, cancel: Cancel::new() }, correction, 3);
        assert!(found.expect("all lines hold what was written").is_none_or(|number| number > 0.0));
    }

    #[test]
    fn a_line_that_holds_anything_else_fails() {
        let lines = Lines::untouched(2 * ROW, &mut Rng::with_seed(3));
        write(&lines, ROW);
        assert!(load(&lines, ROW, true).is_ok() && load(&lines, ROW, false).is_ok());
        lines.word(2 * ROW - 1).store(1, Ordering::Relaxed);
        for is_in_turn in [true, false] {
            let failure = load(&lines, ROW, is_in_turn).expect_err("not what was written").to_string();
            assert!(failure.contains("the loads of lines from 32 on have seen"), "{failure}");
        }
    }
}
