//! From one member to each of the others a value or a slice of its own.
//!
//! They pass through the members in the depth-first order of their receivers, message by message. The length of slices
//! goes first, so that members with another length get an error instead of waiting for ever.

use corecast_channel::{Plain, zeroed};

use super::gather::Length;
use super::slice::{part_len, recv_part, send_part};
use crate::core::Core;
use crate::error::{Error, Loss};
use crate::tree::TreeEdges;

/// The progress of a scatter at one member.
#[derive(Debug)]
pub(crate) struct Scattering<T> {
    /// The link towards the root, where this is not the root.
    source: Option<usize>,
    /// True once the root's length has come along it and equals this member's.
    is_agreed: bool,
    /// Links along which the length has gone on, or that were skipped.
    told: usize,
    /// The members whose values come, in this order, and the links along which these go on.
    members: Vec<(usize, Option<usize>)>,
    /// The number of members whose values have arrived at their place.
    passed: usize,
    /// The number of values of the next member that have arrived there.
    start: usize,
    /// True if the next message for it is here and has not gone on.
    is_here: bool,
    /// Room for a message of other members.
    passing: Vec<T>,
}

impl<T: Plain> Scattering<T> {
    /// A scatter of one value for each member, which has not begun.
    pub(crate) fn of_values(core: &Core, edges: &TreeEdges, root: usize) -> Self {
        Self { is_agreed: true, told: edges.links.len(), ..Self::of_slices(core, edges, root) }
    }

    /// A scatter of slices of one length, which has not begun.
    pub(crate) fn of_slices(core: &Core, edges: &TreeEdges, root: usize) -> Self {
        let source = edges.towards(root);
        let members = downwards(core, edges, source);
        let is_agreed = source.is_none();
        Self { source, is_agreed, told: 0, members, passed: 0, start: 0, is_here: false, passing: Vec::new() }
    }

    /// Fills `own` with this member's part of the values that the root has `given`.
    pub(crate) fn go_on(
        &mut self,
        core: &mut Core,
        edges: &mut TreeEdges,
        given: Option<&[T]>,
        own: &mut [T],
    ) -> Result<(), Error> {
        self.agree(core, edges, own.len() as u64)?;
        while let Some(&(rank, link)) = self.members.get(self.passed) {
            while self.start < own.len() {
                let given = given.map(|given| &given[rank * own.len()..][..own.len()]);
                self.pass(core, edges, link, given, own)?;
            }
            (self.start, self.passed) = (0, self.passed + 1);
        }
        Ok(())
    }

    /// Receives the root's length, makes the group fail if it differs, and passes it on.
    fn agree(&mut self, core: &mut Core, edges: &mut TreeEdges, own: u64) -> Result<(), Error> {
        if let Some(source) = self.source.filter(|_| !self.is_agreed) {
            let [len] = core.recv::<Length>(&mut edges.links[source])?;
            if len != own {
                return Err(core.fail(edges.links[source].rank, Loss::OtherLength));
            }
            self.is_agreed = true;
        }
        while let Some(link) = edges.links.get_mut(self.told) {
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
        edges: &mut TreeEdges,
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
                (None, Some(source)) => recv_part(core, &mut edges.links[source], part)?,
                (None, None) => unreachable!("a root without values was refused"),
            }
            self.is_here = true;
        }
        if let Some(link) = link {
            send_part(core, &mut edges.links[link], part)?;
        }
        (self.start, self.is_here) = (range.end, false);
        Ok(())
    }
}

/// This member and those behind all its links but the one to the `source`, by place, each with the link to it.
fn downwards(core: &Core, edges: &TreeEdges, source: Option<usize>) -> Vec<(usize, Option<usize>)> {
    let behind = |i: usize| (0..edges.members_behind(i)).map(move |n| (edges.rank_behind(i, n), Some(i)));
    let others = (0..edges.links.len()).filter(|&i| Some(i) != source).flat_map(behind);
    let mut members: Vec<_> = others.chain([(core.rank, None)]).collect();
    members.sort_unstable_by_key(|&(rank, _)| edges.place(rank));
    members
}
