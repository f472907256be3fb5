//! The way of one process into a group over several nodes.

use std::time::Duration;

use corecast_base::sync::Arc;

use super::ends::Ends;
use super::engine::Engine;
use super::error::{Error, SetupError};
use super::leader::Leader;
use super::member::{Home, Member};
use super::news::News;
use super::numbering::Numbering;
use super::setup::{self, PATIENCE};
use super::{FaultKind, FaultWord};
use crate::error::{Error as NearError, Loss};
use crate::member::Member as NearMember;
use crate::processes::Invitation as NearInvitation;

impl NearInvitation {
    /// Joins a group of this node as a part of a group over several nodes, which `engine` connects. The first member of each node
    /// gives its end of the engine; the others give `None`.
    #[must_use]
    pub fn over(self, engine: impl Into<Option<Box<dyn Engine>>>) -> Invitation {
        Invitation { near: self, engine: engine.into(), limit: PATIENCE }
    }
}

/// The way of one process into a group over several nodes.
pub struct Invitation {
    near: NearInvitation,
    engine: Option<Box<dyn Engine>>,
    limit: Duration,
}

impl Invitation {
    /// Waits this long for the members of this node, and as long for the other nodes; 60 s by default.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Joins the group, and returns when all members of this node have joined and all nodes have met.
    ///
    /// # Errors
    /// [`SetupError`]: at the first member of a node the reason, at the others that the group has failed. A place once taken
    /// stays taken.
    pub fn join(self) -> Result<Member, SetupError> {
        let mut near = self.near.timeout(self.limit).join()?;
        let news = News::lay_out(&mut near).map_err(Error::Near)?;
        let met = match (near.rank(), self.engine) {
            (0, Some(mut engine)) => match setup::meet(&mut *engine, near.size(), self.limit) {
                Ok(numbering) => Ok(Some((numbering, Leader::new(engine)))),
                Err(error) => {
                    engine.close(false);
                    Err(error)
                }
            },
            (0, None) => Err(SetupError::NoEngine),
            (_, _) => Ok(None),
        };
        let met = met.inspect_err(|_| {
            news.publish(FaultWord { epoch: 0, node: 0, kind: FaultKind::Engine { class: 0 } });
            near.ends_mut().core.fail(0, Loss::Elsewhere);
        })?;
        let (numbering, leader) = match met {
            Some((numbering, leader)) => (Some(numbering), Some(leader)),
            None => (None, None),
        };
        let numbering = share(&mut near, numbering).map_err(Error::Near)?;
        Ok(Member::new(Ends::new(near, Arc::new(numbering), news, leader), Home::Own))
    }
}

impl std::fmt::Debug for Invitation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Invitation").field("near", &self.near).finish_non_exhaustive()
    }
}

/// Gives the leader's numbering to all members of its node.
pub(super) fn share(near: &mut NearMember, numbering: Option<Numbering>) -> Result<Numbering, NearError> {
    let (mut counts, mut text) =
        numbering.as_ref().map_or((Vec::new(), Vec::new()), |of| (of.counts(), of.text().into_bytes()));
    let mut lens = [counts.len() as u64, text.len() as u64];
    near.broadcast(0, &mut lens)?;
    counts.resize(lens[0] as usize, 0);
    text.resize(lens[1] as usize, 0);
    near.broadcast_slice(0, &mut counts)?;
    near.broadcast_slice(0, &mut text)?;
    let told = || Numbering::told(&counts, std::str::from_utf8(&text).ok()?);
    numbering.or_else(told).ok_or(NearError::Corrupt)
}
