//! A reduction of nothing to the root of the planned tree, and a broadcast of nothing back.
//!
//! Smelt's barrier, one message per edge and direction. Kept as the control that every other family is measured against.
//!
//! Source: S. Kaestle et al., Machine-Aware Atomic Broadcast Trees for Multicores, OSDI 2016.

use super::{Family, Setup};
use crate::core::Core;
use crate::error::Error;
use crate::web::Web;

/// One member's part.
#[derive(Debug)]
pub(crate) struct MessageTree {
    web: Web,
    /// The index of the link to the parent; `None` at the root.
    parent: Option<usize>,
}

impl Family for MessageTree {
    const NAME: &'static str = "tree";
    const ABOUT: &'static str = "messages up the planned tree to its root, and back down";

    fn all(setup: &Setup<'_>) -> Vec<Self> {
        let webs = (setup.webs)();
        webs.into_iter().map(|web| Self { parent: web.link_to_parent(), web }).collect()
    }

    #[inline]
    fn wait(&mut self, core: &mut Core) -> Result<(), Error> {
        let children = self.parent.unwrap_or(self.web.links.len());
        for child in &mut self.web.links[..children] {
            core.recv::<()>(child)?;
        }
        if let Some(parent) = self.parent {
            core.send(&mut self.web.links[parent], &())?;
            core.recv::<()>(&mut self.web.links[parent])?;
        }
        self.web.links[..children].iter_mut().try_for_each(|child| core.send(child, &()))
    }
}
