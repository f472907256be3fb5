//! The participants of each shape of traffic among threads: the ends of a stream, or the nodes of a program that is built on
//! channels.
//!
//! ZIMP's two programs are played without their computations. Each node does its steps for one request after the other, so
//! that a request is a chain of messages; one client sends all requests and waits for each.

use std::sync::Arc;

use super::bodies::{Sink, Source};
use super::contender::{Carrier, Inlets, carrier};
use super::ends::{Inlet, Outlet};
use super::node::{Node, Step};
use super::script::{Lane, Script, Turn};
use super::wire::Wire;
use corecast_race::harness::{Abort, Body};

/// The nodes of a program: threads, whose channels are all made by this contender.
///
/// # Errors
/// Why the contender cannot do it.
pub(super) fn nodes(
    script: &Script,
    carrier: &dyn Carrier,
    wire: &Wire,
    abort: &Arc<Abort>,
) -> Result<Vec<Box<dyn Body>>, String> {
    let channels = Channels { carrier, wire, abort };
    let made = script.lanes.iter().map(|&Lane { bytes, receivers }| channels.channel(bytes, receivers));
    let (mut senders, mut receivers) = (Vec::new(), Vec::new());
    for link in made {
        let (sender, ends) = link?;
        senders.push(Some(sender));
        receivers.push(ends.into_iter().map(Some).collect::<Vec<_>>());
    }
    let mut step = |turn: &Turn| match *turn {
        Turn::Send(lane) => Step::Send(senders[lane].take().expect("a lane has one sender")),
        Turn::Receive(lane, number) => Step::Receive(receivers[lane][number].take().expect("each end is one node's")),
    };
    let mut node = |turns: &Vec<Turn>| Box::new(Node::new(turns.iter().map(&mut step).collect())) as Box<dyn Body>;
    Ok(script.nodes.iter().map(&mut node).collect())
}

/// The two participants of a pair over this contender's channels: one sends and the other receives; or, for a round trip,
/// one asks and waits, and the other answers the same.
///
/// # Errors
/// Why the contender cannot do it.
pub(crate) fn pair(
    contender: &str,
    wire: &Wire,
    is_round_trip: bool,
    abort: &Arc<Abort>,
) -> Result<Vec<Box<dyn Body>>, String> {
    let carrier = carrier(contender).ok_or_else(|| format!("no channel is called '{contender}'"))?;
    let channels = Channels { carrier, wire, abort };
    if !is_round_trip {
        return fan(contender, &Wire { receivers: 1, ..*wire }, abort);
    }
    let (to, asked) = channels.unicast(wire.bytes)?;
    let (answer, answered) = channels.unicast(wire.bytes)?;
    let asks = vec![Step::Send(to), Step::Receive(answered)];
    let answers = vec![Step::Receive(asked), Step::Send(answer)];
    Ok([asks, answers].map(|steps| Box::new(Node::new(steps)) as Box<dyn Body>).into())
}

/// The participants of a stream to all receivers of the wire, over this contender's channel. All are threads.
///
/// # Errors
/// Why the contender cannot do it.
pub(crate) fn fan(contender: &str, wire: &Wire, abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, String> {
    let carrier = carrier(contender).ok_or_else(|| format!("no channel is called '{contender}'"))?;
    let (to, from) = Channels { carrier, wire, abort }.channel(wire.bytes, wire.receivers)?;
    let sinks = from.into_iter().map(|from| Box::new(Sink::new(from)) as Box<dyn Body>);
    Ok([Box::new(Source::new(to)) as Box<dyn Body>].into_iter().chain(sinks).collect())
}

/// A channel: its sending end, and what receives.
type Link<R> = (Box<dyn Outlet>, R);

/// Makes channels.
struct Channels<'a> {
    carrier: &'a dyn Carrier,
    wire: &'a Wire,
    abort: &'a Arc<Abort>,
}

impl Channels<'_> {
    fn unicast(&self, bytes: usize) -> Result<Link<Box<dyn Inlet>>, String> {
        let (outlet, mut inlets) = self.channel(bytes, 1)?;
        Ok((outlet, inlets.pop().ok_or("a channel without a receiver")?))
    }

    fn channel(&self, bytes: usize, receivers: usize) -> Result<Link<Vec<Box<dyn Inlet>>>, String> {
        let wire = self.wire.of_lane(bytes, receivers);
        let ends = self.carrier.open(&wire, self.abort).map_err(|unfit| unfit.to_string())?;
        let inlets = match ends.inlets {
            Inlets::Here(inlets) => inlets,
            Inlets::Anywhere(seeds) => {
                let attach = |seed| self.carrier.attach(&wire, seed, self.abort).map_err(|unfit| unfit.to_string());
                seeds.into_iter().map(attach).collect::<Result<_, _>>()?
            }
        };
        Ok((ends.outlet, inlets))
    }
}

#[cfg(test)]
mod tests {
    use corecast::base::wait::Wait;

    use super::super::traffic::Traffic;
    use super::*;
    use crate::this_machine::this_machine;
    use corecast_race::harness::{Crew, Task};

    #[test]
    fn programs_run_over_broadcasts_and_unicasts() {
        let cpu = this_machine().cpu_set().as_slice()[0];
        for traffic in [Traffic::Paxos, Traffic::Checkpoint] {
            let wire = Wire::new(1000, 3, true, Wait::Adaptive);
            let seats = vec![Some(cpu); traffic.participants(3)];
            let mut crew = Crew::seated(seats, true, std::time::Duration::from_secs(20)).expect("an allowed CPU");
            for name in ["ump+mcast", "ump", "zimp", "crossbeam-channel"] {
                let (carrier, abort) = (carrier(name).expect("registered"), Arc::default());
                let script = Script::of(traffic, wire.bytes, wire.receivers).expect("a program");
                let bodies = nodes(&script, carrier, &wire, &abort).expect("its channels are made");
                assert_eq!(bodies.len(), traffic.participants(3), "{traffic:?}");
                let block = crew.run(bodies, Task::Check { rounds: 100 }, &abort);
                block.unwrap_or_else(|failure| panic!("{traffic:?} over {name}: {failure}"));
            }
        }
    }
}
