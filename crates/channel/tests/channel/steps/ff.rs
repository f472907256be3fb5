//! `ff`: a sender dies in a send, a receiver in the receive that ends a line.

use std::num::NonZeroU64;

use corecast_base::region::SharedRegion;
use corecast_channel::ff::{self, Config, MIN_CELLS, Probe, Receiver, Sender};
use corecast_channel::{OpenChannelError, Spec};
use corecast_channel::{RecvError, SendError, TryRecvError, TrySendError};
use corecast_testing::stepped::stop_here;

use crate::steps::scene::{NAME, Scene, check_numbers, eventually, kill_at_every_step};

/// Words that are sent before, and received: the call is about the last one of a line.
const BEFORE: u8 = 7;

/// A send.
struct Send(Probe);

/// A receive.
struct Receive(Probe);

fn spec(probe: Probe) -> Spec {
    ff::spec(Config { cells: MIN_CELLS, probe, ..Config::default() })
}

fn sender(region: &SharedRegion) -> Sender {
    ff::sender(region, NAME).expect("nobody has it")
}

fn receiver(region: &SharedRegion) -> Receiver {
    ff::receiver(region, NAME).expect("nobody has it")
}

/// A word whose bytes all tell its number.
fn word(number: u8) -> NonZeroU64 {
    NonZeroU64::new(u64::from_ne_bytes([number + 1; 8])).expect("not zero")
}

fn number(word: NonZeroU64) -> u8 {
    let number = word.get() as u8 - 1;
    assert_eq!(word, self::word(number), "half a word");
    number
}

impl Scene for Send {
    type Others = Receiver;

    fn name(&self) -> String {
        format!("ff, send, {:?} probed", self.0)
    }

    fn spec(&self) -> Spec {
        spec(self.0)
    }

    fn prepare(&self, region: &SharedRegion) -> Receiver {
        receiver(region)
    }

    fn play(&self, region: &SharedRegion) {
        let mut tx = sender(region);
        (0..BEFORE).for_each(|number| tx.try_send(word(number)).expect("there is room"));
        stop_here();
        let sent = tx.try_send(word(BEFORE));
        stop_here();
        assert_eq!(sent, Ok(()));
    }

    fn check(&self, region: &SharedRegion, mut rx: Receiver) -> Option<bool> {
        let mut numbers = Vec::new();
        let end = eventually("its death is told", || match rx.try_recv() {
            Ok(word) => {
                numbers.push(number(word));
                None
            }
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Failed(error)) => Some(error),
            Err(error) => panic!("{error}"),
        });
        assert_eq!(end, RecvError::Died);
        let before = usize::from(BEFORE);
        check_numbers(&numbers, before..=before + 1);
        let error = ff::sender(region, NAME).expect_err("cells do not tell where it stopped");
        assert!(matches!(error, OpenChannelError::Died { end: "sender", .. }), "{error}");
        Some(numbers.len() > before)
    }
}

impl Scene for Receive {
    type Others = Sender;

    fn name(&self) -> String {
        format!("ff, receive, {:?} probed", self.0)
    }

    fn spec(&self) -> Spec {
        spec(self.0)
    }

    fn prepare(&self, region: &SharedRegion) -> Sender {
        let mut tx = sender(region);
        (0..=BEFORE).for_each(|number| tx.try_send(word(number)).expect("there is room"));
        tx
    }

    fn play(&self, region: &SharedRegion) {
        let mut rx = receiver(region);
        (0..BEFORE).for_each(|number| assert_eq!(rx.try_recv(), Ok(word(number))));
        stop_here();
        let received = rx.try_recv();
        stop_here();
        assert_eq!(received, Ok(word(BEFORE)));
    }

    fn check(&self, region: &SharedRegion, mut tx: Sender) -> Option<bool> {
        let mut sent = usize::from(BEFORE) + 1;
        let end = eventually("its death is told", || match tx.try_send(word(0)) {
            Ok(()) => {
                sent += 1;
                None
            }
            Err(TrySendError::Full(_)) => None,
            Err(error) => Some(error),
        });
        assert!(matches!(end, TrySendError::Failed(SendError::Died(_))), "{end:?}");
        assert!(sent <= MIN_CELLS + usize::from(BEFORE) + 1, "{sent} words");
        let error = ff::receiver(region, NAME).expect_err("nobody can follow");
        assert!(matches!(error, OpenChannelError::Died { end: "receiver", .. }), "{error}");
        None
    }
}

#[test]
fn a_sender_dies_at_every_step_of_a_send() {
    [Probe::Cell, Probe::Line].map(Send).iter().for_each(kill_at_every_step);
}

#[test]
fn a_receiver_dies_at_every_step_of_a_receive() {
    [Probe::Cell, Probe::Line].map(Receive).iter().for_each(kill_at_every_step);
}
