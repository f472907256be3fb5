//! A value of fixed size, which travels along an edge in one step, without a length.

use std::slice;

use corecast_channel::Plain;

use super::Message;
use crate::core::Core;
use crate::error::Error;
use crate::tree::TreeEdges;

/// The value of one member.
pub(crate) struct Value<'a, T>(pub(crate) &'a mut T);

impl<T: Plain> Message for Value<'_, T> {
    type Item = T;
    const IS_ONE_STEP: bool = true;

    #[inline(always)]
    fn prepare(&mut self, _core: &mut Core, _edges: &mut TreeEdges, step: usize) -> Result<bool, Error> {
        Ok(step == 0)
    }

    #[inline(always)]
    fn recv(&mut self, core: &mut Core, edges: &mut TreeEdges, _step: usize, link: usize) -> Result<(), Error> {
        *self.0 = core.recv(&mut edges.links[link])?;
        Ok(())
    }

    #[inline(always)]
    fn combine(
        &mut self,
        core: &mut Core,
        edges: &mut TreeEdges,
        _step: usize,
        link: usize,
        each: &mut impl FnMut(&mut [T], &[T]),
    ) -> Result<(), Error> {
        let theirs = core.recv(&mut edges.links[link])?;
        each(slice::from_mut(self.0), slice::from_ref(&theirs));
        Ok(())
    }

    #[inline(always)]
    fn send(
        &mut self,
        core: &mut Core,
        edges: &mut TreeEdges,
        _step: usize,
        to: impl Fn(usize) -> bool,
        sent: &mut usize,
    ) -> Result<(), Error> {
        while let Some(link) = edges.links.get_mut(*sent) {
            if to(*sent) {
                core.send(link, &*self.0)?;
            }
            *sent += 1;
        }
        Ok(())
    }

    fn values(&mut self) -> &mut [T] {
        slice::from_mut(self.0)
    }
}
