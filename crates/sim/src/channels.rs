//! The channels of corecast from one sender to one receiver, each of which carries numbers in messages of one line.

use std::num::NonZeroU64;
use std::str::FromStr;

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

/// A channel from one sender to one receiver.
pub(crate) trait Carrier {
    type Sender: 'static;
    type Receiver: 'static;

    fn ends() -> (Self::Sender, Self::Receiver);

    fn send(sender: &mut Self::Sender, number: u64);

    /// The number of the next message.
    fn recv(receiver: &mut Self::Receiver) -> u64;
}

const STAYS: &str = "the other end stays";

/// Values through a ring, whose receiver counts what it has read on a line of its own.
pub(crate) struct Ump;

impl Carrier for Ump {
    type Sender = ump::Sender<Message>;
    type Receiver = ump::Receiver<Message>;

    fn ends() -> (Self::Sender, Self::Receiver) {
        ump::channel(64)
    }

    fn send(sender: &mut Self::Sender, number: u64) {
        sender.send(message(number)).expect(STAYS);
    }

    fn recv(receiver: &mut Self::Receiver) -> u64 {
        number(&receiver.recv().expect(STAYS))
    }
}

/// The same, where the receiver clears each slot.
pub(crate) struct UmpSlotClear;

impl Carrier for UmpSlotClear {
    type Sender = ump::Sender<Message>;
    type Receiver = ump::Receiver<Message>;

    fn ends() -> (Self::Sender, Self::Receiver) {
        ump::channel_with(ump::Config { credit: ump::Credit::SlotClear, ..ump::Config::default() })
    }

    fn send(sender: &mut Self::Sender, number: u64) {
        Ump::send(sender, number);
    }

    fn recv(receiver: &mut Self::Receiver) -> u64 {
        Ump::recv(receiver)
    }
}

/// Bytes through a ring, written and read in place.
pub(crate) struct UmpBytes;

impl Carrier for UmpBytes {
    type Sender = ump::bytes::Sender;
    type Receiver = ump::bytes::Receiver;

    fn ends() -> (Self::Sender, Self::Receiver) {
        ump::bytes::channel(ump::Config::default())
    }

    fn send(sender: &mut Self::Sender, number: u64) {
        let mut loan = sender.reserve(size_of::<Message>()).expect(STAYS);
        loan.write(&message(number));
        loan.commit();
    }

    fn recv(receiver: &mut Self::Receiver) -> u64 {
        number(&receiver.recv().expect(STAYS).read().expect("a message of that length"))
    }
}

/// Words, of which the number is one.
pub(crate) struct Ff;

impl Carrier for Ff {
    type Sender = ff::Sender;
    type Receiver = ff::Receiver;

    fn ends() -> (Self::Sender, Self::Receiver) {
        ff::channel(1024)
    }

    fn send(sender: &mut Self::Sender, number: u64) {
        sender.send(NonZeroU64::MIN.saturating_add(number)).expect(STAYS);
    }

    fn recv(receiver: &mut Self::Receiver) -> u64 {
        receiver.recv().expect(STAYS).get() - 1
    }
}

/// Values for many readers, of which there is one.
pub(crate) struct Mcast;

impl Carrier for Mcast {
    type Sender = mcast::Sender<Message>;
    type Receiver = mcast::Receiver<Message>;

    fn ends() -> (Self::Sender, Self::Receiver) {
        let (sender, source) = mcast::channel(64);
        (sender, source.subscribe().expect("the first reader"))
    }

    fn send(sender: &mut Self::Sender, number: u64) {
        sender.send(message(number)).expect(STAYS);
    }

    fn recv(receiver: &mut Self::Receiver) -> u64 {
        number(&receiver.recv().expect(STAYS))
    }
}

/// Bytes for many readers, of which there is one.
pub(crate) struct McastBytes;

impl Carrier for McastBytes {
    type Sender = mcast::bytes::Sender;
    type Receiver = mcast::bytes::Receiver;

    fn ends() -> (Self::Sender, Self::Receiver) {
        let (sender, source) = mcast::bytes::channel(mcast::Config::default());
        (sender, source.subscribe(mcast::Policy::Reliable).expect("the first reader"))
    }

    fn send(sender: &mut Self::Sender, number: u64) {
        let mut bytes = [0; size_of::<Message>()];
        bytes
            .chunks_exact_mut(8)
            .zip(message(number))
            .for_each(|(place, word)| place.copy_from_slice(&word.to_ne_bytes()));
        sender.send(&bytes).expect(STAYS);
    }

    fn recv(receiver: &mut Self::Receiver) -> u64 {
        number(&receiver.recv().expect(STAYS).read().expect("a message of that length"))
    }
}

/// Calls `$then!` with every channel as `Variant = "name": Carrier`.
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
    ($($variant:ident = $name:literal: $carrier:ty,)*) => {
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
