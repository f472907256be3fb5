//! Receive cost: the time that a receiver is busy with a message that is already there.
//!
//! The messages are sent, and visible, before the receiver starts its clock: else it would measure the sender's gaps.
//! They lie in many channels, one in each, and **each message tells in which channel the next one is**. A receiver that
//! knew could let the core fetch the next lines while it reads this one, as the core does by itself along a ring; the
//! inner node of a tree cannot, it has one message to wait for. Receives that do overlap are measured by `fan_in`.

use std::hint::black_box;

use super::gauge::Gauge;
use super::halt::{Halt, Halted};
use crate::probe::{Probe, ProbeReceiver, ProbeSender};

/// Slots of each channel: as many as a channel for latency has.
pub(super) const SLOTS: usize = 64;
/// Channels are put this many different distances into their rings, so that their next lines do not fall into the same
/// few sets of the caches and their acknowledgements not into the same batch.
const PHASES: usize = 48;

/// The order in which a receiver visits its channels: `next[c]` is the channel after c, a cycle through all.
#[derive(Clone, Debug)]
pub(super) struct Order {
    next: Box<[u64]>,
}

impl Order {
    pub(super) fn shuffled(channels: usize, seed: u64) -> Self {
        let mut visits: Vec<usize> = (0..channels).collect();
        fastrand::Rng::with_seed(seed).shuffle(&mut visits);
        let mut next = vec![0; channels].into_boxed_slice();
        for (i, &channel) in visits.iter().enumerate() {
            next[channel] = visits[(i + 1) % channels] as u64;
        }
        Self { next }
    }

    /// The cost of the walk itself per step, without any message.
    pub(super) fn empty_walk_ns(&self, gauge: &Gauge, halt: &Halt) -> Result<f64, Halted> {
        let mut at = 0;
        let start = gauge.ticks();
        for _ in 0..self.next.len() {
            at = halt.until(|| black_box(Some(self.next[at])))? as usize;
        }
        black_box(at);
        Ok((gauge.ns_since(start) / self.next.len() as f64).max(0.0))
    }
}

/// Makes the channels, with every page they will use touched. Called by the thread that will receive.
pub(super) fn connect<P: Probe>(probe: &P, channels: usize) -> (Vec<P::Sender>, Vec<P::Receiver>) {
    let advanced = |channel: usize| {
        let (mut sender, mut receiver) = probe.connect(SLOTS);
        for _ in 0..channel % PHASES {
            if sender.try_send(0) {
                receiver.try_receive();
            }
        }
        (sender, receiver)
    };
    (0..channels).map(advanced).unzip()
}

/// Puts one message into each channel.
pub(super) fn fill(senders: &mut [impl ProbeSender], order: &Order, halt: &Halt) -> Result<(), Halted> {
    for (sender, &next) in senders.iter_mut().zip(&order.next) {
        halt.until(|| sender.try_send(next).then_some(()))?;
    }
    Ok(())
}

/// Takes all of them out; the cost of one in nanoseconds.
pub(super) fn time_receives(receivers: &mut [impl ProbeReceiver], gauge: &Gauge, halt: &Halt) -> Result<f64, Halted> {
    let mut at = 0;
    let start = gauge.ticks();
    for _ in 0..receivers.len() {
        at = halt.until(|| receivers[at].try_receive())? as usize;
    }
    black_box(at);
    Ok(gauge.ns_since(start) / receivers.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line_probe::LineProbe;
    use std::time::Duration;

    #[test]
    fn the_order_is_one_cycle_through_all_channels() {
        for (channels, seed) in [(1, 0), (2, 1), (64, 2), (100, 3)] {
            let order = Order::shuffled(channels, seed);
            let (mut at, mut seen) = (0, vec![false; channels]);
            for _ in 0..channels {
                assert!(!std::mem::replace(&mut seen[at], true), "channel {at} twice");
                at = order.next[at] as usize;
            }
            assert_eq!(at, 0);
        }
        assert_ne!(Order::shuffled(64, 1).next, Order::shuffled(64, 2).next, "the seed counts");
    }

    #[test]
    fn a_filled_chain_is_drained_again_and_again() {
        let (gauge, halt) = (Gauge::take(), Halt::new(Duration::from_secs(60)));
        let order = Order::shuffled(64, 7);
        let (mut senders, mut receivers) = connect(&LineProbe, 64);
        for _ in 0..200 {
            fill(&mut senders, &order, &halt).expect("room for one message");
            time_receives(&mut receivers, &gauge, &halt).expect("all messages are there");
            assert!(receivers.iter_mut().all(|receiver| receiver.try_receive().is_none()));
        }
    }
}
