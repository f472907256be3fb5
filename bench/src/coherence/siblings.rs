//! The factor by which a CPU computes slower while another CPU of its core computes.

use std::hint::black_box;

use corecast::base::CacheLine;
use corecast::base::sync::{AtomicU32, Ordering};

use super::group::{Group, Meeting};
use super::operation::timed;
use crate::stats::median;
use corecast_race::failure::Failure;

const SAMPLES: u32 = 60;
/// Steps of a sample, some 20 us.
const STEPS: u64 = 5000;
/// Steps of the other CPU between two looks whether the sample is over.
const STEPS_PER_LOOK: u64 = 50;

/// The factor for the two CPUs of `group`, at least 1.
pub(super) fn slowdown(group: &Group) -> Result<Option<f64>, Failure> {
    let over = CacheLine::new(AtomicU32::new(0));
    let done = group.run(&|rank, meeting| match rank {
        0 => measure(meeting, &over),
        _ => accompany(meeting, &over).map(|()| Vec::new()),
    })?;
    let times = |is_beside: bool| {
        median(
            &done[0].iter().map(|&[alone, beside]| if is_beside { beside } else { alone } as f64).collect::<Vec<_>>(),
        )
    };
    Ok(times(false).zip(times(true)).map(|(alone, beside)| (beside / alone).max(1.0)))
}

/// The ticks of each sample, while the other participant waits and while it computes.
fn measure(meeting: &Meeting<'_>, over: &AtomicU32) -> Result<Vec<[u64; 2]>, Failure> {
    let mut all = Vec::new();
    for sample in 1..=SAMPLES {
        meeting.heed_user();
        let alone = timed(|| compute(STEPS)).0;
        meeting.meet()?;
        let beside = timed(|| compute(STEPS)).0;
        // ORDERING: Relaxed, only a number
        over.store(sample, Ordering::Relaxed);
        meeting.meet()?;
        all.push([alone, beside]);
    }
    Ok(all)
}

/// Waits, with pauses, and computes by turns.
fn accompany(meeting: &Meeting<'_>, over: &AtomicU32) -> Result<(), Failure> {
    for sample in 1..=SAMPLES {
        meeting.meet()?;
        // ORDERING: Relaxed, only a number
        while over.load(Ordering::Relaxed) < sample {
            meeting.go_on()?;
            compute(STEPS_PER_LOOK);
        }
        meeting.meet()?;
    }
    Ok(())
}

/// Four random numbers a step, which do not wait for each other.
fn compute(steps: u64) {
    let mut state = black_box([1_u64, 2, 3, 4]);
    for step in 0..steps {
        state.iter_mut().for_each(|word| *word = word.wrapping_mul(0x5851_F42D_4C95_7F2D).rotate_left(17) ^ step);
    }
    black_box(state);
}

#[cfg(test)]
mod tests {
    use corecast::machine::pin;

    use super::*;
    use corecast_race::cancel::Cancel;

    #[test]
    fn nobody_is_faster_beside_another_one() {
        let allowed = pin::affinity().expect("own mask");
        let cpus = allowed.as_slice().iter().copied().cycle().take(2).collect();
        let found = slowdown(&Group { cpus, cancel: Cancel::new() }).expect("nothing fails");
        assert!(found.is_some_and(|factor| factor >= 1.0), "{found:?}");
    }
}
