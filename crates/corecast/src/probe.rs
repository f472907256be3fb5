//! The real channel under test: what a message of [`ump`](corecast_channel::ump) costs on this machine.
//!
//! A message is 56 bytes, the most that shares one cache line with its header, so that what is measured is what every edge
//! of a tree carries.
//!
//! ```no_run
//! use corecast::machine::measure::{Options, Silent, measure};
//! use corecast::machine::source::{DiscoveryRequest, discover};
//! use corecast::UmpProbe;
//! let topology = discover(&DiscoveryRequest::default())?;
//! let machine = measure(&topology, &UmpProbe, &Options { quick: true, ..Options::default() }, &mut Silent)?;
//! println!("{}", machine.provenance.source);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::hint::black_box;

use corecast_channel::ump;
use corecast_machine::{Probe, ProbeReceiver, ProbeSender};

/// One slot's payload; the first word is the value that the measurement sends.
type Message = [u64; 7];

/// Measures `ump` with messages of 56 bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct UmpProbe;

impl Probe for UmpProbe {
    type Sender = UmpSender;
    type Receiver = UmpReceiver;

    fn name(&self) -> &str {
        "ump, messages of 56 bytes"
    }

    fn connect(&self, slots: usize) -> (UmpSender, UmpReceiver) {
        let (sender, receiver) = ump::channel(slots);
        (UmpSender(sender), UmpReceiver(receiver))
    }
}

/// The sending end of a [`UmpProbe`] channel.
#[derive(Debug)]
pub struct UmpSender(ump::Sender<Message>);

impl ProbeSender for UmpSender {
    #[inline]
    fn try_send(&mut self, value: u64) -> bool {
        self.0.try_send([value; 7]).is_ok()
    }
}

/// The receiving end of a [`UmpProbe`] channel.
#[derive(Debug)]
pub struct UmpReceiver(ump::Receiver<Message>);

impl ProbeReceiver for UmpReceiver {
    #[inline]
    fn try_receive(&mut self) -> Option<u64> {
        // The whole message is looked at, as a user would: else the compiler leaves out most of the copy.
        self.0.try_recv().ok().map(|message| black_box(message)[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_holds_what_it_promises_and_keeps_the_order() {
        for slots in [2, 64, 1024] {
            let (mut sender, mut receiver) = UmpProbe.connect(slots);
            for value in 0..slots as u64 - 1 {
                assert!(sender.try_send(value), "message {value} of {slots} slots");
            }
            for value in 0..slots as u64 - 1 {
                assert_eq!(receiver.try_receive(), Some(value));
            }
            assert_eq!(receiver.try_receive(), None);
        }
    }
}
