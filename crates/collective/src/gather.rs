//! Gather and scatter: all members' values to one, each by itself, and from one member a value for each.
//!
//! **When to take it:** the root wants the values and not their combination. **When not:** all of them travel through the
//! members next to the root, so a reduction is cheaper wherever a combination is enough.
//!
//! Values travel along the planned trees in the depth-first order of their members, so that ranks need not travel with
//! them. Every member keeps the values that pass through it until they are passed on, so it needs room for its subtree's
//! values.
//!
//! **Progress:** blocking. **Memory ordering:** what a member wrote before it sent a value is visible to the members that
//! receive it.

use std::time::Duration;

use corecast_channel::{Plain, zeroed};

use crate::call::{Call, Operation};
use crate::core::Core;
use crate::error::Error;
use crate::member::{Ends, Member};
use crate::started::{Started, check_size, started};
use crate::web::Web;

impl Member {
    /// Brings all members' values to `root` and returns them there, by rank; `None` elsewhere.
    ///
    /// # Errors
    /// [`Error::BadRank`] if there is no such root, [`Error::MemberLost`], [`Error::Pending`].
    pub fn gather<T: Plain>(&mut self, root: usize, value: T) -> Result<Option<Vec<T>>, Error> {
        self.check_rank(root)?;
        let ends = self.begin(Call::rooted(Operation::Gather, root))?;
        gather(ends, root, value, &mut Gathering::default())
    }

    /// Begins to bring all members' values to `root`.
    ///
    /// # Errors
    /// Those of [`gather`](Self::gather); [`Error::TooLarge`] if a value is more than the 504 bytes that travel in one
    /// message.
    pub fn start_gather<T: Plain>(&mut self, root: usize, value: T) -> Result<Started<'_, Option<Vec<T>>>, Error> {
        started(self.begin_gather(root, value)?)
    }

    /// As [`gather`](Self::gather), for `limit` at most.
    ///
    /// # Errors
    /// [`Error::Timeout`], and those of [`start_gather`](Self::start_gather).
    pub fn gather_timeout<T: Plain>(
        &mut self,
        root: usize,
        value: T,
        limit: Duration,
    ) -> Result<Option<Vec<T>>, Error> {
        self.begin_gather(root, value)?.finish_timeout(limit)
    }

    /// Gives each member its value of the root's `values`, the first to member 0 and so on. The other members give `None`;
    /// values from them are ignored.
    ///
    /// # Errors
    /// [`Error::WrongCount`] at a root that gives another number of values than there are members, which is then as if it
    /// had not called; those of [`gather`](Self::gather).
    pub fn scatter<T: Plain>(&mut self, root: usize, values: Option<&[T]>) -> Result<T, Error> {
        let given = self.given(root, values)?;
        let ends = self.begin(Call::rooted(Operation::Scatter, root))?;
        Scattering::of(ends, root, given).go_on(ends)
    }

    /// Begins to give each member its value of the root's `values`, which are copied.
    ///
    /// # Errors
    /// Those of [`scatter`](Self::scatter); [`Error::TooLarge`] if a value is more than the 504 bytes that travel in one
    /// message.
    pub fn start_scatter<T: Plain>(&mut self, root: usize, values: Option<&[T]>) -> Result<Started<'_, T>, Error> {
        started(self.begin_scatter(root, values)?)
    }

    /// As [`scatter`](Self::scatter), for `limit` at most.
    ///
    /// # Errors
    /// [`Error::Timeout`], and those of [`start_scatter`](Self::start_scatter).
    pub fn scatter_timeout<T: Plain>(
        &mut self,
        root: usize,
        values: Option<&[T]>,
        limit: Duration,
    ) -> Result<T, Error> {
        self.begin_scatter(root, values)?.finish_timeout(limit)
    }

    fn begin_gather<T: Plain>(&mut self, root: usize, value: T) -> Result<Started<'_, Option<Vec<T>>>, Error> {
        self.check_rank(root)?;
        check_size::<T>()?;
        let mut gathering = Gathering::default();
        let steps = move |ends: &mut Ends| gather(ends, root, value, &mut gathering);
        Started::begin(self, Call::rooted(Operation::Gather, root), Box::new(steps))
    }

    fn begin_scatter<T: Plain>(&mut self, root: usize, values: Option<&[T]>) -> Result<Started<'_, T>, Error> {
        check_size::<T>()?;
        let given = self.given(root, values)?;
        let mut scattering = Scattering::of(self.ends(), root, given);
        let steps = move |ends: &mut Ends| scattering.go_on(ends);
        Started::begin(self, Call::rooted(Operation::Scatter, root), Box::new(steps))
    }

    /// The root's values to scatter, by rank; `None` at the others.
    fn given<'a, T>(&self, root: usize, values: Option<&'a [T]>) -> Result<Option<&'a [T]>, Error> {
        self.check_rank(root)?;
        let members = self.size();
        match values {
            _ if self.rank() != root => Ok(None),
            Some(values) if values.len() == members => Ok(Some(values)),
            _ => Err(Error::WrongCount { values: values.map_or(0, <[T]>::len), members }),
        }
    }
}

/// All members' values by rank, at `root`.
pub(crate) fn gather<T: Plain>(
    ends: &mut Ends,
    root: usize,
    own: T,
    gathering: &mut Gathering<T>,
) -> Result<Option<Vec<T>>, Error> {
    let sink = ends.reduce.towards(root);
    let values = gathering.go_on(&mut ends.core, &mut ends.reduce, sink, own)?;
    Ok(values.map(|values| values.iter().map(|&(_, value)| value).collect()))
}

/// The values that one member has gathered so far.
#[derive(Debug)]
pub(crate) struct Gathering<T> {
    /// The values here, with their members: its own first, then in the order of the links; sorted once all are here.
    values: Vec<(usize, T)>,
    /// The number passed on.
    sent: usize,
}

impl<T> Default for Gathering<T> {
    fn default() -> Self {
        Self { values: Vec::new(), sent: 0 }
    }
}

impl<T: Plain> Gathering<T> {
    /// Gathers the values of all members, `own` that of this one, along the link to the `sink`; returns them by rank where
    /// there is no such link, `None` elsewhere. If a wait ends at a limit, another call goes on where it ended.
    pub(crate) fn go_on(
        &mut self,
        core: &mut Core,
        web: &mut Web,
        sink: Option<usize>,
        own: T,
    ) -> Result<Option<&mut [(usize, T)]>, Error> {
        if self.values.is_empty() {
            self.values.push((core.rank, own));
        }
        self.receive(core, web, sink)?;
        let Some(sink) = sink else {
            self.values.sort_unstable_by_key(|&(rank, _)| rank);
            return Ok(Some(&mut self.values));
        };
        self.values.sort_unstable_by_key(|&(rank, _)| web.place(rank));
        while let Some((_, value)) = self.values.get(self.sent) {
            core.send(&mut web.links[sink], value)?;
            self.sent += 1;
        }
        Ok(None)
    }

    fn receive(&mut self, core: &mut Core, web: &mut Web, sink: Option<usize>) -> Result<(), Error> {
        // For the links in order: the values that an earlier call received.
        let mut received = self.values.len() - 1;
        for i in (0..web.links.len()).filter(|&i| Some(i) != sink) {
            let behind = web.members_behind(i);
            for n in received.min(behind)..behind {
                self.values.push((web.rank_behind(i, n), core.recv(&mut web.links[i])?));
            }
            received = received.saturating_sub(behind);
        }
        Ok(())
    }
}

/// The progress of a scatter at one member.
#[derive(Debug)]
struct Scattering<T> {
    /// The values by rank; zeroes until they are here.
    values: Vec<T>,
    /// The link towards the root, unless this is the root.
    source: Option<usize>,
    /// The members whose values come along it, in this order, and go on.
    members: Vec<(usize, Option<usize>)>,
    received: usize,
    sent: usize,
}

impl<T: Plain> Scattering<T> {
    /// A scatter that has not begun, of a member that has been `given` all values if it is the root.
    fn of(ends: &Ends, root: usize, given: Option<&[T]>) -> Self {
        let source = ends.broadcast.towards(root);
        let values = given.map_or_else(|| vec![zeroed(); ends.core.members], <[T]>::to_vec);
        Self { values, source, members: downwards(&ends.core, &ends.broadcast, source), received: 0, sent: 0 }
    }

    /// The own value. If a wait ends at a limit, another call goes on where it ended.
    fn go_on(&mut self, ends: &mut Ends) -> Result<T, Error> {
        let (core, links) = (&mut ends.core, &mut ends.broadcast.links);
        if let Some(source) = self.source {
            while let Some(&(rank, _)) = self.members.get(self.received) {
                self.values[rank] = core.recv(&mut links[source])?;
                self.received += 1;
            }
        }
        while let Some(&(rank, link)) = self.members.get(self.sent) {
            if let Some(link) = link {
                core.send(&mut links[link], &self.values[rank])?;
            }
            self.sent += 1;
        }
        Ok(self.values[core.rank])
    }
}

/// This member and those behind all its links but the one to the `source`, by place, each with the link to it.
pub(crate) fn downwards(core: &Core, web: &Web, source: Option<usize>) -> Vec<(usize, Option<usize>)> {
    let behind = |i: usize| (0..web.members_behind(i)).map(move |n| (web.rank_behind(i, n), Some(i)));
    let others = (0..web.links.len()).filter(|&i| Some(i) != source).flat_map(behind);
    let mut members: Vec<_> = others.chain([(core.rank, None)]).collect();
    members.sort_unstable_by_key(|&(rank, _)| web.place(rank));
    members
}
