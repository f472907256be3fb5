//! A reduction of nothing up the one planned tree to its root, and a broadcast of nothing down the other.
//!
//! Smelt's barrier, one message per edge and direction, but for the two trees: the best one to gather is seldom the best
//! one to release. Kept as the control that every other family is measured against.
//!
//! Source: S. Kaestle et al., Machine-Aware Atomic Broadcast Trees for Multicores, OSDI 2016.

use corecast_base::ArenaError;

use super::{Family, Setup, Wants};
use crate::core::Core;
use crate::error::Error;
use crate::layout::Site;
use crate::web::Web;

/// One member's part.
#[derive(Debug)]
pub(crate) struct MessageTree {
    up: Branch,
    down: Branch,
}

/// One member's edges of one tree.
#[derive(Debug)]
struct Branch {
    web: Web,
    /// The number of children, whose links come first.
    children: usize,
    /// The index of the link to the parent; `None` at the root.
    parent: Option<usize>,
}

impl Branch {
    fn of(web: Web) -> Self {
        let parent = web.link_to_parent();
        Self { children: parent.unwrap_or(web.links.len()), parent, web }
    }
}

impl Family for MessageTree {
    const NAME: &'static str = "tree";
    const ABOUT: &'static str = "messages up the planned tree to its root, and down the other one";
    const WANTS: Wants = Wants::MessageTrees;

    fn part(setup: &Setup<'_>, site: &mut Site) -> Result<Self, ArenaError> {
        Self::apart(setup, &[], site)
    }

    #[inline]
    fn wait(&mut self, core: &mut Core) -> Result<(), Error> {
        self.gather(core)?;
        self.release(core)
    }
}

impl MessageTree {
    /// The part of the member at `site`, where these members have no parent.
    pub(super) fn apart(setup: &Setup<'_>, roots: &[usize], site: &mut Site) -> Result<Self, ArenaError> {
        let (up, down) = (setup.up.web(roots, site)?, setup.down.web(roots, site)?);
        Ok(Self { up: Branch::of(up), down: Branch::of(down) })
    }

    /// Hears from all below and tells the parent.
    #[inline]
    pub(super) fn gather(&mut self, core: &mut Core) -> Result<(), Error> {
        let Branch { web, children, parent } = &mut self.up;
        web.links[..*children].iter_mut().try_for_each(|child| core.recv::<()>(child))?;
        parent.map_or(Ok(()), |parent| core.send(&mut web.links[parent], &()))
    }

    /// Hears from the parent and tells all below.
    #[inline]
    pub(super) fn release(&mut self, core: &mut Core) -> Result<(), Error> {
        let Branch { web, children, parent } = &mut self.down;
        parent.map_or(Ok(()), |parent| core.recv::<()>(&mut web.links[parent]))?;
        web.links[..*children].iter_mut().try_for_each(|child| core.send(child, &()))
    }
}
