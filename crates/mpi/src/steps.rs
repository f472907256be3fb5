//! Steps under way: the requests behind each ticket, and the slots that they use.
//!
//! Counts of MPI are numbers of 32 bits. A longer step goes in pieces, on every node in the same ones. A message of more than
//! 1 GiB has to be received with its exact length.

use std::ffi::{c_int, c_void};

use corecast_collective::nodes::{PredefinedOp, Slot, Step, Ticket, ValueKind};

use crate::abi::{Handle, Operation, Scalar};
use crate::buffer::Slots;
use crate::error::MpiError;
use crate::library::{Library, Request};

/// The longest piece, in bytes.
const PIECE_BYTES: usize = 1 << 30;

/// The tag of messages between nodes: lanes have communicators of their own, so one tag is enough.
const TAG: c_int = 1;

/// A step under way.
struct Active {
    ticket: Ticket,
    requests: Requests,
    used: Used,
}

/// The requests of a step that are not done: mostly one, which takes no memory of its own.
#[derive(Default)]
struct Requests {
    last: Option<Request>,
    before: Vec<Request>,
}

impl Requests {
    fn push(&mut self, request: Request) {
        self.before.extend(self.last.replace(request));
    }

    /// True once all are done.
    fn are_done(&mut self, library: &Library) -> Result<bool, MpiError> {
        while let Some(request) = &mut self.last {
            if library.test(request)?.is_none() {
                return Ok(false);
            }
            self.last = self.before.pop();
        }
        Ok(true)
    }
}

/// The steps under way.
#[derive(Default)]
pub(crate) struct Steps {
    active: Vec<Active>,
    started: u64,
}

impl Steps {
    /// Starts a step on a communicator.
    pub(crate) fn start(
        &mut self,
        library: &Library,
        comm: Handle,
        slots: &mut Slots,
        step: Step,
        nodes: usize,
    ) -> Result<Ticket, MpiError> {
        let mut starter = Starter { library, comm, slots, requests: Requests::default() };
        let used = match step {
            Step::Send { to, from, bytes } => starter.send(to, from, bytes)?,
            Step::Receive { from, into, bytes } => starter.receive(from, into, bytes)?,
            Step::Allreduce { kind, op, values, from, into } => starter.allreduce(kind, op, values, [from, into])?,
            Step::Broadcast { root, slot, bytes } => starter.broadcast(root, slot, bytes)?,
            Step::Gather { from, bytes, into } => starter.gather(from, into, bytes, nodes)?,
            step => panic!("the engine over MPI does not know {step:?}"),
        };
        let requests = starter.requests;
        self.started += 1;
        let ticket = Ticket(self.started);
        self.active.push(Active { ticket, requests, used });
        Ok(ticket)
    }

    /// Whether a step is done, which then is forgotten and gives its slots back.
    pub(crate) fn poll(&mut self, library: &Library, slots: &mut Slots, ticket: Ticket) -> Result<bool, MpiError> {
        let place = self.active.iter().position(|active| active.ticket == ticket);
        let place = place.unwrap_or_else(|| panic!("{ticket:?} is of no step under way"));
        if !self.active[place].requests.are_done(library)? {
            return Ok(false);
        }
        let Used { lent, flipped } = self.active.swap_remove(place).used;
        lent.into_iter().flatten().for_each(|slot| slots.give_back(slot));
        if let Some(Flipped { kind, bytes }) = flipped {
            lent.into_iter().flatten().for_each(|slot| flip(kind, slots.room(slot, bytes)));
        }
        Ok(true)
    }

    /// Forgets all steps; their requests stay with the library, and the caller leaves it their memory.
    pub(crate) fn abandon(&mut self) {
        self.active.clear();
    }

    /// True if no step is under way.
    pub(crate) fn is_empty(&self) -> bool {
        self.active.is_empty()
    }
}

/// The slots that a step uses.
struct Used {
    lent: [Option<Slot>; 2],
    /// The change that has to be undone when the step is done.
    flipped: Option<Flipped>,
}

/// Unsigned values whose highest bits are flipped for the time of a step.
///
/// As signed ones they then have the same order. Libraries compare unsigned values as signed ones: MPICH 4.0.2 and 5.0.2 do so
/// with those of every width (mpich#6083, mpich#7507), and Open MPI 4.1.4 with `MPI_UNSIGNED_LONG` (ompi#10525).
#[derive(Clone, Copy)]
struct Flipped {
    kind: ValueKind,
    bytes: usize,
}

impl Used {
    fn of(lent: [Option<Slot>; 2]) -> Self {
        Self { lent, flipped: None }
    }
}

/// Starts the requests of one step.
struct Starter<'a> {
    library: &'a Library,
    comm: Handle,
    slots: &'a mut Slots,
    requests: Requests,
}

impl Starter<'_> {
    fn send(&mut self, to: usize, from: Slot, bytes: usize) -> Result<Used, MpiError> {
        let start = self.slots.lend(from, bytes).cast_const();
        for (at, count) in pieces(bytes, PIECE_BYTES) {
            // SAFETY: within the slot.
            let piece = unsafe { start.add(at) };
            // SAFETY: the slot has that many bytes, which nothing changes, and is lent until the request is done.
            let piece = unsafe { std::slice::from_raw_parts(piece, count as usize) };
            // SAFETY: the same.
            self.requests.push(unsafe { self.library.send(piece, to, TAG, self.comm) }?);
        }
        Ok(Used::of([Some(from), None]))
    }

    fn receive(&mut self, from: usize, into: Slot, bytes: usize) -> Result<Used, MpiError> {
        let start = self.lend_free(into, bytes);
        for (at, count) in pieces(bytes, PIECE_BYTES) {
            // SAFETY: within the slot.
            let piece = unsafe { start.add(at) };
            // SAFETY: the slot has that many bytes, which nobody else uses, and is lent until the request is done.
            let piece = unsafe { std::slice::from_raw_parts_mut(piece, count as usize) };
            // SAFETY: the same.
            self.requests.push(unsafe { self.library.receive(piece, Some(from), TAG, self.comm) }?);
        }
        Ok(Used::of([Some(into), None]))
    }

    fn allreduce(
        &mut self,
        kind: ValueKind,
        op: PredefinedOp,
        values: usize,
        [from, into]: [Slot; 2],
    ) -> Result<Used, MpiError> {
        let Library { constants, functions, .. } = self.library;
        let len = values * kind.bytes();
        let is_ordered = matches!(op, PredefinedOp::Min | PredefinedOp::Max);
        let flipped = (is_ordered && is_unsigned(kind)).then_some(Flipped { kind, bytes: len });
        if flipped.is_some() {
            flip(kind, self.slots.room(from, len));
        }
        let datatype = constants.scalar(if flipped.is_some() { signed(kind) } else { scalar(kind) });
        let op = constants.operation(operation(op));
        let (read, write) = (self.slots.lend(from, len).cast_const(), self.lend_free(into, len));
        for (at, count) in pieces(values, PIECE_BYTES / kind.bytes()) {
            // SAFETY: within the slot.
            let read = unsafe { read.add(at * kind.bytes()) }.cast();
            // SAFETY: within the slot.
            let write = unsafe { write.add(at * kind.bytes()) }.cast();
            let begun = self.library.begin("MPI_Iallreduce", |request| {
                // SAFETY: the slots have that many values, and are lent until the request is done.
                unsafe { (functions.iallreduce)(read, write, count, datatype, op, self.comm, request) }
            });
            self.requests.push(begun?);
        }
        Ok(Used { lent: [Some(from), Some(into)], flipped })
    }

    fn broadcast(&mut self, root: usize, slot: Slot, bytes: usize) -> Result<Used, MpiError> {
        let Library { constants, functions, .. } = self.library;
        let start = self.lend_free(slot, bytes);
        for (at, count) in pieces(bytes, PIECE_BYTES) {
            // SAFETY: within the slot.
            let piece = unsafe { start.add(at) }.cast::<c_void>();
            let begun = self.library.begin("MPI_Ibcast", |request| {
                // SAFETY: the slot has that many bytes, and is lent until the request is done.
                unsafe { (functions.ibcast)(piece, count, constants.byte, root as c_int, self.comm, request) }
            });
            self.requests.push(begun?);
        }
        Ok(Used::of([Some(slot), None]))
    }

    fn gather(&mut self, from: Slot, into: Slot, bytes: usize, nodes: usize) -> Result<Used, MpiError> {
        assert!(bytes <= PIECE_BYTES, "a node gathers {PIECE_BYTES} bytes at most, not {bytes}");
        let Library { constants, functions, .. } = self.library;
        let (read, write) = (self.slots.lend(from, bytes), self.lend_free(into, bytes * nodes));
        let (count, byte) = (bytes as c_int, constants.byte);
        let begun = self.library.begin("MPI_Iallgather", |request| {
            // SAFETY: the slots have the bytes of one node and of all, and are lent until the request is done.
            unsafe { (functions.iallgather)(read.cast(), count, byte, write.cast(), count, byte, self.comm, request) }
        });
        self.requests.push(begun?);
        Ok(Used::of([Some(from), Some(into)]))
    }

    /// A slot that the step writes, which no other step may use.
    fn lend_free(&mut self, slot: Slot, bytes: usize) -> *mut u8 {
        assert!(self.slots.is_free(slot), "{slot:?} is used by a step under way");
        self.slots.lend(slot, bytes)
    }
}

/// The pieces of this number of things, at least one.
fn pieces(len: usize, most: usize) -> impl Iterator<Item = (usize, c_int)> {
    let count = len.div_ceil(most).max(1);
    (0..count).map(move |piece| (piece * most, (len - piece * most).min(most) as c_int))
}

fn is_unsigned(kind: ValueKind) -> bool {
    matches!(kind, ValueKind::U8 | ValueKind::U16 | ValueKind::U32 | ValueKind::U64)
}

/// The signed type of the same width as an unsigned one.
fn signed(kind: ValueKind) -> Scalar {
    match kind.bytes() {
        1 => Scalar::I8,
        2 => Scalar::I16,
        4 => Scalar::I32,
        _ => Scalar::I64,
    }
}

/// Flips the highest bit of each value.
fn flip(kind: ValueKind, values: &mut [u8]) {
    let highest = if cfg!(target_endian = "little") { kind.bytes() - 1 } else { 0 };
    values.iter_mut().skip(highest).step_by(kind.bytes()).for_each(|byte| *byte ^= 0x80);
}

fn scalar(kind: ValueKind) -> Scalar {
    match kind {
        ValueKind::U8 => Scalar::U8,
        ValueKind::U16 => Scalar::U16,
        ValueKind::U32 => Scalar::U32,
        ValueKind::U64 => Scalar::U64,
        ValueKind::I8 => Scalar::I8,
        ValueKind::I16 => Scalar::I16,
        ValueKind::I32 => Scalar::I32,
        ValueKind::I64 => Scalar::I64,
        ValueKind::F32 => Scalar::F32,
        ValueKind::F64 => Scalar::F64,
    }
}

fn operation(op: PredefinedOp) -> Operation {
    match op {
        PredefinedOp::Sum => Operation::Sum,
        PredefinedOp::Prod => Operation::Prod,
        PredefinedOp::Min => Operation::Min,
        PredefinedOp::Max => Operation::Max,
        PredefinedOp::And => Operation::Band,
        PredefinedOp::Or => Operation::Bor,
        PredefinedOp::Xor => Operation::Bxor,
        op => panic!("the engine over MPI does not know {op:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flipped_values_have_as_signed_ones_the_order_that_they_have_as_unsigned_ones() {
        let mut bytes = Vec::new();
        let values = [0, 1, u32::MAX / 2, u32::MAX / 2 + 1, u32::MAX];
        values.iter().for_each(|value: &u32| bytes.extend(value.to_ne_bytes()));
        flip(ValueKind::U32, &mut bytes);
        let signed: Vec<i32> = bytes.chunks(4).map(|word| i32::from_ne_bytes(word.try_into().expect("4"))).collect();
        assert!(signed.is_sorted(), "{signed:?}");
        flip(ValueKind::U32, &mut bytes);
        assert_eq!(bytes[16..], u32::MAX.to_ne_bytes());
    }

    #[test]
    fn pieces_cover_everything_once() {
        for (len, expected) in [(0, vec![(0, 0)]), (4, vec![(0, 4)]), (9, vec![(0, 4), (4, 4), (8, 1)])] {
            assert_eq!(pieces(len, 4).collect::<Vec<_>>(), expected);
        }
        assert_eq!(pieces(4 << 30, PIECE_BYTES).count(), 4);
    }
}
