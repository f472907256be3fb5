//! `ump`: a sender dies in a send, a receiver in a receive.

use corecast_base::region::SharedRegion;
use corecast_channel::open::{OpenError, Spec};
use corecast_channel::ump::{self, BytesReceiver, BytesSender, Config, Credit};
use corecast_channel::{RecvError, SendError, TryRecvError, TrySendError};

use crate::child::{Child, stop_here};
use crate::scene::{NAME, Scene, check_numbers, check_whole, eventually, kill_at_every_step, message};

const SLOTS: usize = 16;
/// Bytes of a message that takes one slot.
const SHORT: usize = 20;

/// A send of so many bytes behind so many short messages, of which some are received before.
struct Send {
    credit: Credit,
    len: usize,
    before: u8,
    received_before: u8,
}

/// The receive of a message of so many bytes.
struct Receive {
    credit: Credit,
    len: usize,
}

fn spec(credit: Credit) -> Spec {
    ump::spec(&Config { slots: SLOTS, credit, ..Config::default() })
}

fn sender(region: &SharedRegion) -> BytesSender {
    ump::sender(region, NAME).expect("nobody has it, or who had it is dead")
}

fn receiver(region: &SharedRegion) -> BytesReceiver {
    ump::receiver(region, NAME).expect("nobody has it")
}

impl Scene for Send {
    type Others = BytesReceiver;

    fn name(&self) -> String {
        format!("ump, send of {} bytes behind {} slots, {:?}", self.len, self.before, self.credit)
    }

    fn spec(&self) -> Spec {
        spec(self.credit)
    }

    fn prepare(&self, region: &SharedRegion) -> BytesReceiver {
        receiver(region)
    }

    fn play(&self, region: &SharedRegion) {
        let mut tx = sender(region);
        let mut send = |number| tx.try_send(&message(1, number, SHORT)).expect("there is room");
        (0..self.received_before).for_each(&mut send);
        stop_here();
        (self.received_before..self.before).for_each(send);
        let message = message(1, self.before, self.len);
        stop_here();
        let sent = tx.try_send(&message);
        stop_here();
        assert_eq!(sent, Ok(()));
    }

    fn approach(&self, rx: &mut BytesReceiver, child: &Child) {
        for number in 0..self.received_before {
            assert_eq!(check_whole(&rx.try_recv().expect("sent").to_vec()), (1, number));
        }
        child.run();
    }

    fn check(&self, region: &SharedRegion, mut rx: BytesReceiver) -> Option<bool> {
        let mut numbers: Vec<u8> = (0..self.received_before).collect();
        let end = eventually("its death is told", || match rx.try_recv() {
            Ok(message) => {
                numbers.push(check_whole(&message.to_vec()).1);
                None
            }
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Failed(error)) => Some(error),
            Err(error) => panic!("{error}"),
        });
        assert_eq!(end, RecvError::Died);
        let before = usize::from(self.before);
        check_numbers(&numbers, before..=before + 1);
        serves_a_successor(region, &mut rx);
        Some(numbers.len() > before)
    }
}

/// Another sender goes on for two laps and more, one by one and with a full ring.
fn serves_a_successor(region: &SharedRegion, rx: &mut BytesReceiver) {
    let mut tx = sender(region);
    for number in 0..40 {
        let len = [SHORT, tx.max_len(), 0x40.min(tx.max_len())][usize::from(number) % 3];
        tx.try_send(&message(2, number, len)).expect("there is room");
        assert_eq!(check_whole(&rx.try_recv().expect("sent").to_vec()), (2, number));
        assert_eq!(rx.try_recv().err(), Some(TryRecvError::Empty), "behind message {number}");
    }
    let sent = (0..).take_while(|&number| tx.try_send(&message(3, number, SHORT)).is_ok()).count();
    assert!((SLOTS - 1..=SLOTS).contains(&sent), "{sent} messages fill the ring");
    drop(tx);
    for number in 0..sent {
        assert_eq!(check_whole(&rx.try_recv().expect("sent").to_vec()), (3, number as u8));
    }
    assert_eq!(rx.try_recv().err(), Some(RecvError::Closed.into()));
}

impl Scene for Receive {
    type Others = BytesSender;

    fn name(&self) -> String {
        format!("ump, receive of {} bytes, {:?}", self.len, self.credit)
    }

    fn spec(&self) -> Spec {
        spec(self.credit)
    }

    fn prepare(&self, region: &SharedRegion) -> BytesSender {
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

    fn check(&self, region: &SharedRegion, mut tx: BytesSender) -> Option<bool> {
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
        let error = ump::receiver(region, NAME).expect_err("nobody can follow");
        assert!(matches!(error, OpenError::Died { end: "receiver", .. }), "{error}");
        None
    }
}

#[test]
fn a_sender_dies_at_every_step_of_a_send() {
    let short = Send { credit: Credit::AckLine, len: SHORT, before: 3, received_before: 0 };
    // Three slots where two are left: two of padding come first.
    let padded = Send { len: 150, before: 14, received_before: 10, ..short };
    let cleared = Send { credit: Credit::SlotClear, before: 14, received_before: 10, ..short };
    [short, padded, cleared].iter().for_each(kill_at_every_step);
}

#[test]
fn a_receiver_dies_at_every_step_of_a_receive() {
    let short = Receive { credit: Credit::AckLine, len: SHORT };
    let long = Receive { len: 150, ..short };
    let cleared = Receive { credit: Credit::SlotClear, ..short };
    [short, long, cleared].iter().for_each(kill_at_every_step);
}
