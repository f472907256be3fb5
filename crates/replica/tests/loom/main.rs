//! Models of what nodes and threads share without locks, one module per part. Run by `ci/loom.sh`.
#![cfg(loom)]

mod bucket;
mod control;
mod runtime;
mod segment;
mod slots;

use corecast_replica::segment::{Body, SegmentLayout, SegmentWriter, SlotRead};
use corecast_replica::{Command, NodeId, Op, SessionId};

const NODE: NodeId = NodeId::new(0, 1);

/// Rings of `log` slots, as a model makes each word anew in every run.
fn layout(log: u64) -> SegmentLayout {
    SegmentLayout::with_requests(1, log, 2, 0)
}

fn writer(log: u64) -> SegmentWriter {
    SegmentWriter::on_heap(layout(log), NODE)
}

fn command(rid: u32) -> Command<Body> {
    Command { session: SessionId::new(NODE, 1), rid, op: Op::User(Body::inline(&rid.to_le_bytes()).expect("short")) }
}

/// The epoch and the request of a slot that must hold a command.
#[track_caller]
fn must_be_there(read: SlotRead) -> (u32, u32) {
    let SlotRead::Command { epoch, command: found } = read else { panic!("{read:?}") };
    assert_eq!(found, command(found.rid), "of two writes");
    (epoch, found.rid)
}

/// The same for a slot that may be unreadable now.
#[track_caller]
fn may_be_there(read: SlotRead) -> Option<(u32, u32)> {
    assert_ne!(read, SlotRead::Corrupt);
    matches!(read, SlotRead::Command { .. }).then(|| must_be_there(read))
}
