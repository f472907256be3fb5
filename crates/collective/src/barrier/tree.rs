//! A reduction of nothing up the one planned tree to its root, and a broadcast of nothing down the other.
//!
//! This is Smelt's barrier, with one message per edge and direction, except for the second tree: the best tree to gather is
//! seldom the best one to release. It is kept as the control against which every other family is measured.
//!
//! Source: S. Kaestle et al., Machine-Aware Atomic Broadcast Trees for Multicores, OSDI 2016.

use corecast_base::ArenaError;
use corecast_plan::simulate;

use super::{Family, Setup, Wants};
use crate::core::Core;
use crate::error::Error;
use crate::membership::Site;
use crate::tree::TreeEdges;

/// One member's part.
#[derive(Debug)]
pub(crate) struct MessageTree {
    up: Branch,
    down: Branch,
}

/// One member's edges of one tree.
#[derive(Debug)]
struct Branch {
    edges: TreeEdges,
    /// The number of children, whose links come first.
    children: usize,
    /// The index of the link to the parent; `None` at the root.
    parent: Option<usize>,
    /// Links handled in the current operation.
    passed: usize,
}

impl Branch {
    fn of(edges: TreeEdges) -> Self {
        let parent = edges.link_to_parent();
        Self { children: parent.unwrap_or(edges.links.len()), parent, edges, passed: 0 }
    }
}

impl Family for MessageTree {
    const NAME: &'static str = "tree";
    const ABOUT: &'static str = "messages up the planned tree to its root, and down the other one";
    const WANTS: Wants = Wants::MessageTrees;

    fn part(setup: &Setup<'_>, site: &mut Site) -> Result<Self, ArenaError> {
        Self::apart(setup, &[], site)
    }

    fn predicted(setup: &Setup<'_>) -> f64 {
        simulate::barrier(setup.problem, setup.meeting.up(), &setup.meeting.tree)
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
        let (up, down) = (setup.up.edges(roots, site)?, setup.down.edges(roots, site)?);
        Ok(Self { up: Branch::of(up), down: Branch::of(down) })
    }

    /// Waits for all below and tells the parent.
    #[inline]
    pub(super) fn gather(&mut self, core: &mut Core) -> Result<(), Error> {
        let Branch { edges, children, passed, .. } = &mut self.up;
        while let Some(link) = edges.links.get_mut(*passed) {
            if *passed < *children {
                core.recv::<()>(link)?
            } else {
                core.send(link, &())?
            }
            *passed += 1;
        }
        Ok(())
    }

    /// Waits for the parent and tells all below.
    #[inline]
    pub(super) fn release(&mut self, core: &mut Core) -> Result<(), Error> {
        let Branch { edges, children, parent, passed } = &mut self.down;
        // The parent's link is the last in the list and is handled first.
        let before = usize::from(parent.is_some());
        if let Some(parent) = parent.filter(|_| *passed == 0) {
            core.recv::<()>(&mut edges.links[parent])?;
            *passed = before;
        }
        while let Some(child) = edges.links[..*children].get_mut(*passed - before) {
            core.send(child, &())?;
            *passed += 1;
        }
        (self.up.passed, self.down.passed) = (0, 0);
        Ok(())
    }
}
