//! The nodes of a program as processes: how they come to the ends of their channels.
//!
//! A seed makes a receiving end, and no contender has one for a sending end. So the node that sends to a channel makes it, and
//! hands the seeds of its receivers to the parent, which passes each on to the node that receives. All nodes have their ends
//! before any of them is told of a task.

use std::io::Stdin;
use std::path::Path;
use std::sync::Arc;

use corecast::base::CpuId;

use super::contender::{Carrier, Inlets, RECEIVERS_LIVE_HERE, Seed};
use super::ends::Outlet;
use super::node::{Node, Step};
use super::proxy::{Proxy, Role};
use super::script::{Lane, Script, Turn};
use super::wire::Wire;
use corecast_race::child::{hand, hear};
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Body};

/// The nodes of a program, each a process on its CPU, if it has one. All channels are made by this contender.
///
/// # Errors
/// Why the contender cannot do it, or a process cannot be started or has ended.
pub(super) fn nodes(
    script: &Script,
    (carrier, wire): (&'static dyn Carrier, &Wire),
    program: (&Path, &[String]),
    cpus: &[Option<CpuId>],
    abort: &Arc<Abort>,
) -> Result<Vec<Box<dyn Body>>, Failure> {
    let start = |(turns, &cpu): (&Vec<Turn>, &Option<CpuId>)| {
        let role = Role::Node(turns.iter().map(|&turn| (turn, script.lanes[lane(turn)])).collect());
        Proxy::start(program, (carrier, wire), cpu, (role, &[]), abort)
    };
    let mut proxies = script.nodes.iter().zip(cpus).map(start).collect::<Result<Vec<Proxy>, _>>()?;
    let mut seeds: Vec<Vec<Seed>> = script.lanes.iter().map(|_| Vec::new()).collect();
    for (proxy, turns) in proxies.iter_mut().zip(&script.nodes) {
        for lane in turns.iter().filter(|turn| matches!(turn, Turn::Send(_))).map(|&turn| lane(turn)) {
            let made = (0..script.lanes[lane].receivers).map(|_| proxy.await_seed());
            seeds[lane] = made.collect::<Result<_, _>>()?;
        }
    }
    for (proxy, turns) in proxies.iter_mut().zip(&script.nodes) {
        for turn in turns {
            if let Turn::Receive(lane, number) = *turn {
                proxy.give(&seeds[lane][number])?;
            }
        }
    }
    // Only the nodes hold the ends: a node that has ended is missed by those that wait for it.
    drop(seeds);
    proxies.iter_mut().try_for_each(Proxy::await_ready)?;
    Ok(proxies.into_iter().map(|proxy| Box::new(proxy) as Box<dyn Body>).collect())
}

fn lane(turn: Turn) -> usize {
    match turn {
        Turn::Send(lane) | Turn::Receive(lane, _) => lane,
    }
}

/// The node that does these turns, in its own process: first it makes the channels to which it sends, and hands over the
/// receivers' seeds; then it takes those of the channels from which it receives.
///
/// # Errors
/// Why the contender cannot do it, or the parent is gone.
pub(super) fn node(
    control: &Stdin,
    carrier: &dyn Carrier,
    wire: &Wire,
    turns: &[(Turn, Lane)],
) -> Result<Node, Failure> {
    let of_lane = |lane: Lane| wire.of_lane(lane.bytes, lane.receivers);
    let sent_to = turns.iter().filter(|(turn, _)| matches!(turn, Turn::Send(_)));
    let made: Result<Vec<_>, _> = sent_to.map(|&(_, lane)| sending_end(control, carrier, &of_lane(lane))).collect();
    let mut made = made?.into_iter();
    let mut step = |&(turn, lane): &(Turn, Lane)| {
        Ok(match turn {
            Turn::Send(_) => Step::Send(made.next().expect("one was made for each")),
            Turn::Receive(..) => {
                let (word, fds) = hear(control)?.ok_or_else(|| Failure::Refused("the parent is gone".to_owned()))?;
                let inlet = carrier.attach(&of_lane(lane), Seed { fds, word }, &Arc::default());
                Step::Receive(inlet.map_err(Failure::refused)?)
            }
        })
    };
    Ok(Node::new(turns.iter().map(&mut step).collect::<Result<_, Failure>>()?))
}

fn sending_end(control: &Stdin, carrier: &dyn Carrier, wire: &Wire) -> Result<Box<dyn Outlet>, Failure> {
    let ends = carrier.open(wire, &Arc::default()).map_err(Failure::refused)?;
    let Inlets::Anywhere(seeds) = ends.inlets else {
        return Err(Failure::refused(RECEIVERS_LIVE_HERE));
    };
    seeds.iter().try_for_each(|seed| hand(control, &seed.word, &seed.fds))?;
    Ok(ends.outlet)
}
