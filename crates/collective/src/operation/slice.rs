//! A slice of any length, which travels in steps: first the length, then part after part.
//!
//! Short slices travel in messages of the edges, long ones in [`Chunks`]. The way follows from the length, on which all
//! agree before the first part.

use std::ops::Range;

use corecast_channel::{Plain, zeroed};

use super::{Message, heading};
use crate::core::Core;
use crate::error::{Error, Loss};
use crate::link::{LONGEST_MESSAGE, Link};
use crate::tree::{CHUNK_BYTES, Chunks, TreeEdges};

/// Slices of this many bytes and more travel in chunks.
const LONG_BYTES: usize = if cfg!(loom) { 16 } else { 2048 };

/// The bytes of another member's values that are copied from a chunk at a time to be combined. With 504, which is too few
/// for the processor's copy instruction, a reduction of 256 KiB between two members took 1.85 times as long.
const PIECE_BYTES: usize = 8 << 10;

/// The values of one member.
pub(crate) struct Slice<'a, T> {
    pub(crate) values: &'a mut [T],
    /// The number of values that stay together; they fit into one message.
    run: usize,
    parts: Parts,
    /// The signature of their type, known from the first step on.
    signature: u64,
    /// Room for some of a neighbour's values, to combine them.
    theirs: Vec<T>,
}

/// How the values are divided among steps. It is kept, as a division in each step made a broadcast of 512 bytes between two
/// members take 535 ns instead of 470.
#[derive(Clone, Copy, Default)]
struct Parts {
    /// True if the values travel in chunks along the edges at hand, which is known from the second step on.
    is_long: bool,
    /// The values of a part.
    len: usize,
    /// The number of steps: one for the length, and one for each part.
    steps: usize,
}

impl<'a, T: Plain> Slice<'a, T> {
    pub(crate) fn of(values: &'a mut [T]) -> Self {
        Self::in_runs(values, 1)
    }

    /// Values of which `run` at a time stay together.
    pub(crate) fn in_runs(values: &'a mut [T], run: usize) -> Self {
        Self { values, run, parts: Parts::default(), signature: 0, theirs: Vec::new() }
    }

    fn parts(&self, is_long: bool) -> Parts {
        let len = whole_runs(if is_long { CHUNK_BYTES / size_of::<T>() } else { part_len::<T>() }, self.run);
        Parts { is_long, len, steps: 1 + self.values.len().div_ceil(len) }
    }

    /// The way of a step's values, and where they lie.
    fn way(&self, step: usize) -> Way {
        let Parts { is_long, len, .. } = self.parts;
        let Some(part) = step.checked_sub(1) else { return Way::Length };
        let place = part * len..self.values.len().min((part + 1) * len);
        if is_long { Way::Chunk(place) } else { Way::Edge(place) }
    }

    /// Receives from a neighbour the number of values it is about to send, and the number of their first chunk.
    fn expect_length(&self, core: &mut Core, edges: &mut TreeEdges, link: usize) -> Result<(), Error> {
        let first = heading::recv(core, &mut edges.links[link], (self.values.len(), self.signature))?;
        if let Some(chunks) = &mut edges.chunks {
            chunks.expect(link, first);
        }
        Ok(())
    }
}

/// The content of a step: the length, or the values at these places in a message or in a chunk.
enum Way {
    Length,
    Edge(Range<usize>),
    Chunk(Range<usize>),
}

impl<T: Plain> Message for Slice<'_, T> {
    type Item = T;
    const IS_ONE_STEP: bool = false;

    /// The first long slice lays out the chunks, at all members alike: after its length is agreed on.
    fn prepare(&mut self, core: &mut Core, edges: &mut TreeEdges, step: usize) -> Result<bool, Error> {
        let may_be_long = size_of_val(self.values) >= LONG_BYTES && size_of::<T>() <= CHUNK_BYTES;
        if may_be_long && step == 1 && edges.chunks.is_none() {
            let rank = core.rank;
            edges.chunks = core.lay_out(|arena| Chunks::lay_out(edges, rank, arena))?.map(Box::new);
        }
        let is_long = may_be_long && edges.chunks.is_some();
        if step == 0 {
            self.signature = edges.last.signature::<T>();
        }
        if step == 0 || is_long != self.parts.is_long {
            self.parts = self.parts(is_long);
        }
        Ok(step < self.parts.steps)
    }

    fn recv(&mut self, core: &mut Core, edges: &mut TreeEdges, step: usize, link: usize) -> Result<(), Error> {
        match self.way(step) {
            Way::Length => self.expect_length(core, edges, link),
            Way::Edge(place) => recv_part(core, &mut edges.links[link], &mut self.values[place]),
            Way::Chunk(place) => chunks(edges).recv(core, link, &mut self.values[place]),
        }
    }

    fn combine(
        &mut self,
        core: &mut Core,
        edges: &mut TreeEdges,
        step: usize,
        link: usize,
        each: &mut impl FnMut(&mut [T], &[T]),
    ) -> Result<(), Error> {
        if self.theirs.is_empty() {
            self.theirs.resize(whole_runs(piece_len::<T>(), self.run).min(self.values.len()), zeroed());
        }
        match self.way(step) {
            Way::Length => self.expect_length(core, edges, link),
            Way::Edge(place) => {
                let theirs = &mut self.theirs[..place.len()];
                recv_part(core, &mut edges.links[link], theirs)?;
                each(&mut self.values[place], theirs);
                Ok(())
            }
            Way::Chunk(place) => {
                chunks(edges).recv_by_pieces(core, link, &mut self.values[place], &mut self.theirs, each)
            }
        }
    }

    fn send(
        &mut self,
        core: &mut Core,
        edges: &mut TreeEdges,
        step: usize,
        to: impl Fn(usize) -> bool,
        sent: &mut usize,
    ) -> Result<(), Error> {
        let way = self.way(step);
        if let Way::Chunk(place) = way {
            return chunks(edges).publish(core, &self.values[place], to);
        }
        let first_chunk = edges.chunks.as_ref().map_or(0, |chunks| chunks.published());
        while let Some(link) = edges.links.get_mut(*sent) {
            if to(*sent) {
                match &way {
                    Way::Edge(place) => send_part(core, link, &self.values[place.clone()])?,
                    _ => heading::send(core, link, (self.values.len(), self.signature), first_chunk)?,
                }
            }
            *sent += 1;
        }
        Ok(())
    }

    fn values(&mut self) -> &mut [T] {
        self.values
    }
}

fn chunks(edges: &mut TreeEdges) -> &mut Chunks {
    edges.chunks.as_mut().expect("a slice travels in chunks where there are some")
}

/// The largest number of these values that is a number of whole runs.
fn whole_runs(values: usize, run: usize) -> usize {
    values - values % run
}

/// The number of values in a message, at least one: a larger value travels by itself in several messages.
pub(crate) fn part_len<T>() -> usize {
    (LONGEST_MESSAGE / size_of::<T>().max(1)).max(1)
}

/// The number of values copied at a time to be combined: at least those of a message.
pub(crate) fn piece_len<T>() -> usize {
    (PIECE_BYTES / size_of::<T>().max(1)).max(1)
}

pub(crate) fn send_part<T: Plain>(core: &mut Core, link: &mut Link, part: &[T]) -> Result<(), Error> {
    match part {
        [value] if size_of::<T>() > LONGEST_MESSAGE => core.send(link, value),
        _ => core.send_part(link.rank, &mut link.tx, part),
    }
}

pub(crate) fn recv_part<T: Plain>(core: &mut Core, link: &mut Link, part: &mut [T]) -> Result<(), Error> {
    match part {
        [value] if size_of::<T>() > LONGEST_MESSAGE => *value = core.recv(link)?,
        _ => {
            let count = core.recv_part(link.rank, &mut link.rx, part)?;
            if count != part.len() && size_of::<T>() > 0 {
                return Err(core.fail(link.rank, Loss::Mismatched));
            }
        }
    }
    Ok(())
}
