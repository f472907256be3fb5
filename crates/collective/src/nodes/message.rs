//! The value of one member, kept with the operation that combines it.

use corecast_channel::Plain;

use crate::core::Core;
use crate::error::Error as NearError;
use crate::operation::{Message, Value};
use crate::tree::TreeEdges;

/// A value that the operation owns; it travels as a [`Value`] does.
pub(super) struct OwnValue<T>(pub(super) T);

impl<T: Plain> Message for OwnValue<T> {
    type Item = T;
    const IS_ONE_STEP: bool = true;

    fn prepare(&mut self, core: &mut Core, edges: &mut TreeEdges, step: usize) -> Result<bool, NearError> {
        Value(&mut self.0).prepare(core, edges, step)
    }

    fn recv(&mut self, core: &mut Core, edges: &mut TreeEdges, step: usize, link: usize) -> Result<(), NearError> {
        Value(&mut self.0).recv(core, edges, step, link)
    }

    fn combine(
        &mut self,
        core: &mut Core,
        edges: &mut TreeEdges,
        step: usize,
        link: usize,
        each: &mut impl FnMut(&mut [T], &[T]),
    ) -> Result<(), NearError> {
        Value(&mut self.0).combine(core, edges, step, link, each)
    }

    fn send(
        &mut self,
        core: &mut Core,
        edges: &mut TreeEdges,
        step: usize,
        to: impl Fn(usize) -> bool,
        sent: &mut usize,
    ) -> Result<(), NearError> {
        Value(&mut self.0).send(core, edges, step, to, sent)
    }

    fn values(&mut self) -> &mut [T] {
        std::slice::from_mut(&mut self.0)
    }
}
