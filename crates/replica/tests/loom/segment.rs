//! One writer of a segment, and its readers.

use corecast_replica::segment::{SegmentReader, SegmentWriter, SlotRead};
use loom::thread;

use crate::{command, may_be_there, must_be_there, writer};

/// Runs both ends of a fresh segment.
fn model(
    log: u64,
    prepare: impl Fn(&mut SegmentWriter) + Send + Sync + Copy + 'static,
    write: impl Fn(SegmentWriter) + Send + Sync + Copy + 'static,
    read: impl Fn(&SegmentReader) + Send + Sync + 'static,
) {
    loom::model(move || {
        let mut writer = writer(log);
        let reader = writer.reader();
        prepare(&mut writer);
        let owner = thread::spawn(move || write(writer));
        read(&reader);
        owner.join().expect("the owner ends");
    });
}

fn nothing(_: &mut SegmentWriter) {}

/// Two related words under one number.
fn hash(value: u64) -> u128 {
    u128::from(value) << 64 | u128::from(!value)
}

fn check_hash(reader: &SegmentReader) -> Option<u64> {
    let (count, found) = reader.applied_hash()?;
    assert_eq!(found, hash((found >> 64) as u64), "torn");
    Some(count)
}

#[test]
fn a_record_is_read_whole_or_not_at_all() {
    let write = |mut writer: SegmentWriter| {
        writer.set_applied(1, Some(hash(7)));
        writer.set_applied(2, Some(hash(8)));
    };
    model(1, nothing, write, |reader| {
        let first = check_hash(reader);
        let second = check_hash(reader);
        assert!(first.is_none() || second.is_none() || first <= second);
    });
}

#[test]
fn a_record_is_read_whole_or_not_at_all_under_the_same_number_too() {
    let prepare = |writer: &mut SegmentWriter| writer.set_applied(1, Some(hash(6)));
    let write = |mut writer: SegmentWriter| {
        writer.set_applied(1, Some(hash(7)));
        writer.set_applied(1, Some(hash(8)));
    };
    model(1, prepare, write, |reader| {
        let count = check_hash(reader);
        assert!(count.is_none_or(|count| count == 1));
    });
}

#[test]
fn an_applied_count_brings_its_hash() {
    let write = |mut writer: SegmentWriter| writer.set_applied(1, Some(hash(7)));
    model(1, nothing, write, |reader| {
        if reader.applied() == 1 {
            assert_eq!(check_hash(reader), Some(1));
        }
    });
}

#[test]
fn a_slot_is_read_whole_or_not_at_all() {
    let write = |mut writer: SegmentWriter| writer.write_accepted(1, 0, &[command(5)]);
    model(1, nothing, write, |reader| {
        let first = may_be_there(reader.accepted(0));
        let second = may_be_there(reader.accepted(0));
        assert!(first.is_none() || first == second, "what was there stays");
    });
}

#[test]
fn a_slot_that_was_erased_and_written_again_is_read_whole_or_not_at_all() {
    let prepare = |writer: &mut SegmentWriter| writer.write_accepted(1, 0, &[command(5)]);
    let write = |mut writer: SegmentWriter| {
        writer.erase(0..1);
        writer.write_accepted(2, 0, &[command(6)]);
    };
    model(1, prepare, write, |reader| {
        let found = may_be_there(reader.accepted(0));
        assert!([None, Some((1, 5)), Some((2, 6))].contains(&found), "{found:?}");
    });
}

#[test]
fn a_lapped_slot_is_never_taken_for_the_one_before() {
    let prepare = |writer: &mut SegmentWriter| writer.write_accepted(1, 0, &[command(5)]);
    let write = |mut writer: SegmentWriter| writer.write_accepted(1, 1, &[command(6)]);
    model(1, prepare, write, |reader| {
        let before = reader.accepted(0);
        assert!(before == SlotRead::Lapped || must_be_there(before) == (1, 5));
        let after = may_be_there(reader.accepted(1));
        assert!([None, Some((1, 6))].contains(&after), "{after:?}");
    });
}

#[test]
fn a_lapped_command_is_below_stable() {
    let prepare = |writer: &mut SegmentWriter| writer.write_accepted(1, 0, &[command(5)]);
    let write = |mut writer: SegmentWriter| {
        writer.set_stable(1);
        writer.write_accepted(1, 1, &[command(6)]);
    };
    model(1, prepare, write, |reader| {
        if reader.accepted(0) == SlotRead::Lapped {
            assert_eq!(reader.stable(), 1);
        }
    });
}

#[test]
fn a_committed_command_is_there_while_its_epoch_is_raised() {
    let write = |mut writer: SegmentWriter| {
        writer.write_accepted(1, 0, &[command(5)]);
        writer.commit(1, 7);
        writer.write_accepted(2, 0, &[command(5)]);
    };
    model(2, nothing, write, |reader| {
        if reader.commit() == 1 {
            let (epoch, rid) = must_be_there(reader.accepted(0));
            assert!(rid == 5 && (1..=2).contains(&epoch));
            assert_eq!(reader.stable(), 7);
        }
    });
}

#[test]
fn a_proposal_tail_brings_the_proposals() {
    let write = |mut writer: SegmentWriter| {
        writer.write_proposals(1, 0, &[command(5)]);
        writer.set_proposal_tail(1, 7);
        writer.write_proposals(2, 0, &[command(5)]);
        writer.set_proposal_tail(1, 8);
    };
    model(2, nothing, write, |reader| {
        if reader.proposal_tail() == 1 {
            // The count comes last, as reading it acquires by itself.
            assert_eq!(must_be_there(reader.proposal(0)).1, 5);
            assert!(reader.proposal_stable() >= 7);
        }
    });
}

#[test]
fn a_request_tail_brings_the_requests() {
    let write = |mut writer: SegmentWriter| {
        assert_eq!(writer.push_request(&command(0)), Some(0));
        assert_eq!(writer.push_request(&command(1)), Some(1));
        assert_eq!(writer.push_request(&command(2)), None);
    };
    model(1, nothing, write, |reader| {
        let mut got = Vec::new();
        let position = reader.requests(0, &mut got);
        assert_eq!(got[..], [command(0), command(1)][..position as usize]);
        let end = reader.requests(position, &mut got);
        assert_eq!(got[..], [command(0), command(1)][..end as usize], "each once, in their order");
    });
}

#[test]
fn a_relay_brings_what_it_has_seen() {
    loom::model(|| {
        let (mut acceptor, mut relay) = (writer(1), writer(1));
        let (log, relayed) = (acceptor.reader(), relay.reader());
        let theirs = log.clone();
        let owner = thread::spawn(move || {
            acceptor.write_accepted(1, 0, &[command(5)]);
            acceptor.commit(1, 0);
        });
        let between = thread::spawn(move || relay.set_relayed(theirs.commit()));
        if relayed.relayed() == 1 {
            assert_eq!(must_be_there(log.accepted(0)), (1, 5));
        }
        owner.join().expect("the acceptor ends");
        between.join().expect("the relay ends");
    });
}
