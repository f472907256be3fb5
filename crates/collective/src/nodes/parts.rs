//! The values of an operation, in the parts that travel between nodes one after the other, and their steps within a node.
//!
//! **Each part on its own:** the parts go up to the leader and down to the members along trees, while others are between the
//! nodes.
//!
//! **All at once:** few threads read each other's long slices [in place](crate::operation::in_place), so the whole slice goes up
//! before the first part is sent, and down behind the last one. No value is copied to anywhere in between, and members meet a few
//! times instead of at every part; but nothing goes up or down while messages are on their way.

use corecast_channel::Plain;

use super::few::Few;
use crate::core::Core;
use crate::error::Error as NearError;
use crate::member::Ends as NearEnds;
use crate::operation::heading::Heading;
use crate::operation::in_place::{self, InPlaceProgress};
use crate::operation::{Message, Order, Progress, Reduction, broadcast, reduce};

/// A message within the node, and how far it has come.
struct Chunk<M: Message> {
    message: M,
    reduction: Reduction<M::Item>,
    progress: Progress,
}

impl<M: Message> Chunk<M> {
    fn of(message: M) -> Self {
        Self { message, reduction: Reduction::default(), progress: Progress::default() }
    }
}

/// The values of an operation.
pub(super) struct Parts<M: Message> {
    /// A message for each part, or one for all.
    chunks: Few<Chunk<M>>,
    at_once: Option<Box<AtOnce<M::Item>>>,
}

/// The state of values that go up and down at once.
struct AtOnce<T: Plain> {
    /// The number of values of each part but the last.
    part_len: usize,
    parts: usize,
    /// How far the length of the slice has come up and down, by which members find out that theirs differ.
    agreeing: Reduction<()>,
    agreed: Progress,
    up: InPlaceProgress<T>,
    down: InPlaceProgress<T>,
}

impl<M: Message> Parts<M> {
    /// At least one part, each of which goes up and down on its own.
    #[inline(always)]
    pub(super) fn each(messages: impl IntoIterator<Item = M>) -> Self {
        Self { chunks: messages.into_iter().map(Chunk::of).collect(), at_once: None }
    }

    /// Parts of this many values that go up and down at once.
    pub(super) fn at_once(mut message: M, part_len: usize) -> Self {
        let at_once = AtOnce {
            part_len,
            parts: message.values().len().div_ceil(part_len),
            agreeing: Reduction::default(),
            agreed: Progress::default(),
            up: InPlaceProgress::default(),
            down: InPlaceProgress::default(),
        };
        Self { chunks: [Chunk::of(message)].into_iter().collect(), at_once: Some(Box::new(at_once)) }
    }

    /// The number of parts.
    pub(super) fn len(&self) -> usize {
        self.at_once.as_ref().map_or(self.chunks.len(), |at_once| at_once.parts)
    }

    /// True if all values go up and down at once.
    pub(super) fn are_at_once(&self) -> bool {
        self.at_once.is_some()
    }

    /// The values of a part.
    pub(super) fn values(&mut self, part: usize) -> &mut [M::Item] {
        let Some(at_once) = &self.at_once else { return self.chunks.at(part).message.values() };
        let values = self.chunks.at(0).message.values();
        let first = part * at_once.part_len;
        let end = values.len().min(first + at_once.part_len);
        &mut values[first..end]
    }

    /// Combines the node's values of a part, or all, at the member of this local rank.
    pub(super) fn go_up(
        &mut self,
        near: &mut NearEnds,
        part: usize,
        root: usize,
        order: Order,
        each: &mut impl FnMut(&mut [M::Item], &[M::Item]),
    ) -> Result<(), NearError> {
        let NearEnds { core, reduce: edges, in_place, .. } = near;
        let (Some(at_once), Some(in_place)) = (&mut self.at_once, in_place) else {
            let Chunk { message, reduction, .. } = self.chunks.at(part);
            return reduce(core, edges, root, order, message, reduction, each);
        };
        let AtOnce { agreeing, up, .. } = &mut **at_once;
        let values = self.chunks.at(0).message.values();
        let heading = &mut Heading { len: values.len(), signature: edges.last.signature::<M::Item>() };
        let agree = |core: &mut Core| reduce(core, edges, root, Order::Plan, heading, agreeing, |_, _| {});
        let combine = |left, right| {
            let mut combined = [left];
            each(&mut combined, &[right]);
            combined[0]
        };
        in_place::reduce(core, in_place, Some(root), values, combine, agree, up)
    }

    /// Gives the values of a part, or all, of the member of this local rank to all of the node.
    pub(super) fn go_down(&mut self, near: &mut NearEnds, part: usize, root: usize) -> Result<(), NearError> {
        let NearEnds { core, broadcast: edges, in_place, .. } = near;
        let (Some(at_once), Some(in_place)) = (&mut self.at_once, in_place) else {
            let Chunk { message, progress, .. } = self.chunks.at(part);
            return broadcast(core, edges, root, message, progress);
        };
        let AtOnce { agreed, down, .. } = &mut **at_once;
        let values = self.chunks.at(0).message.values();
        let heading = &mut Heading { len: values.len(), signature: edges.last.signature::<M::Item>() };
        let agree = |core: &mut Core| broadcast(core, edges, root, heading, agreed);
        in_place::broadcast(core, in_place, root, values, agree, down)
    }
}
