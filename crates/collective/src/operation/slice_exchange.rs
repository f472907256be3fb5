//! An allreduce of a slice in which a few members show each other their values: there is no tree, so no member waits for a
//! value for which another member has yet to wait.
//!
//! All members [show](crate::exchange) each other chunk after chunk. Then there are two ways. Either every member combines
//! the whole chunk. Or every member combines a part of it, writes the result over that part of the chunk it has shown, and
//! copies the other parts from the others. Both ways combine values in the order of the ranks, from the lowest on, so that
//! all members get the same bits.
//!
//! Every slice begins with a chunk, even of no values, and every chunk tells the length and type of the slice. So members
//! that differ find out, and the way of a slice may follow from both.

use corecast_channel::{Plain, zeroed};

use super::exchange::{CHUNK_BYTES, Exchange, Word};
use super::part::part;
use super::slice::piece_len;
use crate::core::Core;
use crate::error::Error;

/// The largest number of members with a CPU each. More than two of these could not be tried; with twice as many, each would
/// look at fifteen others for the shortest slice.
const MOST_MEMBERS: usize = 8;
/// The largest number of members if some of them share a CPU. Measured on 2 CPUs that were also busy with other work. The
/// figures are the times over trees divided by those of the exchange, for 8 bytes, 2 KiB, 8 KiB and 64 KiB: among 3 members
/// 1.5, 1.4, 1.2 and 1.0, among 4 1.4, 1.2, 1.0 and 1.0, among 6 1.3, 1.0, 0.8 and 1.0, among 8 1.3, 0.9, 0.9 and 1.0.
const MOST_IN_CROWD: usize = 4;
/// Up to this number of bytes every member combines all of it. The times over trees, divided by the time of this way and by
/// that of parts, on the same machine: among 3 members for 8 KiB 1.16 and 0.94, 16 KiB 1.03 and 0.99, 32 KiB 1.00 and 1.06;
/// among 4 for 4 KiB 1.08 and 0.85, 8 KiB 0.98 and 0.90, 16 KiB 0.87 and 0.99.
const MOST_BYTES_FOR_ALL: usize = if cfg!(loom) { 8 } else { 8 << 10 };

/// True if members are few enough.
pub(crate) fn suits(members: usize, is_crowded: bool) -> bool {
    (2..=if is_crowded { MOST_IN_CROWD } else { MOST_MEMBERS }).contains(&members)
}

/// The division of the work on a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Every member combines all of it. For two members, which would have to copy the other half afterwards, this is always
    /// the faster way: for 8 bytes 0.65 of the time of parts, for 64 KiB 0.88.
    All,
    /// Every member combines a part, so that no value is combined twice.
    Parts,
}

impl Way {
    fn of(members: usize, bytes: usize) -> Self {
        if members == 2 || bytes <= MOST_BYTES_FOR_ALL { Self::All } else { Self::Parts }
    }
}

/// The progress of an exchange at one member.
#[derive(Debug)]
pub(crate) struct Exchanging<T> {
    /// Chunks done.
    chunks: usize,
    stage: Stage,
    /// Room for a piece of another member's values, and for combinations of such pieces.
    room: Vec<T>,
}

/// The next step for the current chunk.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Show,
    /// Wait for the chunks of all members, of which this number has come.
    Hear(usize),
    /// Wait for the parts of all members, of which this number has come.
    HearParts(usize),
}

impl<T> Default for Exchanging<T> {
    fn default() -> Self {
        Self { chunks: 0, stage: Stage::Show, room: Vec::new() }
    }
}

/// True if values of this type travel in chunks.
pub(crate) fn fits<T>() -> bool {
    size_of::<T>() <= CHUNK_BYTES
}

/// Combines all members' values in those of all. If a wait ends at a limit, another call goes on where it ended. For values
/// that are larger than a chunk it only finds out whether all members have the same number.
pub(crate) fn allreduce<T: Plain>(
    core: &mut Core,
    exchange: &mut Exchange,
    values: &mut [T],
    exchanging: &mut Exchanging<T>,
    combine: impl FnMut(T, T) -> T,
) -> Result<(), Error> {
    let way = Way::of(core.members, size_of_val(values));
    exchanging.go(way, core, exchange, values, combine)
}

impl<T: Plain> Exchanging<T> {
    /// Finds out whether all members have as many values, without showing any.
    pub(crate) fn agree(&mut self, core: &mut Core, exchange: &mut Exchange, len: usize) -> Result<(), Error> {
        if self.chunks > 0 {
            return Ok(());
        }
        if matches!(self.stage, Stage::Show) {
            exchange.show::<T>(core, len, &[]);
            self.stage = Stage::Hear(0);
        }
        if let Stage::Hear(heard) = &mut self.stage {
            exchange.wait(core, Word::Shown, heard)?;
            exchange.compare(core)?;
        }
        exchange.advance();
        self.chunks = 1;
        Ok(())
    }

    fn go(
        &mut self,
        way: Way,
        core: &mut Core,
        exchange: &mut Exchange,
        values: &mut [T],
        mut combine: impl FnMut(T, T) -> T,
    ) -> Result<(), Error> {
        let len = values.len();
        let chunk_len = (CHUNK_BYTES / size_of::<T>().max(1)).max(1);
        let values = if fits::<T>() { values } else { &mut [] };
        self.room.resize(2 * piece_len::<T>().min(values.len()), zeroed());
        while self.chunks < values.len().div_ceil(chunk_len).max(1) {
            let first = self.chunks * chunk_len;
            let end = values.len().min(first + chunk_len);
            let chunk = &mut values[first..end];
            if matches!(self.stage, Stage::Show) {
                exchange.show(core, len, chunk);
                self.stage = Stage::Hear(0);
            }
            self.hear(way, core, exchange, chunk, &mut combine)?;
            exchange.advance();
            self.chunks += 1;
            self.stage = Stage::Show;
        }
        Ok(())
    }

    /// The steps for a chunk after it has been shown.
    fn hear(
        &mut self,
        way: Way,
        core: &mut Core,
        exchange: &Exchange,
        chunk: &mut [T],
        combine: impl FnMut(T, T) -> T,
    ) -> Result<(), Error> {
        let (own, members) = (core.rank, core.members);
        if let Stage::Hear(heard) = &mut self.stage {
            exchange.wait(core, Word::Shown, heard)?;
            exchange.compare(core)?;
            if way == Way::All {
                self.combine(exchange, own, 0, chunk, combine);
                return Ok(());
            }
            let part = part::<T>(chunk.len(), own, members);
            self.combine(exchange, own, part.start, &mut chunk[part.clone()], combine);
            exchange.change(core, part.start, &chunk[part]);
            self.stage = Stage::HearParts(0);
        }
        if let Stage::HearParts(heard) = &mut self.stage {
            exchange.wait(core, Word::Changed, heard)?;
            for rank in (0..members).filter(|&rank| rank != own) {
                let part = part::<T>(chunk.len(), rank, members);
                exchange.read(rank, part.start, &mut chunk[part]);
            }
        }
        Ok(())
    }

    /// Combines all members' values, by rank, into those of this member, which are the chunk's from the `first`-th on.
    fn combine(
        &mut self,
        exchange: &Exchange,
        own_rank: usize,
        mut first: usize,
        values: &mut [T],
        mut combine: impl FnMut(T, T) -> T,
    ) {
        let half = self.room.len() / 2;
        let (combined, theirs) = self.room.split_at_mut(half);
        for own in values.chunks_mut(combined.len().max(1)) {
            let (combined, theirs) = (&mut combined[..own.len()], &mut theirs[..own.len()]);
            for rank in 0..exchange.members() {
                if rank == own_rank && rank > 0 {
                    own.iter_mut().zip(&*combined).for_each(|(own, combined)| *own = combine(*combined, *own));
                } else if rank < own_rank && rank == 0 {
                    exchange.read(rank, first, combined);
                } else if rank != own_rank {
                    exchange.read(rank, first, theirs);
                    let to = if rank < own_rank { &mut *combined } else { &mut *own };
                    to.iter_mut().zip(&*theirs).for_each(|(to, their)| *to = combine(*to, *their));
                }
            }
            first += own.len();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::thread;

    use corecast_base::wait::{CpuSharing, Wait, Waiter};

    use super::*;
    use crate::call::{Call, CallKind};
    use crate::membership::tests::sites;

    /// Decimal numbers with their numbers of digits: combining two of them puts one behind the other.
    fn join(left: [u64; 2], right: [u64; 2]) -> [u64; 2] {
        [left[0] * 10u64.pow(right[1] as u32) + right[0], left[1] + right[1]]
    }

    /// Reduces slices one after the other, and returns which ones came out wrong: others would wait for a member that
    /// panicked in between.
    fn work(core: &mut Core, exchange: &mut Exchange, way: Way) -> Vec<String> {
        let (rank, members) = (core.rank, core.members);
        let digit = |rank: usize, i: usize| [((rank + i) % 10) as u64, 1];
        let expected = |i| (0..members).map(|rank| digit(rank, i)).reduce(join).expect("a member");
        let mut wrong = Vec::new();
        for len in [0, 1, 3, 4, 5, 511, 513, 1000, 4096, 4097, 10_000] {
            let mut values: Vec<[u64; 2]> = (0..len).map(|i| digit(rank, i)).collect();
            core.begin(Call::of(CallKind::AllreduceSlice)).expect("nobody is lost");
            let done = Exchanging::default().go(way, core, exchange, &mut values, join);
            if done.is_err() || (0..len).any(|i| values[i] != expected(i)) {
                wrong.push(format!("{len} by {way:?} of {members} at {rank}: {done:?}"));
            }
        }
        wrong
    }

    /// Leaves the choice to the machine.
    #[test]
    fn either_way_values_are_combined_by_rank() {
        for members in 1..=9 {
            thread::scope(|scope| {
                for mut site in sites(members) {
                    scope.spawn(move || {
                        let waiter = Waiter::new(Wait::Adaptive, CpuSharing::unpinned(members), None);
                        let exchange = Exchange::lay_out(site.rank, members, &mut site.arena);
                        let mut exchange = exchange.expect("the heap has room").expect("all of it");
                        let mut core = Core::new(site.rank, members, waiter, site.table, site.arena);
                        let wrong = [Way::All, Way::Parts].map(|way| work(&mut core, &mut exchange, way));
                        assert_eq!(wrong.concat(), [""; 0]);
                    });
                }
            });
        }
    }

    #[test]
    fn pairs_take_no_parts_and_crowds_stay_with_trees_sooner() {
        assert_eq!([2, 3].map(|members| Way::of(members, 1 << 20)), [Way::All, Way::Parts]);
        assert_eq!(Way::of(8, MOST_BYTES_FOR_ALL), Way::All);
        assert_eq!([1, 2, 4, 5, 8, 9].map(|members| suits(members, true)), [false, true, true, false, false, false]);
        assert_eq!([1, 2, 4, 5, 8, 9].map(|members| suits(members, false)), [false, true, true, true, true, false]);
    }
}
