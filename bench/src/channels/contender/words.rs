//! Lends the queues of this race to the race of single words, as contenders there.

use std::marker::PhantomData;
use std::sync::Arc;

use super::super::wire::Wire;
use super::payload::Inline;
use super::queue::{QueueFamily, QueueRecv, QueueSend, Waiting};
use super::{crossbeam, nexus_queue, ringbuf, rtrb, sync_channel, ump};
use crate::pair_body::{RecvEnd, SendEnd, channel_name, stream_bodies};
use corecast_race::contender::{Contender, Setting, Unfit};
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Body};
use corecast_race::op::Op;

/// A word as the queues carry it, on its way through which it stays in a register.
type Carried = Inline<WORD_BYTES>;

const WORD_BYTES: usize = size_of::<u64>();

/// Every queue of one sender and one receiver that is raced with words.
pub(crate) fn word_queues(op: Op, slots: usize) -> Vec<Box<dyn Contender>> {
    vec![
        one::<ump::Ump>(op, slots),
        one::<rtrb::Rtrb>(op, slots),
        one::<ringbuf::Ringbuf>(op, slots),
        one::<nexus_queue::NexusQueue>(op, slots),
        one::<crossbeam::Crossbeam>(op, slots),
        one::<sync_channel::SyncChannel>(op, slots),
    ]
}

fn one<F: QueueFamily + 'static>(op: Op, slots: usize) -> Box<dyn Contender> {
    Box::new(Words::<F> { op, slots, family: PhantomData })
}

/// A family's queue of words.
struct Words<F> {
    op: Op,
    slots: usize,
    family: PhantomData<F>,
}

/// The sending end, and how it waits if it cannot by itself.
struct Sending<Q> {
    queue: Q,
    waiting: Waiting,
}

/// The receiving end.
struct Receiving<Q> {
    queue: Q,
    waiting: Waiting,
}

impl<F: QueueFamily + 'static> Contender for Words<F> {
    fn name(&self) -> String {
        channel_name(F::NAME, self.op, self.slots)
    }

    fn about(&self) -> String {
        format!("{}; {} words", F::ABOUT, self.slots)
    }

    fn is_ours(&self) -> bool {
        F::TRAITS.ours
    }

    fn only_for(&self) -> Option<usize> {
        Some(2)
    }

    fn build(&self, setting: &Setting<'_>, abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        let wake_ns = setting.machine.extended.wake_ns.map(|ns| ns as u64);
        let wire = Wire::new(WORD_BYTES, 1, setting.oversubscribed, setting.wait);
        let wire = Wire { depth: self.slots, wake_ns, ..wire };
        let waiting = Waiting::new(&wire, abort);
        let (senders, receivers) = F::channels::<Carried>(&wire);
        let ends = senders.into_iter().zip(receivers).next();
        let (sender, receiver) = ends.ok_or_else(|| Unfit("a queue without ends".to_owned()))?;
        let sender = Sending { queue: sender, waiting: waiting.clone() };
        Ok(stream_bodies((sender, Receiving { queue: receiver, waiting })))
    }
}

impl<Q: QueueSend<Carried>> SendEnd for Sending<Q> {
    type Item = u64;

    #[inline]
    fn send(&mut self, word: u64) -> Result<(), Failure> {
        self.queue.push(word.into(), &self.waiting)
    }
}

impl<Q: QueueRecv<Carried>> RecvEnd for Receiving<Q> {
    type Item = u64;

    #[inline]
    fn recv(&mut self) -> Result<u64, Failure> {
        self.queue.pop(&self.waiting).map(u64::from)
    }
}
