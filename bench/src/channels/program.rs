//! The participants of each shape of traffic: the ends of a stream, or the nodes of a program that is built on channels.
//!
//! ZIMP's two programs are played without their computations. Each node does its steps for one request after the other, so
//! that a request is a chain of messages; one client sends all requests and waits for each.

use std::sync::Arc;

use super::bodies::{Sink, Source};
use super::contender::{Carrier, Inlets, carrier};
use super::ends::{Inlet, Outlet, Reading};
use super::traffic::Traffic;
use super::wire::Wire;
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Body};

/// The length of a coordinator's question.
const ASKED_BYTES: usize = 128;

/// The steps of a node for every request, in this order.
pub(super) enum Step {
    Send(Box<dyn Outlet>),
    Receive(Box<dyn Inlet>),
}

/// A node of a program, which does its steps for one request after the other.
struct Node {
    steps: Vec<Step>,
    /// The number of the next request, which is that of its messages on every channel.
    next: u64,
}

/// The nodes of a program other than a stream: threads, whose channels are all made by this contender.
///
/// # Errors
/// Why the contender cannot do it.
pub(super) fn nodes(
    traffic: Traffic,
    carrier: &dyn Carrier,
    wire: &Wire,
    abort: &Arc<Abort>,
) -> Result<Vec<Box<dyn Body>>, String> {
    if !carrier.traits().lossless {
        return Err("a lost message would end the program".to_owned());
    }
    let channels = Channels { carrier, wire, abort };
    let steps = match traffic {
        Traffic::Paxos => channels.paxos(),
        Traffic::Stream | Traffic::Checkpoint => channels.checkpoint(),
    };
    Ok(steps?.into_iter().map(|steps| Box::new(Node { steps, next: 0 }) as Box<dyn Body>).collect())
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
    Ok([asks, answers].map(|steps| Box::new(Node { steps, next: 0 }) as Box<dyn Body>).into())
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
    /// The steps of client, proposer, acceptor and learners.
    fn paxos(&self) -> Result<Vec<Vec<Step>>, String> {
        let Wire { bytes, receivers: learners, .. } = *self.wire;
        let (to_proposer, asked) = self.unicast(bytes)?;
        let (to_acceptor, proposed) = self.unicast(bytes)?;
        let (to_learners, accepted) = self.channel(bytes, learners)?;
        let mut client = vec![Step::Send(to_proposer)];
        let mut nodes = vec![
            vec![Step::Receive(asked), Step::Send(to_acceptor)],
            vec![Step::Receive(proposed), Step::Send(to_learners)],
        ];
        for accepted in accepted {
            let (answer, answered) = self.unicast(bytes)?;
            client.push(Step::Receive(answered));
            nodes.push(vec![Step::Receive(accepted), Step::Send(answer)]);
        }
        nodes.insert(0, client);
        Ok(nodes)
    }

    /// The steps of coordinator and members.
    fn checkpoint(&self) -> Result<Vec<Vec<Step>>, String> {
        let (to_members, asked) = self.channel(ASKED_BYTES, self.wire.receivers)?;
        let mut coordinator = vec![Step::Send(to_members)];
        let mut nodes = Vec::new();
        for asked in asked {
            let (answer, answered) = self.unicast(self.wire.bytes)?;
            coordinator.push(Step::Receive(answered));
            nodes.push(vec![Step::Receive(asked), Step::Send(answer)]);
        }
        nodes.insert(0, coordinator);
        Ok(nodes)
    }

    fn unicast(&self, bytes: usize) -> Result<Link<Box<dyn Inlet>>, String> {
        let (outlet, mut inlets) = self.channel(bytes, 1)?;
        Ok((outlet, inlets.pop().ok_or("a channel without a receiver")?))
    }

    fn channel(&self, bytes: usize, receivers: usize) -> Result<Link<Vec<Box<dyn Inlet>>>, String> {
        let own = Wire::new(bytes, receivers, self.wire.oversubscribed, self.wire.wait());
        let wire = Wire { polls: self.wire.polls, wake_ns: self.wire.wake_ns, ..own };
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

impl Node {
    fn requests(&mut self, requests: u64, reading: Reading) -> Result<(), Failure> {
        for number in self.next..self.next + requests {
            for step in &mut self.steps {
                match step {
                    Step::Send(outlet) => outlet.send(number, 1)?,
                    Step::Receive(inlet) => inlet.receive(number, 1, reading).map(drop)?,
                }
            }
        }
        self.next += requests;
        Ok(())
    }
}

impl Body for Node {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        self.requests(iterations, Reading::Sum)
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        self.requests(rounds, Reading::Verify)
    }
}

#[cfg(test)]
mod tests {
    use corecast::base::wait::Wait;

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
                let bodies = nodes(traffic, carrier, &wire, &abort).expect("lossless");
                assert_eq!(bodies.len(), traffic.participants(3), "{traffic:?}");
                let block = crew.run(bodies, Task::Check { rounds: 100 }, &abort);
                block.unwrap_or_else(|failure| panic!("{traffic:?} over {name}: {failure}"));
            }
            let lossy = nodes(traffic, carrier("udp").expect("registered"), &wire, &Arc::default());
            assert!(lossy.map(drop).expect_err("lossy").contains("lost message"));
        }
    }
}
