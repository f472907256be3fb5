//! The tournament of all nodes, and what it found, the same at every node.

use corecast_plan::cluster::{Arrival, ClusterModel, MachineKind, MachineSource, Nic, NodeRun, Parameter, Tier};

use super::hosts::Hosts;
use super::lanes;
use super::leader_end::{LeaderEnd, words_of};
use super::pair::{Found, answer, ask, median};
use super::tiers::{Place, tiers_of};
use super::tournament::{partner, rounds};
use super::{Settings, tiers};
use crate::nodes::{Engine, Fault, FaultKind, FaultWord};

/// The longest place of a node in its network, in bytes.
const PLACE_BYTES: usize = 256;

/// A partner and the ten figures of [`Found`].
const RECORD_BYTES: usize = 88;

/// The record of a round without a partner.
const NOBODY: f64 = -1.0;

/// The measured costs of messages between nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkCosts {
    /// The number of nodes: of hosts, however many leaders each has.
    pub nodes: usize,
    /// The library that carried the messages.
    pub engine: String,
    /// Pairs that met, in both directions, ordered by node and then by round.
    pub pairs: Vec<PairCosts>,
    /// `(k, ns)`: until the messages of 64 KiB that k lanes of a node send at once have arrived; empty if some node has one
    /// leader.
    pub lanes: Vec<(u32, f64)>,
    places: Vec<Place>,
}

/// The costs of one node's messages to another one, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairCosts {
    /// The node that measured.
    pub from: usize,
    /// Its partner.
    pub to: usize,
    /// From the begin of a message of 8 bytes until the partner has it: both CPUs' time and the way.
    pub one_way_ns: f64,
    /// The median absolute deviation of that.
    pub spread_ns: f64,
    /// The sender's CPU time of a message.
    pub send_ns: f64,
    /// The receiver's CPU time of a message that has arrived.
    pub receive_ns: f64,
    /// Between two messages of a burst.
    pub gap_ns: f64,
    /// An exchange of messages of 8 bytes that both send at once.
    pub exchange_ns: f64,
    /// For each byte, between 16 KiB and 64 KiB.
    pub byte_ns: f64,
    /// The mean of uninterrupted exchanges over their median.
    pub late_ns: f64,
    /// The share of exchanges that took more than 5 times the median.
    pub tail_share: f64,
    /// By how much those took longer, on average.
    pub tail_ns: f64,
}

/// Measures the messages between all nodes. All leaders call it at the same time, with settings that differ in the place and the
/// host only, over an engine that was not remade.
///
/// # Errors
/// A [`Fault`] of the engine, after which it is of use only as its rules say.
pub fn measure(engine: &mut dyn Engine, settings: &Settings) -> Result<NetworkCosts, Fault> {
    let measured = tournament(engine, settings);
    let node = engine.facts().node as u32;
    let lost = match &measured {
        Err(Fault::NodeLost { node: lost }) => Some(FaultWord { epoch: 0, node: *lost as u32, kind: FaultKind::Node }),
        Err(Fault::Engine { class, .. }) => {
            Some(FaultWord { epoch: 0, node, kind: FaultKind::Engine { class: *class } })
        }
        _ => None,
    };
    // Nodes that meet others would wait for this one in the next round.
    lost.into_iter().for_each(|word| engine.tell(word));
    measured
}

/// All rounds, and what they found at all nodes.
fn tournament(engine: &mut dyn Engine, settings: &Settings) -> Result<NetworkCosts, Fault> {
    let mut end = LeaderEnd::new(engine);
    let engine = end.facts().engine.clone();
    let places = gathered_places(&mut end, &settings.place)?;
    let hosts = Hosts::gathered(&mut end, settings.host)?;
    let pairs = gathered_pairs(&mut end, &hosts, settings)?;
    let lanes = lanes::curve(&mut end, &hosts, settings)?;
    let places = (0..hosts.len()).map(|host| places[hosts.leader(host, 0)].clone()).collect();
    Ok(NetworkCosts { nodes: hosts.len(), engine, pairs, lanes, places })
}

/// The costs that the first leaders of all hosts find.
fn gathered_pairs(end: &mut LeaderEnd<'_>, hosts: &Hosts, settings: &Settings) -> Result<Vec<PairCosts>, Fault> {
    let (host, lane) = hosts.seat(end.facts().node);
    end.rest(lane > 0);
    let mut records = Vec::new();
    for round in rounds(hosts.len(), settings.rounds as usize) {
        // All pairs of a round measure at once: none begins while another one is still in the round before.
        end.gather(&[0; 8])?;
        let found = match partner(hosts.len(), round, host).filter(|_| lane == 0) {
            None => None,
            Some(other) => Some((other, both(end, (host, other), hosts.leader(other, 0), settings)?)),
        };
        records.extend_from_slice(&record(found));
    }
    let all = end.gather(&records)?;
    end.rest(false);
    let rounds = records.len() / RECORD_BYTES;
    let pair = |(i, record): (usize, &[u8])| pair_of(hosts.seat(i / rounds).0, record);
    let mut pairs: Vec<PairCosts> = all.chunks_exact(RECORD_BYTES).enumerate().filter_map(pair).collect();
    pairs.sort_by_key(|pair| pair.from);
    Ok(pairs)
}

/// Asks and answers the partner's leader, which does so the other way round.
fn both(
    end: &mut LeaderEnd<'_>,
    (host, other): (usize, usize),
    leader: usize,
    settings: &Settings,
) -> Result<Found, Fault> {
    if host < other {
        let found = ask(end, leader, settings)?;
        answer(end, leader, settings)?;
        Ok(found)
    } else {
        answer(end, leader, settings)?;
        ask(end, leader, settings)
    }
}

fn gathered_places(end: &mut LeaderEnd<'_>, own: &str) -> Result<Vec<Place>, Fault> {
    let mut bytes = [0; PLACE_BYTES];
    let len = own.len().min(PLACE_BYTES);
    bytes[..len].copy_from_slice(&own.as_bytes()[..len]);
    let all = end.gather(&bytes)?;
    Ok(all.chunks_exact(PLACE_BYTES).map(Place::of).collect())
}

fn record(found: Option<(usize, Found)>) -> [u8; RECORD_BYTES] {
    let (partner, found) = found.map_or((NOBODY, Found::default()), |(partner, found)| (partner as f64, found));
    let mut bytes = [0; RECORD_BYTES];
    let figures = [partner].into_iter().chain(found.figures());
    for (place, figure) in bytes.chunks_exact_mut(8).zip(figures) {
        place.copy_from_slice(&figure.to_le_bytes());
    }
    bytes
}

fn pair_of(from: usize, record: &[u8]) -> Option<PairCosts> {
    let mut figures = words_of(record).map(f64::from_bits);
    let partner = figures.next().filter(|&partner| partner >= 0.0)?;
    let mut rest = [0.0; 10];
    rest.iter_mut().zip(figures).for_each(|(place, figure)| *place = figure);
    let Found {
        one_way_ns,
        spread_ns,
        send_ns,
        receive_ns,
        gap_ns,
        exchange_ns,
        byte_ns,
        late_ns,
        tail_share,
        tail_ns,
    } = Found::of(rest);
    let to = partner as usize;
    let costs = PairCosts {
        from,
        to,
        one_way_ns,
        spread_ns,
        send_ns,
        receive_ns,
        gap_ns,
        exchange_ns,
        byte_ns,
        late_ns,
        tail_share,
        tail_ns,
    };
    rest.iter().all(|figure| figure.is_finite()).then_some(costs)
}

impl NetworkCosts {
    /// The tiers of a cluster model, each parameter the median of the pairs that the tier is the smallest for. `source` says
    /// when and how they were measured. Tiers that no pair belongs to are left out.
    #[must_use]
    pub fn tiers(&self, source: &str) -> Vec<Tier> {
        let sizes = tiers_of(self.nodes, &self.places, &self.pairs);
        let mut tiers = Vec::new();
        let mut below = 1;
        for (name, size) in sizes.into_iter().map(|(name, size)| (name, Some(size))).chain([("all".to_owned(), None)]) {
            let is_inside = |pair: &&PairCosts| {
                let is_within = |size: usize| pair.from / size == pair.to / size;
                size.is_none_or(is_within) && (below == 1 || !is_within(below))
            };
            let pairs: Vec<&PairCosts> = self.pairs.iter().filter(is_inside).collect();
            if !pairs.is_empty() {
                tiers.push(tiers::tier(&name, size.map(|size| size as u64), &pairs, source));
                below = size.unwrap_or(below);
            }
        }
        tiers
    }

    /// How lanes of one node disturb each other; `None` if that was not measured, as some node has one leader.
    #[must_use]
    pub fn nic(&self, source: &str) -> Option<Nic> {
        let curve: Vec<(u32, Parameter)> =
            self.lanes.iter().map(|&(lanes, ns)| (lanes, Parameter::measured(ns, source))).collect();
        (curve.len() > 1).then(|| Nic { bytes: lanes::BYTES as u64, curve, other: Default::default() })
    }

    /// All of it as the model of a cluster whose nodes are this machine, each with a member on every CPU.
    #[must_use]
    pub fn model(&self, name: String, machine: MachineSource, source: &str) -> ClusterModel {
        let kind = "node".to_owned();
        let run = NodeRun { kind: kind.clone(), count: self.nodes as u64, place: None, other: Default::default() };
        ClusterModel {
            name,
            machines: [(kind, MachineKind::of(machine))].into(),
            nodes: vec![run],
            tiers: self.tiers(source),
            nic: self.nic(source),
            arrival: Some(self.arrival(source)),
            other: Default::default(),
        }
    }

    /// How unpunctual the nodes were while nothing else ran.
    #[must_use]
    pub fn arrival(&self, source: &str) -> Arrival {
        let of = |get: fn(&PairCosts) -> f64| median(self.pairs.iter().map(get).collect());
        let mean =
            |get: fn(&PairCosts) -> f64| self.pairs.iter().map(get).sum::<f64>() / self.pairs.len().max(1) as f64;
        let interrupted: f64 = self.pairs.iter().map(|pair| pair.tail_share * pair.tail_ns).sum();
        let shares: f64 = self.pairs.iter().map(|pair| pair.tail_share).sum();
        let tail_ns = if shares > 0.0 { interrupted / shares } else { 0.0 };
        Arrival {
            mean_ns: Parameter::measured(of(|pair| pair.late_ns), source),
            tail_share: Parameter::measured(mean(|pair| pair.tail_share).min(1.0), source),
            tail_ns: Parameter::measured(tail_ns, source),
            other: Default::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::local::Network;
    use corecast_plan::cluster::{ClusterRequest, Near};
    use corecast_plan::{Effort, Operation};

    fn measured(network: Network, place: impl Fn(usize) -> String) -> Vec<Result<NetworkCosts, Fault>> {
        measured_on(network, place, |_| None)
    }

    fn measured_on(
        network: Network,
        place: impl Fn(usize) -> String,
        host: impl Fn(usize) -> Option<u64>,
    ) -> Vec<Result<NetworkCosts, Fault>> {
        let nodes = network.engines().into_iter().enumerate().map(|(node, mut engine)| {
            let (place, host) = (place(node), host(node));
            let settings = Settings { exchanges: 10, bursts: 4, place, host, ..Settings::default() };
            std::thread::spawn(move || measure(&mut *engine, &settings))
        });
        let nodes: Vec<_> = nodes.collect();
        nodes.into_iter().map(|node| node.join().expect("no node panics")).collect()
    }

    #[test]
    fn every_node_learns_the_same_of_all_pairs() {
        for nodes in [1, 2, 5, 6] {
            let found = measured(Network::of(nodes).seed(3).delays(10), |_| String::new());
            let first = found[0].as_ref().expect("measured");
            assert_eq!(first.pairs.len(), nodes * (nodes - 1));
            assert!(found.iter().all(|costs| costs.as_ref() == Ok(first)));
            for pair in &first.pairs {
                assert!(pair.from != pair.to && pair.one_way_ns > 0.0 && pair.receive_ns > 0.0, "{pair:?}");
            }
        }
    }

    #[test]
    fn a_node_that_dies_in_the_midst_is_named_by_the_others() {
        // Steps of its gathers, its pairs, and beyond them.
        for step in [1, 2, 5, 40, 200] {
            let network = Network::of(4).seed(step).delays(10).death(2, step);
            let found = measured(network, |_| String::new());
            for (node, costs) in found.iter().enumerate().filter(|&(node, _)| node != 2) {
                let names = match costs {
                    Err(Fault::NodeLost { node }) => *node == 2,
                    Err(Fault::Told(word)) => (word.kind, word.node) == (FaultKind::Node, 2),
                    _ => false,
                };
                assert!(names, "node {node} when node 2 dies at its step {step}: {costs:?}");
            }
        }
    }

    #[test]
    fn leaders_of_one_host_are_lanes_of_one_node() {
        // Of three hosts one has three leaders, dealt in turns, and the others have two.
        let found = measured_on(Network::of(7).seed(5).delays(10), |_| String::new(), |leader| Some(leader as u64 % 3));
        let first = found[0].as_ref().expect("measured");
        assert!(found.iter().all(|costs| costs.as_ref() == Ok(first)));
        assert_eq!((first.nodes, first.pairs.len()), (3, 6));
        assert!(first.pairs.iter().all(|pair| pair.from < 3 && pair.to < 3 && pair.from != pair.to), "{first:?}");
        assert_eq!(first.lanes.iter().map(|(lanes, _)| *lanes).collect::<Vec<_>>(), [1, 2]);
        let machine = MachineSource::Synthetic("core:2 pu:1".to_owned());
        let model = first.model("lanes".to_owned(), machine, "today");
        model.check().expect("what is measured fits together");
        let nic = model.nic.as_ref().expect("a curve");
        assert_eq!((model.len(), nic.bytes, nic.curve.len()), (3, 64 << 10, 2));
        // With one leader on some host there is nothing to compare.
        let found = measured_on(Network::of(3), |_| String::new(), |leader| Some(leader as u64 / 2));
        let costs = found[0].as_ref().expect("measured");
        assert_eq!((costs.nodes, costs.nic("today")), (2, None));
    }

    #[test]
    fn the_costs_make_a_model_that_is_planned_with() {
        let found = measured(Network::of(4), |node| format!("system.switch{}.node{node}", node / 2));
        let costs = found[0].as_ref().expect("measured");
        let machine = MachineSource::Synthetic("core:2 pu:1".to_owned());
        let model = costs.model("local".to_owned(), machine, "today");
        let sizes: Vec<Option<u64>> = model.tiers.iter().map(|tier| tier.size).collect();
        assert_eq!((sizes, &model.nic), (vec![Some(2), None], &None));
        let source = &model.tiers[1].latency_ns.source;
        assert!(source.starts_with("today, 8 pairs"), "{source}");
        model.check().expect("what is measured fits together");
        let near = Near::plan_all(&model, std::path::Path::new("."), Effort::Quick).expect("the insides");
        let plan = ClusterRequest::new(Operation::Barrier).plan(&model, &near).expect("a plan");
        assert!(plan.best().quiet_ns > 0.0);
    }
}
