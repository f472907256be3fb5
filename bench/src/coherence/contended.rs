//! Cases in which all participants go for one line at once, with nothing between two operations.

use corecast::base::sync::{AtomicU64, Ordering};

use super::group::{Group, Meeting};
use super::lines::Line;
use super::operation::{Operands, Operation};
use corecast_race::failure::Failure;

/// The accesses of one participant.
struct Share {
    ticks: Vec<u64>,
    /// How much it has added to the word.
    added: u64,
    /// The value that it wrote last.
    last: u64,
}

/// The ticks of every operation, by rank, the timer's own included.
pub(super) fn ticks(operation: Operation, group: &Group, samples: usize) -> Result<Vec<Vec<u64>>, Failure> {
    let line = Line::new([0, 0].map(AtomicU64::new));
    let shares = group.run(&|rank, meeting| share(operation, rank, meeting, &line, samples))?;
    // ORDERING: Relaxed, the threads have ended
    check(operation, &shares, line[0].load(Ordering::Relaxed))?;
    Ok(shares.into_iter().map(|share| share.ticks).collect())
}

fn share(
    operation: Operation,
    rank: usize,
    meeting: &Meeting<'_>,
    line: &Line,
    samples: usize,
) -> Result<Share, Failure> {
    let mut share = Share { ticks: Vec::with_capacity(samples), added: 0, last: 0 };
    let mut known = 0;
    meeting.meet()?;
    for sample in 0..samples as u64 {
        let value = if operation == Operation::Cas { known + 1 } else { (rank as u64 + 1) << 32 | sample };
        let (ticks, seen) = operation.perform(line, Operands { compare: known, value });
        share.ticks.push(ticks);
        share.last = value;
        match (operation, seen) {
            (Operation::Cas, Some(seen)) if seen == known => {
                share.added += 1;
                known = value;
            }
            (Operation::Fai, _) => share.added += 1,
            (_, seen) => known = seen.unwrap_or(known),
        }
    }
    Ok(share)
}

/// Nothing that was added may be lost, and what was stored last is somebody's last.
fn check(operation: Operation, shares: &[Share], found: u64) -> Result<(), Failure> {
    let added: u64 = shares.iter().map(|share| share.added).sum();
    let is_right = match operation {
        Operation::Cas | Operation::Fai => found == added,
        _ => shares.iter().any(|share| share.last == found),
    };
    let wrong = || Failure::Wrong(format!("{} of all at once has left {found}, of {added} added", operation.name()));
    if is_right { Ok(()) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use corecast::machine::pin;

    use super::*;
    use corecast_race::cancel::Cancel;

    #[test]
    fn nothing_is_lost() {
        let allowed = pin::affinity().expect("own mask");
        let group = Group { cpus: allowed.as_slice().iter().copied().cycle().take(3).collect(), cancel: Cancel::new() };
        for operation in [Operation::Store, Operation::Cas, Operation::Fai] {
            let ticks = ticks(operation, &group, 500).expect("right");
            assert!(ticks.len() == 3 && ticks.iter().all(|ticks| ticks.len() == 500));
        }
    }

    #[test]
    fn losses_are_told() {
        let share = |added, last| Share { ticks: Vec::new(), added, last };
        let shares = [share(3, 7), share(4, 9)];
        assert_eq!(check(Operation::Fai, &shares, 7), Ok(()));
        let lost = check(Operation::Cas, &shares, 6).expect_err("one is missing").to_string();
        assert_eq!(lost, "wrong result: cas of all at once has left 6, of 7 added");
        assert_eq!(check(Operation::Store, &shares, 9), Ok(()));
        assert!(check(Operation::Store, &shares, 8).is_err());
    }
}
