//! No peer: models have no regions.

/// A peer, of which a model has none.
#[derive(Debug)]
pub(crate) enum Peer {}

impl Peer {
    pub(crate) fn is_forked(&self) -> bool {
        match *self {}
    }

    pub(crate) fn is_dead(&mut self) -> bool {
        match *self {}
    }
}
