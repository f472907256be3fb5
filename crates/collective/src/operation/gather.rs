//! All members' values or slices to one, each by itself.
//!
//! They travel in the depth-first order of their members, so that ranks need not travel with them. A slice goes behind its
//! length, in messages of up to 504 bytes; a value goes alone. A member keeps what it gathers until it has been passed on.

use std::ops::Range;

use corecast_channel::{Plain, zeroed};

use super::slice::{part_len, recv_part, send_part};
use crate::core::Core;
use crate::error::Error;
use crate::link::Link;
use crate::tree::TreeEdges;

/// The number of values that follow.
pub(super) type Length = [u64; 1];

/// The progress of a gather at one member.
#[derive(Debug)]
pub(crate) struct Gathering<T> {
    /// The values here, member behind member, as they came.
    values: Vec<T>,
    /// The members of these values, and the places where they lie: its own first, then in the order of the links; sorted once
    /// all are here.
    here: Vec<(usize, Range<usize>)>,
    /// The members whose values come, in this order, and the links along which they come.
    from: Vec<(usize, usize)>,
    /// The link along which they go on, where this is not the root.
    sink: Option<usize>,
    /// The number of values of each member, if it does not travel with them.
    len: Option<usize>,
    /// The number of values of the next member and of those that have come, once the first of these is known.
    coming: Option<(usize, usize)>,
    /// The number of members whose values were passed on.
    sent: usize,
    /// The values of the next one that were passed on, once their number has been.
    sent_values: Option<usize>,
}

impl<T: Plain> Gathering<T> {
    /// A gather of one value of each member, which has not begun.
    pub(crate) fn of_value(core: &Core, edges: &TreeEdges, root: usize, own: T) -> Self {
        Self::of(core, edges, root, vec![own], Some(1))
    }

    /// A gather of slices of any lengths, which has not begun.
    pub(crate) fn of_slice(core: &Core, edges: &TreeEdges, root: usize, own: Vec<T>) -> Self {
        Self::of(core, edges, root, own, None)
    }

    fn of(core: &Core, edges: &TreeEdges, root: usize, values: Vec<T>, len: Option<usize>) -> Self {
        let sink = edges.towards(root);
        let behind = |link: usize| (0..edges.members_behind(link)).map(move |n| (edges.rank_behind(link, n), link));
        let from = (0..edges.links.len()).filter(|&link| Some(link) != sink).flat_map(behind).collect();
        let here = vec![(core.rank, 0..values.len())];
        Self { values, here, from, sink, len, coming: None, sent: 0, sent_values: None }
    }

    /// The values of all members by rank, at the root; `None` elsewhere.
    pub(crate) fn go_on(&mut self, core: &mut Core, edges: &mut TreeEdges) -> Result<Option<Vec<&[T]>>, Error> {
        while let Some(&(rank, link)) = self.from.get(self.here.len() - 1) {
            let came = self.recv(core, &mut edges.links[link])?;
            self.here.push((rank, came));
        }
        let Some(sink) = self.sink else {
            self.here.sort_unstable_by_key(|&(rank, _)| rank);
            return Ok(Some(self.here.iter().map(|(_, place)| &self.values[place.clone()]).collect()));
        };
        self.here.sort_unstable_by_key(|&(rank, _)| edges.place(rank));
        while let Some((_, place)) = self.here.get(self.sent) {
            send(core, &mut edges.links[sink], &self.values[place.clone()], self.len, &mut self.sent_values)?;
            self.sent += 1;
        }
        Ok(None)
    }

    /// The next member's values. Room is added as they come, as another process may have written any length.
    fn recv(&mut self, core: &mut Core, link: &mut Link) -> Result<Range<usize>, Error> {
        let (len, received) = match (&mut self.coming, self.len) {
            (Some(coming), _) => coming,
            (coming, Some(len)) => coming.insert((len, 0)),
            (coming, None) => {
                let [len] = core.recv::<Length>(link)?;
                coming.insert((usize::try_from(len).unwrap_or(usize::MAX), 0))
            }
        };
        let start = self.values.len() - *received;
        while *received < *len {
            let more = part_len::<T>().min(*len - *received);
            let end = self.values.len();
            self.values.resize(end + more, zeroed());
            if let Err(error) = recv_part(core, link, &mut self.values[end..]) {
                self.values.truncate(end);
                return Err(error);
            }
            *received += more;
        }
        self.coming = None;
        Ok(start..self.values.len())
    }
}

/// Sends one member's values, of which `sent` have gone, behind their number if that is not known to all.
fn send<T: Plain>(
    core: &mut Core,
    link: &mut Link,
    values: &[T],
    len: Option<usize>,
    sent: &mut Option<usize>,
) -> Result<(), Error> {
    let start = match sent {
        Some(start) => start,
        None => {
            if len.is_none() {
                core.send::<Length>(link, &[values.len() as u64])?;
            }
            sent.insert(0)
        }
    };
    while *start < values.len() {
        let end = values.len().min(*start + part_len::<T>());
        send_part(core, link, &values[*start..end])?;
        *start = end;
    }
    *sent = None;
    Ok(())
}
