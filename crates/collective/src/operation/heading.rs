//! The number of a slice's values, which travels along a tree before them.

use crate::core::Core;
use crate::error::{Error, Loss};
use crate::link::Link;
use crate::tree::TreeEdges;

use super::Message;

/// The number of values that follow, the signature of their type, and the number of the first of their chunks, if they travel in
/// chunks. It is an array, as no part of a slice and hardly any user's value is one.
type Length = [u64; 3];

pub(super) fn send(
    core: &mut Core,
    link: &mut Link,
    (len, signature): (usize, u64),
    first_chunk: u64,
) -> Result<(), Error> {
    core.send::<Length>(link, &[len as u64, signature, first_chunk])
}

/// Receives from a neighbour the number of values it is about to send; returns the number of their first chunk. Makes the group
/// fail if the number of values, or their type, is another one.
pub(super) fn recv(core: &mut Core, link: &mut Link, (len, signature): (usize, u64)) -> Result<u64, Error> {
    let [found, theirs, first] = core.recv::<Length>(link)?;
    if theirs != signature {
        return Err(core.fail(link.rank, Loss::Mismatched));
    }
    if found != len as u64 {
        return Err(core.fail(link.rank, Loss::OtherLength));
    }
    Ok(first)
}

/// The heading of a slice whose values do not travel along the tree.
pub(crate) struct Heading {
    /// The number of its values.
    pub(crate) len: usize,
    /// The signature of their type.
    pub(crate) signature: u64,
}

impl Message for Heading {
    type Item = ();
    const IS_ONE_STEP: bool = false;

    fn prepare(&mut self, _core: &mut Core, _edges: &mut TreeEdges, step: usize) -> Result<bool, Error> {
        Ok(step == 0)
    }

    fn recv(&mut self, core: &mut Core, edges: &mut TreeEdges, _step: usize, link: usize) -> Result<(), Error> {
        recv(core, &mut edges.links[link], (self.len, self.signature)).map(drop)
    }

    fn combine(
        &mut self,
        core: &mut Core,
        edges: &mut TreeEdges,
        step: usize,
        link: usize,
        _each: &mut impl FnMut(&mut [()], &[()]),
    ) -> Result<(), Error> {
        self.recv(core, edges, step, link)
    }

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
                send(core, link, (self.len, self.signature), 0)?;
            }
            *sent += 1;
        }
        Ok(())
    }

    fn values(&mut self) -> &mut [()] {
        &mut []
    }
}
