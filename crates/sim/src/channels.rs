//! The channels of corecast from one sender to one receiver, each of which carries numbers in messages of one line.

use std::num::NonZeroU64;
use std::str::FromStr;
use std::time::Duration;

use corecast_channel::{ff, mcast, ump};

use crate::error::SimError;

/// The words of a message: with its header it fills a line.
pub(crate) type Message = [u64; 6];

/// The message with this number: all words follow from it.
fn message(number: u64) -> Message {
    std::array::from_fn(|place| (number + 1).wrapping_mul(2 * place as u64 + 1))
}

/// The number of a message.
///
/// # Panics
/// If it is none that was sent.
pub(crate) fn number(received: &Message) -> u64 {
    let number = received[0] - 1;
    assert_eq!(*received, message(number), "a message arrives as it was sent");
    number
}

fn bytes(number: u64) -> [u8; size_of::<Message>()] {
    let mut bytes = [0; size_of::<Message>()];
    let places = bytes.chunks_exact_mut(8).zip(message(number));
    places.for_each(|(place, word)| place.copy_from_slice(&word.to_ne_bytes()));
    bytes
}

fn word(number: u64) -> NonZeroU64 {
    NonZeroU64::MIN.saturating_add(number)
}

/// A channel from one sender to one receiver.
pub(crate) trait MessageChannel {
    type Sender: 'static;
    type Receiver: 'static;

    /// Both ends of a channel with room for this number of messages, or a few more.
    fn pair(slots: usize) -> (Self::Sender, Self::Receiver);

    fn send(sender: &mut Self::Sender, number: u64);

    /// The number of the next message.
    fn recv(receiver: &mut Self::Receiver) -> u64;

    /// Sends, and waits for room for this number of nanoseconds at most.
    fn send_within(sender: &mut Self::Sender, number: u64, limit_ns: u64) -> Result<(), Missed>;

    /// The number of the next message, for which it waits for this number of nanoseconds at most.
    fn recv_within(receiver: &mut Self::Receiver, limit_ns: u64) -> Result<u64, Missed>;
}

/// Nothing was sent or received: the time was up, or the other end had said goodbye.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Missed;

/// The room of channels whose times are taken.
pub(crate) const USUAL_SLOTS: usize = 64;
/// The words of `ff` in the place of a message.
const WORDS: usize = 16;

fn missed<E>(_: E) -> Missed {
    Missed
}

const STAYS: &str = "the other end stays";

/// Values through a ring, whose receiver counts what it has read on a line of its own.
pub(crate) struct Ump;

impl MessageChannel for Ump {
    type Sender = ump::Sender<Message>;
    type Receiver = ump::Receiver<Message>;

    fn pair(slots: usize) -> (Self::Sender, Self::Receiver) {
        ump::channel(slots)
    }

    fn send(sender: &mut Self::Sender, number: u64) {
        sender.send(message(number)).expect(STAYS);
    }

    fn recv(receiver: &mut Self::Receiver) -> u64 {
        number(&receiver.recv().expect(STAYS))
    }

    fn send_within(sender: &mut Self::Sender, number: u64, limit_ns: u64) -> Result<(), Missed> {
        sender.send_timeout(message(number), Duration::from_nanos(limit_ns)).map_err(missed)
    }

    fn recv_within(receiver: &mut Self::Receiver, limit_ns: u64) -> Result<u64, Missed> {
        receiver.recv_timeout(Duration::from_nanos(limit_ns)).map(|message| self::number(&message)).map_err(missed)
    }
}

/// The same, where the receiver clears each slot.
pub(crate) struct UmpSlotClear;

impl MessageChannel for UmpSlotClear {
    type Sender = ump::Sender<Message>;
    type Receiver = ump::Receiver<Message>;

    fn pair(slots: usize) -> (Self::Sender, Self::Receiver) {
        ump::channel_with(ump::Config { slots, credit: ump::Credit::SlotClear, ..ump::Config::default() })
    }

    fn send(sender: &mut Self::Sender, number: u64) {
        Ump::send(sender, number);
    }

    fn recv(receiver: &mut Self::Receiver) -> u64 {
        Ump::recv(receiver)
    }

    fn send_within(sender: &mut Self::Sender, number: u64, limit_ns: u64) -> Result<(), Missed> {
        Ump::send_within(sender, number, limit_ns)
    }

    fn recv_within(receiver: &mut Self::Receiver, limit_ns: u64) -> Result<u64, Missed> {
        Ump::recv_within(receiver, limit_ns)
    }
}

/// Bytes through a ring, written and read in place.
pub(crate) struct UmpBytes;

impl MessageChannel for UmpBytes {
    type Sender = ump::bytes::Sender;
    type Receiver = ump::bytes::Receiver;

    fn pair(slots: usize) -> (Self::Sender, Self::Receiver) {
        ump::bytes::channel(ump::Config { slots, ..ump::Config::default() })
    }

    fn send(sender: &mut Self::Sender, number: u64) {
        let mut loan = sender.reserve(size_of::<Message>()).expect(STAYS);
        loan.write(&message(number));
        loan.commit();
    }

    fn recv(receiver: &mut Self::Receiver) -> u64 {
        number(&receiver.recv().expect(STAYS).read().expect("a message of that length"))
    }

    fn send_within(sender: &mut Self::Sender, number: u64, limit_ns: u64) -> Result<(), Missed> {
        let mut loan = sender.reserve_timeout(size_of::<Message>(), Duration::from_nanos(limit_ns)).map_err(missed)?;
        loan.write(&message(number));
        loan.commit();
        Ok(())
    }

    fn recv_within(receiver: &mut Self::Receiver, limit_ns: u64) -> Result<u64, Missed> {
        let received = receiver.recv_timeout(Duration::from_nanos(limit_ns)).map_err(missed)?;
        Ok(number(&received.read().expect("a message of that length")))
    }
}

/// Words, of which the number is one.
pub(crate) struct Ff;

impl MessageChannel for Ff {
    type Sender = ff::Sender;
    type Receiver = ff::Receiver;

    fn pair(slots: usize) -> (Self::Sender, Self::Receiver) {
        ff::channel(slots * WORDS)
    }

    fn send(sender: &mut Self::Sender, number: u64) {
        sender.send(word(number)).expect(STAYS);
    }

    fn recv(receiver: &mut Self::Receiver) -> u64 {
        receiver.recv().expect(STAYS).get() - 1
    }

    fn send_within(sender: &mut Self::Sender, number: u64, limit_ns: u64) -> Result<(), Missed> {
        sender.send_timeout(word(number), Duration::from_nanos(limit_ns)).map_err(missed)
    }

    fn recv_within(receiver: &mut Self::Receiver, limit_ns: u64) -> Result<u64, Missed> {
        receiver.recv_timeout(Duration::from_nanos(limit_ns)).map(|word| word.get() - 1).map_err(missed)
    }
}

/// Values for many readers, of which there is one.
pub(crate) struct Mcast;

impl MessageChannel for Mcast {
    type Sender = mcast::Sender<Message>;
    type Receiver = mcast::Receiver<Message>;

    fn pair(slots: usize) -> (Self::Sender, Self::Receiver) {
        let (sender, source) = mcast::channel(slots);
        (sender, source.subscribe().expect("the first reader"))
    }

    fn send(sender: &mut Self::Sender, number: u64) {
        sender.send(message(number)).expect(STAYS);
    }

    fn recv(receiver: &mut Self::Receiver) -> u64 {
        number(&receiver.recv().expect(STAYS))
    }

    fn send_within(sender: &mut Self::Sender, number: u64, limit_ns: u64) -> Result<(), Missed> {
        sender.send_timeout(message(number), Duration::from_nanos(limit_ns)).map_err(missed)
    }

    fn recv_within(receiver: &mut Self::Receiver, limit_ns: u64) -> Result<u64, Missed> {
        receiver.recv_timeout(Duration::from_nanos(limit_ns)).map(|message| number(&message)).map_err(missed)
    }
}

/// Bytes for many readers, of which there is one.
pub(crate) struct McastBytes;

impl MessageChannel for McastBytes {
    type Sender = mcast::bytes::Sender;
    type Receiver = mcast::bytes::Receiver;

    fn pair(slots: usize) -> (Self::Sender, Self::Receiver) {
        let (sender, source) = mcast::bytes::channel(mcast::Config { slots, ..mcast::Config::default() });
        (sender, source.subscribe(mcast::Policy::Reliable).expect("the first reader"))
    }

    fn send(sender: &mut Self::Sender, number: u64) {
        sender.send(&bytes(number)).expect(STAYS);
    }

    fn recv(receiver: &mut Self::Receiver) -> u64 {
        number(&receiver.recv().expect(STAYS).read().expect("a message of that length"))
    }

    fn send_within(sender: &mut Self::Sender, number: u64, limit_ns: u64) -> Result<(), Missed> {
        sender.send_timeout(&bytes(number), Duration::from_nanos(limit_ns)).map_err(missed)
    }

    fn recv_within(receiver: &mut Self::Receiver, limit_ns: u64) -> Result<u64, Missed> {
        let received = receiver.recv_timeout(Duration::from_nanos(limit_ns)).map_err(missed)?;
        Ok(number(&received.read().expect("a message of that length")))
    }
}

/// Calls `$then!` with every channel as `Variant = "name": MessageChannel`.
macro_rules! for_each_channel {
    ($then:ident) => {
        $then! {
            Ump = "ump": $crate::channels::Ump,
            UmpSlotClear = "ump-slot-clear": $crate::channels::UmpSlotClear,
            UmpBytes = "ump-bytes": $crate::channels::UmpBytes,
            Ff = "ff": $crate::channels::Ff,
            Mcast = "mcast": $crate::channels::Mcast,
            McastBytes = "mcast-bytes": $crate::channels::McastBytes,
        }
    };
}
pub(crate) use for_each_channel;

macro_rules! define {
    ($($variant:ident = $name:literal: $of:ty,)*) => {
        /// A channel of corecast, as it carries messages of one line; `ff` carries words.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Channel {
            $(#[doc = concat!("`", $name, "`.")] $variant,)*
        }

        impl Channel {
            /// All channels.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Its name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}
for_each_channel!(define);

impl FromStr for Channel {
    type Err = SimError;

    fn from_str(name: &str) -> Result<Self, SimError> {
        let found = Self::ALL.iter().copied().find(|channel| channel.name() == name);
        found.ok_or_else(|| SimError::Channel { name: name.to_owned() })
    }
}
