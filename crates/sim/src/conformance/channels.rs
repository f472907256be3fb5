//! Channels put to the test: does each message arrive whole, once and in order, wherever an end is stopped or killed?
//!
//! A sender sends numbered messages through a ring that is shorter than the stream, a receiver takes them.
//!
//! **With stops** both wait without a limit, and sleeps last until a wake-up: one that is lost is a deadlock.
//!
//! **With a kill** both wait with a limit of a millisecond. The library **promises** of a dead end: the other one goes on, or
//! gets an error when its limit is over; the receiver has the messages in order up to one, each as it was sent: those whose send
//! had returned if the last stores land. A dead thread of the same process is not told, as no destructor of it runs: who waits
//! without a limit waits for ever. Ends among processes are told by the liveness of their peers, which is not simulated.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use corecast_sim_core::{LastStores, Preemption, Random, Run, Stopped, Thread, published};

use super::{CPUS, LASTING_NS, LIMIT_NS, Placement, often_short};
use crate::channels::{Channel, MessageChannel, Missed, for_each_channel};
use crate::messages::boxed;
use crate::rounds::alone;

/// The messages: more than any of the rings has room for.
const MESSAGES: u64 = 36;
/// The room that is asked for.
const SLOTS: usize = 2;
/// The longest wait of an end for a message or for room, where one is killed.
const WAIT_NS: u64 = 1_000_000;
/// An end may be late by this time: a sleeper needs 30 us until it runs.
const LATE_NS: u64 = 100_000;

/// An end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The one that sends.
    Sender,
    /// The one that receives.
    Receiver,
}

/// The disturbance of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Disturbed {
    /// One access in this number is stopped, for this time at most; both ends on this number of CPUs.
    Stops {
        one_in: u64,
        longest_ns: u64,
        cpus: usize,
        placement: Placement,
    },
    Kill {
        end: End,
        access: u64,
        stores: LastStores,
    },
}

/// A channel that has failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{channel} failed with seed {seed}{killed}: {fault}")]
pub struct ChannelFailure {
    /// The channel.
    pub channel: &'static str,
    /// The seed, which repeats it.
    pub seed: u64,
    /// The kill or the moves, in words; empty without them.
    pub killed: String,
    /// The way in which it failed.
    pub fault: Box<ChannelFault>,
}

/// The way in which a channel failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChannelFault {
    /// A message was lost, came twice, or too early.
    #[error("message {received} came where {expected} was due")]
    Order {
        /// The message that came.
        received: u64,
        /// The one that was due.
        expected: u64,
    },
    /// Messages were lost, or came that nobody had sent.
    #[error("{received} messages came, of {sent} that were sent and {begun} whose send had begun")]
    Lost {
        /// Messages that came.
        received: u64,
        /// Messages whose send had returned.
        sent: u64,
        /// Messages whose send had begun.
        begun: u64,
    },
    /// An end waited for longer than it was to.
    #[error("the {end} waited for {waited_ns} ns, and was to give up after {limit_ns}")]
    Late {
        /// The end.
        end: &'static str,
        /// The time that it waited for.
        waited_ns: u64,
        /// Its limit.
        limit_ns: u64,
    },
    /// An end did not come to its end, or a message was torn.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// No memory for the stack of a thread.
    #[error("there is no memory for the stack of a simulated thread: {0}")]
    Stack(String),
}

/// Tries a channel with the stops for which this seed stands.
///
/// # Errors
/// [`ChannelFailure`], which names the seed.
pub fn check_channel(channel: Channel, seed: u64, placement: Placement) -> Result<(), ChannelFailure> {
    let mut random = Random::new(seed, 0);
    let mut one_of = |numbers: [u64; 4]| numbers[random.below(4) as usize];
    let (cpus, one_in) = (one_of([1, 2, 2, 2]) as usize, one_of([4, 16, 64, 256]));
    let longest_ns = one_of([1_000, 20_000, 500_000, 8_000_000]);
    check(channel, seed, Disturbed::Stops { one_in, longest_ns, cpus, placement }).map(drop)
}

/// Tries a channel, with a kill of an end before its access with this number. True if it was killed, and had not ended before.
///
/// # Errors
/// [`ChannelFailure`], which names the seed.
pub fn check_channel_killed(
    channel: Channel,
    seed: u64,
    end: End,
    access: u64,
    stores: LastStores,
) -> Result<bool, ChannelFailure> {
    check(channel, seed, Disturbed::Kill { end, access, stores })
}

fn check(channel: Channel, seed: u64, disturbed: Disturbed) -> Result<bool, ChannelFailure> {
    macro_rules! choose {
        ($($variant:ident = $name:literal: $of:ty,)*) => {
            match channel { $(Channel::$variant => play::<$of>(seed, disturbed),)* }
        };
    }
    named(channel.name(), seed, disturbed, for_each_channel!(choose))
}

fn named(
    channel: &'static str,
    seed: u64,
    disturbed: Disturbed,
    outcome: Result<bool, ChannelFault>,
) -> Result<bool, ChannelFailure> {
    let killed = match disturbed {
        Disturbed::Stops { placement, .. } => placement.to_string(),
        Disturbed::Kill { end, access, stores } => {
            format!(", {end} killed before access {access}, last stores {stores:?}")
        }
    };
    outcome.map_err(|fault| ChannelFailure { channel, seed, killed, fault: Box::new(fault) })
}

/// The test's knowledge of a trial, which takes no access of a thread.
#[derive(Default)]
struct Watch {
    /// Sends that had begun, and those that had returned.
    begun: Cell<u64>,
    sent: Cell<u64>,
    received: Cell<u64>,
    fault: RefCell<Option<ChannelFault>>,
}

/// The waits of a trial: without a limit or with one.
#[derive(Clone, Copy)]
struct Waits {
    limit_ns: Option<u64>,
}

impl Waits {
    /// True if the wait that began at this time is over, and the end gives up; one that took too long is a fault.
    fn gives_up(self, me: &Thread, end: End, begun_ns: u64, watch: &Watch) -> bool {
        let (waited_ns, limit_ns) = (me.now_ns() - begun_ns, self.limit_ns.unwrap_or(u64::MAX));
        if waited_ns > limit_ns.saturating_add(LATE_NS) {
            let late = ChannelFault::Late { end: end.name(), waited_ns, limit_ns };
            watch.fault.borrow_mut().get_or_insert(late);
        }
        true
    }
}

fn play<C: MessageChannel>(seed: u64, disturbed: Disturbed) -> Result<bool, ChannelFault> {
    let machine = published::opteron_4x12();
    let _alone = alone();
    let (sender, receiver) = C::pair(SLOTS);
    let watch = Rc::new(Watch::default());
    let mut run = Run::new(&machine);
    let (cpus, limit_ns) = match disturbed {
        Disturbed::Stops { cpus, .. } => (cpus, None),
        Disturbed::Kill { .. } => (2, Some(WAIT_NS)),
    };
    let waits = Waits { limit_ns };
    let (watched, mut random) = (Rc::clone(&watch), Random::new(!seed, 0));
    let send = boxed(move |me| send_all::<C>(me, sender, waits, &watched, &mut random));
    let (watched, mut random) = (Rc::clone(&watch), Random::new(!seed, 1));
    let receive = boxed(move |me| receive_all::<C>(me, receiver, waits, &watched, &mut random));
    for (thread, body) in [send, receive].into_iter().enumerate() {
        run.spawn(CPUS[(thread % cpus) * 2], 0, body).map_err(|error| ChannelFault::Stack(error.to_string()))?;
    }
    match disturbed {
        Disturbed::Stops { one_in, longest_ns, placement, .. } => {
            placement.apply(&mut run);
            run.lasting_sleeps(machine.ticks(LASTING_NS));
            run.preempt(Preemption::Randomly { seed, one_in, longest: machine.ticks(longest_ns) });
        }
        // SAFETY: the ends share what is on the heap, and nobody has an end after the run.
        Disturbed::Kill { end, access, stores } => unsafe { run.kill_at(end as usize, access, stores) },
    }
    let report = run.finish(machine.ticks(LIMIT_NS));
    // An end that has seen a fault leaves the other one alone.
    if let Some(fault) = watch.fault.take() {
        return Err(fault);
    }
    let is_killed = !report?.killed.is_empty();
    watch.check_numbers(disturbed, is_killed)?;
    Ok(is_killed)
}

impl Watch {
    fn check_numbers(&self, disturbed: Disturbed, is_killed: bool) -> Result<(), ChannelFault> {
        let (received, sent, begun) = (self.received.get(), self.sent.get(), self.begun.get());
        let least = match disturbed {
            Disturbed::Kill { end: End::Sender, stores: LastStores::Land, .. } if is_killed => sent,
            Disturbed::Kill { .. } if is_killed => 0,
            _ => MESSAGES,
        };
        match (least..=begun).contains(&received) {
            true => Ok(()),
            false => Err(ChannelFault::Lost { received, sent, begun }),
        }
    }
}

fn send_all<C: MessageChannel>(me: &Thread, mut end: C::Sender, waits: Waits, watch: &Watch, random: &mut Random) {
    for number in 0..MESSAGES {
        me.work_ns(often_short(random));
        watch.begun.set(number + 1);
        let begun_ns = me.now_ns();
        let sent = match waits.limit_ns {
            Some(limit_ns) => C::send_within(&mut end, number, limit_ns),
            None => {
                C::send(&mut end, number);
                Ok(())
            }
        };
        if sent.is_err() && waits.gives_up(me, End::Sender, begun_ns, watch) {
            return;
        }
        watch.sent.set(number + 1);
    }
}

fn receive_all<C: MessageChannel>(me: &Thread, mut end: C::Receiver, waits: Waits, watch: &Watch, random: &mut Random) {
    for expected in 0..MESSAGES {
        let begun_ns = me.now_ns();
        let received: Result<u64, Missed> = match waits.limit_ns {
            Some(limit_ns) => C::recv_within(&mut end, limit_ns),
            None => Ok(C::recv(&mut end)),
        };
        match received {
            Ok(received) if received == expected => watch.received.set(received + 1),
            Ok(received) => {
                watch.fault.borrow_mut().get_or_insert(ChannelFault::Order { received, expected });
                return;
            }
            Err(_) if waits.gives_up(me, End::Receiver, begun_ns, watch) => return,
            Err(_) => {}
        }
        me.work_ns(often_short(random));
    }
}

impl End {
    /// Both, in the order of their threads.
    pub const ALL: [Self; 2] = [Self::Sender, Self::Receiver];

    fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A channel with bugs, which trials must find.
#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use corecast_base::sync::{AtomicU64, Ordering, spin_hint};

    use super::*;

    /// One place. The sender says that a message is there before it writes it, and neither end gives up. On a line of its own, as
    /// a run goes by the lines that the allocator puts it on.
    #[derive(Default)]
    #[repr(align(128))]
    struct TooEarly {
        /// The messages that were sent. Written by the sender.
        sent: AtomicU64,
        /// The last one. Written by the sender.
        message: AtomicU64,
        /// The messages that were taken. Written by the receiver.
        taken: AtomicU64,
    }

    impl MessageChannel for TooEarly {
        type Sender = Arc<Self>;
        type Receiver = (Arc<Self>, u64);

        fn pair(_: usize) -> (Self::Sender, Self::Receiver) {
            let shared = Arc::new(Self::default());
            (Arc::clone(&shared), (shared, 0))
        }

        fn send(sender: &mut Self::Sender, number: u64) {
            // ORDERING: Acquire, pairs with the Release of the receiver [planted-taken]
            while sender.taken.load(Ordering::Acquire) < number {
                spin_hint();
            }
            // ORDERING: Release, pairs with the Acquire of the receiver; comes too early, which is the bug [planted-sent]
            sender.sent.store(number + 1, Ordering::Release);
            // ORDERING: Relaxed, as nothing publishes it
            sender.message.store(number, Ordering::Relaxed);
        }

        fn recv((shared, taken): &mut Self::Receiver) -> u64 {
            // ORDERING: Acquire, pairs with the Release of the sender [planted-sent]
            while shared.sent.load(Ordering::Acquire) == *taken {
                spin_hint();
            }
            *taken += 1;
            // ORDERING: Relaxed, the load before it orders it as far as the sender does
            let message = shared.message.load(Ordering::Relaxed);
            // ORDERING: Release, pairs with the Acquire of the sender [planted-taken]
            shared.taken.store(*taken, Ordering::Release);
            message
        }

        fn send_within(sender: &mut Self::Sender, number: u64, _: u64) -> Result<(), Missed> {
            Self::send(sender, number);
            Ok(())
        }

        fn recv_within(receiver: &mut Self::Receiver, _: u64) -> Result<u64, Missed> {
            Ok(Self::recv(receiver))
        }
    }

    #[test]
    fn a_message_that_is_announced_too_early_is_found_by_stops_and_the_failure_repeats() {
        let stops = Disturbed::Stops { one_in: 4, longest_ns: 20_000, cpus: 2, placement: Placement::Pinned };
        let check = |seed| named("planted", seed, stops, play::<TooEarly>(seed, stops));
        let failure = (0..50).find_map(|seed| check(seed).err()).expect("a seed finds it");
        assert!(matches!(*failure.fault, ChannelFault::Order { .. }), "{failure}");
        assert!(failure.to_string().starts_with(&format!("planted failed with seed {}", failure.seed)), "{failure}");
        assert_eq!(check(failure.seed), Err(failure));
    }

    #[test]
    fn an_end_that_waits_for_a_dead_one_is_found_by_a_kill() {
        let kill = Disturbed::Kill { end: End::Receiver, access: 5, stores: LastStores::Land };
        let fault = play::<TooEarly>(1, kill).expect_err("the sender waits for ever");
        assert!(matches!(&fault, ChannelFault::Stopped(stopped) if stopped.has_killed()), "{fault}");
    }
}
