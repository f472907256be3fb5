//! One chunk of values on its way between the nodes, as one leader sees it: the messages of its schedule, or the engine's own
//! operation.
//!
//! Every message begins with a [`Header`]. A message of another operation, length or type than the own one ends the operation
//! at all nodes with an error that names the node it came from. The engine's own operations have no such header: before a long
//! one the nodes exchange headers alone.

use corecast_base::{Plain, bytes_of, bytes_of_mut, values_in_mut};
use corecast_channel::zeroed;
use corecast_plan::cluster::{GROUP_HALVED_BYTES, GROUP_PIECE_BYTES};

use super::engine::{Engine, Slot, Step, Ticket, ValueKind};
use super::few::Few;
use super::schedule::{Action, Actions, Share};
use super::stop::Stop;
use super::{FaultKind, PredefinedOp};
use crate::call::Call;
use crate::error::Loss;

/// The most bytes of a chunk, unless one value is larger.
pub(super) const CHUNK_BYTES: usize = GROUP_PIECE_BYTES as usize;

/// The same for a chunk that goes by halving, which has the longest messages of all where nodes fold in pairs.
pub(super) const HALVED_BYTES: usize = GROUP_HALVED_BYTES as usize;

/// The way of the values between nodes.
#[derive(Clone, Debug)]
pub(super) enum Way {
    /// Messages, in this order.
    Messages(Actions),
    /// The engine's operation, behind messages without values, in this order, in which the nodes agree that all have begun the
    /// same: none where these would take as long as the operation.
    Whole(Whole, Actions),
}

/// An operation of the engine.
#[derive(Clone, Copy, Debug)]
pub(super) enum Whole {
    /// Its allreduce.
    Allreduce(ValueKind, PredefinedOp),
    /// Its broadcast from this node.
    Broadcast(usize),
}

/// The beginning of all messages of an operation, in which they have to agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// The number of the operation in its group.
    pub(super) sequence: u64,
    pub(super) call: Call,
    /// The number of values of the whole operation.
    pub(super) len: u64,
    /// The signature of their type.
    pub(super) signature: u64,
    /// The number of the chunk.
    pub(super) chunk: u64,
}

impl Header {
    /// A cache line's: the values behind the header begin on a line if the engine's buffer does.
    pub(super) const BYTES: usize = 64;

    fn words(self) -> [u64; 5] {
        [self.sequence, self.call.word(), self.len, self.signature, self.chunk]
    }

    fn write(self, into: &mut [u8]) {
        for (place, word) in into.chunks_exact_mut(size_of::<u64>()).zip(self.words()) {
            place.copy_from_slice(&word.to_le_bytes());
        }
    }

    /// Compares with the header of a message from a node; an error names it.
    fn compare(self, node: usize, found: &[u8]) -> Result<(), Stop> {
        let word = |place: usize| {
            let bytes = &found[place * size_of::<u64>()..][..size_of::<u64>()];
            u64::from_le_bytes(bytes.try_into().expect("as long as a word"))
        };
        let found: [u64; 5] = [0, 1, 2, 3, 4].map(word);
        let own = self.words();
        if found == own {
            return Ok(());
        }
        let loss = |loss| Stop::found(node, FaultKind::Member { rank: 0, loss });
        if found[1] != own[1] {
            return Err(Stop::mismatched(node, found[1], self.call).unwrap_or_else(|| loss(Loss::OutOfStep)));
        }
        Err(loss(match (found[0] == own[0], found[3] == own[3], found[2] == own[2]) {
            (false, ..) => Loss::OutOfStep,
            (true, false, _) => Loss::Mismatched,
            (true, true, false) => Loss::OtherLength,
            (true, true, true) => Loss::OutOfStep,
        }))
    }
}

/// Those of the chunks between the nodes, the one of each round in turn.
pub(super) type Exchanges = [Exchange; Slot::LANES];

/// The progress of a chunk.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    /// The lane of its steps.
    lane: usize,
    /// Actions done.
    done: usize,
    /// The outgoing slot in use, and whether it holds the values as they are now.
    place: usize,
    is_filled: bool,
    /// Sends under way, by outgoing slot.
    sending: [Few<Ticket>; 2],
    receiving: Option<Ticket>,
    /// True once the current action has sent its message.
    has_sent: bool,
    /// True once a chunk before this one has compared the calls of all nodes.
    is_agreed: bool,
    /// The engine's own operation.
    whole: Option<Ticket>,
    is_over: bool,
}

impl Exchange {
    /// One whose steps are independent of those of other lanes.
    pub(super) fn on_lane(lane: usize) -> Self {
        Self { lane, ..Self::default() }
    }

    /// Begins with another chunk; the one before is over. `is_agreed` says that an earlier chunk of the operation has compared
    /// the calls of all nodes.
    pub(super) fn restart(&mut self, is_agreed: bool) {
        (self.done, self.is_filled, self.has_sent, self.is_over) = (0, false, false, false);
        self.is_agreed = is_agreed;
    }

    fn outgoing(&self, place: usize) -> Slot {
        Slot { lane: self.lane, ..Slot::outgoing(place) }
    }

    fn incoming(&self) -> Slot {
        Slot { lane: self.lane, ..Slot::incoming(0) }
    }

    /// Goes on as far as it can without waiting; true if the values are the result. `each` combines some of the left operands
    /// with the right ones and leaves the results in the first.
    pub(super) fn go_on<T: Plain>(
        &mut self,
        engine: &mut dyn Engine,
        way: &Way,
        header: Header,
        values: &mut [T],
        theirs: &mut Vec<T>,
        each: &mut impl FnMut(&mut [T], &[T]),
    ) -> Result<bool, Stop> {
        if self.is_over {
            return Ok(true);
        }
        self.is_over = match way {
            Way::Messages(actions) => self.send_all(engine, actions, header, values, theirs, each)?,
            Way::Whole(whole, agreement) => {
                if self.is_agreed {
                    // The first chunk's header had the length of all.
                    self.done = agreement.len();
                }
                self.send_all(engine, agreement, header, &mut values[..0], theirs, each)?
                    && self.run_whole(engine, *whole, values)?
            }
        };
        Ok(self.is_over)
    }

    /// Goes on with messages; true once all have come and gone.
    fn send_all<T: Plain>(
        &mut self,
        engine: &mut dyn Engine,
        actions: &[Action],
        header: Header,
        values: &mut [T],
        theirs: &mut Vec<T>,
        each: &mut impl FnMut(&mut [T], &[T]),
    ) -> Result<bool, Stop> {
        while let Some(&action) = actions.get(self.done) {
            if !self.act(engine, action, header, values, theirs, each)? {
                return Ok(false);
            }
            (self.done, self.has_sent) = (self.done + 1, false);
        }
        Ok(self.is_sent(engine, 0)? && self.is_sent(engine, 1)?)
    }

    /// The node that it waits for.
    pub(super) fn awaited(&self, way: &Way) -> Option<usize> {
        let (Way::Messages(actions) | Way::Whole(_, actions)) = way;
        actions.get(self.done).map(|&action| match action {
            Action::Send { to: node }
            | Action::Replace { from: node }
            | Action::Combine { from: node }
            | Action::Exchange { with: node, .. }
            | Action::Halve { with: node, .. }
            | Action::Regain { with: node, .. } => node,
        })
    }

    fn act<T: Plain>(
        &mut self,
        engine: &mut dyn Engine,
        action: Action,
        header: Header,
        values: &mut [T],
        theirs: &mut Vec<T>,
        each: &mut impl FnMut(&mut [T], &[T]),
    ) -> Result<bool, Stop> {
        let len = values.len();
        match action {
            Action::Send { to } => self.send(engine, to, header, values),
            Action::Replace { from } => self.replace(engine, from, header, values),
            Action::Combine { from } => self.combine(engine, (from, false), header, values, theirs, each),
            Action::Exchange { with, is_left } => {
                let is_given = self.give_share(engine, with, Share::ALL, header, values)?;
                Ok(is_given && self.combine(engine, (with, is_left), header, values, theirs, each)?)
            }
            Action::Halve { with, gives, keeps, is_left } => {
                let is_given = self.give_share(engine, with, gives, header, values)?;
                let kept = &mut values[keeps.range(len)];
                Ok(is_given && self.combine(engine, (with, is_left), header, kept, theirs, each)?)
            }
            Action::Regain { with, gives, takes } => {
                let is_given = self.give_share(engine, with, gives, header, values)?;
                Ok(is_given && self.replace(engine, with, header, &mut values[takes.range(len)])?)
            }
        }
    }

    /// Takes the values of a node in the place of the own ones.
    fn replace<T: Plain>(
        &mut self,
        engine: &mut dyn Engine,
        from: usize,
        header: Header,
        values: &mut [T],
    ) -> Result<bool, Stop> {
        if !self.has_come(engine, from, header, size_of_val(values))? {
            return Ok(false);
        }
        self.take(engine, values);
        self.is_filled = false;
        Ok(true)
    }

    /// Sends a share of the values to a node that sends one as well; true once it has gone to the engine.
    fn give_share<T: Plain>(
        &mut self,
        engine: &mut dyn Engine,
        with: usize,
        share: Share,
        header: Header,
        values: &[T],
    ) -> Result<bool, Stop> {
        if self.has_sent {
            return Ok(true);
        }
        self.has_sent = self.send(engine, with, header, &values[share.range(values.len())])?;
        // The other node waits for the message, and its own one comes no sooner than the next poll.
        self.expect(engine, with, size_of_val(values))?;
        Ok(self.has_sent)
    }

    /// Combines with the values of a node, which may be the left operand.
    fn combine<T: Plain>(
        &mut self,
        engine: &mut dyn Engine,
        (from, is_left): (usize, bool),
        header: Header,
        values: &mut [T],
        theirs: &mut Vec<T>,
        each: &mut impl FnMut(&mut [T], &[T]),
    ) -> Result<bool, Stop> {
        if !self.has_come(engine, from, header, size_of_val(values))? {
            return Ok(false);
        }
        let message = &mut engine.room(self.incoming(), Header::BYTES + size_of_val(values))[Header::BYTES..];
        let theirs = match values_in_mut(message) {
            Some(theirs) if theirs.len() == values.len() => theirs,
            // Buffers of some engines lie anywhere, and values without bytes have no places.
            _ => {
                theirs.resize(values.len(), zeroed());
                bytes_of_mut(theirs).copy_from_slice(message);
                theirs
            }
        };
        if is_left {
            each(theirs, values);
            values.copy_from_slice(theirs);
        } else {
            each(values, theirs);
        }
        self.is_filled = false;
        Ok(true)
    }

    /// Sends the values, once the slot is free that they are put into.
    fn send<T: Plain>(
        &mut self,
        engine: &mut dyn Engine,
        to: usize,
        header: Header,
        values: &[T],
    ) -> Result<bool, Stop> {
        let bytes = Header::BYTES + size_of_val(values);
        if !self.is_filled {
            if !self.is_sent(engine, 1 - self.place)? {
                return Ok(false);
            }
            self.place = 1 - self.place;
            let (head, body) = engine.room(self.outgoing(self.place), bytes).split_at_mut(Header::BYTES);
            header.write(head);
            body.copy_from_slice(bytes_of(values));
            self.is_filled = true;
        }
        let ticket = engine.start(Step::Send { to, from: self.outgoing(self.place), bytes })?;
        self.sending[self.place].push(ticket);
        Ok(true)
    }

    /// True once all that was sent from this slot has gone.
    fn is_sent(&mut self, engine: &mut dyn Engine, place: usize) -> Result<bool, Stop> {
        while let Some(&ticket) = self.sending[place].last() {
            if !engine.poll(ticket)? {
                return Ok(false);
            }
            self.sending[place].pop();
        }
        Ok(true)
    }

    fn expect(&mut self, engine: &mut dyn Engine, from: usize, bytes: usize) -> Result<Ticket, Stop> {
        if let Some(ticket) = self.receiving {
            return Ok(ticket);
        }
        // As much as any chunk of another operation has, so that its header can be read.
        let bytes = Header::BYTES + bytes.max(HALVED_BYTES);
        let ticket = engine.start(Step::Receive { from, into: self.incoming(), bytes })?;
        Ok(*self.receiving.insert(ticket))
    }

    /// True once a message has come from that node, of this operation.
    fn has_come(&mut self, engine: &mut dyn Engine, from: usize, header: Header, bytes: usize) -> Result<bool, Stop> {
        let ticket = self.expect(engine, from, bytes)?;
        // Rather now, while the message is on its way, than behind it.
        self.is_sent(engine, 0)?;
        self.is_sent(engine, 1)?;
        if !engine.poll(ticket)? {
            return Ok(false);
        }
        self.receiving = None;
        header.compare(from, engine.room(self.incoming(), Header::BYTES))?;
        Ok(true)
    }

    /// Runs an operation of the engine on the values, which come back in a slot.
    fn run_whole<T: Plain>(&mut self, engine: &mut dyn Engine, whole: Whole, values: &mut [T]) -> Result<bool, Stop> {
        let (from, bytes) = (self.outgoing(0), size_of_val(values));
        let (step, into) = match whole {
            Whole::Allreduce(kind, op) => {
                let into = self.incoming();
                (Step::Allreduce { kind, op, values: bytes / kind.bytes(), from, into }, into)
            }
            Whole::Broadcast(root) => (Step::Broadcast { root, slot: from, bytes }, from),
        };
        let ticket = match self.whole {
            Some(ticket) => ticket,
            None => {
                engine.room(from, bytes).copy_from_slice(bytes_of(values));
                engine.room(into, bytes);
                *self.whole.insert(engine.start(step)?)
            }
        };
        if !engine.poll(ticket)? {
            return Ok(false);
        }
        self.whole = None;
        bytes_of_mut(values).copy_from_slice(engine.room(into, bytes));
        Ok(true)
    }

    /// Copies the values of the message that has come.
    fn take<T: Plain>(&self, engine: &mut dyn Engine, into: &mut [T]) {
        let bytes = size_of_val(into);
        let message = engine.room(self.incoming(), Header::BYTES + bytes);
        bytes_of_mut(into).copy_from_slice(&message[Header::BYTES..]);
    }
}
