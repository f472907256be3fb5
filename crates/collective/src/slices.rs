//! Broadcast and reduction of slices of any length.
//!
//! **When to take it:** the number of values is known at run time only, or they are more than a few lines. **When not:**
//! values of a fixed size up to 504 bytes go in one message without a length.
//!
//! The length travels first, so that members who gave another one are told and nobody hangs. Then the values follow in
//! messages of up to 504 bytes, of which an edge holds four: a member passes one on before it receives the next, so all
//! levels of the tree work at once, whatever the length. Each message is read once and written once for each child.
//!
//! **Progress:** blocking. **Memory ordering:** what the root of a broadcast, and every member of a reduction, wrote before
//! is visible to whom its values reach.
//!
//! ```
//! use corecast_collective::Group;
//! use corecast_machine::{Machine, Topology, source};
//! let machine = Machine::from_topology(&source::discover(&source::Request::default())?);
//! let group = Group::builder(&machine).members(3).build()?;
//! let sums = group.run(|me| {
//!     let mut counts = vec![me.rank() as u64; 10_000];
//!     me.allreduce_slice(&mut counts, |a, b| a + b).map(|()| counts)
//! })?;
//! assert!(sums.into_iter().all(|sums| sums == Ok(vec![3; 10_000])));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use corecast_channel::{Plain, zeroed};

use crate::core::Core;
use crate::error::{Error, Loss};
use crate::member::Member;
use crate::web::{LONGEST_MESSAGE, Link, Web};

/// The number of values that follow. An array, as no part of a slice and hardly a user's value is one.
type Length = [u64; 1];

impl Member {
    /// Gives the root's `values` to all members, who must give a slice of the same length.
    ///
    /// # Errors
    /// [`Error::BadRank`] if there is no such root, [`Error::MemberLost`], which for a slice of another length is
    /// [`Loss::OtherLength`] and names the neighbour in the tree whose length differs, [`Error::Pending`].
    pub fn broadcast_slice<T: Plain>(&mut self, root: usize, values: &mut [T]) -> Result<(), Error> {
        self.check_rank(root)?;
        let ends = self.begin()?;
        broadcast(&mut ends.core, &mut ends.broadcast, root, values)
    }

    /// Combines all members' values, first with first and so on, in the order of the plan, and leaves the results in the
    /// root's `values`. What the others' hold afterwards is of no use.
    ///
    /// # Errors
    /// As for [`broadcast_slice`](Self::broadcast_slice).
    pub fn reduce_slice<T: Plain>(
        &mut self,
        root: usize,
        values: &mut [T],
        combine: impl FnMut(T, T) -> T,
    ) -> Result<(), Error> {
        self.check_rank(root)?;
        let ends = self.begin()?;
        reduce(&mut ends.core, &mut ends.reduce, root, values, combine)
    }

    /// Combines all members' values, first with first and so on, in the order of the plan, and leaves the results, the same
    /// bits, in the `values` of all.
    ///
    /// # Errors
    /// As for [`broadcast_slice`](Self::broadcast_slice).
    pub fn allreduce_slice<T: Plain>(&mut self, values: &mut [T], combine: impl FnMut(T, T) -> T) -> Result<(), Error> {
        let ends = self.begin()?;
        let root = ends.reduce_root;
        reduce(&mut ends.core, &mut ends.reduce, root, values, combine)?;
        broadcast(&mut ends.core, &mut ends.broadcast, root, values)
    }
}

fn broadcast<T: Plain>(core: &mut Core, web: &mut Web, root: usize, values: &mut [T]) -> Result<(), Error> {
    let source = web.towards(root);
    if let Some(source) = source {
        expect_length(core, &mut web.links[source], values.len())?;
    }
    let is_sink = |i: usize| Some(i) != source;
    for (_, link) in web.links.iter_mut().enumerate().filter(|(i, _)| is_sink(*i)) {
        core.send::<Length>(link, &[values.len() as u64])?;
    }
    for part in values.chunks_mut(part_len::<T>()) {
        if let Some(source) = source {
            recv_part(core, &mut web.links[source], part)?;
        }
        for (_, link) in web.links.iter_mut().enumerate().filter(|(i, _)| is_sink(*i)) {
            send_part(core, link, part)?;
        }
    }
    Ok(())
}

fn reduce<T: Plain>(
    core: &mut Core,
    web: &mut Web,
    root: usize,
    values: &mut [T],
    mut combine: impl FnMut(T, T) -> T,
) -> Result<(), Error> {
    let sink = web.towards(root);
    for (_, link) in web.links.iter_mut().enumerate().filter(|(i, _)| Some(*i) != sink) {
        expect_length(core, link, values.len())?;
    }
    if let Some(sink) = sink {
        core.send::<Length>(&mut web.links[sink], &[values.len() as u64])?;
    }
    let mut theirs = vec![zeroed::<T>(); part_len::<T>().min(values.len())];
    for part in values.chunks_mut(part_len::<T>()) {
        let theirs = &mut theirs[..part.len()];
        for (_, link) in web.links.iter_mut().enumerate().filter(|(i, _)| Some(*i) != sink) {
            recv_part(core, link, theirs)?;
            part.iter_mut().zip(&*theirs).for_each(|(own, their)| *own = combine(*own, *their));
        }
        if let Some(sink) = sink {
            send_part(core, &mut web.links[sink], part)?;
        }
    }
    Ok(())
}

/// Hears from a neighbour how many values it is about to send, which makes the group fail if it is another number.
fn expect_length(core: &mut Core, link: &mut Link, len: usize) -> Result<(), Error> {
    match core.recv::<Length>(link)? {
        [theirs] if theirs == len as u64 => Ok(()),
        _ => Err(core.fail(link.rank, Loss::OtherLength)),
    }
}

/// How many values go into a message, one at least: a larger one goes in several by itself.
pub(crate) fn part_len<T>() -> usize {
    (LONGEST_MESSAGE / size_of::<T>().max(1)).max(1)
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
