//! From one member to all, and from all to one: along the edges of a tree, step by step.
//!
//! Downwards the root sends to its neighbours in the tree in the planned order; every other member receives from the
//! neighbour towards the root and passes on what it got. Upwards every member combines its own values with those of its
//! neighbours away from the root and passes the result on. A root other than the plan's works over the same edges.
//!
//! A [`Message`] has one step or more. A member passes a step on before it takes the next one, so all
//! levels of a tree work at once, whatever the length. The root of a broadcast may run ahead of the others by as many
//! messages as an edge holds, and the leaves of a reduction return as soon as their values are on their way.
//!
//! Source: S. Kaestle et al., Machine-Aware Atomic Broadcast Trees for Multicores, OSDI 2016.

use corecast_channel::Plain;

use super::Order;
use crate::core::Core;
use crate::error::Error;
use crate::tree::TreeEdges;

/// The progress of a message at one member.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Steps done.
    step: usize,
    /// Links received from, or skipped, in the current step; not 0 once begun, where links are not taken in turn.
    received: usize,
    /// Links sent along, or skipped, in the current step.
    sent: usize,
}

impl Progress {
    fn advance(&mut self) {
        *self = Self { step: self.step + 1, ..Self::default() };
    }
}

/// Values that travel along the edges of a tree, in one step or more.
pub(crate) trait Message {
    /// The values that are combined.
    type Item: Plain;
    /// True if there is one step, so that what has come along any link can be combined at once.
    const IS_ONE_STEP: bool;

    /// Prepares a step; false if there are no more.
    fn prepare(&mut self, core: &mut Core, edges: &mut TreeEdges, step: usize) -> Result<bool, Error>;

    /// Receives what travels in a step.
    fn recv(&mut self, core: &mut Core, edges: &mut TreeEdges, step: usize, link: usize) -> Result<(), Error>;

    /// Receives it and lets `each` combine it with the own values: `each` gets some of these, and those received for them.
    fn combine(
        &mut self,
        core: &mut Core,
        edges: &mut TreeEdges,
        step: usize,
        link: usize,
        each: &mut impl FnMut(&mut [Self::Item], &[Self::Item]),
    ) -> Result<(), Error>;

    /// Sends it along all links that are `to` carry it, from the `sent`-th on.
    fn send(
        &mut self,
        core: &mut Core,
        edges: &mut TreeEdges,
        step: usize,
        to: impl Fn(usize) -> bool,
        sent: &mut usize,
    ) -> Result<(), Error>;

    /// The own values.
    fn values(&mut self) -> &mut [Self::Item];
}

/// Copies the root's message to those of all others.
#[inline]
pub(crate) fn broadcast(
    core: &mut Core,
    edges: &mut TreeEdges,
    root: usize,
    message: &mut impl Message,
    progress: &mut Progress,
) -> Result<(), Error> {
    let source = edges.towards(root);
    while message.prepare(core, edges, progress.step)? {
        if let Some(source) = source.filter(|_| progress.received == 0) {
            message.recv(core, edges, progress.step, source)?;
            progress.received = 1;
        }
        message.send(core, edges, progress.step, |link| Some(link) != source, &mut progress.sent)?;
        progress.advance();
    }
    Ok(())
}

/// Combines the messages of all members in that of the root: those of the neighbours in the order of the links or, if
/// `order` allows it, as they arrive.
#[inline(always)]
pub(super) fn combine<M: Message>(
    core: &mut Core,
    edges: &mut TreeEdges,
    root: usize,
    order: Order,
    message: &mut M,
    progress: &mut Progress,
    each: &mut impl FnMut(&mut [M::Item], &[M::Item]),
) -> Result<(), Error> {
    let sink = edges.towards(root);
    while message.prepare(core, edges, progress.step)? {
        if M::IS_ONE_STEP && order == Order::Arrival {
            combine_as_they_arrive(core, edges, sink, message, progress, each)?;
        } else {
            while progress.received < edges.links.len() {
                if Some(progress.received) != sink {
                    message.combine(core, edges, progress.step, progress.received, each)?;
                }
                progress.received += 1;
            }
        }
        message.send(core, edges, progress.step, |link| Some(link) == sink, &mut progress.sent)?;
        progress.advance();
    }
    Ok(())
}

fn combine_as_they_arrive<M: Message>(
    core: &mut Core,
    edges: &mut TreeEdges,
    sink: Option<usize>,
    message: &mut M,
    progress: &mut Progress,
    each: &mut impl FnMut(&mut [M::Item], &[M::Item]),
) -> Result<(), Error> {
    if progress.received == 0 {
        edges.missing.clear();
        edges.missing.extend((0..edges.links.len()).filter(|&link| Some(link) != sink));
        progress.received = 1;
    }
    while !edges.missing.is_empty() {
        let found = wait_for_any(core, edges)?;
        message.combine(core, edges, progress.step, edges.missing[found], each)?;
        edges.missing.swap_remove(found);
    }
    Ok(())
}

/// The place among the missing links of one along which a message has come.
fn wait_for_any(core: &mut Core, edges: &mut TreeEdges) -> Result<usize, Error> {
    let TreeEdges { links, missing, .. } = edges;
    core.wait_at_own_word(|| missing.iter().position(|&link| links[link].rx.is_ready()))
}
