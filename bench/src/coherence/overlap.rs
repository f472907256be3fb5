//! The loads that a CPU has under way together, and the time from one of its stores to the next, of lines that another CPU has
//! written.
//!
//! One participant writes the lines of a row. The other one loads them: each from an address that the load before gives, so one
//! after the other, or all from addresses that it knows. The first time over the second is the number of loads under way, as far
//! as the CPU that answers keeps up; a row has more lines than a core has room for misses.
//!
//! Or it stores to one line, or to some in a row, and waits until all stores are done. The difference is the time of the further
//! ones; they are fewer than a core has room for misses, as lines of a message are.

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
/// The lines that are stored to in a row.
const STORES: usize = 8;
/// In the last line of a row, in the place of the next one's number.
const END: u64 = u64::MAX;

/// The number of loads under way between the two CPUs of `group`, of which the first one writes. `correction` is that of the
/// second one's timer.
pub(super) fn loads_under_way(group: &Group, correction: Correction, seed: u64) -> Result<Option<f64>, Failure> {
    let [in_turn, together] = by_turns(group, seed, &load, |ticks| correction.ns(ticks, false))?;
    let times = in_turn.zip(together).filter(|&(in_turn, together)| in_turn > 0.0 && together > 0.0);
    Ok(times.map(|(in_turn, together)| in_turn / together))
}

/// The time from one store to the next in nanoseconds, between the two CPUs of `group`, of which the first one has written the
/// lines. `correction` is that of the second one's timer.
pub(super) fn time_between_stores(group: &Group, correction: Correction, seed: u64) -> Result<Option<f64>, Failure> {
    let [one, row] = by_turns(group, seed, &store, |ticks| correction.ns(ticks, true))?;
    Ok(one.zip(row).map(|(one, row)| ((row - one) / (STORES - 1) as f64).max(0.0)))
}

/// The accesses of the second participant to a row, which is of the one kind or of the other: their ticks.
type Accesses = dyn Fn(&Lines, usize, bool) -> Result<u64, Failure> + Sync;

/// The medians of both kinds of rows, in nanoseconds.
fn by_turns(
    group: &Group,
    seed: u64,
    accesses: &Accesses,
    ns: impl Fn(u64) -> f64,
) -> Result<[Option<f64>; 2], Failure> {
    let lines = Lines::untouched(ROW * ROWS, &mut Rng::with_seed(seed));
    lines.touch_on(group.cpus[0])?;
    let done = group.run(&|rank, meeting| take_part(rank, meeting, &lines, accesses))?;
    let of_kind =
        |kind: usize| median(&done[1].iter().skip(kind).step_by(2).map(|&ticks| ns(ticks)).collect::<Vec<_>>());
    Ok([of_kind(0), of_kind(1)])
}

/// The ticks of each row, of the second participant.
fn take_part(rank: usize, meeting: &Meeting<'_>, lines: &Lines, accesses: &Accesses) -> Result<Vec<u64>, Failure> {
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
            all.push(accesses(lines, first, row % 2 == 0)?);
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

/// The ticks of stores to the first line of a row, or to some of its lines, until they are done.
fn store(lines: &Lines, first: usize, is_one: bool) -> Result<u64, Failure> {
    let stored = first..first + if is_one { 1 } else { STORES };
    let (ticks, ()) = timed(|| {
        for line in stored.clone() {
            // ORDERING: Relaxed, the participants meet before the other one looks
            lines.word(line).store(line as u64, Ordering::Relaxed);
        }
        instruction::full_fence();
    });
    // ORDERING: Relaxed, its own stores
    let is_there = |line: usize| lines.word(line).load(Ordering::Relaxed) == line as u64;
    match stored.clone().find(|&line| !is_there(line)) {
        None => Ok(ticks),
        Some(line) => Err(Failure::Wrong(format!("line {line} does not hold what was stored to it"))),
    }
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
    fn stores_in_a_row_take_some_time_each_or_none() {
        let allowed = pin::affinity().expect("own mask");
        let cpus: Vec<CpuId> = allowed.as_slice().iter().copied().cycle().take(2).collect();
        let (_, correction) = timer::measure(cpus[1]).expect("a steady timer");
        let found = time_between_stores(&Group { cpus, cancel: Cancel::new() }, correction, 3);
        assert!(found.expect("all lines hold what was stored").is_some_and(|ns| ns >= 0.0));
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
