//! Memory beside the edges of a tree in which long slices travel: written once, and read in place by all neighbours.
//!
//! Every member has an area of a few chunks. It writes a chunk after all its readers have read the one there before, and
//! announces it with one store, however many read it. A reader copies the chunk out and acknowledges it on a line of its
//! own. Chunks are numbered through, whatever operations they belong to; the numbers only grow, so nothing is ever reset.
//! The readers along an edge follow from the current operation, and the number of its first chunk travels with its length.
//!
//! Areas are laid out for the first long slice, as most groups never have one.
//!
//! **When to take it:** values of several kilobytes. **When not:** a message is one line with its header, and costs no
//! acknowledgement.
//!
//! Every access to an area is atomic, so that a misbehaving process can cause wrong values and nothing worse.

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{Arena, ArenaError, CacheLine, Place, PlaceSlice};
use corecast_channel::{Bytes, BytesMut, Plain};

use super::TreeEdges;
use crate::core::Core;
use crate::error::Error;

/// The bytes of a chunk.
pub(crate) const CHUNK_BYTES: usize = if cfg!(loom) { 16 } else { 16 << 10 };
/// The chunks of an area.
const CHUNKS: u64 = if cfg!(loom) { 1 } else { 4 };
const CHUNK_WORDS: usize = CHUNK_BYTES / size_of::<u64>();
const AREA_WORDS: usize = CHUNKS as usize * CHUNK_WORDS;
/// The lines of a member: its count of published chunks, and the counts of chunks read along the edge to its parent.
const LINES: usize = 3;

/// Chunks published or read so far.
type Line = Place<CacheLine<AtomicU64>>;

/// One member's own area, and those of its neighbours in a tree.
#[derive(Debug)]
pub(crate) struct Chunks {
    own: Area,
    /// Chunks published so far.
    published: u64,
    /// In the order of the links.
    neighbours: Vec<Neighbour>,
}

/// An area, as all members that reach it see it.
#[derive(Debug)]
struct Area {
    /// The areas of all members, and the index of this one.
    words: PlaceSlice<AtomicU64>,
    rank: usize,
    /// Written by the member whose area it is, read by its neighbours.
    published: Line,
}

#[derive(Debug)]
struct Neighbour {
    area: Area,
    /// The number of chunks of that area that this member has read. Written by this member, read by the neighbour.
    read: Line,
    /// The number of chunks of its own area that the neighbour has read. Written by the neighbour, read by this member.
    acknowledged: Line,
    /// The value found there last.
    known: u64,
    /// The number of chunks of its own area that the neighbour is to read.
    announced: u64,
    /// The number of the next chunk to read.
    next: u64,
}

impl Chunks {
    /// Lays out the areas of all members; returns those of the member of this rank, whose edges these are. `None`
    /// if they would take more than half of the remaining room, as members need the rest for things they cannot do without.
    pub(crate) fn lay_out(edges: &TreeEdges, own: usize, arena: &mut Arena) -> Result<Option<Self>, ArenaError> {
        let members = edges.members();
        let bytes = members * (AREA_WORDS * size_of::<u64>() + LINES * size_of::<CacheLine<AtomicU64>>());
        if arena.left().is_some_and(|left| bytes > left / 2) {
            return Ok(None);
        }
        let words = arena.slice(members * AREA_WORDS)?;
        let published: PlaceSlice<CacheLine<AtomicU64>> = arena.slice(members)?;
        // For each member the count of chunks it has read of its parent's area, and its parent's count for its own area.
        let read: PlaceSlice<CacheLine<AtomicU64>> = arena.slice(2 * members)?;
        const EACH: &str = "one for each member";
        let area =
            |rank| Area { words: PlaceSlice::clone(&words), rank, published: published.place(rank).expect(EACH) };
        let parent = edges.link_to_parent();
        let neighbours = edges.links.iter().enumerate().map(|(link, neighbour)| {
            let (below, is_parent) = if Some(link) == parent { (own, true) } else { (neighbour.rank, false) };
            let line = |by_parent: bool| read.place(2 * below + usize::from(by_parent)).expect(EACH);
            let (read, acknowledged) = (line(!is_parent), line(is_parent));
            Neighbour { area: area(neighbour.rank), read, acknowledged, known: 0, announced: 0, next: 0 }
        });
        Ok(Some(Self { neighbours: neighbours.collect(), own: area(own), published: 0 }))
    }

    /// The number of the next chunk that this member publishes.
    pub(crate) fn published(&self) -> u64 {
        self.published
    }

    /// Writes `values` as the next chunk once there is room, to be read by the neighbours behind the links that are `to`
    /// read it. If the wait for room fails, nothing is published.
    pub(crate) fn publish<T: Plain>(
        &mut self,
        core: &mut Core,
        values: &[T],
        to: impl Fn(usize) -> bool,
    ) -> Result<(), Error> {
        if !(0..self.neighbours.len()).any(&to) {
            return Ok(());
        }
        self.wait_for_room(core)?;
        BytesMut::shared(self.own.chunk(self.published), size_of_val(values)).write_values(values);
        self.announce(core, &to);
        Ok(())
    }

    /// Waits until all readers of the chunk that the next one replaces have read it.
    fn wait_for_room(&mut self, core: &mut Core) -> Result<(), Error> {
        let free = (self.published + 1).saturating_sub(CHUNKS);
        for neighbour in &mut self.neighbours {
            let Neighbour { acknowledged, known, announced, .. } = neighbour;
            let needed = free.min(*announced);
            if *known < needed {
                // ORDERING: Acquire, pairs with the Release in acknowledge at the neighbour [chunk-read]
                let look = || Some(acknowledged.load(Ordering::Acquire)).filter(|&read| read >= needed);
                *known = core.wait_at_own_word(look)?;
            }
        }
        Ok(())
    }

    /// Publishes the chunk that was written, and wakes its readers.
    fn announce(&mut self, core: &Core, to: &dyn Fn(usize) -> bool) {
        self.published += 1;
        // ORDERING: Release, pairs with the Acquire in wait at the neighbours [chunk-there]
        self.own.published.store(self.published, Ordering::Release);
        for (_, neighbour) in self.neighbours.iter_mut().enumerate().filter(|(link, _)| to(*link)) {
            neighbour.announced = self.published;
            core.table.wake_word(neighbour.area.rank).notify();
        }
    }

    /// Sets the number of the next chunk to be read behind a link.
    pub(crate) fn expect(&mut self, link: usize, number: u64) {
        self.neighbours[link].next = number;
    }

    /// Reads the next chunk of the neighbour behind a link, once it is there.
    pub(crate) fn recv<T: Plain>(&mut self, core: &mut Core, link: usize, into: &mut [T]) -> Result<(), Error> {
        let neighbour = &mut self.neighbours[link];
        neighbour.wait(core)?;
        neighbour.bytes().read_values_at(0, into);
        neighbour.acknowledge(core);
        Ok(())
    }

    /// The same for values that are handled piece by piece, up to the size of `room` at a time: `each` gets a piece of
    /// `own` and the values received for it.
    pub(crate) fn recv_by_pieces<T: Plain>(
        &mut self,
        core: &mut Core,
        link: usize,
        own: &mut [T],
        room: &mut [T],
        mut each: impl FnMut(&mut [T], &[T]),
    ) -> Result<(), Error> {
        let neighbour = &mut self.neighbours[link];
        neighbour.wait(core)?;
        let mut offset = 0;
        for own in own.chunks_mut(room.len()) {
            let theirs = &mut room[..own.len()];
            neighbour.bytes().read_values_at(offset, theirs);
            each(own, theirs);
            offset += size_of_val(own);
        }
        neighbour.acknowledge(core);
        Ok(())
    }
}

impl Neighbour {
    /// Waits for the next chunk.
    fn wait(&self, core: &mut Core) -> Result<(), Error> {
        // ORDERING: Acquire, pairs with the Release in announce at the neighbour [chunk-there]
        core.wait_at_own_word(|| (self.area.published.load(Ordering::Acquire) > self.next).then_some(()))
    }

    fn bytes(&self) -> Bytes<'_> {
        Bytes::shared(self.area.chunk(self.next), CHUNK_BYTES)
    }

    /// Acknowledges the next chunk, and goes on to the one behind it.
    fn acknowledge(&mut self, core: &Core) {
        self.next = self.next.wrapping_add(1);
        // ORDERING: Release, pairs with the Acquire in wait_for_room at the neighbour: the old chunk has been read [chunk-read]
        self.read.store(self.next, Ordering::Release);
        core.table.wake_word(self.area.rank).notify();
    }
}

impl Area {
    fn chunk(&self, number: u64) -> &[AtomicU64] {
        let first = self.rank * AREA_WORDS + number.rem_euclid(CHUNKS) as usize * CHUNK_WORDS;
        &self.words[first..first + CHUNK_WORDS]
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use corecast_plan::Tree;

    use super::*;
    use crate::membership::tests::sites;
    use crate::tree::TreeLayout;

    /// Takes tens of megabytes for a large group of processes; among threads only the pages that are touched.
    #[test]
    fn an_area_is_as_large_as_it_is_told() {
        const MEMBERS: usize = 256;
        let children = (0..MEMBERS).map(|rank| if rank == 0 { (1..MEMBERS).collect() } else { vec![] }).collect();
        let plan = TreeLayout::of(&Tree::new(0, children).expect("a star"), |_| Vec::new());
        let mut site = sites(MEMBERS).last().expect("there are some");
        let edges = plan.edges(&[], &mut site).expect("the heap has room");
        let before = site.arena.bytes();
        Chunks::lay_out(&edges, site.rank, &mut site.arena).expect("the heap has room").expect("all of it");
        let lines = LINES * size_of::<CacheLine<AtomicU64>>();
        assert_eq!(site.arena.bytes() - before, MEMBERS * (AREA_WORDS * size_of::<u64>() + lines));
        assert_eq!(AREA_WORDS * size_of::<u64>(), 64 << 10, "as docs/design/operations.md says");
    }
}
