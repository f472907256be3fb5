//! Messages that tell whether they arrived whole, and the memories that they travel through.

use corecast_base::region::{RegionPlan, SharedRegion};
use corecast_channel::Bytes;
use corecast_channel::ump::bytes::{Receiver, Sender};
use corecast_channel::ump::{self, Config, Credit};

/// The name of the channel in the regions of these tests.
pub(crate) const NAME: &str = "stream";

/// Makes a channel of bytes in some memory.
pub(crate) type Make = fn(&Config) -> (Sender, Receiver);

/// Where a channel among threads can lie: beside its ends, in a region on the heap, in a memfd.
pub(crate) const MEMORIES: [Make; 3] = [
    |config| ump::bytes::channel(config.clone()),
    |config| ends(&SharedRegion::heap(&plan(config)).expect("there is memory")),
    |config| ends(&SharedRegion::memfd(&plan(config)).expect("there is memory")),
];

/// A region with one channel.
pub(crate) fn plan(config: &Config) -> RegionPlan {
    ump::bytes::spec(config.clone()).declare(RegionPlan::new(), NAME).expect("one channel with a good name")
}

fn ends(region: &SharedRegion) -> (Sender, Receiver) {
    (
        ump::bytes::sender(region, NAME).expect("nobody has it"),
        ump::bytes::receiver(region, NAME).expect("nobody has it"),
    )
}

/// All configurations that differ in the protocol.
pub(crate) fn credits() -> [Config; 2] {
    [Credit::AckLine, Credit::SlotClear].map(|credit| Config { slots: 16, credit, ..Config::default() })
}

/// The message with this number: up to `longest` bytes, all of which follow from the number.
pub(crate) fn message(number: u64, longest: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(number);
    // Short ones, long ones and all between.
    let len = match random.u8(..4) {
        0 => random.usize(..=8.min(longest)),
        1 => longest - random.usize(..=8.min(longest)),
        _ => random.usize(..=longest),
    };
    (0..len).map(|_| random.u8(..)).collect()
}

/// Checks that `bytes` are the message with this number.
#[track_caller]
pub(crate) fn expect(bytes: &Bytes<'_>, number: u64, longest: usize) {
    assert_eq!(bytes.to_vec(), message(number, longest), "message {number}");
}
