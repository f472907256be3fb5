//! Fan-out and fan-in: the cost of a burst of messages to, or from, several peers for the CPU in the middle.
//!
//! Pairwise costs show neither. A few sends in a row are cheaper than a stream, as the store buffer takes them;
//! receives from different channels overlap, as their lines are fetched at once. Each burst is timed alone, with an
//! empty store buffer at its start and all channels drained; single bursts are shorter than the clock can tell, so a
//! sample is the mean of many, and the result the median of samples. Where there are fewer peers than channels, peers
//! have several.

use std::hint::black_box;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::crew::{Crew, Task};
use super::error::MeasureError;
use super::gauge::Gauge;
use super::halt::Halted;
use super::meeting::{Meeting, Pace, Seat};
use super::stats::median;
use super::stream::drain_store_buffer;
use crate::probe::{Probe, ProbeReceiver, ProbeSender};

/// The sizes of burst that are measured.
pub(super) const SIZES: [usize; 12] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];
const SLOTS: usize = 64;
/// Bursts of one sample: averages the clock's granularity of one look down by the square root of this number.
const BURSTS: usize = 64;
const PACE: Pace = Pace { warm_up: 2, most: 13, limit: Duration::from_millis(20) };

/// The work of the thread in the middle, and when its clock stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fan {
    /// It sends, until it could go on with something else.
    Out,
    /// It sends, until the last message is visible to all.
    OutVisible,
    /// It receives, until it has the last message.
    In,
}

/// The cost of a burst of `size` messages for the CPU at position 0, in nanoseconds.
pub(super) fn cost<'env, P: Probe>(
    crew: &Crew<'env>,
    probe: &'env P,
    gauge: Gauge,
    fan: Fan,
    size: usize,
) -> Result<f64, MeasureError> {
    let peers = size.min(crew.len() - 1);
    let burst: std::sync::Arc<Burst<'env, P>> = std::sync::Arc::new(Burst::new(crew, probe, size, peers));
    let tasks = (0..=peers).map(|party| {
        let burst = std::sync::Arc::clone(&burst);
        let task: Task<'env, Option<f64>> = Box::new(move || match (fan, party) {
            (Fan::Out | Fan::OutVisible, 0) => burst.send_all(&gauge, fan).map(Some),
            (Fan::Out | Fan::OutVisible, _) => burst.receive_share(party).map(|()| None),
            (Fan::In, 0) => burst.receive_all(&gauge).map(Some),
            (Fan::In, _) => burst.send_share(party).map(|()| None),
        });
        (party, task)
    });
    let results = crew.run(tasks.collect())?;
    Ok(results[0].expect("the one in the middle takes the time").max(0.0))
}

/// One fan. Party 0 is in the middle; channel c is shared with peer c % peers + 1.
struct Burst<'env, P: Probe> {
    probe: &'env P,
    size: usize,
    peers: usize,
    meeting: Meeting<'env>,
    /// The sending ends, by channel, made by the receivers.
    offers: Vec<Mutex<Option<P::Sender>>>,
}

impl<'env, P: Probe> Burst<'env, P> {
    fn new(crew: &Crew<'env>, probe: &'env P, size: usize, peers: usize) -> Self {
        let meeting = Meeting::new(peers + 1, crew.halt);
        Self { probe, size, peers, meeting, offers: (0..size).map(|_| Mutex::new(None)).collect() }
    }

    /// The middle's part of a fan-out.
    fn send_all(&self, gauge: &Gauge, fan: Fan) -> Result<f64, Halted> {
        let mut seat = self.meeting.seat(0);
        seat.meet(true)?;
        let mut senders = self.take(0..self.size);
        let watch = StopWatch { gauge, waits_for_all: fan == Fan::OutVisible };
        self.mean_of_bursts(&mut seat, &watch, |seat| {
            watch.ticks(|| {
                senders.iter_mut().try_for_each(|sender| seat.halt.until(|| sender.try_send(0).then_some(())))
            })
        })
    }

    /// A peer's part of a fan-out.
    fn receive_share(&self, party: usize) -> Result<(), Halted> {
        let mut seat = self.meeting.seat(party);
        let mut receivers = self.offer(self.share(party));
        seat.meet(true)?;
        seat.accompany(|seat| {
            for _ in 0..BURSTS {
                seat.meet(true)?;
                for receiver in &mut receivers {
                    seat.halt.until(|| receiver.try_receive())?;
                }
            }
            Ok(())
        })
    }

    /// The middle's part of a fan-in.
    fn receive_all(&self, gauge: &Gauge) -> Result<f64, Halted> {
        let mut seat = self.meeting.seat(0);
        let mut receivers = self.offer(0..self.size);
        seat.meet(true)?;
        let watch = StopWatch { gauge, waits_for_all: true };
        self.mean_of_bursts(&mut seat, &watch, |seat| {
            seat.meet(true)?;
            watch.ticks(|| {
                receivers
                    .iter_mut()
                    .try_for_each(|receiver| seat.halt.until(|| receiver.try_receive()).map(black_box).map(drop))
            })
        })
    }

    /// A peer's part of a fan-in.
    fn send_share(&self, party: usize) -> Result<(), Halted> {
        let mut seat = self.meeting.seat(party);
        seat.meet(true)?;
        let mut senders = self.take(self.share(party));
        seat.accompany(|seat| {
            for _ in 0..BURSTS {
                seat.meet(true)?;
                for sender in &mut senders {
                    seat.halt.until(|| sender.try_send(0).then_some(()))?;
                }
                drain_store_buffer();
                seat.meet(true)?;
            }
            Ok(())
        })
    }

    /// The median over samples of the mean over bursts, less the same without messages.
    fn mean_of_bursts(
        &self,
        seat: &mut Seat<'_>,
        watch: &StopWatch<'_>,
        mut burst: impl FnMut(&mut Seat<'_>) -> Result<u64, Halted>,
    ) -> Result<f64, Halted> {
        let empty_ns = watch.empty_ns()?;
        let samples = seat.time(&PACE, |seat| {
            let mut ticks = 0;
            for _ in 0..BURSTS {
                seat.meet(true)?;
                ticks += burst(seat)?;
            }
            Ok(watch.gauge.ns(ticks) / BURSTS as f64 - empty_ns)
        })?;
        Ok(median(&samples))
    }

    /// The channels of a peer.
    fn share(&self, party: usize) -> impl Iterator<Item = usize> + use<P> {
        (party - 1..self.size).step_by(self.peers)
    }

    /// Makes channels and offers their sending ends; the receiving ends in their order.
    fn offer(&self, channels: impl Iterator<Item = usize>) -> Vec<P::Receiver> {
        let connected = channels.map(|channel| {
            let (sender, receiver) = self.probe.connect(SLOTS);
            *self.offers[channel].lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
            receiver
        });
        connected.collect()
    }

    /// The sending ends, once all have met.
    fn take(&self, channels: impl Iterator<Item = usize>) -> Vec<P::Sender> {
        let taken = channels.map(|channel| self.offers[channel].lock().unwrap_or_else(PoisonError::into_inner).take());
        taken.map(|sender| sender.expect("offered before the meeting, and taken once")).collect()
    }
}

/// Times one burst.
#[derive(Debug)]
struct StopWatch<'g> {
    gauge: &'g Gauge,
    /// True if the last message counts as done when it is really there: a core looks at the clock ahead of loads and
    /// stores that are still under way.
    waits_for_all: bool,
}

impl StopWatch<'_> {
    fn ticks(&self, work: impl FnOnce() -> Result<(), Halted>) -> Result<u64, Halted> {
        drain_store_buffer();
        let start = self.gauge.ticks();
        work()?;
        if self.waits_for_all {
            drain_store_buffer();
        }
        Ok(self.gauge.ticks().saturating_sub(start))
    }

    /// The time of an empty burst.
    fn empty_ns(&self) -> Result<f64, Halted> {
        let ticks = (0..PACE.most * BURSTS).map(|_| self.ticks(|| Ok(()))).collect::<Result<Vec<u64>, _>>()?;
        let samples = ticks.chunks(BURSTS).map(|burst| self.gauge.ns(burst.iter().sum()) / BURSTS as f64);
        Ok(median(&samples.collect::<Vec<_>>()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line_probe::LineProbe;
    use crate::measure::halt::Halt;

    #[test]
    fn every_channel_has_one_peer() {
        let halt = Halt::new(Duration::from_secs(60));
        for (size, peers) in [(1, 1), (7, 3), (64, 16)] {
            let meeting = Meeting::new(peers + 1, &halt);
            let burst = Burst { probe: &LineProbe, size, peers, meeting, offers: Vec::new() };
            let mut shared: Vec<usize> = (1..=peers).flat_map(|party| burst.share(party)).collect();
            shared.sort_unstable();
            assert_eq!(shared, (0..size).collect::<Vec<_>>());
        }
    }
}
