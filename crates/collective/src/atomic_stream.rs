//! An atomic broadcast: any member publishes, and all members deliver the same events in the same order.
//!
//! **When to take it:** members change copies of one state, and the order of the changes matters. **When not:** only one
//! member publishes; then it broadcasts. Processes that come and go want an `mcast` channel.
//!
//! A member sends its event to the root of the broadcast tree over an edge of its own. The root takes the events of the
//! members in turn, its own among them, and that is their order. They go down the tree, over edges that keep it, and every
//! member delivers them as they come, its own too. As there is one sequencer and every edge is first in, first out, all
//! members deliver the same events in the same order, those of one member in the order in which it published them, and
//! nothing before what its publisher had delivered.
//!
//! An event of more than 500 bytes goes in parts, each with a place of its own in the order, among which events of other
//! members may lie; it is delivered where its last part lies, so that numbers of events ascend with gaps. Only the receivers
//! need memory for all of it at once, and the publisher for what it could not send yet.
//!
//! Each member keeps the last 64 events, or parts, until it has delivered them and passed them on; if it does neither, the stream
//! stops when its edge is full. So the root must call a method of its stream now and then, and so must inner members.
//!
//! **Progress:** `try_publish`, `deliver` and `progress` do not wait; the others block. **Memory ordering:** what a member
//! wrote before it published an event is visible to every member that delivers it.
//!
//! Source: the atomic broadcast of S. Kaestle et al., Machine-Aware Atomic Broadcast Trees for Multicores, OSDI 2016, from any
//! member.
//!
//! ```
//! use corecast_collective::Group;
//! use corecast_machine::{Machine, Topology, source};
//! let machine = Machine::from_topology(&source::discover(&source::DiscoveryRequest::default())?);
//! let group = Group::builder(&machine).members(3).build()?;
//! let seen = group.run(|me| {
//!     let mut seen = Vec::new();
//!     let name = [me.rank() as u8];
//!     let mut stream = me.atomic_stream()?;
//!     stream.publish(&name, |_, origin, bytes| seen.push((origin, bytes[0])))?;
//!     stream.finish(|_, origin, bytes| seen.push((origin, bytes[0])))?;
//!     Ok::<_, corecast_collective::Error>(seen)
//! })?;
//! assert_eq!(seen[0].as_ref().map(Vec::len), Ok(3));
//! assert!(seen.iter().all(|order| order == &seen[0]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::VecDeque;
use std::fmt;

use corecast_channel::ump::any::{Receiver as AnyReceiver, Sender as AnySender, rings as any_rings};

use crate::call::{Call, CallKind};
use crate::core::{Core, NEVER, NOW};
use crate::error::{Error, Loss};
use crate::link::{EDGE_SLOTS, LONGEST_MESSAGE};
use crate::member::{Ends, Member};

/// Events that a member keeps.
const WINDOW: u64 = 64;
/// The prefix of an event's bytes: the rank of its member, combined with [`END`] in its last event.
const ORIGIN_BYTES: usize = 4;
/// The longest part of an event.
const MOST: usize = LONGEST_MESSAGE - ORIGIN_BYTES;
/// Set in the origin of a member's last event, which is not delivered.
const END: u32 = 1 << 31;
/// Set in the origin of each part of an event but the last.
const MORE: u32 = 1 << 30;

#[derive(Debug, Clone)]
struct Event {
    /// Origin and bytes.
    message: [u8; LONGEST_MESSAGE],
    len: usize,
}

impl Event {
    /// Belongs to no member yet.
    const NONE: Self = Self { message: [0; LONGEST_MESSAGE], len: 0 };

    fn set(&mut self, origin: u32, bytes: &[u8]) {
        self.len = ORIGIN_BYTES + bytes.len();
        self.message[..ORIGIN_BYTES].copy_from_slice(&origin.to_le_bytes());
        self.message[ORIGIN_BYTES..self.len].copy_from_slice(bytes);
    }

    /// The member that published it.
    fn publisher(&self) -> usize {
        (self.parts().0 & !(END | MORE)) as usize
    }

    /// Its origin and its bytes.
    fn parts(&self) -> (u32, &[u8]) {
        let (origin, bytes) = self.message[..self.len].split_at(ORIGIN_BYTES);
        (u32::from_le_bytes(origin.try_into().expect("the length of an origin")), bytes)
    }
}

/// One member's end of a stream of events.
///
/// All members open it together and end it together, with [`finish`](Self::finish); dropping it before makes the group fail.
pub struct AtomicStream<'a> {
    me: &'a mut Member,
    source: Source,
    children: Vec<Child>,
    /// The last events, each in the slot of its number.
    events: Vec<Event>,
    /// Events taken in so far, and those delivered.
    taken: u64,
    delivered: u64,
    /// Last events of members that have been delivered.
    ended: usize,
    /// The bytes still to be sent of the last event of this member.
    rest: VecDeque<u8>,
    /// The parts that have been delivered of an event of each member, by rank.
    parts: Vec<Vec<u8>>,
}

/// The source of a member's events, and the way of its own.
#[derive(Debug)]
enum Source {
    /// At the root: the edges to the others, and the next one to look at.
    Publishers(Vec<(usize, AnyReceiver)>, usize),
    /// Elsewhere.
    Tree(Box<Ways>),
}

/// The edges of a member that is not the root: from its parent, and to the root.
#[derive(Debug)]
struct Ways {
    parent: (usize, AnyReceiver),
    root: (usize, AnySender),
}

#[derive(Debug)]
struct Child {
    rank: usize,
    tx: AnySender,
    /// Events passed on so far.
    passed: u64,
}

impl AtomicStream<'_> {
    /// Publishes an event, if there is room for it now. Of an event of more than 500 bytes only the first part need have
    /// room: the others are kept, and sent by the following calls, until which there is room for no other event.
    ///
    /// # Errors
    /// [`Error::MemberLost`].
    pub fn try_publish(&mut self, bytes: &[u8]) -> Result<bool, Error> {
        let own = self.me.rank() as u32;
        let (first, rest) = bytes.split_at(bytes.len().min(MOST));
        if !self.rest.is_empty() {
            self.progress()?;
        }
        if !self.rest.is_empty() || !self.try_send(if rest.is_empty() { own } else { own | MORE }, first)? {
            return Ok(false);
        }
        if !rest.is_empty() {
            self.rest.extend(rest);
            self.progress()?;
        }
        Ok(true)
    }

    /// Publishes an event, and returns when all of it has been sent. Events that have to be delivered before there is room
    /// are passed to `deliver`, as by [`deliver`](Self::deliver).
    ///
    /// # Errors
    /// As [`try_publish`](Self::try_publish).
    pub fn publish(&mut self, bytes: &[u8], mut deliver: impl FnMut(u64, usize, &[u8])) -> Result<(), Error> {
        while !self.try_publish(bytes)? {
            if self.deliver(&mut deliver)? == 0 {
                let next = if self.rest.is_empty() { bytes.len() } else { self.rest.len() };
                self.wait(Some(ORIGIN_BYTES + next.min(MOST)))?;
            }
        }
        if self.rest.is_empty() { Ok(()) } else { self.send_rest(deliver) }
    }

    /// Waits until all of an event has been sent.
    #[cold]
    fn send_rest(&mut self, mut deliver: impl FnMut(u64, usize, &[u8])) -> Result<(), Error> {
        while !self.rest.is_empty() {
            if self.deliver(&mut deliver)? == 0 && !self.rest.is_empty() {
                self.wait(Some(ORIGIN_BYTES + self.rest.len().min(MOST)))?;
            }
        }
        Ok(())
    }

    /// Passes the events that are here to `deliver`, in order: number, rank of the publisher, bytes. Returns their number.
    ///
    /// # Errors
    /// [`Error::MemberLost`].
    pub fn deliver(&mut self, mut deliver: impl FnMut(u64, usize, &[u8])) -> Result<u64, Error> {
        self.progress()?;
        let mut count = 0;
        while self.delivered < self.taken {
            let event = &self.events[(self.delivered % WINDOW) as usize];
            let ((origin, bytes), publisher) = (event.parts(), event.publisher());
            let parts = &mut self.parts[publisher];
            if origin & END != 0 {
                // The last event of each member has a number, too. It is not delivered, and no member needs it.
                self.ended += 1;
            } else if origin & MORE != 0 {
                parts.extend_from_slice(bytes);
            } else if parts.is_empty() {
                deliver(self.delivered, publisher, bytes);
                count += 1;
            } else {
                let mut whole = std::mem::take(parts);
                whole.extend_from_slice(bytes);
                deliver(self.delivered, publisher, &whole);
                count += 1;
            }
            self.delivered += 1;
        }
        self.progress()?;
        if count == 0 {
            self.me.ends_mut().core.look_around()?;
        }
        Ok(count)
    }

    /// Takes in and passes on all it can without waiting, and delivers nothing.
    ///
    /// # Errors
    /// [`Error::MemberLost`].
    pub fn progress(&mut self) -> Result<(), Error> {
        let core = &mut self.me.ends_mut().core;
        core.check_fault()?;
        core.deadline = NOW;
        let outcome = loop {
            match self.step() {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        self.me.ends_mut().core.deadline = NEVER;
        outcome
    }

    /// True if nothing is kept here that others wait for: no part of an own event, and no event that is still to be delivered or
    /// passed on. Until then a member that calls nothing may hold up the others.
    #[must_use]
    pub fn is_passed_on(&self) -> bool {
        self.rest.is_empty() && self.kept() == 0
    }

    /// Ends the stream: returns when all members have called it and this one has delivered all that was published.
    ///
    /// # Errors
    /// [`Error::MemberLost`].
    pub fn finish(mut self, mut deliver: impl FnMut(u64, usize, &[u8])) -> Result<(), Error> {
        let (own, members) = (self.me.rank() as u32, self.me.size());
        self.send_rest(&mut deliver)?;
        while !self.try_send(own | END, &[])? {
            if self.deliver(&mut deliver)? == 0 {
                self.wait(Some(ORIGIN_BYTES))?;
            }
        }
        while self.ended < members || self.kept() > 0 {
            if self.deliver(&mut deliver)? == 0 && (self.ended < members || self.kept() > 0) {
                self.wait(None)?;
            }
        }
        Ok(())
    }

    fn try_send(&mut self, origin: u32, bytes: &[u8]) -> Result<bool, Error> {
        self.progress()?;
        let is_sent = self.send(origin, bytes)?;
        if is_sent && matches!(self.source, Source::Publishers(..)) {
            self.progress()?;
        }
        Ok(is_sent)
    }

    /// Sends an event, or a part of one, to the root if there is room for it.
    fn send(&mut self, origin: u32, bytes: &[u8]) -> Result<bool, Error> {
        let has_room = self.kept() < WINDOW;
        match &mut self.source {
            Source::Publishers(..) => {
                if has_room {
                    self.events[(self.taken % WINDOW) as usize].set(origin, bytes);
                    self.taken += 1;
                }
                Ok(has_room)
            }
            Source::Tree(ways) => {
                let (root, tx) = &mut ways.root;
                let mut event = Event::NONE;
                event.set(origin, bytes);
                send_now(&mut self.me.ends_mut().core, *root, tx, &event)
            }
        }
    }

    /// Events that are not delivered yet, or not passed on.
    fn kept(&self) -> u64 {
        self.taken - self.children.iter().map(|child| child.passed).fold(self.delivered, u64::min)
    }

    /// Sends the next part of this member's event if there is room for it.
    #[cold]
    fn send_part(&mut self) -> Result<bool, Error> {
        let own = self.me.rank() as u32;
        let mut part = [0; MOST];
        let len = self.rest.len().min(MOST);
        part.iter_mut().zip(&self.rest).for_each(|(byte, rest)| *byte = *rest);
        let is_sent = self.send(if len < self.rest.len() { own | MORE } else { own }, &part[..len])?;
        if is_sent {
            self.rest.drain(..len);
        }
        Ok(is_sent)
    }

    /// Passes one event on to each child, takes one in, and sends a part of one's own; false if nothing of it was possible.
    fn step(&mut self) -> Result<bool, Error> {
        let has_sent = !self.rest.is_empty() && self.send_part()?;
        let has_room = self.kept() < WINDOW;
        let Self { me, source, children, events, taken, .. } = self;
        let core = &mut me.ends_mut().core;
        let mut has_moved = has_sent;
        for child in children.iter_mut().filter(|child| child.passed < *taken) {
            if send_now(core, child.rank, &mut child.tx, &events[(child.passed % WINDOW) as usize])? {
                child.passed += 1;
                has_moved = true;
            }
        }
        if let Some((rank, rx)) = source.ready().filter(|_| has_room) {
            let event = &mut events[(*taken % WINDOW) as usize];
            match core.recv_part(rank, rx, &mut event.message) {
                Ok(len) => event.len = len,
                // The message only announced the type of the next one.
                Err(Error::Timeout { .. }) => return Ok(true),
                Err(error) => return Err(error),
            }
            if event.len < ORIGIN_BYTES || event.publisher() >= core.members {
                return Err(core.fail(rank, Loss::Mismatched));
            }
            *taken += 1;
            has_moved = true;
        }
        Ok(has_moved)
    }

    /// Waits until something can be delivered, taken in or passed on, or `len` bytes published.
    fn wait(&mut self, len: Option<usize>) -> Result<(), Error> {
        if self.delivered < self.taken {
            // Taken in after the last delivery: no further event may ever come.
            return Ok(());
        }
        let has_room = self.kept() < WINDOW;
        let Self { me, source, children, events, taken, .. } = self;
        me.ends_mut().core.wait_at_own_word(|| {
            let can_take = has_room && source.ready().is_some();
            let can_publish = len.is_some_and(|len| source.has_room(len, has_room));
            let can_pass = children
                .iter_mut()
                .any(|child| child.passed < *taken && child.tx.has_room(events[(child.passed % WINDOW) as usize].len));
            (can_take || can_publish || can_pass).then_some(())
        })
    }
}

impl Source {
    /// An edge on which an event has come; the others come before it next time.
    fn ready(&mut self) -> Option<(usize, &mut AnyReceiver)> {
        match self {
            Self::Publishers(edges, next) => {
                let count = edges.len();
                let found = (0..count).map(|i| (*next + i) % count).find(|&i| edges[i].1.is_ready())?;
                *next = (found + 1) % count;
                let (rank, rx) = &mut edges[found];
                Some((*rank, rx))
            }
            Self::Tree(ways) => {
                let (rank, rx) = &mut ways.parent;
                rx.is_ready().then_some((*rank, rx))
            }
        }
    }

    /// True if an event of this many bytes can be published. At the root it takes room among the events
    /// that it keeps.
    fn has_room(&mut self, len: usize, keeps_room: bool) -> bool {
        match self {
            Self::Publishers(..) => keeps_room,
            Self::Tree(ways) => ways.root.1.has_room(len),
        }
    }
}

/// Sends an event if there is room for it.
fn send_now(core: &mut Core, rank: usize, tx: &mut AnySender, event: &Event) -> Result<bool, Error> {
    if !tx.has_room(event.len) {
        return Ok(false);
    }
    // The type of the first one needs room as well.
    let deadline = std::mem::replace(&mut core.deadline, NOW);
    let sent = core.send_part(rank, tx, &event.message[..event.len]);
    core.deadline = deadline;
    match sent {
        Ok(()) => Ok(true),
        Err(Error::Timeout { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

impl Drop for AtomicStream<'_> {
    fn drop(&mut self) {
        if self.me.ends().core.table.is_copy() {
            // The memory of the edges is not in a forked child.
            let source = std::mem::replace(&mut self.source, Source::Publishers(Vec::new(), 0));
            std::mem::forget((source, std::mem::take(&mut self.children)));
            return;
        }
        let is_finished = self.ended == self.me.size() && self.kept() == 0;
        if !is_finished {
            // Others wait for the events that this member does not pass on.
            let _ = self.me.ends().core.table.report(self.me.rank(), Loss::Left);
        }
    }
}

impl Member {
    /// Opens a stream of events that all members deliver in one order. All members open it together.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::MemberLost`], [`Error::Pending`].
    pub fn atomic_stream(&mut self) -> Result<AtomicStream<'_>, Error> {
        let Ends { core, broadcast: edges, .. } = self.begin(Call::of(CallKind::AtomicStream))?;
        let members = core.members;
        let rings = core.lay_out(|arena| any_rings(arena, 2 * (members - 1), EDGE_SLOTS))?;
        core.open();
        // By the place of a member below the root: the edge to it from its parent, and the edge from it to the root.
        let (down, up) = (|rank: usize| edges.place(rank) - 1, |rank: usize| members - 1 + edges.place(rank) - 1);
        let (own, table) = (core.rank, &core.table);
        let sender = |ring, to: usize| rings.sender(ring, table.wake_word(to).clone(), table.wake_word(own).clone());
        let receiver =
            |ring, from: usize| rings.receiver(ring, table.wake_word(own).clone(), table.wake_word(from).clone());
        let root = (0..members).find(|&rank| edges.place(rank) == 0).expect("the root has the first place");
        let parent = edges.link_to_parent();
        let source = match parent.map(|link| edges.links[link].rank) {
            Some(parent) => {
                let ways = Ways { parent: (parent, receiver(down(own), parent)), root: (root, sender(up(own), root)) };
                Source::Tree(Box::new(ways))
            }
            None => {
                let others = (0..members).filter(|&rank| rank != own);
                Source::Publishers(others.map(|rank| (rank, receiver(up(rank), rank))).collect(), 0)
            }
        };
        let below = edges.links[..parent.unwrap_or(edges.links.len())].iter().map(|link| link.rank);
        let children = below.map(|rank| Child { rank, tx: sender(down(rank), rank), passed: 0 }).collect();
        let events = vec![Event::NONE; WINDOW as usize];
        let (rest, parts) = (VecDeque::new(), vec![Vec::new(); members]);
        Ok(AtomicStream { me: self, source, children, events, taken: 0, delivered: 0, ended: 0, rest, parts })
    }
}

impl fmt::Debug for AtomicStream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rank, members) = (self.me.rank(), self.me.size());
        write!(f, "AtomicStream(member {rank} of {members}, {} delivered)", self.delivered)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::Group;
    use corecast_base::CpuId;
    use corecast_machine::{Cpu, Machine, Topology};

    #[test]
    fn nobody_waits_while_an_event_is_here() {
        let cpus = (0..2).map(|id| Cpu::flat(CpuId::new(id))).collect();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let group = Group::builder(&machine).pin(false).build().expect("a group");
        let [mut first, mut second] = [0, 1].map(|rank| group.join(rank).expect("nobody has joined"));
        let mut streams = [&mut first, &mut second].map(|me| me.atomic_stream().expect("nobody is lost"));
        let root = streams.iter_mut().find(|stream| matches!(stream.source, Source::Publishers(..))).expect("a root");
        assert_eq!(root.try_publish(b"the last"), Ok(true));
        root.me.ends_mut().core.deadline = NOW;
        assert_eq!(root.wait(None), Ok(()), "it has been passed on, and is still to be delivered");
        root.me.ends_mut().core.deadline = NEVER;
        assert_eq!(root.deliver(|_, _, bytes| assert_eq!(bytes, b"the last")), Ok(1));
    }
}
