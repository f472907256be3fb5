//! The attempts of the participants whose locks a requester of the shared form meets.

use crate::entry::{Entry, Holders};
use crate::rule::Claim;
use crate::status::ClientId;

/// The attempts of those that a request met, as they were before the locks were looked at for good.
#[derive(Debug, Default)]
pub struct Met(Vec<(ClientId, Claim)>);

impl Met {
    /// Looks at the attempts of all that hold a lock in `entry`. `claim` tells the attempt of a participant, `None` for a number
    /// that a stranger wrote.
    pub fn look(&mut self, entry: Entry, claim: impl Fn(ClientId) -> Option<Claim>) {
        self.0.clear();
        let holders = entry.readers.iter().chain(entry.writer);
        self.0.extend(holders.filter_map(|client| claim(client).map(|claim| (client, claim))));
    }

    /// Of the locks now, those of participants that were looked at: a stranger may have written others.
    pub(crate) fn known(&self, mut now: Entry) -> Entry {
        for reader in now.readers.iter().filter(|reader| !self.has(*reader)) {
            now.readers.remove(reader);
        }
        now.writer = now.writer.filter(|writer| self.has(*writer));
        now
    }

    fn has(&self, client: ClientId) -> bool {
        self.0.iter().any(|(met, _)| *met == client)
    }
}

impl Holders for Met {
    fn holder(&self, client: ClientId) -> Claim {
        let known = self.0.iter().find(|(met, _)| *met == client);
        known.expect("every holder was met, as nobody takes locks meanwhile").1
    }
}
