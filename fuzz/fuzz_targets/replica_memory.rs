//! The shared memory of a group whose words a stranger changed: a node's segment (cells, slots, records) and the control page.
//!
//! The input is a list of changes: an offset of two bytes, and a word of eight bytes that is put there, or that flips bits there.

#![no_main]

use corecast_base::PlaceSlice;
use corecast_base::region::{RegionPlan, SharedRegion};
use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::wait::Wait;
use corecast_replica::segment::{
    Body, BulkPlace, Claim, ConfigurationWord, Control, Held, NodeRecord, NodeState, ReadWords, SegmentLayout,
    SegmentReader, SegmentWriter,
};
use corecast_replica::{Command, Configuration, NodeId, Op, RoleChange, SessionId};
use libfuzzer_sys::fuzz_target;

const NODE: NodeId = NodeId::new(1, 1);
const SLOTS: usize = 2;

fn layout() -> SegmentLayout {
    SegmentLayout::with_requests(SLOTS, 8, 4, 1024)
}

fuzz_target!(|input: &[u8]| {
    segment(input);
    page(input);
});

fn change(words: &[AtomicU64], input: &[u8]) {
    for change in input.chunks_exact(10) {
        let at = u16::from_le_bytes([change[0], change[1]]);
        let value = u64::from_le_bytes(change[2..].try_into().expect("eight bytes"));
        let word = &words[usize::from(at >> 1) % words.len()];
        // ORDERING: Relaxed, nobody else is there
        if at & 1 == 0 { word.store(value, Ordering::Relaxed) } else { _ = word.fetch_xor(value, Ordering::Relaxed) }
    }
}

fn segment(input: &[u8]) {
    let words = PlaceSlice::zeroed(layout().words());
    let mut writer = SegmentWriter::new(layout(), NODE, words.clone()).expect("enough words");
    let command = |rid: u32| {
        let body = Body::inline(&rid.to_le_bytes()).expect("short");
        Command { session: SessionId::new(NODE, 1), rid, op: Op::User(body) }
    };
    for rid in 0..4 {
        writer.write_accepted(1, rid.into(), &[command(rid)]);
        writer.write_proposals(1, rid.into(), &[command(rid)]);
        writer.push_request(&command(rid)).expect("room for four");
    }
    let (change_of, hi) = (RoleChange::Leader, 4);
    let first = Configuration {
        epoch: 1,
        change: change_of,
        leader: NODE,
        acceptor: NODE,
        inst: 0,
        stable: 0,
        source: NODE,
        hi,
    };
    writer.write_cell(&first);
    writer.set_held(0, Some(Held { inc: 1, fd: 3, identity: 4 }));
    writer.set_state(NodeState::Member);
    change(&words, input);
    let _ = SegmentReader::new(layout(), NODE, ReadWords::from(&words));
    read(&writer.reader());
}

fn read(reader: &SegmentReader) {
    let (mut run, mut requests) = (Vec::new(), Vec::new());
    for first in [0, 3, 8, u64::MAX - 1] {
        let found = reader.accepted_run(first..first.saturating_add(8), &mut run);
        assert!(found.end >= first && found.end - first <= 8);
        let found = reader.proposals(first..first.saturating_add(8), &mut run);
        assert!(found.end >= first && found.end - first <= 8);
        let (_, _) = (reader.accepted(first), reader.proposal(first));
        let _ = reader.requests(first, &mut requests);
    }
    for number in 0..70 {
        let _ = reader.cell(number, number as u32);
    }
    let _ =
        (reader.held(0), reader.held(1), reader.held(2), reader.gift(), reader.cut(NODE), reader.asks(), reader.state());
    let _ =
        (reader.applied(), reader.applied_hash(), reader.commit(), reader.stable(), reader.promised(), reader.beat());
    for offset in (0..20).map(|line| line * 64).chain([u64::MAX - 63]) {
        let _ = reader.bulk(&BulkPlace { node: NODE, len: 100, offset, crc: 0 }, &mut Vec::new());
    }
}

fn page(input: &[u8]) {
    let plan = RegionPlan::new().add("control", 1, [0; 6], Control::bytes(SLOTS) as u64).expect("a plan");
    let region = SharedRegion::memfd(&plan).expect("memory");
    let section = region.section(&region.entry("control").expect("declared"));
    let page = Control::create(&region, section.clone(), layout(), Wait::Park).expect("room");
    let claim = Claim { inc: 1, participant: region.me().to_word() };
    page.claim(1, Claim::NONE, claim).expect("nobody else");
    page.publish(1, &NodeRecord { inc: 1, participant: claim.participant, pid: 1, fd: 3, identity: 4, boot: 5 });
    page.swap(ConfigurationWord::NONE, ConfigurationWord::new(0, NODE, 0)).expect("nobody else");
    change(&section.words(0, Control::bytes(SLOTS) / 8).expect("inside"), input);
    let Ok(page) = Control::open(&region, section) else { return };
    for slot in 0..page.layout().slots() {
        let _ = (page.node(slot), page.last_claim(slot).next(1), page.claimed(slot));
    }
    let _ = (page.configuration().node(), page.configuration().cell(), page.visible(), page.poisoned());
}
