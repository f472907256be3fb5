//! From one member to all: down the planned tree, message by message.
//!
//! The root sends to its neighbours in the tree in the planned order; everybody else receives from the neighbour towards
//! the root and passes on. A root other than the plan's works over the same edges. Members see all broadcasts in the same
//! order, as they call them in the same order. The root may run ahead of the others by as many messages as an edge holds.
//!
//! Source: S. Kaestle et al., Machine-Aware Atomic Broadcast Trees for Multicores, OSDI 2016.

use corecast_channel::Plain;

use crate::core::Core;
use crate::error::Error;
use crate::web::Web;

/// Gives `value` at `root` to the `value` of all others.
#[inline]
pub(crate) fn broadcast<T: Plain>(core: &mut Core, web: &mut Web, root: usize, value: &mut T) -> Result<(), Error> {
    let source = web.towards(root);
    if let Some(source) = source {
        *value = core.recv(&mut web.links[source])?;
    }
    for (i, link) in web.links.iter_mut().enumerate() {
        if Some(i) != source {
            core.send(link, value)?;
        }
    }
    Ok(())
}
