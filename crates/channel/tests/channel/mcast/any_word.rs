//! Another process writes anything into any word of a channel: no call panics, and none outlasts its time limit.
//!
//! Nothing here asserts how fast a call is: only one that does not return within a minute fails a test.

use corecast_base::PlaceSlice;
use corecast_base::region::{RegionPlan, SharedRegion};
use corecast_base::sync::{AtomicBool, AtomicU64, Ordering};
use corecast_channel::mcast::bytes::{Receiver, Sender};
use corecast_channel::mcast::{self, Config, Delivery, Policy};
use corecast_channel::select::Selectable;
use corecast_channel::{RecvError, SendError, SendTimeoutError, TryRecvError, TrySendError};

use crate::spoilt::{LIMIT, values, watched};

const SLOTS: u64 = 4;
const READERS: usize = 4;
const SHORT: [u8; 20] = [1; 20];
const LONG: [u8; 300] = [2; 300];

/// A channel with all of its ends but one reader, and the memory as another process could reach it.
struct Ring {
    region: SharedRegion,
    senders: Vec<Sender>,
    readers: Vec<Receiver>,
    words: PlaceSlice<AtomicU64>,
}

impl Ring {
    /// A channel through which all senders have sent and from which all readers have received, for more than a lap.
    fn new(senders: usize, delivery: Delivery) -> Self {
        let config = Config {
            slots: SLOTS as usize,
            block_bytes: 300,
            senders,
            readers: READERS,
            delivery,
            ..Config::default()
        };
        let plan = mcast::bytes::spec(config).declare(RegionPlan::new(), "c").expect("a plan");
        let region = SharedRegion::heap(&plan).expect("memory");
        let policies = match delivery {
            Delivery::Gated => vec![Policy::Reliable, Policy::Reliable],
            Delivery::Overwrite => vec![Policy::Reliable, Policy::Lossy, Policy::Deadline(LIMIT)],
        };
        let readers = policies.into_iter().map(|policy| mcast::bytes::receiver(&region, "c", policy).expect("a place"));
        let readers = readers.collect();
        let section = region.section(&region.entry("c").expect("declared"));
        let words = section.words(0, section.len() / 8).expect("all of it");
        let senders = (0..senders).map(|_| mcast::bytes::sender(&region, "c").expect("a place")).collect();
        let mut ring = Self { region, senders, readers, words };
        (0..SLOTS + 2).for_each(|_| ring.pass_on());
        ring
    }

    /// Without readers.
    fn of_senders(senders: usize) -> Self {
        let mut ring = Self::new(senders, Delivery::Gated);
        ring.readers.clear();
        ring
    }

    /// Every sender sends a short message and a long one, and every reader receives them.
    fn pass_on(&mut self) {
        for sender in &mut self.senders {
            for message in [&SHORT[..], &LONG] {
                sender.try_send(message).expect("nobody holds it back");
                for reader in &self.readers {
                    assert_eq!(reader.try_recv().expect("sent").to_vec(), message);
                }
            }
        }
    }

    /// The words that an end reads, and of each message and block the first word.
    fn live_words(&self) -> Vec<usize> {
        let senders = self.senders.len();
        let lines = 0x200 / 8;
        let slots = lines + 16 * (senders + READERS);
        let blocks = slots + 8 * SLOTS as usize;
        // The tail; the open ends, reader lines, fences; the two wake words.
        let header = [0, 0x80 / 8, 0x88 / 8, 0x90 / 8, 0x98 / 8, 0x100 / 8, 0x108 / 8, 0x180 / 8, 0x188 / 8];
        let of_lines = (0..senders + READERS).flat_map(|line| (0..4).map(move |word| lines + 16 * line + word));
        let of_slots = (0..SLOTS as usize).flat_map(|slot| (0..3).map(move |word| slots + 8 * slot + word));
        header.into_iter().chain(of_lines).chain(of_slots).chain([blocks]).collect()
    }
}

fn try_to_send(sender: &mut Sender) {
    let _ = sender.try_send(&SHORT);
    let _ = sender.try_send(&LONG);
}

/// Calls everything that a sender offers and that is limited.
fn send_all_ways(sender: &mut Sender) {
    try_to_send(sender);
    let _ = sender.send_timeout(&SHORT, LIMIT);
    let _ = sender.send_timeout(&LONG, LIMIT);
    for message in [&SHORT[..], &LONG] {
        let mut loan = sender.reserve(message.len()).expect("the channel takes such messages");
        loan.bytes().copy_from(message);
        match loan.try_commit() {
            Err(TrySendError::Full(loan)) => drop(loan.commit_timeout(LIMIT)),
            _ => continue,
        }
    }
}

/// Calls everything that a reader offers and that is limited.
fn receive_all_ways(reader: &Receiver) {
    // Whatever another process says that the length is, all bytes of it are within the slot or block.
    let read =
        |message: mcast::bytes::Msg<'_>| assert!(message.to_vec().len() == message.len() && message.len() <= 384);
    let _ = reader.try_recv().map(read);
    let _ = reader.recv_timeout(LIMIT).map(read);
    let held = [reader.try_recv(), reader.recv_timeout(LIMIT).map_err(|_| TryRecvError::Empty), reader.try_recv()];
    let _ = (reader.open_messages(), reader.wait_counts());
    held.into_iter().flatten().for_each(read);
}

/// Some words are written over while a message is open and another one unread; then everybody does everything.
fn disturb(mut ring: Ring, spoilt: &[usize], value: u64) {
    let Ring { region, senders, readers, words } = &mut ring;
    let _ = senders[0].try_send(&SHORT);
    let _ = senders[0].try_send(&LONG);
    let open = readers[0].try_recv().expect("sent");
    spoilt.iter().for_each(|&at| words[at].store(value, Ordering::Release));
    senders.iter_mut().for_each(send_all_ways);
    readers.iter().for_each(receive_all_ways);
    assert_eq!(open.to_vec().len(), SHORT.len(), "its length was read before");
    drop(open);
    for reader in readers.iter_mut() {
        let _ = reader.is_ready();
        let _ = reader.try_recv();
    }
    senders.iter_mut().for_each(try_to_send);
    readers.iter().for_each(receive_all_ways);
    // With the words as they were left, others come and go.
    senders.pop();
    let _ = mcast::bytes::sender(region, "c").map(|mut sender| send_all_ways(&mut sender));
    let _ = mcast::bytes::receiver(region, "c", Policy::Reliable).map(|reader| receive_all_ways(&reader));
}

/// Every word that an end reads, with every third of the values, others for each word.
fn disturb_all(senders: usize, delivery: Delivery) {
    watched(move |begin| {
        let sound = Ring::new(senders, delivery);
        let live = sound.live_words();
        let padding: Vec<_> = (0..sound.words.len()).filter(|at| !live.contains(at)).collect();
        begin(format!("{senders} senders, {delivery:?}, all words that no end reads"));
        disturb(Ring::new(senders, delivery), &padding, u64::MAX);
        for (which, at) in live.into_iter().enumerate() {
            let now = sound.words[at].load(Ordering::Acquire);
            for value in values(now, SLOTS).into_iter().skip((which + senders) % 3).step_by(3) {
                begin(format!("{senders} senders, {delivery:?}, {value:#x} over {now:#x} at offset {:#x}", 8 * at));
                disturb(Ring::new(senders, delivery), &[at], value);
            }
        }
    });
}

#[test]
fn any_word_of_a_gated_ring_of_one_sender_may_be_spoilt() {
    disturb_all(1, Delivery::Gated);
}

#[test]
fn any_word_of_a_gated_ring_of_two_senders_may_be_spoilt() {
    disturb_all(2, Delivery::Gated);
}

#[test]
fn any_word_of_an_overwriting_ring_of_one_sender_may_be_spoilt() {
    disturb_all(1, Delivery::Overwrite);
}

#[test]
fn any_word_of_an_overwriting_ring_of_two_senders_may_be_spoilt() {
    disturb_all(2, Delivery::Overwrite);
}

/// Here the words change at any time within the calls.
#[test]
fn words_may_be_spoilt_all_the_time() {
    const SEED: u64 = 0x5eed_0021;
    const ROUNDS: usize = 200;
    for delivery in [Delivery::Gated, Delivery::Overwrite] {
        watched(move |begin| {
            let Ring { region: _region, senders, readers, words } = Ring::new(2, delivery);
            let live = Ring::new(2, delivery).live_words();
            let is_over = &AtomicBool::new(false);
            begin(format!("{delivery:?}, seed {SEED:#x}"));
            std::thread::scope(|scope| {
                let spoiler = scope.spawn(|| {
                    let mut random = fastrand::Rng::with_seed(SEED);
                    while !is_over.load(Ordering::Relaxed) {
                        let word = &words[live[random.usize(..live.len())]];
                        let values = values(word.load(Ordering::Relaxed), SLOTS);
                        word.store(values[random.usize(..values.len())], Ordering::Release);
                    }
                });
                let sending = senders
                    .into_iter()
                    .map(|mut sender| scope.spawn(move || (0..ROUNDS).for_each(|_| send_all_ways(&mut sender))));
                let receiving = readers
                    .into_iter()
                    .map(|reader| scope.spawn(move || (0..ROUNDS).for_each(|_| receive_all_ways(&reader))));
                let ends: Vec<_> = sending.collect::<Vec<_>>().into_iter().chain(receiving).collect();
                let ended: Vec<_> = ends.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
                is_over.store(true, Ordering::Relaxed);
                spoiler.join().expect("it only writes");
                assert!(ended.iter().all(Result::is_ok), "an end panicked");
            });
        });
    }
}

/// A tail that went back, or far ahead, leaves no turn to any of several senders. All ways to send say so.
#[test]
fn a_spoilt_tail_is_an_error_of_senders() {
    watched(|begin| {
        for ring in [Ring::of_senders, |senders| Ring::new(senders, Delivery::Gated)] {
            let mut ring = ring(2);
            let tail = ring.words[0].load(Ordering::Acquire);
            assert_eq!(tail, 4 * (SLOTS + 2), "where the tail is");
            for spoilt in [0, 4, tail - 2 * SLOTS, tail + (1 << 40), tail + (1 << 63)] {
                begin(format!("{spoilt} instead of {tail}, {} readers", ring.readers.len()));
                if spoilt > tail && !ring.readers.is_empty() {
                    // Readers that seem to be far behind hold the senders back.
                    continue;
                }
                ring.words[0].store(spoilt, Ordering::Release);
                let sender = &mut ring.senders[0];
                for message in [&SHORT[..], &LONG] {
                    let tried = sender.try_send(message);
                    assert!(matches!(tried, Err(TrySendError::Failed(SendError::Corrupt { .. }))), "{tried:?}");
                    let timed = sender.send_timeout(message, LIMIT);
                    assert!(matches!(timed, Err(SendTimeoutError::Failed(SendError::Corrupt { .. }))), "{timed:?}");
                    assert!(matches!(sender.send(message), Err(SendError::Corrupt { .. })));
                    let loan = sender.reserve(message.len()).expect("it fits");
                    assert!(matches!(loan.try_commit(), Err(TrySendError::Failed(SendError::Corrupt { .. }))));
                }
                ring = if ring.readers.is_empty() { Ring::of_senders(2) } else { Ring::new(2, Delivery::Gated) };
            }
        }
    });
}

/// A tail that is less than a lap back makes no difference: the senders help it forward.
#[test]
fn a_tail_that_is_a_little_behind_is_helped_forward() {
    watched(|begin| {
        for back in 1..SLOTS {
            begin(format!("{back} back"));
            let mut ring = Ring::new(2, Delivery::Gated);
            ring.words[0].fetch_sub(back, Ordering::AcqRel);
            ring.pass_on();
        }
    });
}

#[test]
fn a_slot_that_no_sender_releases_is_an_error_of_senders() {
    watched(|begin| {
        for nonsense in [0, 0x3ff, 1 << 63, u64::MAX] {
            begin(format!("{nonsense:#x}"));
            let mut ring = Ring::new(2, Delivery::Gated);
            let slots = (0x200 + 128 * (2 + READERS)) / 8;
            ring.words[slots].store(nonsense, Ordering::Release);
            let sent = ring.senders[1].send(&SHORT);
            assert!(matches!(sent, Err(SendError::Corrupt { .. })), "{nonsense:#x}: {sent:?}");
            assert!(matches!(ring.readers[0].try_recv().map(drop), Err(TryRecvError::Empty)), "nothing was sent");
            drop(ring.senders);
            assert!(matches!(ring.readers[0].recv().map(drop), Err(RecvError::Closed)));
        }
    });
}
