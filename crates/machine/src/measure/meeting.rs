//! A barrier at which the parties of one measurement wait for each other between batches.
//!
//! Each party has a line that it alone writes: how often it has arrived. To meet is to arrive and to wait until the
//! others have arrived as often. The party that takes the time decides how many batches there are, because only it
//! knows how long they take; the others learn it at the next meeting.

use std::time::{Duration, Instant};

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicU64, Ordering};

use super::halt::{Halt, Halted};

/// The lines of all parties.
#[derive(Debug)]
pub(super) struct Meeting<'h> {
    parties: Box<[CacheLine<Party>]>,
    halt: &'h Halt,
}

/// Written by one party, read by the others.
#[derive(Debug, Default)]
struct Party {
    /// How often this party has arrived.
    arrivals: AtomicU64,
    /// The last arrival at which this party ended its series. Kept until it is read: this party cannot end another
    /// series without a meeting that the reader takes part in.
    ended: AtomicU64,
}

impl<'h> Meeting<'h> {
    pub(super) fn new(parties: usize, halt: &'h Halt) -> Self {
        Self { parties: (0..parties).map(|_| CacheLine::default()).collect(), halt }
    }

    /// The place of one party, to be taken by one thread.
    pub(super) fn seat(&self, party: usize) -> Seat<'_> {
        Seat { parties: &self.parties, halt: self.halt, party, arrivals: 0 }
    }
}

/// One party's view of the meeting.
#[derive(Debug)]
pub(super) struct Seat<'m> {
    parties: &'m [CacheLine<Party>],
    pub(super) halt: &'m Halt,
    party: usize,
    arrivals: u64,
}

impl Seat<'_> {
    /// Waits until all are here; everything they did before is then visible. False if a party ended the series.
    pub(super) fn meet(&mut self, wants_more: bool) -> Result<bool, Halted> {
        self.arrivals += 1;
        let own = &self.parties[self.party];
        if !wants_more {
            // ORDERING: Relaxed, made visible by the arrival below
            own.ended.store(self.arrivals, Ordering::Relaxed);
        }
        // ORDERING: Release, pairs with the Acquire in await_party [arrival]
        own.arrivals.store(self.arrivals, Ordering::Release);
        let mut more = wants_more;
        for other in (0..self.parties.len()).filter(|&other| other != self.party) {
            more &= self.await_party(other)?;
        }
        Ok(more)
    }

    fn await_party(&self, other: usize) -> Result<bool, Halted> {
        let party = &self.parties[other];
        self.halt.until(|| {
            // ORDERING: Acquire, pairs with the Release in meet: what the party did before it arrived [arrival]
            (party.arrivals.load(Ordering::Acquire) >= self.arrivals).then_some(())
        })?;
        // ORDERING: Relaxed, the arrival was acquired above
        Ok(party.ended.load(Ordering::Relaxed) != self.arrivals)
    }

    /// Takes samples, each after a meeting, as many as `pace` wants; those of the warm-up are left out.
    pub(super) fn time(
        &mut self,
        pace: &Pace,
        mut sample: impl FnMut(&mut Self) -> Result<f64, Halted>,
    ) -> Result<Vec<f64>, Halted> {
        let begun = Instant::now();
        let mut samples = Vec::with_capacity(pace.most);
        while self.meet(pace.wants_more(samples.len(), begun.elapsed()))? {
            samples.push(sample(self)?);
        }
        samples.drain(..pace.warm_up);
        Ok(samples)
    }

    /// Does this party's part of each sample until the party that takes the time ends the series.
    pub(super) fn accompany(&mut self, mut part: impl FnMut(&mut Self) -> Result<(), Halted>) -> Result<(), Halted> {
        while self.meet(true)? {
            part(self)?;
        }
        Ok(())
    }
}

/// How many samples a series has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Samples at the start that are thrown away: page faults, cold caches, slow clocks.
    pub(super) warm_up: usize,
    /// Samples that are wanted, the warm-up included.
    pub(super) most: usize,
    /// After this much time a few samples are enough: on a busy machine each may cost a time slice.
    pub(super) limit: Duration,
}

impl Pace {
    /// The fewest samples that are kept.
    const LEAST_KEPT: usize = 3;

    fn wants_more(&self, samples: usize, elapsed: Duration) -> bool {
        samples < self.warm_up + Self::LEAST_KEPT || (samples < self.most && elapsed < self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parties_see_the_same_number_of_samples() {
        let halt = Halt::new(Duration::from_secs(60));
        let meeting = Meeting::new(3, &halt);
        let pace = Pace { warm_up: 2, most: 7, limit: Duration::from_secs(3600) };
        let hurried = Pace { limit: Duration::ZERO, ..pace };
        std::thread::scope(|scope| {
            let others = [1, 2].map(|party| {
                let mut seat = meeting.seat(party);
                scope.spawn(move || {
                    [0; 6].map(|_| {
                        let mut parts = 0;
                        seat.accompany(|_| {
                            parts += 1;
                            Ok(())
                        })
                        .map(|()| parts)
                    })
                })
            });
            let mut seat = meeting.seat(0);
            for pace in [pace, hurried, pace, hurried, pace, hurried] {
                let mut taken = 0.0;
                let samples = seat.time(&pace, |_| {
                    taken += 1.0;
                    Ok(taken)
                });
                let expected: &[f64] = if pace.limit.is_zero() { &[3.0, 4.0, 5.0] } else { &[3.0, 4.0, 5.0, 6.0, 7.0] };
                assert_eq!(samples.as_deref(), Ok(expected));
            }
            for other in others {
                assert_eq!(other.join().expect("no panic"), [7, 5, 7, 5, 7, 5].map(Ok));
            }
        });
    }

    #[test]
    fn no_party_waits_for_one_that_will_not_come() {
        let halt = Halt::new(Duration::from_secs(3600));
        let meeting = Meeting::new(2, &halt);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| meeting.seat(0).meet(true));
            halt.stop(super::super::error::MeasureError::Cancelled);
            assert_eq!(waiting.join().expect("no panic"), Err(Halted));
        });
    }
}
