//! `mcast`: a sender dies in a send, a reader in a receive, anybody in coming and going; the others go on.

use corecast_base::region::SharedRegion;
use corecast_base::sync::Ordering;
use corecast_channel::Spec;
use corecast_channel::mcast::bytes::{Receiver, Sender};
use corecast_channel::mcast::{self, Config, Delivery, Policy};
use corecast_channel::{RecvError, TryRecvError, TrySendError};
use corecast_testing::stepped::{Child, stop_here};

use crate::steps::scene::{NAME, Scene, check_numbers, check_whole, eventually, kill_at_every_step, message, words};

const SLOTS: usize = 4;
/// Lengths of messages that lie in a slot, and in a block.
pub(crate) const INLINE: usize = 20;
pub(crate) const IN_BLOCK: usize = 200;
/// Messages that the parent sends first, so that blocks have moved.
const WARM_UP: u8 = 6;

/// The call that is interrupted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Call {
    /// A message of this many bytes, behind two others.
    Send(usize),
    SenderComes,
    SenderLeaves,
    /// One of three messages, behind this many of them.
    Receive(u8),
    ReaderJoins,
    ReaderLeaves,
}

/// A channel and a call.
pub(crate) struct Multicast {
    pub(crate) senders: usize,
    pub(crate) delivery: Delivery,
    pub(crate) call: Call,
    /// Whether a successor fills the ring before the readers look.
    pub(crate) is_followed_at_once: bool,
}

/// The parent's ends.
pub(crate) struct Others {
    /// If there may be one besides the child.
    pub(crate) tx: Option<Sender>,
    /// Messages that it has sent.
    pub(crate) sent: u8,
    /// The dead sender's successor, once there is one.
    successor: Option<Sender>,
    pub(crate) readers: Vec<Receiver>,
}

impl Multicast {
    fn is_about_a_reader(&self) -> bool {
        matches!(self.call, Call::Receive(_) | Call::ReaderJoins | Call::ReaderLeaves)
    }

    fn config(&self) -> Config {
        let (senders, delivery) = (self.senders, self.delivery);
        // None is left beside the parent's and the child's.
        Config { slots: SLOTS, block_bytes: IN_BLOCK, readers: 2, senders, delivery, ..Config::default() }
    }

    fn reader(&self, region: &SharedRegion) -> Receiver {
        mcast::bytes::receiver(region, NAME, Policy::Reliable).expect("a place")
    }
}

pub(crate) fn sender(region: &SharedRegion) -> Sender {
    mcast::bytes::sender(region, NAME).expect("a place")
}

fn len(number: u8) -> usize {
    [INLINE, IN_BLOCK, IN_BLOCK, INLINE, IN_BLOCK][usize::from(number) % 5]
}

impl Others {
    /// Everybody here receives the message.
    fn receive(&self, who: u8, number: u8) {
        for reader in &self.readers {
            let received = eventually("it arrives", || match reader.try_recv() {
                Ok(message) => Some(check_whole(&message.to_vec())),
                Err(TryRecvError::Empty) => None,
                Err(error) => panic!("{error}"),
            });
            assert_eq!(received, (who, number));
        }
    }

    /// The parent's sender sends its next message, to everybody here.
    fn send(&mut self) {
        let number = self.sent;
        self.sent += 1;
        send_to_all(self.tx.as_mut().expect("not given away"), 0, number);
        self.receive(0, number);
    }

    /// The messages of each reader, the same for all, and whether all senders have died or left by then.
    fn drain(&self) -> (Vec<(u8, u8)>, Option<RecvError>) {
        let somebody_is_there = self.tx.is_some() || self.successor.is_some();
        let mut found = self.readers.iter().map(|reader| {
            let mut messages = Vec::new();
            let end = eventually("nothing more is there", || match reader.try_recv() {
                Ok(message) => {
                    messages.push(check_whole(&message.to_vec()));
                    None
                }
                Err(TryRecvError::Failed(error)) => Some(Some(error)),
                // The death of a single end is reported as soon as another end has looked.
                Err(_) => somebody_is_there.then_some(None),
            });
            (messages, end)
        });
        let first = found.next().expect("a reader");
        assert!(found.all(|found| found == first), "all readers find the same");
        first
    }
}

/// Sends it as soon as the dead hold nobody back.
fn send_to_all(tx: &mut Sender, who: u8, number: u8) {
    let message = message(who, number, len(number));
    eventually("there is room", || match tx.try_send(&message) {
        Ok(()) => Some(()),
        Err(TrySendError::Full(())) => None,
        Err(error) => panic!("{error}"),
    });
}

impl Scene for Multicast {
    type Others = Others;

    fn name(&self) -> String {
        let followed = if self.is_followed_at_once { ", followed at once" } else { "" };
        format!("mcast of {} senders, {:?}, {:?}{followed}", self.senders, self.delivery, self.call)
    }

    fn spec(&self) -> Spec {
        mcast::bytes::spec(self.config())
    }

    fn prepare(&self, region: &SharedRegion) -> Others {
        let places = if self.is_about_a_reader() { 1 } else { 2 };
        let readers = (0..places).map(|_| self.reader(region)).collect();
        let mut others = Others { tx: Some(sender(region)), sent: 0, successor: None, readers };
        (0..WARM_UP).for_each(|_| others.send());
        if self.senders == 1 && !self.is_about_a_reader() {
            others.tx = None;
        }
        others
    }

    fn play(&self, region: &SharedRegion) {
        match self.call {
            Call::Send(len) => {
                let mut tx = sender(region);
                (0..2).for_each(|number| tx.try_send(&message(1, number, self::len(number))).expect("room"));
                let message = message(1, 2, len);
                stop_here();
                let sent = tx.try_send(&message);
                stop_here();
                assert_eq!(sent, Ok(()));
            }
            Call::SenderComes => {
                stop_here();
                let come = mcast::bytes::sender(region, NAME);
                stop_here();
                assert!(come.is_ok());
            }
            Call::SenderLeaves => {
                let mut tx = sender(region);
                (0..2).for_each(|number| tx.try_send(&message(1, number, len(number))).expect("room"));
                stop_here();
                drop(tx);
                stop_here();
            }
            Call::Receive(before) => {
                let rx = self.reader(region);
                stop_here();
                let receive = || rx.try_recv().map(|message| message.len());
                (0..before).for_each(|number| assert_eq!(receive(), Ok(len(WARM_UP + number))));
                stop_here();
                let received = receive();
                stop_here();
                assert_eq!(received, Ok(len(WARM_UP + before)));
            }
            Call::ReaderJoins => {
                stop_here();
                let joined = mcast::bytes::receiver(region, NAME, Policy::Reliable);
                stop_here();
                assert!(joined.is_ok());
            }
            Call::ReaderLeaves => {
                let rx = self.reader(region);
                stop_here();
                drop(rx);
                stop_here();
            }
        }
    }

    fn approach(&self, others: &mut Others, child: &Child) {
        if let Call::Receive(_) = self.call {
            (0..3).for_each(|_| others.send());
            child.run();
        }
    }

    fn check(&self, region: &SharedRegion, mut others: Others) -> Option<bool> {
        let has_happened = match self.call {
            Call::Send(_) => Some(self.check_messages(region, &mut others)),
            Call::SenderLeaves => {
                let (messages, end) = others.drain();
                assert_eq!(messages, [(1, 0), (1, 1)]);
                (self.senders == 1).then_some(end == Some(RecvError::Closed))
            }
            Call::SenderComes => {
                assert_eq!(others.drain().0, []);
                None
            }
            _ => None,
        };
        if self.is_about_a_reader() {
            (0..2 * SLOTS).for_each(|_| others.send());
            let another = self.reader(region);
            others.readers.push(another);
        } else {
            self.check_successor(region, &mut others);
        }
        check_blocks(region, self.senders);
        (0..if others.tx.is_some() { 2 * SLOTS } else { 0 }).for_each(|_| others.send());
        check_blocks(region, self.senders);
        has_happened
    }
}

impl Multicast {
    /// Checks what came of the dead sender, and of its immediate successor; true if its last message came.
    fn check_messages(&self, region: &SharedRegion, others: &mut Others) -> bool {
        let mut filled = 0;
        if self.is_followed_at_once {
            let tx = others.successor.insert(sender(region));
            filled = (0..).take_while(|&number| tx.try_send(&message(2, number, len(number))).is_ok()).count();
            assert!((1..=2).contains(&filled), "{filled} beside the two or three of the dead one");
        }
        let (messages, end) = others.drain();
        let is_alone = others.tx.is_none() && others.successor.is_none();
        assert_eq!(end, is_alone.then_some(RecvError::Died));
        let of_dead: Vec<_> = messages.iter().filter(|message| message.0 == 1).map(|message| message.1).collect();
        check_numbers(&of_dead, 2..=3);
        assert!(messages[of_dead.len()..].iter().copied().eq((0..filled as u8).map(|number| (2, number))));
        of_dead.len() == 3
    }

    /// Another sender takes the place of the dead one, which is the last one, and all send in turn.
    fn check_successor(&self, region: &SharedRegion, others: &mut Others) {
        let mut successor = others.successor.take().unwrap_or_else(|| sender(region));
        for number in 0..2 * SLOTS as u8 {
            send_to_all(&mut successor, 2, number);
            others.receive(2, number);
            if others.tx.is_some() {
                others.send();
            }
        }
        if others.tx.is_none() {
            drop(successor);
            assert_eq!(others.drain(), (vec![], Some(RecvError::Closed)));
        }
    }
}

/// Every block has one owner, a slot or a sender's line, and nothing is in flight.
fn check_blocks(region: &SharedRegion, senders: usize) {
    let (words, line_words, slot_words) = (words(region), 16, 8);
    // ORDERING: Relaxed, nobody sends now
    let word = |at: usize| words[at].load(Ordering::Relaxed);
    let sender = |index: usize| 0x200 / 8 + index * line_words;
    let slot = |index: usize| sender(senders) + 2 * line_words + index * slot_words;
    let of_senders = (0..senders).map(|index| word(sender(index) + 1) as usize ^ (SLOTS + index));
    let of_slots = (0..SLOTS).map(|index| (word(slot(index) + 1) >> 40) as usize ^ index);
    let mut owned: Vec<_> = of_senders.chain(of_slots).collect();
    owned.sort_unstable();
    assert!(owned.iter().copied().eq(0..SLOTS + senders), "each block has one owner: {owned:?}");
    assert!((0..senders).all(|index| word(sender(index) + 2) == 0), "nothing is in flight");
}

fn at_every_step(senders: usize, delivery: Delivery, calls: &[Call]) {
    for &call in calls {
        kill_at_every_step(&Multicast { senders, delivery, call, is_followed_at_once: false });
    }
}

fn senders_die(senders: usize) {
    let calls = [Call::Send(INLINE), Call::Send(IN_BLOCK), Call::SenderComes, Call::SenderLeaves];
    at_every_step(senders, Delivery::Gated, &calls);
    at_every_step(senders, Delivery::Overwrite, &calls[..2]);
    let (delivery, call) = (Delivery::Gated, Call::Send(IN_BLOCK));
    kill_at_every_step(&Multicast { senders, delivery, call, is_followed_at_once: true });
}

#[test]
fn a_single_sender_dies_at_every_step() {
    senders_die(1);
}

#[test]
fn one_of_several_senders_dies_at_every_step() {
    senders_die(2);
}

#[test]
fn a_reader_dies_at_every_step() {
    let calls = [Call::Receive(1), Call::Receive(2), Call::ReaderJoins, Call::ReaderLeaves];
    at_every_step(1, Delivery::Gated, &calls);
}
