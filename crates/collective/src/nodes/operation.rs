//! One operation over all nodes at one member: steps within the node, and at the leader between nodes, chunk by chunk.
//!
//! The values of a chunk go up to the leader, between the nodes, and down to all members. The leader starts a chunk's messages,
//! turns to its node, starts those of the next chunk and comes back to the first one: so two chunks are between the nodes at a
//! time, on lanes of their own, while a third one goes up. All members of a node take the same steps in the same order.

use std::array;

use corecast_base::crash_point;

use super::ends::Ends;
use super::engine::{Engine, Slot};
use super::error::Error;
use super::exchange::{Exchange, Header, Way};
use super::few::Few;
use super::leader::Polled;
use super::stop::Stop;
use crate::call::{Call, CallKind};
use crate::operation::{Message, Order, Progress, Reduction, broadcast, reduce};

/// A step of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The node's values of a chunk are combined at its leader.
    Up(usize),
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

    /// The steps of each chunk: its own ones, and then those of the chunk before it, which has been between the nodes meanwhile.
    const STEPS: usize = 5;

    /// The step with this number for this many chunks, if it is one of this member; `None` behind the last one.
    fn step(self, number: usize, chunks: usize, is_leader: bool) -> Option<Option<Step>> {
        let (chunk, place) = (number / Self::STEPS, number % Self::STEPS);
        // Behind the last chunk there are the other steps of it.
        let (own, before) = ((chunk < chunks).then_some(chunk), chunk.checked_sub(1));
        if chunk > chunks {
            return None;
        }
        // A leader that is the root has the values already, and other nodes are further away than its own members.
        let is_early = is_leader && self.begins_at == Some(0);
        Some(match place {
            0 => own.filter(|_| self.goes_up).map(Step::Up),
            1 | 2 if is_early == (place == 1) => own.filter(|_| is_leader).map(Step::Start),
            1 | 2 => own.zip(self.begins_at).map(|(chunk, root)| Step::Down(chunk, root)),
            3 => before.filter(|_| is_leader).map(Step::Finish),
            _ => before.filter(|_| self.goes_down).map(|chunk| Step::Down(chunk, 0)),
        })
    }
}

/// A part of the values that travels on its own.
struct Chunk<M: Message> {
    message: M,
    reduction: Reduction<M::Item>,
    progress: Progress,
}

/// An operation under way.
pub(super) struct Operation<M: Message, F> {
    /// The call as this node's group knows it.
    near_call: Call,
    order: Order,
    way: Way,
    header: Header,
    course: Course,
    /// Steps done.
    done: usize,
    /// True while a step within the node is under way.
    has_begun: bool,
    chunks: Few<Chunk<M>>,
    /// Chunks that have done their work between the nodes.
    chunks_over: usize,
    /// Those of the chunks between the nodes, by lane.
    exchanges: [Exchange; Slot::LANES],
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
    /// An operation on these chunks, at least one; it begins with the first call of [`go_on`](Self::go_on).
    pub(super) fn new(ends: &Ends, terms: Terms, messages: impl IntoIterator<Item = M>, each: F) -> Self {
        let Terms { kind, root, order, way, course, len, signature } = terms;
        let chunk = |message| Chunk { message, reduction: Reduction::default(), progress: Progress::default() };
        let chunks: Few<Chunk<M>> = messages.into_iter().map(chunk).collect();
        let own = root.map(|root| ends.numbering.place(root)).filter(|&(node, _)| node == ends.numbering.node);
        let call = Call { operation: kind, root };
        Self {
            near_call: Call { operation: kind, root: own.map(|(_, local)| local) },
            order,
            way,
            header: Header { sequence: ends.operation, call, len: len as u64, signature, chunk: 0 },
            course: if ends.near.size() == 1 { Course::ALONE } else { course },
            done: 0,
            has_begun: false,
            chunks,
            chunks_over: 0,
            exchanges: array::from_fn(Exchange::on_lane),
            theirs: Vec::new(),
            each,
        }
    }

    /// Goes on until the operation is done at this member, or its time is over.
    pub(super) fn go_on(&mut self, ends: &mut Ends) -> Result<(), Error> {
        let is_leader = ends.leader.is_some();
        while let Some(step) = self.course.step(self.done, self.chunks.len(), is_leader) {
            match step {
                None => {}
                Some(Step::Up(chunk)) => self.go_up(ends, chunk)?,
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
            self.done += 1;
        }
        Ok(())
    }

    /// The values of the first chunk: all of them, where there is one.
    pub(super) fn first_chunk(&mut self) -> &mut [M::Item] {
        self.chunks.at(0).message.values()
    }

    fn go_up(&mut self, ends: &mut Ends, chunk: usize) -> Result<(), Error> {
        let Self { near_call, order, has_begun, chunks, each, .. } = self;
        let Chunk { message, reduction, .. } = chunks.at(chunk);
        ends.near(*near_call, has_begun, |near| {
            reduce(&mut near.core, &mut near.reduce, 0, *order, message, reduction, &mut *each)
        })
    }

    fn go_down(&mut self, ends: &mut Ends, chunk: usize, root: usize) -> Result<(), Error> {
        let Self { near_call, has_begun, chunks, .. } = self;
        let Chunk { message, progress, .. } = chunks.at(chunk);
        ends.near(*near_call, has_begun, |near| broadcast(&mut near.core, &mut near.broadcast, root, message, progress))
    }

    /// Sends what can be sent, and waits for nothing.
    fn start(&mut self, ends: &mut Ends, chunk: usize) -> Result<(), Error> {
        self.exchanges[chunk % Slot::LANES].restart();
        let leader = ends.leader.as_mut().expect("only a leader has this step");
        let begun = self.exchange(&mut *leader.engine, chunk);
        begun.map(drop).map_err(|stop| ends.stopped(stop))
    }

    /// Waits for a chunk. The next one, which has been started, goes on meanwhile.
    fn finish(&mut self, ends: &mut Ends, chunk: usize) -> Result<(), Error> {
        let has_next = chunk + 1 < self.chunks.len();
        ends.far(|engine| {
            let is_over = self.exchange(engine, chunk)?;
            if is_over {
                self.chunks_over = chunk + 1;
            }
            if has_next {
                self.exchange(engine, chunk + 1)?;
            }
            let awaited = self.exchanges[chunk % Slot::LANES].awaited(&self.way);
            Ok(if is_over { Polled::Done } else { Polled::Awaits(awaited) })
        })
    }

    /// Goes on with a chunk between the nodes; true if it has done its work there. The engine's own operations go one after
    /// the other, as only the first one has a header.
    fn exchange(&mut self, engine: &mut dyn Engine, chunk: usize) -> Result<bool, Stop> {
        let Self { exchanges, way, header, chunks, theirs, each, .. } = self;
        if matches!(way, Way::Whole(..)) && chunk > self.chunks_over {
            return Ok(false);
        }
        let (exchange, header) = (&mut exchanges[chunk % Slot::LANES], Header { chunk: chunk as u64, ..*header });
        exchange.go_on(engine, way, header, chunks.at(chunk).message.values(), theirs, each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_steps(course: Course, chunks: usize, is_leader: bool) -> Vec<Step> {
        (0..).map_while(|number| course.step(number, chunks, is_leader)).flatten().collect()
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
    fn two_chunks_are_between_the_nodes_and_a_third_one_goes_up() {
        let course = Course { goes_up: true, begins_at: None, goes_down: true };
        let leader = all_steps(course, 3, true);
        let steps = [
            Step::Up(0),
            Step::Start(0),
            Step::Up(1),
            Step::Start(1),
            Step::Finish(0),
            Step::Down(0, 0),
            Step::Up(2),
            Step::Start(2),
            Step::Finish(1),
            Step::Down(1, 0),
            Step::Finish(2),
            Step::Down(2, 0),
        ];
        assert_eq!(leader, steps);
        let near = |steps: Vec<Step>| -> Vec<Step> {
            steps.into_iter().filter(|step| matches!(step, Step::Up(_) | Step::Down(..))).collect()
        };
        assert_eq!(near(leader), all_steps(course, 3, false));
    }
}
