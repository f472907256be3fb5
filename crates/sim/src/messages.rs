//! Messages between two CPUs of a simulated machine.

use std::cell::RefCell;
use std::rc::Rc;

use corecast_sim_core::{Machine, Random, Report, Run, Thread, Ticks};

use crate::channels::{Channel, MessageChannel, USUAL_SLOTS, for_each_channel};
use crate::disturbance::{Disturbance, Disturbed};
use crate::error::SimError;
use crate::median::median;
use crate::rounds::alone;

/// Two threads that exchange messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The CPU of the sender.
    pub sender: usize,
    /// The CPU of the receiver.
    pub receiver: usize,
    /// Messages before those that count.
    pub warm_up: u64,
    /// Messages that count.
    pub messages: u64,
    /// The time between two messages of which each is waited for, in nanoseconds; it differs by up to half.
    pub pause_ns: u64,
    /// The seed of these differences.
    pub seed: u64,
    /// The disturbances of both, each of which has a CPU, and is not killed.
    pub disturbance: Disturbance,
}

impl Default for Pair {
    fn default() -> Self {
        Self {
            sender: 0,
            receiver: 1,
            warm_up: 200,
            messages: 200,
            pause_ns: 1000,
            seed: 1,
            disturbance: Disturbance::NONE,
        }
    }
}

/// The times of messages between two CPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageTimes {
    /// From the begin of a send until the receiver has the message, which waits for it: the median, in nanoseconds.
    pub one_way_ns: f64,
    /// From the begin of a send until the answer is there, message after message: the median, in nanoseconds.
    pub round_trip_ns: f64,
    /// From message to message of a stream, in nanoseconds.
    pub stream_ns: f64,
    /// Lines that moved for a message of the stream, by the distance that they came from.
    pub stream_transfers: Vec<f64>,
    /// How both were disturbed, in the runs of all three times.
    pub disturbed: Disturbed,
}

/// A pair of CPUs for each distance of the machine: the first CPU, and the first one at that distance from it.
#[must_use]
pub fn pairs_by_distance(machine: &Machine) -> Vec<(usize, usize)> {
    let mut pairs: Vec<(usize, (usize, usize))> = Vec::new();
    for other in 1..machine.cpus() {
        let distance = machine.distance(0, other);
        if pairs.iter().all(|&(known, _)| known != distance) {
            pairs.push((distance, (0, other)));
        }
    }
    pairs.sort_unstable();
    pairs.into_iter().map(|(_, pair)| pair).collect()
}

/// Sends messages over a channel: one at a time, there and back, and in a stream.
///
/// # Errors
/// [`SimError::Threads`] if the machine has no such CPUs or both are the same, [`SimError::Kill`] if one is to be killed,
/// [`SimError::Stopped`] if a run has no outcome, [`SimError::Stack`] if there is no memory for a thread.
pub fn messages(machine: &Machine, channel: Channel, pair: Pair) -> Result<MessageTimes, SimError> {
    let (most, cpus) = (pair.sender.max(pair.receiver), machine.cpus());
    if most >= cpus || pair.sender == pair.receiver {
        return Err(SimError::Threads { threads: most + 1, cpus, most: cpus });
    }
    if pair.disturbance.kill_at.is_some() {
        return Err(SimError::Kill { reason: "the other end would wait for it for ever" });
    }
    macro_rules! choose {
        ($($variant:ident = $name:literal: $of:ty,)*) => {
            match channel { $(Channel::$variant => Exchange { machine, pair }.all::<$of>(),)* }
        };
    }
    for_each_channel!(choose)
}

/// Lets messages go round threads on the first CPUs, each of which sends on what it receives; the threads compute for a random
/// time of up to `pause_ns` in between. Nanoseconds from thread to thread.
///
/// # Errors
/// [`SimError::Threads`] for fewer than two threads or more than CPUs; those of [`messages`].
pub fn relay(machine: &Machine, channel: Channel, relay: Relay) -> Result<f64, SimError> {
    let cpus = machine.cpus();
    if relay.threads < 2 || relay.threads > cpus {
        return Err(SimError::Threads { threads: relay.threads, cpus, most: cpus });
    }
    macro_rules! choose {
        ($($variant:ident = $name:literal: $of:ty,)*) => {
            match channel { $(Channel::$variant => relay_by::<$of>(machine, relay),)* }
        };
    }
    for_each_channel!(choose)
}

/// Messages that go round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relay {
    /// The threads, on the first CPUs of the machine, one on each.
    pub threads: usize,
    /// The times that each message goes round.
    pub rounds: u64,
    /// Messages that are under way at once, at most 16.
    pub messages: u64,
    /// The longest time for which a thread computes before it sends a message on, in nanoseconds.
    pub pause_ns: u64,
    /// The seed of these times.
    pub seed: u64,
}

fn relay_by<C: MessageChannel>(machine: &Machine, relay: Relay) -> Result<f64, SimError> {
    let _alone = alone();
    let (mut senders, receivers): (Vec<_>, Vec<_>) = (0..relay.threads).map(|_| C::pair(USUAL_SLOTS)).unzip();
    // Thread i receives from channel i and sends to the next one.
    senders.rotate_left(1);
    let total = relay.rounds * relay.messages;
    let mut run = Run::new(machine);
    for (cpu, (mut sender, mut receiver)) in senders.into_iter().zip(receivers).enumerate() {
        let mut random = Random::new(relay.seed, cpu);
        let body = move |me: &Thread| {
            let begun = if cpu == 0 { relay.messages } else { 0 };
            (0..begun).for_each(|number| C::send(&mut sender, number));
            for number in 0..total {
                assert_eq!(C::recv(&mut receiver), number, "messages come in their order");
                me.work_ns(random.below(relay.pause_ns + 1));
                let next = number + begun;
                if next < total {
                    C::send(&mut sender, next);
                }
            }
        };
        run.spawn(cpu, 0, boxed(body)).map_err(SimError::stack)?;
    }
    let hops = total.max(1) * relay.threads as u64;
    let report = run.finish(machine.ticks(hops.saturating_mul(PATIENCE_NS + relay.pause_ns)))?;
    Ok(machine.ns(report.end) / (relay.rounds.max(1) * relay.threads as u64) as f64)
}

/// A run is given up after this time for each message, in nanoseconds.
const PATIENCE_NS: u64 = 1_000_000;

/// The times of threads, which they append.
type Times = Rc<RefCell<Vec<Ticks>>>;

struct Exchange<'a> {
    machine: &'a Machine,
    pair: Pair,
}

impl Exchange<'_> {
    fn all<C: MessageChannel>(&self) -> Result<MessageTimes, SimError> {
        let _alone = alone();
        let (stream_ns, stream) = self.stream::<C>()?;
        let (one_way_ns, one_way) = self.one_way::<C>()?;
        let (round_trip_ns, round_trip) = self.round_trip::<C>()?;
        let mut disturbed = Disturbed::default();
        [&stream, &one_way, &round_trip].into_iter().for_each(|run| disturbed += Disturbed::of(self.machine, run));
        let stream_transfers = stream.counts.transfers_each(self.pair.warm_up + self.pair.messages);
        Ok(MessageTimes { one_way_ns, round_trip_ns, stream_ns, stream_transfers, disturbed })
    }

    fn one_way<C: MessageChannel>(&self) -> Result<(f64, Report), SimError> {
        let (mut sender, mut receiver) = C::pair(USUAL_SLOTS);
        let (sent, received) = (Times::default(), Times::default());
        let (times, pair, mut random) = (Rc::clone(&sent), self.pair, Random::new(self.pair.seed, 0));
        let send = move |me: &Thread| {
            for number in 0..pair.warm_up + pair.messages {
                me.work_ns(pair.pause_ns + random.below(pair.pause_ns / 2 + 1));
                times.borrow_mut().push(me.now());
                C::send(&mut sender, number);
            }
        };
        let times = Rc::clone(&received);
        let receive = move |me: &Thread| {
            for number in 0..pair.warm_up + pair.messages {
                assert_eq!(C::recv(&mut receiver), number, "messages come in their order");
                times.borrow_mut().push(me.now());
            }
        };
        let report = self.run(send, receive)?;
        Ok((self.median(&sent.take(), &received.take()), report))
    }

    fn round_trip<C: MessageChannel>(&self) -> Result<(f64, Report), SimError> {
        let ((mut there, mut request), (mut back, mut answer)) = (C::pair(USUAL_SLOTS), C::pair(USUAL_SLOTS));
        let (sent, received) = (Times::default(), Times::default());
        let (begins, ends, pair) = (Rc::clone(&sent), Rc::clone(&received), self.pair);
        let ask = move |me: &Thread| {
            for number in 0..pair.warm_up + pair.messages {
                begins.borrow_mut().push(me.now());
                C::send(&mut there, number);
                assert_eq!(C::recv(&mut answer), number, "the answer is to the last message");
                ends.borrow_mut().push(me.now());
            }
        };
        let serve = move |_: &Thread| {
            for number in 0..pair.warm_up + pair.messages {
                assert_eq!(C::recv(&mut request), number, "messages come in their order");
                C::send(&mut back, number);
            }
        };
        let report = self.run(ask, serve)?;
        Ok((self.median(&sent.take(), &received.take()), report))
    }

    /// Nanoseconds for a message.
    fn stream<C: MessageChannel>(&self) -> Result<(f64, Report), SimError> {
        let (mut sender, mut receiver) = C::pair(USUAL_SLOTS);
        let (received, pair) = (Times::default(), self.pair);
        let send = move |_: &Thread| (0..pair.warm_up + pair.messages).for_each(|number| C::send(&mut sender, number));
        let (first, last) = (pair.warm_up.max(1) - 1, pair.warm_up + pair.messages - 1);
        let times = Rc::clone(&received);
        let receive = move |me: &Thread| {
            for number in 0..=last {
                assert_eq!(C::recv(&mut receiver), number, "messages come in their order");
                // A look at the clock waits for what was read.
                if number == first || number == last {
                    times.borrow_mut().push(me.now());
                }
            }
        };
        let report = self.run(send, receive)?;
        let received = received.take();
        let span = received.last().zip(received.first()).map_or(0, |(last, first)| last - first);
        Ok((self.machine.ns(span) / (last - first).max(1) as f64, report))
    }

    fn run(
        &self,
        sender: impl FnOnce(&Thread) + 'static,
        receiver: impl FnOnce(&Thread) + 'static,
    ) -> Result<Report, SimError> {
        let mut run = Run::new(self.machine);
        run.spawn(self.pair.sender, 0, boxed(sender)).map_err(SimError::stack)?;
        run.spawn(self.pair.receiver, 0, boxed(receiver)).map_err(SimError::stack)?;
        self.pair.disturbance.apply(&mut run, self.machine, self.pair.seed);
        let messages = self.pair.warm_up + self.pair.messages;
        Ok(run.finish(self.machine.ticks(messages.saturating_mul(PATIENCE_NS + self.pair.pause_ns)))?)
    }

    /// The median of the differences that count, in nanoseconds.
    fn median(&self, begins: &[Ticks], ends: &[Ticks]) -> f64 {
        let all = begins.iter().zip(ends).skip(self.pair.warm_up as usize);
        let mut times: Vec<f64> = all.map(|(begin, end)| self.machine.ns(end - begin)).collect();
        median(&mut times).unwrap_or(0.0)
    }
}

/// A coroutine begins with what its closure holds, for which it has little room.
pub(crate) fn boxed(body: impl FnOnce(&Thread) + 'static) -> Box<dyn FnOnce(&Thread)> {
    Box::new(body)
}
