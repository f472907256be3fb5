//! From all members to one, each value by itself.
//!
//! Values travel up the tree of reductions in the depth-first order of their members, so that ranks need not travel with
//! them. Every member keeps what passes through it until it has been passed on: room for its subtree's values.

use corecast_channel::Plain;

use crate::core::Core;
use crate::error::Error;
use crate::web::Web;

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
