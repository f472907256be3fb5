//! One operation over all nodes at one member: steps within the node, and at the leader between nodes, chunk by chunk.
//!
//! The values of a chunk go up to the leader, between the nodes, and down to all members. Chunk i + 1 goes up while chunk i is
//! between the nodes, and chunk i - 1 goes down: the leader starts a chunk's messages, turns to its node, and comes back to them.
//! All members of a node take the same steps in the same order.

use corecast_base::crash_point;

use super::ends::Ends;
use super::error::Error;
use super::exchange::{Exchange, Header, Way};
use super::leader::Polled;
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
    /// The steps for this number of chunks.
    fn steps(self, chunks: usize, is_leader: bool) -> Vec<Step> {
        let mut steps = Vec::new();
        for chunk in 0..chunks {
            if self.goes_up {
                steps.push(Step::Up(chunk));
            }
            // A leader that is the root has the values already, and other nodes are further away than its own members.
            let is_early = is_leader && self.begins_at == Some(0);
            if is_early {
                steps.extend(far(chunk));
            }
            steps.extend(self.begins_at.map(|root| Step::Down(chunk, root)));
            if is_leader && !is_early {
                steps.extend(far(chunk));
            }
            if self.goes_down && chunk > 0 {
                steps.push(Step::Down(chunk - 1, 0));
            }
        }
        if is_leader {
            steps.push(Step::Finish(chunks - 1));
        }
        if self.goes_down {
            steps.push(Step::Down(chunks - 1, 0));
        }
        steps
    }
}

/// The steps of a leader when it has a chunk's values.
fn far(chunk: usize) -> impl Iterator<Item = Step> {
    let before = chunk.checked_sub(1).map(Step::Finish);
    before.into_iter().chain([Step::Start(chunk)])
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
    steps: Vec<Step>,
    /// Steps done.
    done: usize,
    /// True while a step within the node is under way.
    has_begun: bool,
    chunks: Vec<Chunk<M>>,
    exchange: Exchange,
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
        let chunks: Vec<Chunk<M>> = messages.into_iter().map(chunk).collect();
        let own = root.map(|root| ends.numbering.place(root)).filter(|&(node, _)| node == ends.numbering.node);
        let call = Call { operation: kind, root };
        Self {
            near_call: Call { operation: kind, root: own.map(|(_, local)| local) },
            order,
            way,
            header: Header { sequence: ends.operation, call, len: len as u64, signature, chunk: 0 },
            steps: course.steps(chunks.len(), ends.leader.is_some()),
            done: 0,
            has_begun: false,
            chunks,
            exchange: Exchange::default(),
            theirs: Vec::new(),
            each,
        }
    }

    /// Goes on until the operation is done at this member, or its time is over.
    pub(super) fn go_on(&mut self, ends: &mut Ends) -> Result<(), Error> {
        while let Some(&step) = self.steps.get(self.done) {
            match step {
                Step::Up(chunk) => {
                    self.go_up(ends, chunk)?;
                    if ends.leader.is_some() {
                        crash_point::here("far-combined");
                    }
                }
                Step::Start(chunk) => {
                    self.start(ends, chunk)?;
                    crash_point::here("far-started");
                }
                Step::Finish(chunk) => {
                    self.finish(ends, chunk)?;
                    crash_point::here("far-finished");
                }
                Step::Down(chunk, root) => self.go_down(ends, chunk, root)?,
            }
            self.done += 1;
        }
        Ok(())
    }

    /// The values of the first chunk: all of them, where there is one.
    pub(super) fn first_chunk(&mut self) -> &mut [M::Item] {
        self.chunks[0].message.values()
    }

    fn go_up(&mut self, ends: &mut Ends, chunk: usize) -> Result<(), Error> {
        let Self { near_call, order, has_begun, chunks, each, .. } = self;
        let Chunk { message, reduction, .. } = &mut chunks[chunk];
        ends.near(*near_call, has_begun, |near| {
            reduce(&mut near.core, &mut near.reduce, 0, *order, message, reduction, &mut *each)
        })
    }

    fn go_down(&mut self, ends: &mut Ends, chunk: usize, root: usize) -> Result<(), Error> {
        let Self { near_call, has_begun, chunks, .. } = self;
        let Chunk { message, progress, .. } = &mut chunks[chunk];
        ends.near(*near_call, has_begun, |near| broadcast(&mut near.core, &mut near.broadcast, root, message, progress))
    }

    /// Sends what can be sent, and waits for nothing.
    fn start(&mut self, ends: &mut Ends, chunk: usize) -> Result<(), Error> {
        (self.exchange, self.header) = (Exchange::default(), Header { chunk: chunk as u64, ..self.header });
        let leader = ends.leader.as_mut().expect("only a leader has this step");
        let Self { exchange, way, header, chunks, theirs, each, .. } = self;
        let values = chunks[chunk].message.values();
        let begun = exchange.go_on(&mut *leader.engine, way, *header, values, theirs, each);
        begun.map(drop).map_err(|stop| ends.stopped(stop))
    }

    fn finish(&mut self, ends: &mut Ends, chunk: usize) -> Result<(), Error> {
        let Self { exchange, way, header, chunks, theirs, each, .. } = self;
        let values = chunks[chunk].message.values();
        ends.far(|engine| match exchange.go_on(engine, way, *header, values, theirs, each)? {
            true => Ok(Polled::Done),
            false => Ok(Polled::Awaits(exchange.awaited(way))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leader_that_is_the_root_serves_other_nodes_first() {
        let course = |root| Course { goes_up: false, begins_at: Some(root), goes_down: false };
        let steps = |root, is_leader| course(root).steps(2, is_leader);
        let first =
            [Step::Start(0), Step::Down(0, 0), Step::Finish(0), Step::Start(1), Step::Down(1, 0), Step::Finish(1)];
        assert_eq!(steps(0, true), first);
        assert_eq!(steps(0, false), [Step::Down(0, 0), Step::Down(1, 0)]);
        assert_eq!(steps(1, true)[..2], [Step::Down(0, 1), Step::Start(0)]);
    }

    #[test]
    fn three_chunks_are_under_way_at_once() {
        let course = Course { goes_up: true, begins_at: None, goes_down: true };
        let leader = course.steps(3, true);
        let steps = [
            Step::Up(0),
            Step::Start(0),
            Step::Up(1),
            Step::Finish(0),
            Step::Start(1),
            Step::Down(0, 0),
            Step::Up(2),
            Step::Finish(1),
            Step::Start(2),
            Step::Down(1, 0),
            Step::Finish(2),
            Step::Down(2, 0),
        ];
        assert_eq!(leader, steps);
        let near = |steps: Vec<Step>| -> Vec<Step> {
            steps.into_iter().filter(|step| matches!(step, Step::Up(_) | Step::Down(..))).collect()
        };
        assert_eq!(near(leader), course.steps(3, false));
    }
}
