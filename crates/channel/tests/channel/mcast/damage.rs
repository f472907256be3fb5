//! Another process writes over a reader's cursor: the senders give that reader up, and no other end notices.

use corecast_base::PlaceSlice;
use corecast_base::region::{RegionPlan, SharedRegion};
use corecast_base::sync::{AtomicU64, Ordering};
use corecast_channel::mcast::bytes::{Receiver, Sender};
use corecast_channel::mcast::{self, Config, Policy};
use corecast_channel::{RecvError, TryRecvError};

use crate::mcast::readers::{check, message};

const SLOTS: usize = 4;
/// Messages of everybody's before anything is wrong: the cursors are here then.
const BEFORE: u32 = 100;

/// Senders, a victim and another reader, and the memory as another process could reach it.
struct Ring {
    region: SharedRegion,
    senders: Vec<Sender>,
    victim: Receiver,
    reader: Receiver,
    words: PlaceSlice<AtomicU64>,
    sent: u32,
}

impl Ring {
    fn new(senders: usize) -> Self {
        let config = Config { slots: SLOTS, block_bytes: 300, senders, readers: 3, ..Config::default() };
        let plan = mcast::bytes::spec(config).declare(RegionPlan::new(), "c").expect("a plan");
        let region = SharedRegion::heap(&plan).expect("memory");
        let [victim, reader] =
            [(); 2].map(|()| mcast::bytes::receiver(&region, "c", Policy::Reliable).expect("a place"));
        let section = region.section(&region.entry("c").expect("declared"));
        let words = section.words(0, section.len() / 8).expect("all of it");
        let senders = (0..senders).map(|_| mcast::bytes::sender(&region, "c").expect("a place")).collect();
        let mut ring = Self { region, senders, victim, reader, words, sent: 0 };
        for number in 0..BEFORE {
            ring.pass_on();
            assert_eq!(check(&ring.victim.try_recv().expect("sent").to_vec()).1, number);
        }
        ring
    }

    /// The next sender sends, and the other reader receives.
    fn pass_on(&mut self) {
        let who = self.sent as usize % self.senders.len();
        let len = [20, 300][self.sent as usize / 2 % 2];
        self.senders[who].try_send(&message(who as u8, self.sent, len)).expect("nobody holds it back");
        assert_eq!(check(&self.reader.try_recv().expect("sent").to_vec()), (who as u8, self.sent));
        self.sent += 1;
    }

    /// The victim's cursor.
    fn cursor(&self) -> &AtomicU64 {
        &self.words[(0x200 + self.senders.len() * 128) / 8 + 1]
    }
}

#[test]
fn a_reader_with_a_nonsense_cursor_is_given_up_and_told_while_the_others_go_on() {
    for senders in [1, 2] {
        let here = u64::from(BEFORE);
        for nonsense in [0, here / 2, here + 1000, 1 << 40, here.wrapping_add(1 << 63), u64::MAX] {
            let mut ring = Ring::new(senders);
            assert_eq!(ring.cursor().load(Ordering::Acquire), here, "where the cursor is");
            ring.cursor().store(nonsense, Ordering::Release);
            (0..2 * SLOTS).for_each(|_| ring.pass_on());
            for _ in 0..2 {
                let told = ring.victim.try_recv().map(drop);
                assert!(
                    matches!(told, Err(TryRecvError::Failed(RecvError::Corrupt(_)))),
                    "{nonsense:#x}: {told:?}, and it stays so"
                );
            }
            assert!(matches!(ring.victim.recv(), Err(RecvError::Corrupt(_))), "a reader that would wait is told, too");

            ring.victim = mcast::bytes::receiver(&ring.region, "c", Policy::Reliable).expect("a place");
            for number in ring.sent..ring.sent + 10 {
                ring.pass_on();
                assert_eq!(check(&ring.victim.try_recv().expect("sent").to_vec()).1, number, "it may join again");
            }
        }
    }
}
