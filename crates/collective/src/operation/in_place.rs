//! Long slices among threads: the members read each other's values where they lie, in no order of a tree.
//!
//! Every member [exposes](corecast_channel::window) its slice while it is in the operation. Of a broadcast only the root
//! does, and each other member copies the values. Of a reduction each member combines a part of the values of all, in the
//! order of the ranks, in its own slice, where nobody else reads that part. Then it exposes the result, and those that take
//! the whole result copy the parts of the others. No value is copied to anywhere in between, and members meet three times
//! however long the slice is. In chunks they meet once for each, which costs a turn of the scheduler each time where members
//! share CPUs.
//!
//! A member whose operation may be interrupted exposes a copy of its values, as its slice is the caller's in between.
//!
//! How members find out that their slices differ is the caller's: it `agrees` with the others while the slice is exposed already,
//! so that members need not meet once more.
//!
//! **When to take it:** threads, long slices. **When not:** processes do not see each other's slices; a short
//! slice is copied in less time than the meetings take; and every member reads of every other, so they have to be few.

use std::ops::Range;

use corecast_base::sync::{Arc, AtomicU64, Ordering};
use corecast_base::{Arena, ArenaError, CacheLine};
use corecast_channel::Plain;
use corecast_channel::window::{Differs, Exposure, OwnedExposure, Part, Stage, Window, Windows};

use super::part::part;
use crate::core::Core;
use crate::error::{Error, Loss};

/// The shortest slices of allreductions. On 2 CPUs of a virtual machine (AMD EPYC, Zen 4) 32 KiB took 0.77, 0.43 and 1.05 of
/// the time of chunks among 2, 4 and 8 members, 256 KiB 0.73, 0.56 and 0.55, and 4 MiB 0.23, 0.34 and 0.38.
const LEAST_OF_ALLREDUCE: usize = 32 << 10;
/// The shortest slices of the others where members share CPUs. Among 4 and 8 on 2 CPUs 128 KiB took 0.9 of the time of chunks for
/// broadcasts, and 1.1 and 0.9 for reductions; 256 KiB 0.8 and 0.7, and 1.0 and 0.3; 4 MiB 0.55 and 0.15, and 0.6 and 0.25.
const LEAST_IN_CROWD: usize = 256 << 10;
/// The same where each member has a CPU: 256 KiB took twice the time of chunks, 1 MiB 0.7 for broadcasts and 0.9 for
/// reductions, 4 MiB less than half. A slice that fits into its owner's cache is read from there, line by line, while the
/// processor's copy instruction puts a chunk where both reach it.
const LEAST: usize = 1 << 20;
/// The largest number of members.
const MOST_MEMBERS: usize = 8;
/// The bytes that are read, or combined, before a member leaves a window and enters it again: another member may have to take its
/// slice back in between, as its operation has a limit. Each time takes two atomic additions, some per cent of this copy.
const PIECE_BYTES: usize = 32 << 10;

/// True if this number of members may read each other's slices in place, if they are threads.
pub(crate) fn suits(members: usize) -> bool {
    !cfg!(loom) && (2..=MOST_MEMBERS).contains(&members)
}

/// One member's view of the windows of all.
#[derive(Debug)]
pub(crate) struct InPlace {
    /// `None` while an operation has it that may be interrupted.
    window: Option<Window>,
    done: Done,
    is_crowded: bool,
}

/// For each member and [`Part`] the number of the last operation in which the member was done with that part of all others.
type Done = Arc<Vec<CacheLine<AtomicU64>>>;

impl InPlace {
    /// Lays out the windows of all members; returns the view of the member of this rank. `None` if the members are too many, or
    /// belong to several processes.
    pub(crate) fn lay_out(
        rank: usize,
        members: usize,
        is_crowded: bool,
        arena: &mut Arena,
    ) -> Result<Option<Self>, ArenaError> {
        if !suits(members) || arena.is_shared() {
            return Ok(None);
        }
        let line = |_| CacheLine::new(AtomicU64::new(0));
        let (windows, done) =
            arena.share(|| (Windows::new(members), Done::new((0..2 * members).map(line).collect())))?;
        let window = windows.claim(rank).expect("each member lays out its own window");
        Ok(Some(Self { window: Some(window), done, is_crowded }))
    }

    /// True if slices of this length are worth the meetings of a broadcast or a reduction.
    pub(crate) fn suits(&self, bytes: usize) -> bool {
        bytes >= if self.is_crowded { LEAST_IN_CROWD } else { LEAST }
    }

    /// True if they are worth those of an allreduction.
    pub(crate) fn suits_allreduce(&self, bytes: usize) -> bool {
        bytes >= LEAST_OF_ALLREDUCE
    }
}

/// The progress of such an operation at one member.
#[derive(Debug)]
pub(crate) struct InPlaceProgress<T: Plain> {
    /// The copy that is exposed, of an operation that may be interrupted.
    owned: Option<OwnedExposure<T>>,
    place: Reached,
    /// The values of lower ranks, combined so far.
    combined: Vec<T>,
}

/// The progress within a stage.
#[derive(Debug, Default)]
struct Reached {
    /// Values done, of those of one member.
    values: usize,
    /// Members done, for a piece of values or for all.
    members: usize,
    /// Members that have announced that they are done.
    heard: usize,
}

impl<T: Plain> Default for InPlaceProgress<T> {
    fn default() -> Self {
        Self { owned: None, place: Reached::default(), combined: Vec::new() }
    }
}

/// Copies the root's values to those of all others, once they `agree`.
pub(crate) fn broadcast<T: Plain>(
    core: &mut Core,
    in_place: &mut InPlace,
    root: usize,
    values: &mut [T],
    agree: impl FnOnce(&mut Core) -> Result<(), Error>,
    progress: &mut InPlaceProgress<T>,
) -> Result<(), Error> {
    if core.rank == root {
        return in_place.expose(core, values, 0..0, progress, |core, done, _, progress| {
            agree(core)?;
            wait_for(core, done, Part::Rest, &mut progress.place.heard, |rank| rank != root)
        });
    }
    agree(core)?;
    let len = values.len();
    let source = Source { window: in_place.window(), rank: root, part: Part::Rest, len };
    source.read_on(core, 0..len, &mut progress.place.values, |place, theirs| values[place].copy_from_slice(theirs))?;
    say_done(core, &in_place.done, Part::Rest);
    Ok(())
}

/// Combines all members' values in those of the root, or without one in those of all, once they `agree`.
pub(crate) fn reduce<T: Plain>(
    core: &mut Core,
    in_place: &mut InPlace,
    root: Option<usize>,
    values: &mut [T],
    combine: impl FnMut(T, T) -> T,
    agree: impl FnOnce(&mut Core) -> Result<(), Error>,
    progress: &mut InPlaceProgress<T>,
) -> Result<(), Error> {
    if let Some(root) = root.filter(|_| core.members == 2) {
        return reduce_pair(core, in_place, root, values, combine, agree, progress);
    }
    let (own, len) = (core.rank, values.len());
    let takes = |rank| root.is_none_or(|root| root == rank);
    let kept = part::<T>(len, own, core.members);
    in_place.expose(core, values, kept.clone(), progress, |core, done, exposure, progress| {
        if exposure.stage() == Stage::RestExposed {
            agree(core)?;
            combine_kept(core, exposure, len, kept.start, combine, progress)?;
            exposure.advance();
            progress.place = Reached::default();
            say_done(core, done, Part::Rest);
        }
        if exposure.stage() == Stage::AllExposed {
            wait_for(core, done, Part::Rest, &mut progress.place.heard, |rank| rank != own)?;
            exposure.advance();
            progress.place = Reached::default();
        }
        if takes(own) {
            copy_rest(core, exposure, len, &kept, &mut progress.place)?;
            say_done(core, done, Part::Kept);
        }
        wait_for(core, done, Part::Kept, &mut progress.place.heard, |rank| rank != own && takes(rank))
    })
}

/// Combines the values of two members: the root reads those of the other one. With a part for each, both would read as much one
/// after the other, and the root would write over lines that the other one has read.
fn reduce_pair<T: Plain>(
    core: &mut Core,
    in_place: &mut InPlace,
    root: usize,
    values: &mut [T],
    mut combine: impl FnMut(T, T) -> T,
    agree: impl FnOnce(&mut Core) -> Result<(), Error>,
    progress: &mut InPlaceProgress<T>,
) -> Result<(), Error> {
    if core.rank != root {
        return in_place.expose(core, values, 0..0, progress, |core, done, _, progress| {
            agree(core)?;
            wait_for(core, done, Part::Rest, &mut progress.place.heard, |rank| rank == root)
        });
    }
    agree(core)?;
    let len = values.len();
    let source = Source { window: in_place.window(), rank: 1 - root, part: Part::Rest, len };
    source.read_on(core, 0..len, &mut progress.place.values, |place, theirs| {
        let pairs = values[place].iter_mut().zip(theirs);
        if root == 0 {
            pairs.for_each(|(own, their)| *own = combine(*own, *their));
        } else {
            pairs.for_each(|(own, their)| *own = combine(*their, *own));
        }
    })?;
    say_done(core, &in_place.done, Part::Rest);
    Ok(())
}

impl InPlace {
    fn window(&self) -> &Window {
        self.window.as_ref().expect("one operation at a time has the window")
    }

    /// Takes the `steps` of an operation in which this member's values are exposed.
    fn expose<T: Plain>(
        &mut self,
        core: &mut Core,
        values: &mut [T],
        kept: Range<usize>,
        progress: &mut InPlaceProgress<T>,
        steps: impl FnOnce(&mut Core, &Done, &mut Exposure<'_, T>, &mut InPlaceProgress<T>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Self { window, done, .. } = self;
        let tag = core.stamp.word();
        if !core.is_pending {
            let window = window.as_mut().expect("one operation at a time has the window");
            return window.expose(tag, values, kept, |exposure| {
                core.table.common.notify();
                steps(core, done, exposure, progress)
            });
        }
        let mut owned = progress.owned.take().unwrap_or_else(|| {
            let window = window.take().expect("one operation at a time has the window");
            window.expose_owned(tag, values.to_vec(), kept)
        });
        core.table.common.notify();
        if let Err(error) = owned.with(|exposure| steps(core, done, exposure, progress)) {
            progress.owned = Some(owned);
            return Err(error);
        }
        let (free, results) = owned.end();
        *window = Some(free);
        values.copy_from_slice(&results);
        Ok(())
    }
}

/// Combines the values of all in the kept part of this member, which begins at `first`, piece by piece.
fn combine_kept<T: Plain>(
    core: &mut Core,
    exposure: &mut Exposure<'_, T>,
    len: usize,
    first: usize,
    mut combine: impl FnMut(T, T) -> T,
    progress: &mut InPlaceProgress<T>,
) -> Result<(), Error> {
    let (own_rank, window) = (core.rank, exposure.window());
    let kept = exposure.kept();
    let InPlaceProgress { place: Reached { values, members, .. }, combined, .. } = progress;
    while *values < kept.len() {
        let end = kept.len().min(*values + piece_len::<T>());
        let own = &mut kept[*values..end];
        while *members < core.members {
            let rank = *members;
            if rank != own_rank {
                let source = Source { window, rank, part: Part::Rest, len };
                source.read(core, first + *values..first + end, |theirs| match (rank, own_rank) {
                    (0, 1) => own.iter_mut().zip(theirs).for_each(|(own, their)| *own = combine(*their, *own)),
                    (0, _) => {
                        combined.clear();
                        combined.extend_from_slice(theirs);
                    }
                    _ => {
                        let to = if rank < own_rank { &mut **combined } else { &mut *own };
                        to.iter_mut().zip(theirs).for_each(|(to, their)| *to = combine(*to, *their));
                    }
                })?;
            } else if own_rank > 1 {
                own.iter_mut().zip(&*combined).for_each(|(own, combined)| *own = combine(*combined, *own));
            }
            *members += 1;
        }
        (*values, *members) = (end, 0);
    }
    Ok(())
}

/// Copies the parts that the others have combined to those of this member, which keeps that at `kept`.
fn copy_rest<T: Plain>(
    core: &mut Core,
    exposure: &mut Exposure<'_, T>,
    len: usize,
    kept: &Range<usize>,
    reached: &mut Reached,
) -> Result<(), Error> {
    let window = exposure.window();
    let [before, behind] = exposure.rest();
    while reached.members < core.members {
        let rank = reached.members;
        if rank != core.rank {
            let source = Source { window, rank, part: Part::Kept, len };
            let part = part::<T>(len, rank, core.members);
            source.read_on(core, part, &mut reached.values, |place, theirs| match place.start < kept.start {
                true => before[place].copy_from_slice(theirs),
                false => behind[place.start - kept.end..place.end - kept.end].copy_from_slice(theirs),
            })?;
        }
        reached.members += 1;
        reached.values = 0;
    }
    Ok(())
}

/// A part of another member's slice.
struct Source<'a> {
    window: &'a Window,
    rank: usize,
    part: Part,
    /// The values of the whole slice.
    len: usize,
}

impl Source<'_> {
    /// Reads the values at `places`, once they are exposed.
    fn read<T: Plain>(&self, core: &mut Core, places: Range<usize>, mut f: impl FnMut(&[T])) -> Result<(), Error> {
        let Self { window, rank, part, len } = *self;
        let tag = core.stamp.word();
        let look = || window.read(rank, part, tag, len, places.clone(), |values| f(values)).transpose();
        core.wait_at_common_word(look)?.map_err(|differs| {
            core.fail(rank, if differs == Differs::Length { Loss::OtherLength } else { Loss::Mismatched })
        })
    }

    /// Reads those from the `done`-th on, piece by piece.
    fn read_on<T: Plain>(
        &self,
        core: &mut Core,
        places: Range<usize>,
        done: &mut usize,
        mut f: impl FnMut(Range<usize>, &[T]),
    ) -> Result<(), Error> {
        while *done < places.len() {
            let piece = places.start + *done..places.end.min(places.start + *done + piece_len::<T>());
            self.read(core, piece.clone(), |values| f(piece.clone(), values))?;
            *done += piece.len();
        }
        Ok(())
    }
}

fn piece_len<T>() -> usize {
    (PIECE_BYTES / size_of::<T>().max(1)).max(1)
}

/// Announces that this member is done with this part of all others.
fn say_done(core: &Core, done: &Done, part: Part) {
    // ORDERING: Relaxed, the gates of the windows order what was read
    done[2 * core.rank + part as usize].store(core.operation, Ordering::Relaxed);
    core.table.common.notify();
}

/// Waits until the members that are `of` these have announced it; `heard` counts those that have, and is 0 at first.
fn wait_for(
    core: &mut Core,
    done: &Done,
    part: Part,
    heard: &mut usize,
    of: impl Fn(usize) -> bool,
) -> Result<(), Error> {
    let (members, operation) = (core.members, core.operation);
    core.wait_at_common_word(|| {
        // ORDERING: Relaxed, as in say_done
        let is_done = |rank: usize| done[2 * rank + part as usize].load(Ordering::Relaxed) >= operation;
        while *heard < members && (!of(*heard) || is_done(*heard)) {
            *heard += 1;
        }
        (*heard == members).then_some(())
    })
}
