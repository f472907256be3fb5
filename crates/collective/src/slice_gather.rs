//! Gather and scatter of slices: all members' slices to one, each by itself, and from one member a part for each.
//!
//! **When to take it:** the number of values is known only at run time, or they fill more than a few lines. **When not:**
//! one value of each member goes without a length ([`Member::gather`], [`Member::scatter`]).
//!
//! Slices travel as values do, in the depth-first order of their members, each behind its length and in messages of up to
//! 504 bytes. A member keeps the slices that it gathers until they have been passed on, so it needs room for its subtree's
//! slices. Scattered slices pass through it message by message.
//!
//! **Progress:** blocking. **Memory ordering:** what a member wrote before it sent a slice is visible to the members that
//! receive it.

use std::time::Duration;

use corecast_channel::{Plain, zeroed};

use crate::call::{Call, Operation};
use crate::core::Core;
use crate::error::{Error, Loss};
use crate::gather::downwards;
use crate::member::{Ends, Member};
use crate::slice_steps::{part_len, recv_part, send_part};
use crate::started::{Started, check_size, started};
use crate::web::{Link, Web};

/// The number of values that follow.
type Length = [u64; 1];

/// Slices from all, and to all; at once, in parts ([`Started`]) or with limits.
impl Member {
    /// Brings all members' slices, of any lengths, to `root` and returns them there, by rank; `None` elsewhere.
    ///
    /// # Errors
    /// As for [`gather`](Self::gather).
    pub fn gather_slice<T: Plain>(&mut self, root: usize, values: &[T]) -> Result<Option<Vec<Vec<T>>>, Error> {
        self.check_rank(root)?;
        let ends = self.begin(Call::rooted(Operation::GatherSlice, root))?;
        SliceGathering::of(ends, root, values).go_on(ends)
    }

    /// Begins to bring all members' slices, of any lengths, to `root`. The `values` are copied.
    ///
    /// # Errors
    /// Those of [`gather_slice`](Self::gather_slice); [`Error::TooLarge`] if a single value is more than the 504 bytes that
    /// travel in one message.
    pub fn start_gather_slice<T: Plain>(
        &mut self,
        root: usize,
        values: &[T],
    ) -> Result<Started<'_, Option<Vec<Vec<T>>>>, Error> {
        started(self.begin_gather_slice(root, values)?)
    }

    /// As [`gather_slice`](Self::gather_slice), for `limit` at most.
    ///
    /// # Errors
    /// [`Error::Timeout`], and those of [`start_gather_slice`](Self::start_gather_slice).
    pub fn gather_slice_timeout<T: Plain>(
        &mut self,
        root: usize,
        values: &[T],
        limit: Duration,
    ) -> Result<Option<Vec<Vec<T>>>, Error> {
        self.begin_gather_slice(root, values)?.finish_timeout(limit)
    }

    /// Gives each member its part of the root's `values`: as many as its `own` has room for, the first part to member 0 and
    /// so on. The other members give `None`; values from them are ignored. All members have room for the same number.
    /// # Errors
    /// [`Error::WrongCount`] at a root that gives another number of values than fill one `own` for each member, which is
    /// then as if it had not called; those of [`broadcast_slice`](Self::broadcast_slice).
    pub fn scatter_slice<T: Plain>(&mut self, root: usize, values: Option<&[T]>, own: &mut [T]) -> Result<(), Error> {
        let given = self.given_parts(root, values, own.len())?;
        let ends = self.begin(Call::rooted(Operation::ScatterSlice, root))?;
        SliceScattering::of(ends, root).go_on(ends, given, own)
    }

    /// Begins to give each member its part of the root's `values`, which are copied. Until it is finished, `own` may have
    /// been filled only in part.
    ///
    /// # Errors
    /// Those of [`scatter_slice`](Self::scatter_slice); [`Error::TooLarge`] if a single value is more than the 504 bytes that
    /// travel in one message.
    pub fn start_scatter_slice<'a, T: Plain>(
        &'a mut self,
        root: usize,
        values: Option<&[T]>,
        own: &'a mut [T],
    ) -> Result<Started<'a, ()>, Error> {
        started(self.begin_scatter_slice(root, values, own)?)
    }

    /// As [`scatter_slice`](Self::scatter_slice), for `limit` at most.
    ///
    /// # Errors
    /// [`Error::Timeout`], and those of [`start_scatter_slice`](Self::start_scatter_slice).
    pub fn scatter_slice_timeout<T: Plain>(
        &mut self,
        root: usize,
        values: Option<&[T]>,
        own: &mut [T],
        limit: Duration,
    ) -> Result<(), Error> {
        self.begin_scatter_slice(root, values, own)?.finish_timeout(limit)
    }

    fn begin_gather_slice<T: Plain>(
        &mut self,
        root: usize,
        values: &[T],
    ) -> Result<Started<'_, Option<Vec<Vec<T>>>>, Error> {
        self.check_rank(root)?;
        check_size::<T>()?;
        let mut gathering = SliceGathering::of(self.ends(), root, values);
        let steps = move |ends: &mut Ends| gathering.go_on(ends);
        Started::begin(self, Call::rooted(Operation::GatherSlice, root), Box::new(steps))
    }

    fn begin_scatter_slice<'a, T: Plain>(
        &'a mut self,
        root: usize,
        values: Option<&[T]>,
        own: &'a mut [T],
    ) -> Result<Started<'a, ()>, Error> {
        check_size::<T>()?;
        let given = self.given_parts(root, values, own.len())?.map(<[T]>::to_vec);
        let mut scattering = SliceScattering::of(self.ends(), root);
        let steps = move |ends: &mut Ends| scattering.go_on(ends, given.as_deref(), own);
        Started::begin(self, Call::rooted(Operation::ScatterSlice, root), Box::new(steps))
    }

    /// The root's values to scatter, `len` for each member; `None` at the others.
    fn given_parts<'a, T>(&self, root: usize, values: Option<&'a [T]>, len: usize) -> Result<Option<&'a [T]>, Error> {
        self.check_rank(root)?;
        let members = self.size();
        match values {
            _ if self.rank() != root => Ok(None),
            Some(values) if values.len() == members.saturating_mul(len) => Ok(Some(values)),
            _ => Err(Error::WrongCount { values: values.map_or(0, <[T]>::len), members }),
        }
    }
}

/// The progress of a gather of slices at one member.
#[derive(Debug)]
pub(crate) struct SliceGathering<T> {
    /// The slices here, with their members: its own first, then in the order of the links; sorted once all are here.
    slices: Vec<(usize, Vec<T>)>,
    /// The members whose slices come, in this order, and the links along which they come.
    from: Vec<(usize, usize)>,
    /// The link along which they go on, where this is not the root.
    sink: Option<usize>,
    /// The next one of them, once its length is here.
    incoming: Option<Incoming<T>>,
    /// The number passed on.
    sent: usize,
    /// The values of the next slice that were passed on, once its length has been.
    sent_values: Option<usize>,
}

/// A slice that has come in part.
#[derive(Debug)]
struct Incoming<T> {
    /// The values received, and room for the next part.
    values: Vec<T>,
    received: usize,
    len: usize,
}

impl<T: Plain> SliceGathering<T> {
    /// A gather that has not begun, of a member with these values.
    pub(crate) fn of(ends: &Ends, root: usize, own: &[T]) -> Self {
        let web = &ends.reduce;
        let sink = web.towards(root);
        let behind = |link: usize| (0..web.members_behind(link)).map(move |n| (web.rank_behind(link, n), link));
        let from = (0..web.links.len()).filter(|&link| Some(link) != sink).flat_map(behind).collect();
        Self { slices: vec![(ends.core.rank, own.to_vec())], from, sink, incoming: None, sent: 0, sent_values: None }
    }

    /// All members' slices by rank, at the root; `None` elsewhere. If a wait ends at a limit, another call goes on where it
    /// ended.
    pub(crate) fn go_on(&mut self, ends: &mut Ends) -> Result<Option<Vec<Vec<T>>>, Error> {
        let Ends { core, reduce: web, .. } = ends;
        while let Some(&(rank, link)) = self.from.get(self.slices.len() - 1) {
            let slice = recv_slice(core, &mut web.links[link], &mut self.incoming)?;
            self.slices.push((rank, slice));
        }
        let Some(sink) = self.sink else {
            self.slices.sort_unstable_by_key(|&(rank, _)| rank);
            return Ok(Some(self.slices.drain(..).map(|(_, slice)| slice).collect()));
        };
        self.slices.sort_unstable_by_key(|&(rank, _)| web.place(rank));
        while let Some((_, slice)) = self.slices.get(self.sent) {
            send_slice(core, &mut web.links[sink], slice, &mut self.sent_values)?;
            self.sent += 1;
        }
        Ok(None)
    }
}

/// A slice whose length comes first. Room is added as the values come, as another process may have written any length.
fn recv_slice<T: Plain>(core: &mut Core, link: &mut Link, incoming: &mut Option<Incoming<T>>) -> Result<Vec<T>, Error> {
    let coming = match incoming {
        Some(coming) => coming,
        None => {
            let [len] = core.recv::<Length>(link)?;
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            incoming.insert(Incoming { values: Vec::new(), received: 0, len })
        }
    };
    while coming.received < coming.len {
        let end = coming.received + part_len::<T>().min(coming.len - coming.received);
        coming.values.resize(end, zeroed());
        recv_part(core, link, &mut coming.values[coming.received..])?;
        coming.received = end;
    }
    let values = std::mem::take(&mut coming.values);
    *incoming = None;
    Ok(values)
}

/// The length of a slice, and then its values, of which `sent` have gone.
fn send_slice<T: Plain>(core: &mut Core, link: &mut Link, slice: &[T], sent: &mut Option<usize>) -> Result<(), Error> {
    let start = match sent {
        Some(start) => start,
        None => {
            core.send::<Length>(link, &[slice.len() as u64])?;
            sent.insert(0)
        }
    };
    while *start < slice.len() {
        let end = slice.len().min(*start + part_len::<T>());
        send_part(core, link, &slice[*start..end])?;
        *start = end;
    }
    *sent = None;
    Ok(())
}

/// The progress of a scatter of slices at one member.
#[derive(Debug)]
struct SliceScattering<T> {
    /// The link towards the root, where this is not the root.
    source: Option<usize>,
    /// True once the root's length has come along it and equals this member's.
    is_agreed: bool,
    /// Links along which the length has gone on, or that were skipped.
    told: usize,
    /// The members whose parts come, in this order, and the links along which the parts go on.
    members: Vec<(usize, Option<usize>)>,
    /// The number of members whose parts have arrived at their place.
    passed: usize,
    /// The number of values of the next member's part that have arrived there.
    start: usize,
    /// True if the next message of it is here and has not gone on.
    is_here: bool,
    /// Room for a message of other members.
    passing: Vec<T>,
}

impl<T: Plain> SliceScattering<T> {
    /// A scatter that has not begun.
    fn of(ends: &Ends, root: usize) -> Self {
        let source = ends.broadcast.towards(root);
        let members = downwards(&ends.core, &ends.broadcast, source);
        let (is_agreed, is_here) = (source.is_none(), false);
        Self { source, is_agreed, told: 0, members, passed: 0, start: 0, is_here, passing: Vec::new() }
    }

    /// Fills `own` with this member's part of the values that the root has `given`. A member's length goes to its children
    /// first. Then the parts pass through it, in the depth-first order of their receivers. If a wait ends at a limit,
    /// another call goes on where it ended.
    fn go_on(&mut self, ends: &mut Ends, given: Option<&[T]>, own: &mut [T]) -> Result<(), Error> {
        let Ends { core, broadcast: web, .. } = ends;
        self.agree(core, web, own.len() as u64)?;
        while let Some(&(rank, link)) = self.members.get(self.passed) {
            while self.start < own.len() {
                let given = given.map(|given| &given[rank * own.len()..][..own.len()]);
                self.pass(core, web, link, given, own)?;
            }
            (self.start, self.passed) = (0, self.passed + 1);
        }
        Ok(())
    }

    /// Receives the root's length, makes the group fail if it differs, and passes it on.
    fn agree(&mut self, core: &mut Core, web: &mut Web, own: u64) -> Result<(), Error> {
        if let Some(source) = self.source.filter(|_| !self.is_agreed) {
            let [len] = core.recv::<Length>(&mut web.links[source])?;
            if len != own {
                return Err(core.fail(web.links[source].rank, Loss::OtherLength));
            }
            self.is_agreed = true;
        }
        while let Some(link) = web.links.get_mut(self.told) {
            if Some(self.told) != self.source {
                core.send::<Length>(link, &[own])?;
            }
            self.told += 1;
        }
        Ok(())
    }

    /// The next message of a member's part, which the root has `given`: into `own`, or along the link to the member.
    fn pass(
        &mut self,
        core: &mut Core,
        web: &mut Web,
        link: Option<usize>,
        given: Option<&[T]>,
        own: &mut [T],
    ) -> Result<(), Error> {
        let range = self.start..own.len().min(self.start + part_len::<T>());
        let part = match link {
            Some(_) => {
                self.passing.resize(range.len(), zeroed());
                &mut self.passing[..]
            }
            None => &mut own[range.clone()],
        };
        if !self.is_here {
            match (given, self.source) {
                (Some(given), _) => part.copy_from_slice(&given[range.clone()]),
                (None, Some(source)) => recv_part(core, &mut web.links[source], part)?,
                (None, None) => unreachable!("a root without values was refused"),
            }
            self.is_here = true;
        }
        if let Some(link) = link {
            send_part(core, &mut web.links[link], part)?;
        }
        (self.start, self.is_here) = (range.end, false);
        Ok(())
    }
}
