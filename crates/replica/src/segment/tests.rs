//! Tests of the ends of a segment, in one thread.

use corecast_base::PlaceSlice;
use corecast_base::sync::{AtomicU64, Ordering};
use proptest::prelude::*;

use super::*;
use crate::{Command, Configuration, LeaveReason, NodeId, Op, RoleChange, SessionId};

const NODE: NodeId = NodeId::new(1, 1);

fn layout() -> SegmentLayout {
    SegmentLayout::with_requests(2, 8, 4, 1024)
}

fn writer() -> SegmentWriter {
    SegmentWriter::on_heap(layout(), NODE)
}

/// A writer, and its words, which a stranger may damage.
fn writer_in_words() -> (SegmentWriter, PlaceSlice<AtomicU64>) {
    let words = PlaceSlice::zeroed(layout().words());
    (SegmentWriter::new(layout(), NODE, words.clone()).expect("enough words"), words)
}

fn command(rid: u32) -> Command<Body> {
    let body = Body::inline(&rid.to_le_bytes()).expect("short");
    Command { session: SessionId::new(NODE, 1), rid, op: Op::User(body) }
}

fn is_command(read: SlotRead, epoch: u32, expected: Command<Body>) -> bool {
    read == SlotRead::Command { epoch, command: expected }
}

fn is_any(read: SlotRead) -> bool {
    matches!(read, SlotRead::Command { .. })
}

fn node_ids() -> impl Strategy<Value = NodeId> {
    (0..1023_u16, any::<u16>()).prop_map(|(slot, inc)| NodeId::new(slot, inc))
}

fn commands() -> impl Strategy<Value = Command<Body>> {
    let inline = proptest::collection::vec(any::<u8>(), 0..=INLINE_BYTES).prop_map(|bytes| Body::inline(&bytes));
    let bulk = (node_ids(), any::<u32>(), any::<u64>(), any::<u32>());
    let bulk = bulk.prop_map(|(node, len, offset, crc)| Body::Bulk(BulkPlace { node, len, offset, crc }));
    let reason = (0..5_u8).prop_map(|number| LeaveReason::from_number(number).expect("there are five"));
    let op = prop_oneof![
        Just(Op::Noop),
        inline.prop_map(|body| Op::User(body.expect("short"))),
        bulk.prop_map(Op::User),
        Just(Op::OpenSession),
        Just(Op::CloseSession),
        any::<u64>().prop_map(|session| Op::ExpireSession(SessionId(session))),
        (node_ids(), any::<u64>(), any::<u64>()).prop_map(|(node, boot, applied)| Op::Join { node, boot, applied }),
        (node_ids(), reason).prop_map(|(node, reason)| Op::Leave { node, reason }),
        any::<u64>().prop_map(Op::Barrier),
    ];
    (any::<u64>(), any::<u32>(), op).prop_map(|(session, rid, op)| Command { session: SessionId(session), rid, op })
}

proptest! {
    #[test]
    fn every_command_comes_back(index in 0..1_u64 << 53, epoch: u32, command in commands()) {
        let mut writer = writer();
        writer.write_accepted(epoch, index, &[command]);
        prop_assert!(is_command(writer.reader().accepted(index), epoch, command));
        prop_assert_eq!(writer.reader().proposal(index), SlotRead::Absent);
        prop_assert_eq!(writer.reader().accepted(index + 8), SlotRead::Absent);
        if index >= 8 {
            prop_assert_eq!(writer.reader().accepted(index - 8), SlotRead::Lapped);
        }
    }

    #[test]
    fn a_flipped_bit_never_gives_another_command(index in 0..100_u64, epoch: u32, command in commands(), bit in 0..512_usize) {
        let (mut writer, words) = writer_in_words();
        writer.write_accepted(epoch, index, &[command]);
        let slot = layout().accepted().slot(index);
        words[slot + bit / 64].fetch_xor(1 << (bit % 64), Ordering::Relaxed);
        let read = writer.reader().accepted(index);
        // A flip of the version in the stamp changes nothing that is read.
        prop_assert!(!is_any(read) || is_command(read, epoch, command), "{:?}", read);
        prop_assert!(bit < 64 || read == SlotRead::Corrupt, "{:?}", read);
    }

    #[test]
    fn any_words_are_read_without_harm(seed: u64) {
        let mut random = fastrand::Rng::with_seed(seed);
        let (writer, words) = writer_in_words();
        words.iter().for_each(|word| word.store(random.u64(..) >> random.u32(0..64), Ordering::Relaxed));
        let (reader, mut run, mut requests) = (writer.reader(), Vec::new(), Vec::new());
        for index in (0..32).chain([u64::MAX - 1, random.u64(..u64::MAX)]) {
            prop_assert!(!is_any(reader.accepted(index)));
            prop_assert!(!is_any(reader.proposal(index)));
        }
        let _ = reader.requests(0, &mut requests);
        prop_assert!(reader.proposals(0..10, &mut run).gap.is_some() && run.is_empty() && requests.is_empty());
        for number in 0..100 {
            prop_assert!(!matches!(reader.cell(number, random.u32(..)), CellRead::Configuration(_)));
        }
        prop_assert_eq!((reader.held(0), reader.held(1), reader.held(2)), (None, None, None));
        let place = BulkPlace { node: NODE, len: random.u32(0..100), offset: random.u64(0..20) * 64, crc: random.u32(..) };
        prop_assert!(reader.bulk(&place, &mut Vec::new()).is_err());
        let _ = (reader.state(), reader.applied(), reader.applied_hash(), reader.commit(), reader.beat());
        let _ = (reader.asks(), reader.promised(), reader.stable(), reader.relayed(), reader.proposal_stable());
        prop_assert_eq!((reader.gift(), reader.cut(NODE)), (None, None));
        prop_assert!(SegmentReader::new(layout(), NODE, ReadWords::from(&words)).is_err());
    }
}

/// Each bit of a slot of each ring: the same command, or none. A stamp that says nothing but its version is none, either.
#[test]
fn each_bit_of_a_slot_counts() {
    let (mut writer, words) = writer_in_words();
    writer.write_accepted(1, 3, &[command(5)]);
    writer.write_proposals(1, 3, &[command(5)]);
    writer.push_request(&command(5)).expect("the ring is empty");
    let reader = writer.reader();
    let slots = [layout().accepted().slot(3), layout().proposals().slot(3), layout().request_ring().slot(0)];
    let read = |ring: usize| match ring {
        0 => reader.accepted(3),
        1 => reader.proposal(3),
        _ => {
            let mut requests = Vec::new();
            let _ = reader.requests(0, &mut requests);
            requests.first().map_or(SlotRead::Absent, |&command| SlotRead::Command { epoch: 1, command })
        }
    };
    for (ring, slot) in slots.into_iter().enumerate() {
        let whole = read(ring);
        assert!(is_command(whole, 1, command(5)), "ring {ring}: {whole:?}");
        for bit in 0..512 {
            words[slot + bit / 64].fetch_xor(1 << (bit % 64), Ordering::Relaxed);
            let found = read(ring);
            assert!(!is_any(found) || found == whole && (54..62).contains(&bit), "ring {ring}, bit {bit}: {found:?}");
            words[slot + bit / 64].fetch_xor(1 << (bit % 64), Ordering::Relaxed);
        }
        let stamp = words[slot].swap(1 << 60, Ordering::Relaxed);
        assert!(!is_any(read(ring)), "ring {ring}: a stamp without a number");
        words[slot].store(stamp, Ordering::Relaxed);
    }
}

/// No writer writes number 0: such words are a stranger's, in whatever record they stand.
#[test]
fn stamps_without_a_number_are_no_records() {
    let (writer, words) = writer_in_words();
    words.iter().for_each(|word| word.store(1 << 60, Ordering::Relaxed));
    let reader = writer.reader();
    assert_eq!((reader.held(0), reader.gift(), reader.cut(NODE), reader.applied_hash()), (None, None, None, None));
    assert!(!is_any(reader.accepted(0)) && !is_any(reader.proposal(0)));
    assert!(!matches!(reader.cell(0, 0), CellRead::Configuration(_)));
    assert!(SegmentReader::new(layout(), NODE, ReadWords::from(&words)).is_err());
}

#[test]
fn each_asker_has_a_cut_of_its_own() {
    let mut writer = writer();
    let cut = |slot, number| Cut {
        id: Cut::id_of(NodeId::new(slot, 1), number),
        index: number.into(),
        digest: u128::from(number) << 70,
    };
    let slots = layout().slots() as u16;
    for number in 0..3 {
        (0..=slots).for_each(|slot| writer.set_cut(&cut(slot, number)));
    }
    let found = |slot| writer.reader().cut(NodeId::new(slot, 9));
    assert!((0..slots).all(|slot| found(slot) == Some(cut(slot, 2))));
    assert_eq!(found(slots), None, "beyond the group's");
}

#[test]
fn an_epoch_is_raised_in_place() {
    let (mut writer, words) = writer_in_words();
    writer.write_proposals(1, 3, &[command(1), command(2)]);
    let stamp = || words[layout().proposals().slot(3)].load(Ordering::Relaxed);
    let before = stamp();
    writer.write_proposals(2, 3, &[command(1)]);
    assert_eq!(stamp(), before, "the slot was readable all the time");
    let mut run = Vec::new();
    let read = writer.reader().proposals(3..9, &mut run);
    assert_eq!(run, [(3, 2, command(1)), (4, 1, command(2))]);
    assert_eq!(read, RunRead { end: 5, gap: Some(SlotRead::Absent) });
    writer.write_proposals(2, 3, &[command(7)]);
    assert_ne!(stamp(), before);
    assert!(is_command(writer.reader().proposal(3), 2, command(7)));
}

#[test]
fn what_was_erased_is_absent_until_it_is_written_again() {
    let mut writer = writer();
    writer.write_accepted(1, 0, &[command(1), command(2), command(3)]);
    writer.erase(1..5);
    let reader = writer.reader();
    assert_eq!(reader.accepted(1), SlotRead::Absent);
    let mut run = Vec::new();
    assert_eq!(reader.accepted_run(0..3, &mut run).end, 1);
    writer.write_accepted(2, 1, &[command(2)]);
    assert!(is_command(reader.accepted(1), 2, command(2)));
    writer.write_accepted(2, 9, &[command(9)]);
    writer.erase(9..10);
    assert_eq!((reader.accepted(9), reader.accepted(1)), (SlotRead::Absent, SlotRead::Lapped));
    writer.erase(1..2);
    assert_eq!(reader.accepted(1), SlotRead::Lapped, "there is another command");
}

#[test]
fn a_committed_command_is_not_erased() {
    let mut writer = writer();
    writer.write_accepted(1, 0, &[command(1), command(2)]);
    writer.commit(1, 0);
    writer.erase(0..2);
    let reader = writer.reader();
    assert!(is_command(reader.accepted(0), 1, command(1)));
    assert_eq!(reader.accepted(1), SlotRead::Absent);
}

#[test]
fn a_reader_beside_a_fast_writer_finds_whole_commands() {
    const COUNT: u32 = 200_000;
    let mut writer = writer();
    let reader = writer.reader();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for rid in 0..COUNT {
                writer.write_accepted(rid, rid.into(), &[command(rid)]);
                writer.commit(u64::from(rid) + 1, 0);
            }
        });
        let mut commit = 0;
        while commit < COUNT.into() {
            commit = reader.commit();
            for index in commit.saturating_sub(3)..commit {
                let found = reader.accepted(index);
                let is_lapped = matches!(found, SlotRead::Lapped);
                assert!(is_lapped || is_command(found, index as u32, command(index as u32)), "{index}: {found:?}");
            }
            std::thread::yield_now();
        }
    });
}

#[test]
fn a_slot_that_is_being_written_is_busy() {
    let (mut writer, words) = writer_in_words();
    writer.write_accepted(1, 9, &[command(1)]);
    words[layout().accepted().slot(9)].fetch_or(1 << 63, Ordering::Relaxed);
    let reader = writer.reader();
    let found = [1, 9, 17].map(|index| reader.accepted(index));
    assert_eq!(found, [SlotRead::Lapped, SlotRead::Busy, SlotRead::Absent]);
}

#[test]
fn counts_are_published() {
    let mut writer = writer();
    let reader = writer.reader();
    assert_eq!((reader.applied(), reader.applied_hash(), reader.state()), (0, None, Some(NodeState::Joining)));
    writer.set_applied(5, Some(u128::MAX - 7));
    writer.set_applied(6, None);
    writer.commit(9, 4);
    writer.set_proposal_tail(12, 3);
    assert_eq!((reader.stable(), reader.proposal_stable()), (4, 3));
    writer.set_stable(5);
    writer.set_proposal_stable(4);
    assert_eq!((reader.stable(), reader.proposal_stable()), (5, 4));
    writer.set_relayed(8);
    writer.set_state(NodeState::Member);
    writer.beat();
    assert_eq!((reader.applied(), reader.applied_hash()), (6, Some((5, u128::MAX - 7))));
    assert_eq!((reader.commit(), reader.proposal_tail(), reader.relayed()), (9, 12, 8));
    assert_eq!((reader.state(), reader.beat(), reader.promised()), (Some(NodeState::Member), 1, 0));
    writer.write_accepted(3, 0, &[]);
    assert_eq!(reader.promised(), 3);
}

#[test]
fn a_cell_holds_a_configuration_until_it_is_used_again() {
    let configuration = |epoch| Configuration {
        epoch,
        change: if epoch % 2 == 0 { RoleChange::Acceptor } else { RoleChange::Leader },
        leader: NODE,
        acceptor: NodeId::new(1022, u16::MAX),
        inst: epoch / 2 * 2,
        stable: 7,
        source: NodeId::new(0, 3),
        hi: u64::MAX,
    };
    let (mut writer, words) = writer_in_words();
    let reader = writer.reader();
    for epoch in 0..CELLS as u32 {
        assert_eq!(reader.cell(epoch as usize, epoch), CellRead::Overwritten);
        assert_eq!(writer.write_cell(&configuration(epoch)), epoch as usize);
        assert_eq!(reader.cell(epoch as usize, epoch), CellRead::Configuration(configuration(epoch)));
    }
    let next = CELLS as u32;
    assert_eq!(writer.write_cell(&configuration(next)), 0);
    assert_eq!(reader.cell(0, 0), CellRead::Overwritten);
    assert_eq!(reader.cell(0, next), CellRead::Configuration(configuration(next)));
    assert_eq!(reader.cell(CELLS, next), CellRead::Corrupt, "there is no such cell");
    for bit in 64..6 * 64 {
        let word = &words[layout().cell(0) + bit / 64];
        word.fetch_xor(1 << (bit % 64), Ordering::Relaxed);
        assert_eq!(reader.cell(0, next), CellRead::Corrupt, "bit {bit}");
        word.fetch_xor(1 << (bit % 64), Ordering::Relaxed);
    }
}

#[test]
fn requests_are_read_once_and_their_slots_go_round() {
    let mut writer = writer();
    let reader = writer.reader();
    let (mut at, mut got) = (0, Vec::new());
    for rid in 0..4 {
        assert_eq!(writer.push_request(&command(rid)), Some(u64::from(rid)));
    }
    assert_eq!(writer.push_request(&command(4)), None, "the ring is full");
    at = reader.requests(at, &mut got);
    assert_eq!((at, got.len()), (4, 4));
    writer.release_requests(3);
    writer.release_requests(2);
    for rid in 4..7 {
        assert!(writer.push_request(&command(rid)).is_some());
    }
    assert_eq!(writer.push_request(&command(7)), None);
    at = reader.requests(at, &mut got);
    let rids: Vec<u32> = got.iter().map(|command| command.rid).collect();
    assert_eq!((at, rids), (7, Vec::from_iter(0..7)));
    let mut since_start = Vec::new();
    assert_eq!(reader.requests(0, &mut since_start), 7);
    assert_eq!(since_start[..], got[3..], "those that were released are not read by another leader");
}

#[test]
#[should_panic(expected = "only requests that were written are released")]
fn requests_that_were_not_written_are_not_released() {
    writer().release_requests(1);
}

#[test]
fn the_descriptors_of_others_are_listed() {
    let mut writer = writer();
    let reader = writer.reader();
    assert_eq!(reader.held(0), None);
    let held = Held { inc: 3, fd: 0, identity: 77 };
    writer.set_held(0, Some(held));
    assert_eq!((reader.held(0), reader.held(1), reader.held(2)), (Some(held), None, None));
    writer.set_held(0, None);
    assert_eq!(reader.held(0), None);
}

#[test]
fn a_segment_is_checked_when_it_is_opened() {
    let (_writer, words) = writer_in_words();
    let open = |layout, node| SegmentReader::new(layout, node, ReadWords::from(&words)).map(drop);
    assert_eq!(open(layout(), NODE), Ok(()));
    assert_eq!(open(layout(), NodeId::new(1, 2)), Err(LayoutError::Node));
    assert_eq!(open(SegmentLayout::with_requests(2, 4, 4, 1024), NODE), Err(LayoutError::Sizes));
    let larger = SegmentLayout::with_requests(2, 16, 4, 1024);
    assert!(matches!(open(larger, NODE), Err(LayoutError::Size { .. })));
    words[2].fetch_add(1, Ordering::Relaxed);
    assert!(matches!(open(layout(), NODE), Err(LayoutError::Version { .. })), "another version is told from damage");
    words[2].fetch_sub(1, Ordering::Relaxed);
    for bit in 0..5 * 64 {
        words[bit / 64].fetch_xor(1 << (bit % 64), Ordering::Relaxed);
        // The eight bits that count how often the stamp was written mean nothing here.
        assert_eq!(open(layout(), NODE).is_ok(), (54..62).contains(&bit), "bit {bit}");
        words[bit / 64].fetch_xor(1 << (bit % 64), Ordering::Relaxed);
    }
    for len in [0, 1, 100, layout().words() - 1] {
        let cut = SegmentReader::new(layout(), NODE, ReadWords::from(&PlaceSlice::zeroed(len))).map(drop);
        assert_eq!(cut, Err(LayoutError::Size { words: len, expected: layout().words() }));
    }
    let fresh = PlaceSlice::zeroed(layout().words());
    let error = SegmentReader::new(layout(), NODE, ReadWords::from(&fresh)).map(drop);
    assert_eq!(error, Err(LayoutError::NotOurs));
    let short = SegmentWriter::new(layout(), NODE, PlaceSlice::zeroed(10)).map(drop);
    assert_eq!(short, Err(LayoutError::Size { words: 10, expected: layout().words() }));
}

#[test]
fn a_segment_in_sealed_memory_is_found_at_any_holder() {
    let (mut writer, memory) = create_segment(layout(), NODE).expect("there is memory");
    writer.write_accepted(1, 0, &[command(1)]);
    let (reader, held) = open_segment(layout(), NODE, memory.announcement()).expect("/proc");
    assert!(is_command(reader.accepted(0), 1, command(1)));
    drop((writer, memory));
    let at = Held::of(NODE.inc, &held).place(std::process::id());
    let (again, _) = open_segment(layout(), NODE, at).expect("this process holds it");
    assert!(is_command(again.accepted(0), 1, command(1)));
    let other = open_segment(layout(), NodeId::new(0, 1), at).map(drop).expect_err("another node");
    assert_eq!(other.to_string(), "the segment of node 0.1: the segment of another node");
}
