//! From one member to all: down the planned tree, message by message.
//!
//! The root sends to its neighbours in the tree in the planned order; every other member receives from the neighbour
//! towards the root and passes the value on. A root other than the plan's works over the same edges. Members see all
//! broadcasts in the same order, as they call them in the same order. The root may run ahead of the others by as many
//! messages as an edge holds.
//!
//! Source: S. Kaestle et al., Machine-Aware Atomic Broadcast Trees for Multicores, OSDI 2016.

use corecast_channel::Plain;

use crate::core::Core;
use crate::error::Error;
use crate::web::Web;

/// The progress of a broadcast at one member.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// True at members other than the root once the value is here.
    is_received: bool,
    /// Links handled.
    passed: usize,
}

/// Copies the root's `value` to the `value` of all others. If a wait ends at a limit, another call goes on where it ended.
#[inline]
pub(crate) fn broadcast<T: Plain>(
    core: &mut Core,
    web: &mut Web,
    root: usize,
    value: &mut T,
    progress: &mut Progress,
) -> Result<(), Error> {
    let source = web.towards(root);
    if let Some(source) = source.filter(|_| !progress.is_received) {
        *value = core.recv(&mut web.links[source])?;
        progress.is_received = true;
    }
    while let Some(link) = web.links.get_mut(progress.passed) {
        if Some(progress.passed) != source {
            core.send(link, value)?;
        }
        progress.passed += 1;
    }
    Ok(())
}
