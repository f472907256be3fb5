//! `ump`: a sender dies in a send, a receiver in a receive.

use corecast_base::region::SharedRegion;
use corecast_channel::ump::bytes::{Receiver, Sender};
use corecast_channel::ump::{self, Config, Credit};
use corecast_channel::{OpenChannelError, Spec};
use corecast_channel::{RecvError, SendError, TryRecvError, TrySendError};
use corecast_testing::stepped::{Child, stop_here};

use crate::steps::scene::{NAME, Scene, check_numbers, check_whole, eventually, kill_at_every_step, message};

const SLOTS: usize = 16;
/// Bytes of a message that takes one slot.
const SHORT: usize = 20;

/// A send of some bytes behind some short messages, of which some are received before.
#[derive(Clone, Copy)]
struct Send {
    credit: Credit,
    len: usize,
    before: u8,
    received_before: u8,
    /// Whether a successor comes before the receiver looks, and finds messages in the ring.
    is_followed_at_once: bool,
}

/// The receive of a message of this many bytes.
struct Receive {
    credit: Credit,
    len: usize,
}

fn spec(credit: Credit) -> Spec {
    ump::bytes::spec(Config { slots: SLOTS, credit, ..Config::default() })
}

fn sender(region: &SharedRegion) -> Sender {
    ump::bytes::sender(region, NAME).expect("nobody has it, or its owner is dead")
}

fn receiver(region: &SharedRegion) -> Receiver {
    ump::bytes::receiver(region, NAME).expect("nobody has it")
}

impl Scene for Send {
    type Others = Receiver;

    fn name(&self) -> String {
        let followed = if self.is_followed_at_once { ", followed at once" } else { "" };
        format!("ump, send of {} bytes behind {} slots, {:?}{followed}", self.len, self.before, self.credit)
    }

    fn spec(&self) -> Spec {
        spec(self.credit)
    }

    fn prepare(&self, region: &SharedRegion) -> Receiver {
        receiver(region)
    }

    fn play(&self, region: &SharedRegion) {
        let mut tx = sender(region);
        let mut send = |number| tx.try_send(&message(1, number, SHORT)).expect("there is room");
        (0..self.received_before).for_each(&mut send);
        stop_here();
        (self.received_before..self.before).for_each(send);
        let message = sent(self.before, self.len);
        stop_here();
        let sent = tx.try_send(&message);
        stop_here();
        assert_eq!(sent, Ok(()));
    }

    fn approach(&self, rx: &mut Receiver, child: &Child) {
        for number in 0..self.received_before {
            assert_eq!(check_whole(&rx.try_recv().expect("sent").to_vec()), (1, number));
        }
        child.run();
    }

    fn check(&self, region: &SharedRegion, mut rx: Receiver) -> Option<bool> {
        let mut successor = self.is_followed_at_once.then(|| sender(region));
        let filled = successor.as_mut().map_or(0, fill);
        let mut numbers: [Vec<u8>; 3] = [vec![], (0..self.received_before).collect(), vec![]];
        let end = eventually("nothing more is there", || match rx.try_recv() {
            Ok(message) => {
                let (who, number) = check_sent(&message.to_vec());
                numbers[usize::from(who)].push(number);
                None
            }
            // The death is reported as soon as the receiver has asked.
            Err(TryRecvError::Empty) => successor.is_some().then_some(None),
            Err(TryRecvError::Failed(error)) => Some(Some(error)),
            Err(error) => panic!("{error}"),
        });
        assert_eq!(end, if self.is_followed_at_once { None } else { Some(RecvError::Died) });
        let before = usize::from(self.before);
        check_numbers(&numbers[1], before..=before + 1);
        check_numbers(&numbers[2], filled..=filled);
        check_successor(successor.unwrap_or_else(|| sender(region)), &mut rx);
        Some(numbers[1].len() > before)
    }
}

/// The message of the dying sender. In slots of a long message that begins where the ring does, where later headers are looked
/// for, lies what looks like them.
fn sent(number: u8, len: usize) -> Vec<u8> {
    let mut bytes = message(1, number, len);
    for (at, seq) in [(56, 18_u64), (120, 19)] {
        let header = seq | 4 << 32 | 1 << 56;
        if let Some(place) = bytes.get_mut(at..at + 8) {
            place.copy_from_slice(&header.to_le_bytes());
        }
    }
    bytes
}

/// Sender and number of a message that is whole.
fn check_sent(bytes: &[u8]) -> (u8, u8) {
    if bytes[0] != 1 {
        return check_whole(bytes);
    }
    assert_eq!(bytes, sent(bytes[1], bytes.len()), "message {}", bytes[1]);
    (1, bytes[1])
}

/// Sender 2 sends until nothing more fits; how many that were.
fn fill(tx: &mut Sender) -> usize {
    (0..).take_while(|&number| tx.try_send(&message(2, number, SHORT)).is_ok()).count()
}

/// Another sender goes on for two laps and more, one by one and with a full ring.
fn check_successor(mut tx: Sender, rx: &mut Receiver) {
    for number in 0..40 {
        // Three of one slot lead over the end of the ring to where a long message began and was not published.
        let len = [SHORT, SHORT, SHORT, tx.max_len(), 64.min(tx.max_len())][usize::from(number) % 5];
        tx.try_send(&message(3, number, len)).expect("there is room");
        assert_eq!(check_whole(&rx.try_recv().expect("sent").to_vec()), (3, number));
        assert_eq!(rx.try_recv().err(), Some(TryRecvError::Empty), "behind message {number}");
    }
    let filled = fill(&mut tx);
    assert!((SLOTS - 1..=SLOTS).contains(&filled), "{filled} messages fill the ring");
    drop(tx);
    for number in 0..filled {
        assert_eq!(check_whole(&rx.try_recv().expect("sent").to_vec()), (2, number as u8));
    }
    assert_eq!(rx.try_recv().err(), Some(RecvError::Closed.into()));
}

impl Scene for Receive {
    type Others = Sender;

    fn name(&self) -> String {
        format!("ump, receive of {} bytes, {:?}", self.len, self.credit)
    }

    fn spec(&self) -> Spec {
        spec(self.credit)
    }

    fn prepare(&self, region: &SharedRegion) -> Sender {
        let mut tx = sender(region);
        for (number, len) in [SHORT, self.len, SHORT].into_iter().enumerate() {
            tx.try_send(&message(0, number as u8, len)).expect("there is room");
        }
        tx
    }

    fn play(&self, region: &SharedRegion) {
        let mut rx = receiver(region);
        assert_eq!(check_whole(&rx.try_recv().expect("sent").to_vec()), (0, 0));
        stop_here();
        let received = rx.try_recv().map(|message| message.len());
        stop_here();
        assert_eq!(received, Ok(self.len));
    }

    fn check(&self, region: &SharedRegion, mut tx: Sender) -> Option<bool> {
        let mut sent = 3;
        let end = eventually("its death is told", || match tx.try_send(&message(0, 0, SHORT)) {
            Ok(()) => {
                sent += 1;
                None
            }
            Err(TrySendError::Full(())) => None,
            Err(error) => Some(error),
        });
        assert_eq!(end, TrySendError::Failed(SendError::Died(())));
        assert!(sent <= SLOTS + 2, "{sent} messages, of which two at most were received");
        let error = ump::bytes::receiver(region, NAME).expect_err("nobody can follow");
        assert!(matches!(error, OpenChannelError::Died { end: "receiver", .. }), "{error}");
        None
    }
}

#[test]
fn a_sender_dies_at_every_step_of_a_send() {
    let (credit, is_followed_at_once) = (Credit::AckLine, false);
    let short = Send { credit, len: SHORT, before: 3, received_before: 0, is_followed_at_once };
    // Three slots where two are left: two of padding come first.
    let padded = Send { len: 150, before: 14, received_before: 10, ..short };
    let cleared = Send { credit: Credit::SlotClear, before: 14, received_before: 10, ..short };
    for send in [short, padded, cleared] {
        kill_at_every_step(&send);
        kill_at_every_step(&Send { is_followed_at_once: true, ..send });
    }
}

#[test]
fn a_receiver_dies_at_every_step_of_a_receive() {
    let short = Receive { credit: Credit::AckLine, len: SHORT };
    let long = Receive { len: 150, ..short };
    let cleared = Receive { credit: Credit::SlotClear, ..short };
    [short, long, cleared].iter().for_each(kill_at_every_step);
}
