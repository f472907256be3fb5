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

use std::time::Duration;

use corecast_channel::{Plain, zeroed};

use crate::core::Core;
use crate::error::{Error, Loss};
use crate::member::{Ends, Member};
use crate::started::{Started, check_size, started};
use crate::web::{LONGEST_MESSAGE, Link, Web};

/// The number of values that follow. An array, as no part of a slice and hardly a user's value is one.
type Length = [u64; 1];

/// Slices to all, to one, and both; at once, in parts ([`Started`]) or with limits.
impl Member {
    /// Gives the root's `values` to all members, who must give a slice of the same length.
    ///
    /// # Errors
    /// [`Error::BadRank`] if there is no such root, [`Error::MemberLost`], which for a slice of another length is
    /// [`Loss::OtherLength`] and names the neighbour in the tree whose length differs, [`Error::Pending`].
    pub fn broadcast_slice<T: Plain>(&mut self, root: usize, values: &mut [T]) -> Result<(), Error> {
        self.check_rank(root)?;
        let ends = self.begin()?;
        broadcast(&mut ends.core, &mut ends.broadcast, root, values, &mut Progress::default())
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
        reduce(&mut ends.core, &mut ends.reduce, root, values, &mut Reduction::default(), combine)
    }

    /// Combines all members' values, first with first and so on, in the order of the plan, and leaves the results, the same
    /// bits, in the `values` of all.
    ///
    /// # Errors
    /// As for [`broadcast_slice`](Self::broadcast_slice).
    pub fn allreduce_slice<T: Plain>(&mut self, values: &mut [T], combine: impl FnMut(T, T) -> T) -> Result<(), Error> {
        let ends = self.begin()?;
        allreduce(ends, values, &mut Default::default(), combine)
    }

    /// Begins to give the root's `values` to all members. Until it is finished the values are some of the root's and some
    /// of those given.
    ///
    /// # Errors
    /// Those of [`broadcast_slice`](Self::broadcast_slice); [`Error::TooLarge`] if a single value is more than the 504 bytes
    /// that travel in one message.
    pub fn start_broadcast_slice<'a, T: Plain>(
        &'a mut self,
        root: usize,
        values: &'a mut [T],
    ) -> Result<Started<'a, ()>, Error> {
        started(self.begin_broadcast_slice(root, values)?)
    }

    /// Begins to combine all members' values in the root's `values`.
    ///
    /// # Errors
    /// As [`start_broadcast_slice`](Self::start_broadcast_slice).
    pub fn start_reduce_slice<'a, T: Plain>(
        &'a mut self,
        root: usize,
        values: &'a mut [T],
        combine: impl FnMut(T, T) -> T + Send + 'a,
    ) -> Result<Started<'a, ()>, Error> {
        started(self.begin_reduce_slice(root, values, combine)?)
    }

    /// Begins to combine all members' values in the `values` of all.
    ///
    /// # Errors
    /// As [`start_broadcast_slice`](Self::start_broadcast_slice).
    pub fn start_allreduce_slice<'a, T: Plain>(
        &'a mut self,
        values: &'a mut [T],
        combine: impl FnMut(T, T) -> T + Send + 'a,
    ) -> Result<Started<'a, ()>, Error> {
        started(self.begin_allreduce_slice(values, combine)?)
    }

    /// As [`broadcast_slice`](Self::broadcast_slice), for `limit` at most.
    ///
    /// # Errors
    /// [`Error::Timeout`], and those of [`start_broadcast_slice`](Self::start_broadcast_slice).
    pub fn broadcast_slice_timeout<T: Plain>(
        &mut self,
        root: usize,
        values: &mut [T],
        limit: Duration,
    ) -> Result<(), Error> {
        self.begin_broadcast_slice(root, values)?.finish_timeout(limit)
    }

    /// As [`reduce_slice`](Self::reduce_slice), for `limit` at most.
    ///
    /// # Errors
    /// [`Error::Timeout`], and those of [`start_reduce_slice`](Self::start_reduce_slice).
    pub fn reduce_slice_timeout<T: Plain>(
        &mut self,
        root: usize,
        values: &mut [T],
        combine: impl FnMut(T, T) -> T + Send,
        limit: Duration,
    ) -> Result<(), Error> {
        self.begin_reduce_slice(root, values, combine)?.finish_timeout(limit)
    }

    /// As [`allreduce_slice`](Self::allreduce_slice), for `limit` at most.
    ///
    /// # Errors
    /// [`Error::Timeout`], and those of [`start_allreduce_slice`](Self::start_allreduce_slice).
    pub fn allreduce_slice_timeout<T: Plain>(
        &mut self,
        values: &mut [T],
        combine: impl FnMut(T, T) -> T + Send,
        limit: Duration,
    ) -> Result<(), Error> {
        self.begin_allreduce_slice(values, combine)?.finish_timeout(limit)
    }

    fn begin_broadcast_slice<'a, T: Plain>(
        &'a mut self,
        root: usize,
        values: &'a mut [T],
    ) -> Result<Started<'a, ()>, Error> {
        self.check_rank(root)?;
        check_size::<T>()?;
        let mut progress = Progress::default();
        let steps = move |ends: &mut Ends| broadcast(&mut ends.core, &mut ends.broadcast, root, values, &mut progress);
        Started::begin(self, Box::new(steps))
    }

    fn begin_reduce_slice<'a, T: Plain>(
        &'a mut self,
        root: usize,
        values: &'a mut [T],
        mut combine: impl FnMut(T, T) -> T + Send + 'a,
    ) -> Result<Started<'a, ()>, Error> {
        self.check_rank(root)?;
        check_size::<T>()?;
        let mut reduction = Reduction::default();
        let steps =
            move |ends: &mut Ends| reduce(&mut ends.core, &mut ends.reduce, root, values, &mut reduction, &mut combine);
        Started::begin(self, Box::new(steps))
    }

    fn begin_allreduce_slice<'a, T: Plain>(
        &'a mut self,
        values: &'a mut [T],
        mut combine: impl FnMut(T, T) -> T + Send + 'a,
    ) -> Result<Started<'a, ()>, Error> {
        check_size::<T>()?;
        let mut state = (Reduction::default(), Progress::default());
        Started::begin(self, Box::new(move |ends: &mut Ends| allreduce(ends, values, &mut state, &mut combine)))
    }
}

/// How far a slice is at one member: its length and then its parts, a message each.
#[derive(Debug, Default)]
struct Progress {
    /// Messages dealt with.
    messages: usize,
    /// True once the message at hand is here, at members other than the root of a broadcast.
    is_received: bool,
    /// Links dealt with for the message at hand.
    passed: usize,
}

impl Progress {
    /// Goes on with the next message.
    fn advance(&mut self) {
        *self = Self { messages: self.messages + 1, ..Self::default() };
    }
}

/// How far a reduction of a slice is at one member.
#[derive(Debug)]
struct Reduction<T> {
    progress: Progress,
    /// Room for a part of a neighbour's values.
    theirs: Vec<T>,
}

impl<T> Default for Reduction<T> {
    fn default() -> Self {
        Self { progress: Progress::default(), theirs: Vec::new() }
    }
}

/// Gives the root's `values` to all. If a wait fails for a limit, another call goes on where it ended.
fn broadcast<T: Plain>(
    core: &mut Core,
    web: &mut Web,
    root: usize,
    values: &mut [T],
    progress: &mut Progress,
) -> Result<(), Error> {
    let source = web.towards(root);
    while progress.messages < messages::<T>(values.len()) {
        if let Some(source) = source.filter(|_| !progress.is_received) {
            let (link, len) = (&mut web.links[source], values.len());
            match part_of(values, progress.messages) {
                None => expect_length(core, link, len)?,
                Some(part) => recv_part(core, link, part)?,
            }
            progress.is_received = true;
        }
        while let Some(link) = web.links.get_mut(progress.passed) {
            if Some(progress.passed) != source {
                send_message(core, link, values, progress.messages)?;
            }
            progress.passed += 1;
        }
        progress.advance();
    }
    Ok(())
}

/// Combines all members' values in those of the root. If a wait fails for a limit, another call goes on where it ended.
fn reduce<T: Plain>(
    core: &mut Core,
    web: &mut Web,
    root: usize,
    values: &mut [T],
    Reduction { progress, theirs }: &mut Reduction<T>,
    mut combine: impl FnMut(T, T) -> T,
) -> Result<(), Error> {
    let sink = web.towards(root);
    theirs.resize(part_len::<T>().min(values.len()), zeroed());
    while progress.messages < messages::<T>(values.len()) {
        while let Some(link) = web.links.get_mut(progress.passed) {
            let len = values.len();
            match part_of(values, progress.messages) {
                _ if Some(progress.passed) == sink => {}
                None => expect_length(core, link, len)?,
                Some(part) => {
                    let theirs = &mut theirs[..part.len()];
                    recv_part(core, link, theirs)?;
                    part.iter_mut().zip(&*theirs).for_each(|(own, their)| *own = combine(*own, *their));
                }
            }
            progress.passed += 1;
        }
        if let Some(sink) = sink {
            send_message(core, &mut web.links[sink], values, progress.messages)?;
        }
        progress.advance();
    }
    Ok(())
}

/// A reduction, and a broadcast of what it made. If a wait fails for a limit, another call goes on where it ended.
fn allreduce<T: Plain>(
    Ends { core, broadcast: down, reduce: up, reduce_root: root, .. }: &mut Ends,
    values: &mut [T],
    (reduction, progress): &mut (Reduction<T>, Progress),
    combine: impl FnMut(T, T) -> T,
) -> Result<(), Error> {
    reduce(core, up, *root, values, reduction, combine)?;
    broadcast(core, down, *root, values, progress)
}

/// The messages in which so many values travel: one for their number, and those of their parts.
fn messages<T>(len: usize) -> usize {
    1 + len.div_ceil(part_len::<T>())
}

/// The values that travel in a message; `None` for the first one.
fn part_of<T>(values: &mut [T], message: usize) -> Option<&mut [T]> {
    let first = message.checked_sub(1)? * part_len::<T>();
    let end = values.len().min(first + part_len::<T>());
    Some(&mut values[first..end])
}

fn send_message<T: Plain>(core: &mut Core, link: &mut Link, values: &mut [T], message: usize) -> Result<(), Error> {
    let len = values.len();
    match part_of(values, message) {
        None => core.send::<Length>(link, &[len as u64]),
        Some(part) => send_part(core, link, part),
    }
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
