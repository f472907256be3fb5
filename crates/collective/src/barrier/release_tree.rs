//! Arrivals up the planned tree, a line each; every parent releases all its children with one store.
//!
//! The message tree with lines that need no acknowledgement: a parent scans its children's lines, whose transfers overlap,
//! and its release costs one store instead of a message for each child. Take it where the tree that gathers best has
//! parents with several children.
//!
//! Source: the static tree barrier of J. Mellor-Crummey, M. Scott, Algorithms for Scalable Synchronization on
//! Shared-Memory Multiprocessors, 1991, over a planned tree and with a release line for each parent.

use corecast_base::ArenaError;

use super::gathering::Gathering;
use super::times::Times;
use super::{Family, Setup, Wants};
use crate::core::Core;
use crate::error::Error;
use crate::membership::Site;

/// One member's part.
#[derive(Debug)]
pub(crate) struct ReleaseTree(Gathering);

impl Family for ReleaseTree {
    const NAME: &'static str = "release-tree";
    const ABOUT: &'static str = "lines up the planned tree; each parent releases its children with one store";
    const WANTS: Wants = Wants::MessageTrees;

    fn part(setup: &Setup<'_>, site: &mut Site) -> Result<Self, ArenaError> {
        Ok(Self(Gathering::of(&setup.up.groups(), site)?))
    }

    fn predicted(setup: &Setup<'_>) -> f64 {
        let groups = setup.up.groups();
        let mut times = Times::of(setup.problem);
        times.gather(&groups);
        times.release(&groups);
        times.last()
    }

    #[inline]
    fn wait(&mut self, core: &mut Core) -> Result<(), Error> {
        self.0.wait(core)
    }
}
