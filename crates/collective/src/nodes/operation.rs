//! One operation over all nodes at one member: steps within the node, and at the leader between nodes, chunk by chunk.
//!
//! The values of a chunk go up to the leader, between the nodes, and down to all members. The leader starts a chunk's messages,
//! turns to its node, starts those of the next chunk and comes back to the first one: so two chunks are between the nodes at a
//! time, in slots of their own, while a third one goes up. All members of a node take the same steps in the same order. Where all
//! values go up and down [at once](super::parts), the first chunk's step up and the last one's down are those of all.
//!
//! Where chunks are dealt to [lanes](super::lanes), a round has one chunk of each lane: each goes up to the leader of its lane,
//! which starts its messages, and later finishes them and hands the chunk down. With one lane a round is a chunk.

use std::array;

use corecast_base::crash_point;

use super::ends::Ends;
use super::engine::{Engine, Slot};
use super::error::Error;
use super::exchange::{Exchange, Exchanges, Header, Way};
use super::lanes::Seat;
use super::leader::Polled;
use super::parts::Parts;
use super::stop::Stop;
use crate::call::{Call, CallKind};
use crate::operation::{Message, Order};

/// A step of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The node's values of a chunk are combined at the member of this local rank, which leads the chunk's lane.
    Up(usize, usize),
    /// A leader starts a chunk's messages between nodes.
    Start(usize),
    /// A leader waits until a chunk's messages have done their work.
    Finish(usize),
    /// A chunk goes to all members of the node, from the one of this local rank.
    Down(usize, usize),
}

/// The parts of an operation at one node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    /// True if values are combined at the leader first.
    pub(super) goes_up: bool,
    /// The local rank of the member whose values go to all of the node, before they go to other nodes.
    pub(super) begins_at: Option<usize>,
    /// True if the result goes from the leader to all of the node.
    pub(super) goes_down: bool,
}

impl Course {
    /// Of a node with one member.
    const ALONE: Self = Self { goes_up: false, begins_at: None, goes_down: false };

    /// True at a leader that has no steps within its node.
    fn is_alone(self, seat: Seat) -> bool {
        seat == Seat { lanes: 1, own: Some(0) } && !self.goes_up && self.begins_at.is_none() && !self.goes_down
    }

    /// The step at this place for this many chunks, if it is one of this member; `None` behind the last one.
    #[inline(always)]
    fn step(self, at: At, chunks: usize, seat: Seat) -> Option<Option<Step>> {
        if self.is_alone(seat) {
            return Self::step_alone(at, chunks);
        }
        let Seat { lanes, own } = seat;
        let first_before = at.round.checked_sub(1).map(|before| before * lanes);
        // Behind the last round there are the other steps of it.
        if first_before.is_some_and(|first| first >= chunks) {
            return None;
        }
        let is_there = |&chunk: &usize| chunk < chunks;
        let before = |lane: usize| first_before.map(|first| first + lane).filter(is_there);
        let behind_own = at.place.checked_sub(At::OF_OWN * lanes);
        Some(match behind_own {
            None => {
                let (lane, place) = (at.place / At::OF_OWN, at.place % At::OF_OWN);
                let chunk = Some(at.round * lanes + lane).filter(is_there);
                chunk.and_then(|chunk| self.own_step(place, chunk, lane, own == Some(lane)))
            }
            Some(0) => own.and_then(before).map(Step::Finish),
            Some(place) => before(place - 1).filter(|_| self.goes_down).map(|chunk| Step::Down(chunk, place - 1)),
        })
    }

    /// The same steps of a leader that has none within its node. To pass over the others took 770 instructions in an operation of
    /// one chunk, of about 3000, before there were lanes.
    #[inline(always)]
    fn step_alone(At { round, place }: At, chunks: usize) -> Option<Option<Step>> {
        match place {
            _ if round > chunks => None,
            0 => Some((round < chunks).then_some(Step::Start(round))),
            _ => Some(round.checked_sub(1).map(Step::Finish)),
        }
    }

    /// The place behind this one at a member with this seat.
    #[inline(always)]
    fn next(self, at: At, seat: Seat) -> At {
        if self.is_alone(seat) { at.next_alone() } else { at.next(seat.lanes) }
    }

    /// One of the steps by which a chunk gets between the nodes.
    fn own_step(self, place: usize, chunk: usize, lane: usize, is_leader: bool) -> Option<Step> {
        // A leader that is the root has the values already, and other nodes are further away than its own members.
        let is_early = is_leader && self.begins_at == Some(0);
        match place {
            0 => self.goes_up.then_some(Step::Up(chunk, lane)),
            place if is_early == (place == 1) => is_leader.then_some(Step::Start(chunk)),
            _ => self.begins_at.map(|root| Step::Down(chunk, root)),
        }
    }
}

/// A place among the steps of an operation. Each round has the steps of its own chunks, lane by lane, and then those of the
/// chunks of the round before it, which have been between the nodes meanwhile.
#[derive(Clone, Copy, Debug, Default)]
struct At {
    round: usize,
    place: usize,
}

impl At {
    /// The steps of a round's own chunk.
    const OF_OWN: usize = 3;

    /// The next place, with this many lanes: a round has one more step in which a leader finishes, and one down for each lane.
    fn next(self, lanes: usize) -> Self {
        let place = self.place + 1;
        if place > (Self::OF_OWN + 1) * lanes {
            Self { round: self.round + 1, place: 0 }
        } else {
            Self { place, ..self }
        }
    }

    /// The next place of a leader without steps within its node: it starts a chunk, and finishes the one before if there is one.
    fn next_alone(self) -> Self {
        if self.place == 0 && self.round > 0 {
            Self { place: 1, ..self }
        } else {
            Self { round: self.round + 1, place: 0 }
        }
    }
}

/// An operation under way.
pub(super) struct Operation<M: Message, F> {
    /// The call as this node's group knows it.
    near_call: Call,
    order: Order,
    way: Way,
    header: Header,
    course: Course,
    /// The lanes to which the chunks are dealt in turn.
    lanes: usize,
    /// The next step.
    at: At,
    /// True while a step within the node is under way.
    has_begun: bool,
    chunks: Parts<M>,
    /// Rounds whose chunk of this member's lane has done its work between the nodes.
    rounds_over: usize,
    /// Those of the chunks between the nodes, the one of each round in turn: at a leader, until the operation is done. Operations
    /// that fail keep theirs, so that no other one goes on with it.
    exchanges: Option<Box<Exchanges>>,
    theirs: Vec<M::Item>,
    each: F,
}

/// The description of an operation, beside its values.
pub(super) struct Terms {
    pub(super) kind: CallKind,
    /// The root over all nodes.
    pub(super) root: Option<usize>,
    pub(super) order: Order,
    pub(super) way: Way,
    pub(super) course: Course,
    /// The number of values, and the signature of their type.
    pub(super) len: usize,
    pub(super) signature: u64,
}

impl<M: Message, F: FnMut(&mut [M::Item], &[M::Item])> Operation<M, F> {
    /// An operation on these chunks; it begins with the first call of [`go_on`](Self::go_on).
    #[inline(always)]
    pub(super) fn new(ends: &mut Ends, terms: Terms, chunks: Parts<M>, each: F) -> Self {
        let Terms { kind, root, order, way, course, len, signature } = terms;
        let own = root.map(|root| ends.numbering.place(root)).filter(|&(node, _)| node == ends.numbering.node);
        let call = Call { operation: kind, root };
        let exchanges = ends.leader.as_mut().and_then(|leader| leader.exchanges.take());
        Self {
            near_call: Call { operation: kind, root: own.map(|(_, local)| local) },
            order,
            way,
            header: Header { sequence: ends.operation, call, len: len as u64, signature, chunk: 0 },
            course: if ends.near.size() == 1 { Course::ALONE } else { course },
            lanes: 1,
            at: At::default(),
            has_begun: false,
            chunks,
            rounds_over: 0,
            exchanges,
            theirs: Vec::new(),
            each,
        }
    }

    /// The same with its chunks dealt to this many lanes.
    pub(super) fn dealt_to(self, lanes: usize) -> Self {
        Self { lanes, ..self }
    }

    /// Goes on until the operation is done at this member, or its time is over.
    pub(super) fn go_on(&mut self, ends: &mut Ends) -> Result<(), Error> {
        let seat = ends.seat(self.lanes);
        while let Some(step) = self.course.step(self.at, self.chunks.len(), seat) {
            match step {
                None => {}
                Some(Step::Up(chunk, root)) => self.go_up(ends, chunk, root)?,
                Some(Step::Start(chunk)) => {
                    crash_point::here("far-combined");
                    self.start(ends, chunk)?;
                    crash_point::here("far-started");
                }
                Some(Step::Finish(chunk)) => {
                    self.finish(ends, chunk)?;
                    crash_point::here("far-finished");
                }
                Some(Step::Down(chunk, root)) => self.go_down(ends, chunk, root)?,
            }
            self.at = self.course.next(self.at, seat);
        }
        if let Some(leader) = &mut ends.leader {
            leader.exchanges = self.exchanges.take();
        }
        Ok(())
    }

    /// The values of the first chunk: all of them, where there is one.
    pub(super) fn first_chunk(&mut self) -> &mut [M::Item] {
        self.chunks.values(0)
    }

    fn go_up(&mut self, ends: &mut Ends, chunk: usize, root: usize) -> Result<(), Error> {
        let Self { near_call, order, has_begun, chunks, each, .. } = self;
        if chunks.are_at_once() && chunk > 0 {
            return Ok(());
        }
        ends.near(*near_call, has_begun, |near| chunks.go_up(near, chunk, root, *order, each))
    }

    fn go_down(&mut self, ends: &mut Ends, chunk: usize, root: usize) -> Result<(), Error> {
        let Self { near_call, has_begun, chunks, course, .. } = self;
        // The values of a root that does not lead have to be at the leader before it sends them.
        let of_all = if course.begins_at.is_some_and(|root| root > 0) { 0 } else { chunks.len() - 1 };
        if chunks.are_at_once() && chunk != of_all {
            return Ok(());
        }
        ends.near(*near_call, has_begun, |near| chunks.go_down(near, chunk, root))
    }

    /// Sends what can be sent, and waits for nothing.
    fn start(&mut self, ends: &mut Ends, chunk: usize) -> Result<(), Error> {
        let round = self.at.round;
        self.exchanges.get_or_insert_with(|| Box::new(array::from_fn(Exchange::on_lane)));
        of_round(&mut self.exchanges, round).restart(round > 0);
        let leader = ends.own_leader().expect("only a leader has this step");
        let begun = self.exchange(&mut *leader.engine, chunk, round);
        begun.map(drop).map_err(|stop| ends.stopped(stop))
    }

    /// Waits for a chunk of the round before. The lane's next one, which has been started, goes on meanwhile.
    fn finish(&mut self, ends: &mut Ends, chunk: usize) -> Result<(), Error> {
        let (next, round) = (chunk + self.lanes, self.at.round);
        let has_next = next < self.chunks.len();
        ends.far(|engine| {
            let is_over = self.exchange(engine, chunk, round - 1)?;
            if is_over {
                self.rounds_over = round;
            }
            if has_next {
                self.exchange(engine, next, round)?;
            }
            let awaited = of_round(&mut self.exchanges, round - 1).awaited(&self.way);
            Ok(if is_over { Polled::Done } else { Polled::Awaits(awaited) })
        })
    }

    /// Goes on with the chunk of a round between the nodes; true if it has done its work there. The engine's own operations go
    /// one after the other, as only the first one has a header.
    fn exchange(&mut self, engine: &mut dyn Engine, chunk: usize, round: usize) -> Result<bool, Stop> {
        let Self { exchanges, way, header, chunks, theirs, each, .. } = self;
        if matches!(way, Way::Whole(..)) && round > self.rounds_over {
            return Ok(false);
        }
        let (exchange, header) = (of_round(exchanges, round), Header { chunk: chunk as u64, ..*header });
        exchange.go_on(engine, way, header, chunks.values(chunk), theirs, each)
    }
}

/// The state of a round's chunk between the nodes, of a leader whose operation is not done.
fn of_round(exchanges: &mut Option<Box<Exchanges>>, round: usize) -> &mut Exchange {
    let exchanges = exchanges.as_mut().expect("only a leader has steps between nodes");
    &mut exchanges[round % Slot::LANES]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps_of(course: Course, chunks: usize, seat: Seat) -> Vec<Step> {
        let mut at = At::default();
        let mut steps = Vec::new();
        while let Some(step) = course.step(at, chunks, seat) {
            steps.extend(step);
            at = course.next(at, seat);
        }
        steps
    }

    fn all_steps(course: Course, chunks: usize, is_leader: bool) -> Vec<Step> {
        steps_of(course, chunks, Seat { lanes: 1, own: is_leader.then_some(0) })
    }

    #[test]
    fn a_leader_that_is_the_root_serves_other_nodes_first() {
        let course = |root| Course { goes_up: false, begins_at: Some(root), goes_down: false };
        let steps = |root, is_leader| all_steps(course(root), 2, is_leader);
        let first =
            [Step::Start(0), Step::Down(0, 0), Step::Start(1), Step::Down(1, 0), Step::Finish(0), Step::Finish(1)];
        assert_eq!(steps(0, true), first);
        assert_eq!(steps(0, false), [Step::Down(0, 0), Step::Down(1, 0)]);
        assert_eq!(steps(1, true)[..2], [Step::Down(0, 1), Step::Start(0)]);
    }

    #[test]
    fn a_leader_without_other_members_starts_a_chunk_before_it_finishes_the_one_before() {
        let steps = |chunks| all_steps(Course::ALONE, chunks, true);
        assert_eq!(steps(1), [Step::Start(0), Step::Finish(0)]);
        let three = [0, 1, 0, 2, 1, 2];
        let of_three = [Step::Start, Step::Start, Step::Finish, Step::Start, Step::Finish, Step::Finish];
        assert_eq!(steps(3), std::iter::zip(of_three, three).map(|(step, chunk)| step(chunk)).collect::<Vec<_>>());
        assert_eq!(all_steps(Course::ALONE, 3, false), []);
    }

    #[test]
    fn two_chunks_are_between_the_nodes_and_a_third_one_goes_up() {
        let course = Course { goes_up: true, begins_at: None, goes_down: true };
        let leader = all_steps(course, 3, true);
        let steps = [
            Step::Up(0, 0),
            Step::Start(0),
            Step::Up(1, 0),
            Step::Start(1),
            Step::Finish(0),
            Step::Down(0, 0),
            Step::Up(2, 0),
            Step::Start(2),
            Step::Finish(1),
            Step::Down(1, 0),
            Step::Finish(2),
            Step::Down(2, 0),
        ];
        assert_eq!(leader, steps);
        let near = |steps: Vec<Step>| -> Vec<Step> {
            steps.into_iter().filter(|step| matches!(step, Step::Up(..) | Step::Down(..))).collect()
        };
        assert_eq!(near(leader), all_steps(course, 3, false));
    }

    #[test]
    fn lanes_are_between_the_nodes_at_the_same_time() {
        let course = Course { goes_up: true, begins_at: None, goes_down: true };
        let steps = |own| steps_of(course, 3, Seat { lanes: 2, own });
        let second = [
            Step::Up(0, 0),
            Step::Up(1, 1),
            Step::Start(1),
            Step::Up(2, 0),
            Step::Finish(1),
            Step::Down(0, 0),
            Step::Down(1, 1),
            Step::Down(2, 0),
        ];
        assert_eq!(steps(Some(1)), second);
        let of_leaders = |step: &Step| matches!(step, Step::Start(_) | Step::Finish(_));
        let first: Vec<Step> = steps(Some(0)).into_iter().filter(of_leaders).collect();
        assert_eq!(first, [Step::Start(0), Step::Start(2), Step::Finish(0), Step::Finish(2)]);
        let near: Vec<Step> = second.into_iter().filter(|step| !of_leaders(step)).collect();
        assert_eq!(steps(None), near);
    }
}
