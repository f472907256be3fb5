//! The requests of this node that another one is to order: those in the own ring, where the leader reads them, and those that
//! found no room there.
//!
//! Replicas apply the requests of a session in the order of their numbers, and the leader orders what it finds as it finds it.
//! So a request keeps its place until it has its answer, and while the ring is full, later ones wait in line. Those that went
//! lost all the same, as with a leader, are handed in once more in their order, after [`give_up`](Requests::give_up).

use std::collections::{HashSet, VecDeque};

use crate::key_hasher::Keys;
use crate::segment::{Body, SegmentWriter};
use crate::{Command, Op, SessionId};

/// The own request ring: which positions still wait, and what waits for one.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    /// Positions in use, and what lies there, oldest first.
    places: VecDeque<(u64, Key)>,
    /// Those without an answer, in the ring or in line. A request that was sent more than once needs all its places until then.
    waiting: HashSet<Key, Keys>,
    /// Those that found no room, in their order.
    line: VecDeque<Command<Body>>,
    /// Commands of the group in the ring, without an answer.
    group: Vec<Command<Body>>,
}

/// A request: its session and its number. Commands of the group have the node they are about.
type Key = (SessionId, u32);

impl Requests {
    /// Puts a request where the leader finds it, or in line for that.
    pub(crate) fn push(&mut self, writer: &mut SegmentWriter, command: &Command<Body>) {
        self.push_line(writer);
        let key = key_of(command);
        if self.line.is_empty() && self.push_now(writer, command) || !self.waiting.insert(key) {
            return;
        }
        // A node that is not taken in learns of no answer, and few others are of the group.
        if key.0 == SessionId::SYSTEM { self.line.push_front(*command) } else { self.line.push_back(*command) }
    }

    /// Puts those in line into the ring, as far as it has room. True if there were any.
    pub(crate) fn push_line(&mut self, writer: &mut SegmentWriter) -> bool {
        let before = self.line.len();
        while let Some(&command) = self.line.front() {
            // It may have been answered in line: a copy was in the ring before.
            if self.waiting.contains(&key_of(&command)) && !self.push_now(writer, &command) {
                break;
            }
            self.line.pop_front();
        }
        self.line.len() < before
    }

    fn push_now(&mut self, writer: &mut SegmentWriter, command: &Command<Body>) -> bool {
        let Some(position) = writer.push_request(command) else { return false };
        let key = key_of(command);
        self.places.push_back((position, key));
        self.waiting.insert(key);
        if key.0 == SessionId::SYSTEM && !self.group.contains(command) {
            self.group.push(*command);
        }
        true
    }

    /// Notes that a request needs no place any more.
    pub(crate) fn answered(&mut self, writer: &mut SegmentWriter, session: SessionId, rid: u32) {
        let key = (session, rid);
        if self.waiting.is_empty() || !self.waiting.remove(&key) {
            return;
        }
        if session == SessionId::SYSTEM {
            self.group.retain(|command| key_of(command) != key);
            self.line.retain(|command| key_of(command) != key);
        }
        self.release_answered(writer);
    }

    /// Lets the places before the oldest request without an answer be written anew.
    fn release_answered(&mut self, writer: &mut SegmentWriter) {
        let mut below = None;
        while let Some(&(position, key)) = self.places.front() {
            if self.waiting.contains(&key) {
                // One of the group may never have an answer, as the leader finds no reason for it. A leader that has ordered a
                // later request has read it; it is asked for again where it is needed.
                let is_read = || self.places.iter().any(|(_, later)| !self.waiting.contains(later));
                if key.0 != SessionId::SYSTEM || !is_read() {
                    break;
                }
            }
            self.places.pop_front();
            below = Some(position + 1);
        }
        if let Some(below) = below {
            writer.release_requests(below);
        }
    }

    /// Gives up all places: the requests of sessions are about to be handed in once more. Those of the group are put in again.
    pub(crate) fn give_up(&mut self, writer: &mut SegmentWriter) {
        if let Some(&(position, _)) = self.places.back() {
            writer.release_requests(position + 1);
        }
        let Self { line, group, .. } = std::mem::take(self);
        let of_group = line.iter().filter(|command| key_of(command).0 == SessionId::SYSTEM);
        group.iter().chain(of_group).for_each(|command| self.push(writer, command));
    }
}

fn key_of(command: &Command<Body>) -> Key {
    match command.op {
        Op::Join { node, .. } | Op::Leave { node, .. } => (SessionId::SYSTEM, node.to_bits()),
        _ => (command.session, command.rid),
    }
}

#[cfg(test)]
mod tests {
    use super::Requests;
    use crate::segment::{Body, SegmentLayout, SegmentWriter};
    use crate::{Command, LeaveReason, NodeId, Op, SessionId};

    const NODE: NodeId = NodeId::new(0, 1);
    const SESSION: SessionId = SessionId::new(NODE, 1);

    /// An empty ring of four places.
    fn ring() -> (Requests, SegmentWriter) {
        (Requests::default(), SegmentWriter::on_heap(SegmentLayout::with_requests(2, 8, 4, 1024), NODE))
    }

    fn request(rid: u32) -> Command<Body> {
        Command { session: SESSION, rid, op: Op::User(Body::inline(&[7]).expect("short")) }
    }

    fn leave() -> Command<Body> {
        let (node, reason) = (NodeId::new(1, 1), LeaveReason::Diverged);
        Command { session: SessionId::SYSTEM, rid: node.to_bits(), op: Op::Leave { node, reason } }
    }

    /// The numbers of the requests that a leader finds which has read up to `from`, and up to where it has read then.
    fn read(writer: &SegmentWriter, from: u64) -> (Vec<u32>, u64) {
        let mut found = Vec::new();
        let next = writer.reader().requests(from, &mut found);
        (found.iter().map(|command| command.rid).collect(), next)
    }

    #[test]
    fn a_full_ring_keeps_what_it_has_and_others_come_behind() {
        let (mut requests, mut writer) = ring();
        (1..=7).for_each(|rid| requests.push(&mut writer, &request(rid)));
        assert_eq!(read(&writer, 0), (vec![1, 2, 3, 4], 4), "none is given up");
        requests.answered(&mut writer, SESSION, 2);
        assert!(!requests.push_line(&mut writer), "the place before it is in use");
        requests.answered(&mut writer, SESSION, 6);
        requests.answered(&mut writer, SESSION, 1);
        requests.push(&mut writer, &request(8));
        requests.push(&mut writer, &request(3));
        assert_eq!(read(&writer, 4), (vec![5, 7], 6), "one was answered in line");
        requests.answered(&mut writer, SESSION, 3);
        assert!(requests.push_line(&mut writer) && !requests.push_line(&mut writer));
        assert_eq!(read(&writer, 6), (vec![8], 7), "one that has a place waits for no other");
    }

    #[test]
    fn requests_that_are_handed_in_once_more_come_in_their_order() {
        let (mut requests, mut writer) = ring();
        requests.push(&mut writer, &leave());
        (2..=6).for_each(|rid| requests.push(&mut writer, &request(rid)));
        requests.give_up(&mut writer);
        assert_eq!(read(&writer, 0), (vec![leave().rid], 5), "nobody hands it in but the one who asked for it");
        (1..=6).for_each(|rid| requests.push(&mut writer, &request(rid)));
        assert_eq!(read(&writer, 5), (vec![1, 2, 3], 8));
    }

    #[test]
    fn a_command_of_the_group_without_an_answer_stands_in_nobodys_way() {
        let (mut requests, mut writer) = ring();
        requests.push(&mut writer, &leave());
        (1..=5).for_each(|rid| requests.push(&mut writer, &request(rid)));
        requests.answered(&mut writer, SESSION, 1);
        assert!(requests.push_line(&mut writer));
        assert_eq!(read(&writer, 4), (vec![4, 5], 6));
    }
}
