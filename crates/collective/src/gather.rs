//! From all members to one, each value by itself, and from one to all, a value for each.
//!
//! **When to take it:** the root wants the values and not their combination. **When not:** all of them travel through the
//! members next to the root, so a reduction is cheaper wherever it does.
//!
//! Values travel along the planned trees in the depth-first order of their members, so that ranks need not travel with
//! them. Every member keeps what passes through it until it has been passed on: room for its subtree's values.
//!
//! **Progress:** blocking. **Memory ordering:** what a member wrote before it sent a value is visible to whom it reaches.

use corecast_channel::{Plain, zeroed};

use crate::core::Core;
use crate::error::Error;
use crate::member::Member;
use crate::slices::{part_len, recv_part, send_part};
use crate::web::{Link, Web};

impl Member {
    /// Brings all members' values to `root` and returns them there, by rank; `None` elsewhere.
    ///
    /// # Errors
    /// [`Error::BadRank`] if there is no such root, [`Error::MemberLost`], [`Error::Pending`].
    pub fn gather<T: Plain>(&mut self, root: usize, value: T) -> Result<Option<Vec<T>>, Error> {
        self.check_rank(root)?;
        let ends = self.begin()?;
        let sink = ends.reduce.towards(root);
        let mut gathering = Gathering::default();
        let values = gathering.go_on(&mut ends.core, &mut ends.reduce, sink, value)?;
        Ok(values.map(|values| values.iter().map(|&(_, value)| value).collect()))
    }

    /// Brings all members' slices, of any lengths, to `root` and returns them there, by rank; `None` elsewhere.
    ///
    /// # Errors
    /// As for [`gather`](Self::gather).
    pub fn gather_slice<T: Plain>(&mut self, root: usize, values: &[T]) -> Result<Option<Vec<Vec<T>>>, Error> {
        self.check_rank(root)?;
        let ends = self.begin()?;
        let sink = ends.reduce.towards(root);
        gather_slices(&mut ends.core, &mut ends.reduce, sink, values)
    }

    /// Gives each member its value of the root's `values`, the first to member 0 and so on. The others give `None`; what
    /// they give is not looked at.
    ///
    /// # Errors
    /// [`Error::WrongCount`] at a root that gives another number of values than there are members, which is then as if it
    /// had not called; those of [`gather`](Self::gather).
    pub fn scatter<T: Plain>(&mut self, root: usize, values: Option<&[T]>) -> Result<T, Error> {
        self.check_rank(root)?;
        let members = self.members();
        let given = values.filter(|_| self.rank() == root);
        if self.rank() == root && given.is_none_or(|values| values.len() != members) {
            return Err(Error::WrongCount { values: given.map_or(0, <[T]>::len), members });
        }
        let ends = self.begin()?;
        scatter(&mut ends.core, &mut ends.broadcast, root, given)
    }
}

/// The values that one member has gathered so far.
#[derive(Debug)]
pub(crate) struct Gathering<T> {
    /// Those here, with their members: the own one first, then in the order of the links; sorted once all are here.
    values: Vec<(usize, T)>,
    /// Those passed on.
    sent: usize,
}

impl<T> Default for Gathering<T> {
    fn default() -> Self {
        Self { values: Vec::new(), sent: 0 }
    }
}

impl<T: Plain> Gathering<T> {
    /// Gathers the values of all members, `own` that of this one, along the link to the `sink`; returns them by rank where
    /// there is no such link, `None` elsewhere. If a wait fails for a limit, another call goes on where it ended.
    pub(crate) fn go_on(
        &mut self,
        core: &mut Core,
        web: &mut Web,
        sink: Option<usize>,
        own: T,
    ) -> Result<Option<&[(usize, T)]>, Error> {
        if self.values.is_empty() {
            self.values.push((core.rank, own));
        }
        self.receive(core, web, sink)?;
        let Some(sink) = sink else {
            self.values.sort_unstable_by_key(|&(rank, _)| rank);
            return Ok(Some(&self.values));
        };
        self.values.sort_unstable_by_key(|&(rank, _)| web.place(rank));
        while let Some((_, value)) = self.values.get(self.sent) {
            core.send(&mut web.links[sink], value)?;
            self.sent += 1;
        }
        Ok(None)
    }

    fn receive(&mut self, core: &mut Core, web: &mut Web, sink: Option<usize>) -> Result<(), Error> {
        // Of the links in order: what an earlier call received.
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

/// All members' slices by rank, where there is no link to the `sink`.
fn gather_slices<T: Plain>(
    core: &mut Core,
    web: &mut Web,
    sink: Option<usize>,
    own: &[T],
) -> Result<Option<Vec<Vec<T>>>, Error> {
    let mut slices = vec![(core.rank, own.to_vec())];
    for i in (0..web.links.len()).filter(|&i| Some(i) != sink) {
        for n in 0..web.members_behind(i) {
            slices.push((web.rank_behind(i, n), recv_slice(core, &mut web.links[i])?));
        }
    }
    let Some(sink) = sink else {
        slices.sort_unstable_by_key(|&(rank, _)| rank);
        return Ok(Some(slices.into_iter().map(|(_, slice)| slice).collect()));
    };
    slices.sort_unstable_by_key(|&(rank, _)| web.place(rank));
    let link = &mut web.links[sink];
    for (_, slice) in &slices {
        core.send(link, &[slice.len() as u64])?;
        slice.chunks(part_len::<T>()).try_for_each(|part| send_part(core, link, part))?;
    }
    Ok(None)
}

/// A slice whose length comes first. Room for it is taken as it comes: the length may be anybody's.
fn recv_slice<T: Plain>(core: &mut Core, link: &mut Link) -> Result<Vec<T>, Error> {
    let [len] = core.recv::<[u64; 1]>(link)?;
    let mut slice = Vec::new();
    let mut left = usize::try_from(len).unwrap_or(usize::MAX);
    while left > 0 {
        let (here, count) = (slice.len(), left.min(part_len::<T>()));
        slice.resize(here + count, zeroed());
        recv_part(core, link, &mut slice[here..])?;
        left -= count;
    }
    Ok(slice)
}

/// The own one of the values at `root`, by rank. Those for the members behind a link are sent along it in depth-first order.
fn scatter<T: Plain>(core: &mut Core, web: &mut Web, root: usize, given: Option<&[T]>) -> Result<T, Error> {
    let source = web.towards(root);
    let behind = |web: &Web, i: usize| (0..web.members_behind(i)).map(|n| web.rank_behind(i, n)).collect::<Vec<_>>();
    let others: Vec<usize> = (0..web.links.len()).filter(|&i| Some(i) != source).collect();
    // The own rank and those behind, by place.
    let mut ranks: Vec<usize> = others.iter().flat_map(|&i| behind(web, i)).chain([core.rank]).collect();
    ranks.sort_unstable_by_key(|&rank| web.place(rank));
    let mut values = vec![zeroed::<T>(); core.members];
    match (source, given) {
        (Some(source), _) => {
            for &rank in &ranks {
                values[rank] = core.recv(&mut web.links[source])?;
            }
        }
        (None, given) => values.copy_from_slice(given.expect("a root without values was refused")),
    }
    for i in others {
        for rank in behind(web, i) {
            core.send(&mut web.links[i], &values[rank])?;
        }
    }
    Ok(values[core.rank])
}
