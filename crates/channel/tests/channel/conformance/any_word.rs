//! Another process writes anything into any word of a channel of one sender and one receiver: no call panics, and none
//! outlasts its time limit.

use std::num::NonZeroU64;
use std::time::Duration;

use corecast_base::PlaceSlice;
use corecast_base::region::{RegionPlan, SharedRegion};
use corecast_base::sync::{AtomicU64, Ordering};
use corecast_channel::Spec;
use corecast_channel::ff::{self, Probe, Slip};
use corecast_channel::select::Selectable;
use corecast_channel::ump::{self, Credit};

use crate::conformance::traffic::NAME;
use crate::spoilt::{LIMIT, values, watched};

/// Offsets of the words beside the slots, in both channels: two of counts and ends, the sender, the receiver, and the wake words.
const CONTROL: [usize; 8] = [0, 0x80, 0x100, 0x180, 0x200, 0x208, 0x280, 0x288];
/// The one of them that names the sender.
const SENDER: usize = 0x100;
const SLOTS_AT: usize = 0x300;
/// A participant that is not there.
const NOBODY: u64 = 5 << 32 | 77;

/// A channel in a region, and its memory as another process could reach it.
fn region(spec: Spec) -> (SharedRegion, PlaceSlice<AtomicU64>) {
    let region = SharedRegion::heap(&spec.declare(RegionPlan::new(), NAME).expect("a good name")).expect("memory");
    let section = region.section(&region.entry(NAME).expect("declared"));
    let words = section.words(0, section.len() / 8).expect("all of it");
    (region, words)
}

/// Calls `test` for each of these words and every fifth of the values that may come there, others for each word, with a
/// channel of its own each time.
fn for_each_word(
    spec: Spec,
    slots: u64,
    offsets: impl IntoIterator<Item = usize>,
    test: impl Fn(&SharedRegion, &dyn Fn()),
    begin: &mut dyn FnMut(String),
) {
    for (which, offset) in offsets.into_iter().enumerate() {
        for near in [0, slots + 2] {
            for value in values(near, slots).into_iter().skip(which % 5).step_by(5) {
                begin(format!("{spec:?}, {value:#x} at offset {offset:#x}"));
                let (region, words) = region(spec);
                test(&region, &|| words[offset / 8].store(value, Ordering::Release));
            }
        }
    }
}

fn ump_case(region: &SharedRegion, spoil: &dyn Fn()) {
    let mut tx = ump::bytes::sender(region, NAME).expect("nobody has it");
    let mut rx = ump::bytes::receiver(region, NAME).expect("nobody has it");
    for number in 0..18_u8 {
        tx.send(&[number]).expect("the receiver keeps up");
        assert_eq!(rx.try_recv().expect("sent").read(), Some(number));
    }
    tx.send(&[7; 20]).expect("room");
    spoil();
    for _ in 0..2 {
        let longest = tx.max_len();
        for len in [5, longest] {
            let _ = tx.try_send(&vec![1; len]);
            let _ = tx.send_timeout(&vec![1; len], LIMIT);
        }
        let fits = |bytes: &corecast_channel::Bytes<'_>| assert!(bytes.to_vec().len() <= longest);
        let _ = rx.try_recv().map(|message| fits(&message));
        let _ = rx.recv_timeout(LIMIT).map(|message| fits(&message));
        let _ = (rx.is_ready(), rx.drain(usize::MAX, fits));
    }
}

#[test]
fn any_word_of_a_ring_of_bytes_may_be_spoilt() {
    watched(|begin| {
        for credit in [Credit::AckLine, Credit::SlotClear] {
            let spec = ump::bytes::spec(ump::Config { slots: 16, credit, ..ump::Config::default() });
            let slots = (0..16).flat_map(|slot| [0, 8].map(|word| SLOTS_AT + 64 * slot + word));
            for_each_word(spec, 16, CONTROL.into_iter().chain(slots), ump_case, begin);
        }
    });
}

/// The successor of a dead sender looks for what that sent in memory that may hold anything.
#[test]
fn any_word_may_be_spoilt_where_a_sender_succeeds_a_dead_one() {
    let case = |region: &SharedRegion, spoil: &dyn Fn()| {
        let mut tx = ump::bytes::sender(region, NAME).expect("nobody has it");
        (0..5).for_each(|_| tx.send(&[7; 20]).expect("room"));
        spoil();
        let words = region.section(&region.entry(NAME).expect("declared")).words(0, SENDER / 8 + 1).expect("inside");
        words[SENDER / 8].store(NOBODY, Ordering::Release);
        let _ = ump::bytes::sender(region, NAME).map(|mut next| next.send_timeout(&[8; 20], LIMIT));
    };
    watched(move |begin| {
        for credit in [Credit::AckLine, Credit::SlotClear] {
            let spec = ump::bytes::spec(ump::Config { slots: 16, credit, ..ump::Config::default() });
            for_each_word(spec, 16, [0, 0x80].into_iter().chain((0..16).map(|slot| SLOTS_AT + 64 * slot)), case, begin);
        }
    });
}

fn ff_case(region: &SharedRegion, spoil: &dyn Fn()) {
    let mut tx = ff::sender(region, NAME).expect("nobody has it");
    let mut rx = ff::receiver(region, NAME).expect("nobody has it");
    let word = NonZeroU64::MIN;
    for _ in 0..40 {
        tx.send(word).expect("the receiver keeps up");
        tx.flush().expect("this is no child");
        rx.recv().expect("sent");
    }
    tx.try_send(word).expect("room");
    spoil();
    for _ in 0..2 {
        let _ = tx.try_send(word);
        let _ = tx.send_timeout(word, LIMIT);
        let _ = tx.flush();
        let _ = (rx.try_recv(), rx.recv_timeout(LIMIT), rx.is_ready());
    }
}

#[test]
fn any_word_of_a_word_channel_may_be_spoilt() {
    watched(|begin| {
        for slip in [Slip::None, Slip::Line(Duration::from_micros(50))] {
            for probe in [Probe::Cell, Probe::Line] {
                let spec = ff::spec(ff::Config { cells: 32, slip, probe, ..ff::Config::default() });
                let cells = (0..32).step_by(3).map(|cell| SLOTS_AT + 8 * cell);
                for_each_word(spec, 32, CONTROL.into_iter().chain(cells), ff_case, begin);
            }
        }
    });
}
