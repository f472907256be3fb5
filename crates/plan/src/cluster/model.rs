//! A cluster: kinds of machines, how many nodes of each there are and where, and what messages between them cost.
//!
//! There is no matrix: 10^5 nodes have 10^10 pairs. Nodes lie on positions 0, 1, 2, ..., and each [`Tier`] cuts the
//! positions into units of its size, as switches, groups of switches and the whole system do. A message between two
//! nodes costs what the smallest tier says that has both in one unit.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::parameter::Parameter;

/// The most nodes of a cluster, and the positions that they can have.
pub const MOST_NODES: u64 = 1_000_000_000;

/// The most members of a cluster's node: the number of CPUs that a machine model can have.
pub const MOST_MEMBERS: u32 = 65_536;

/// The largest value of a parameter: 10^15, as for costs of machine models.
pub(super) const MOST: f64 = 1e15;

/// A cluster, the contents of a file of schema `corecast-cluster/1`.
///
/// ```
/// use corecast_plan::cluster::{self, ClusterModel};
/// let model: ClusterModel = cluster::parse(r#"{
///     "schema": "corecast-cluster/1", "name": "two racks",
///     "machines": {"small": {"synthetic": "pack:2 core:4 pu:1"}},
///     "nodes": [{"kind": "small", "count": 64}],
///     "tiers": [{"name": "switch",
///         "latency_ns": {"value": 1100, "provenance": "assumed"},
///         "send_ns": {"value": 250, "provenance": "assumed"},
///         "receive_ns": {"value": 250, "provenance": "assumed"},
///         "byte_ns": {"value": 0.08, "provenance": "assumed"}}]
/// }"#)?;
/// assert_eq!(model.len(), 64);
/// assert_eq!(model.scaled(100_000).len(), 100_000);
/// let error = cluster::parse(r#"{"schema": "corecast-cluster/1", "name": 7}"#).unwrap_err();
/// assert_eq!(error.to_string(), "`name`: expected a text, found 7");
/// # Ok::<(), cluster::ClusterTextError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterModel {
    /// Free text.
    pub name: String,
    /// The machines by kind.
    pub machines: BTreeMap<String, MachineKind>,
    /// The nodes, in ascending positions.
    pub nodes: Vec<NodeRun>,
    /// From the smallest to the one that holds all nodes.
    pub tiers: Vec<Tier>,
    /// How lanes of one node disturb each other; `None` if that is not known.
    pub nic: Option<Nic>,
    /// How unpunctual nodes are; `None` if that is not known.
    pub arrival: Option<Arrival>,
    /// Fields of the file that this version does not know.
    pub other: Map<String, Value>,
}

/// One kind of machine.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineKind {
    /// Where its model comes from.
    pub machine: MachineSource,
    /// The number of members on a node of this kind; `None` is one for each CPU.
    pub members: Option<u32>,
    /// Nanoseconds for each byte of the values that all members of a node reduce to one.
    pub reduce_byte_ns: Option<Parameter>,
    /// Nanoseconds for each byte that one member hands to all others of its node.
    pub broadcast_byte_ns: Option<Parameter>,
    /// Nanoseconds for each byte of two values that a leader combines.
    pub combine_byte_ns: Option<Parameter>,
    /// Fields of the file that this version does not know.
    pub other: Map<String, Value>,
}

/// The origin of a machine's model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MachineSource {
    /// A model file, by its path from the folder of the cluster file.
    File(String),
    /// A topology in hwloc's notation, from which the costs are assumed.
    Synthetic(String),
}

/// Nodes of one kind beside each other.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeRun {
    /// A kind of [`ClusterModel::machines`].
    pub kind: String,
    /// How many.
    pub count: u64,
    /// The position of the first; `None` is the one behind the nodes before.
    pub place: Option<u64>,
    /// Fields of the file that this version does not know.
    pub other: Map<String, Value>,
}

/// A part of the network: a switch, a group of switches, or the whole of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tier {
    /// Its name.
    pub name: String,
    /// Positions in one unit of it, a multiple of the size before; `None` is all positions, for the last tier only.
    pub size: Option<u64>,
    /// Nanoseconds on the way, with nobody busy.
    pub latency_ns: Parameter,
    /// Nanoseconds for which the sender's CPU is busy with a message.
    pub send_ns: Parameter,
    /// Nanoseconds for which the receiver's CPU is busy with a message.
    pub receive_ns: Parameter,
    /// Nanoseconds between two messages of one node, at least; `None` is no more than the CPU needs.
    pub gap_ns: Option<Parameter>,
    /// Nanoseconds of an exchange of two nodes that begin together, until both have the other's message; `None` is as long as one
    /// message, as if a CPU sent and received at the same time.
    pub exchange_ns: Option<Parameter>,
    /// Nanoseconds for each byte.
    pub byte_ns: Parameter,
    /// The longest message that is sent without asking the receiver first; `None` is any.
    pub eager_bytes: Option<Parameter>,
    /// Nanoseconds for which a longer one asks.
    pub rendezvous_ns: Option<Parameter>,
    /// The median absolute deviation of `latency_ns`, in nanoseconds.
    pub spread_ns: Option<Parameter>,
    /// Fields of the file that this version does not know.
    pub other: Map<String, Value>,
}

/// The time of messages that several lanes of a node send at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Nic {
    /// The length of each message, in bytes.
    pub bytes: u64,
    /// `(k, ns)`: until the messages of k lanes have arrived, ascending by k from 1.
    pub curve: Vec<(u32, Parameter)>,
    /// Fields of the file that this version does not know.
    pub other: Map<String, Value>,
}

/// How unpunctual nodes are: no model of messages alone shows what a step waits for its later side.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// Nanoseconds that each message of a chain of messages waits on average.
    pub mean_ns: Parameter,
    /// The share of messages that an interruption of their node delays, from 0 to 1.
    pub tail_share: Parameter,
    /// Nanoseconds that an interruption takes.
    pub tail_ns: Parameter,
    /// Fields of the file that this version does not know.
    pub other: Map<String, Value>,
}

impl ClusterModel {
    /// The number of nodes.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.nodes.iter().map(|run| run.count).sum()
    }

    /// True if it has no node, which [`ClusterModel::check`] refuses.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The same cluster with another number of nodes: each kind keeps its share, no position is free, and tiers hold as many as
    /// they do. The last tier holds the rest.
    ///
    /// # Panics
    ///
    /// If `nodes` is 0 or above [`MOST_NODES`], or the model has no node.
    #[must_use]
    #[track_caller]
    pub fn scaled(&self, nodes: u64) -> Self {
        assert!((1..=MOST_NODES).contains(&nodes), "a cluster has 1 to {MOST_NODES} nodes, not {nodes}");
        assert!(!self.is_empty(), "a cluster without a node has no shares to keep");
        let all = u128::from(self.len());
        let mut scaled = self.clone();
        let (mut before, mut taken) = (0, 0);
        for run in &mut scaled.nodes {
            before += u128::from(run.count);
            // The share of all runs so far, rounded, less what they have taken: no rounding is lost.
            let so_far = (u128::from(nodes) * before + all / 2) / all;
            let so_far = u64::try_from(so_far).expect("at most the number of nodes");
            (run.count, run.place) = (so_far - taken, None);
            taken = so_far;
        }
        scaled.nodes.retain(|run| run.count > 0);
        if let Some(last) = scaled.tiers.last_mut() {
            last.size = None;
        }
        scaled
    }

    /// The parameters of tiers, lanes, arrival and machines, each with the path of its field.
    #[must_use]
    pub fn parameters(&self) -> Vec<(String, &Parameter)> {
        let mut all = Vec::new();
        for (kind, machine) in &self.machines {
            let named = |(name, parameter)| (format!("machines.{kind}.{name}"), parameter);
            all.extend(machine.parameters().into_iter().map(named));
        }
        for (i, tier) in self.tiers.iter().enumerate() {
            all.extend(
                tier.parameters().into_iter().map(|(name, parameter)| (format!("tiers[{i}].{name}"), parameter)),
            );
        }
        for (i, (_, cost)) in self.nic.iter().flat_map(|nic| &nic.curve).enumerate() {
            all.push((format!("nic.curve[{i}][1]"), cost));
        }
        if let Some(arrival) = &self.arrival {
            all.extend(arrival.parameters().map(|(name, parameter)| (format!("arrival.{name}"), parameter)));
        }
        all
    }
}

impl MachineKind {
    /// A kind whose nodes have a member on each CPU.
    #[must_use]
    pub fn of(machine: MachineSource) -> Self {
        Self {
            machine,
            members: None,
            reduce_byte_ns: None,
            broadcast_byte_ns: None,
            combine_byte_ns: None,
            other: Map::new(),
        }
    }

    /// Its parameters by the names of their fields.
    pub(super) fn parameters(&self) -> Vec<(&'static str, &Parameter)> {
        let all = [
            ("reduce_byte_ns", &self.reduce_byte_ns),
            ("broadcast_byte_ns", &self.broadcast_byte_ns),
            ("combine_byte_ns", &self.combine_byte_ns),
        ];
        all.into_iter().filter_map(|(name, parameter)| Some((name, parameter.as_ref()?))).collect()
    }
}

impl Tier {
    /// A tier with the costs that every tier has, each assumed: `latency_ns`, the time for which either CPU is busy, and
    /// `byte_ns`.
    #[must_use]
    pub fn assumed(name: &str, size: Option<u64>, latency_ns: f64, busy_ns: f64, byte_ns: f64) -> Self {
        Self {
            name: name.to_owned(),
            size,
            latency_ns: Parameter::assumed(latency_ns),
            send_ns: Parameter::assumed(busy_ns),
            receive_ns: Parameter::assumed(busy_ns),
            gap_ns: None,
            exchange_ns: None,
            byte_ns: Parameter::assumed(byte_ns),
            eager_bytes: None,
            rendezvous_ns: None,
            spread_ns: None,
            other: Map::new(),
        }
    }

    /// Its parameters by the names of their fields.
    pub(super) fn parameters(&self) -> Vec<(&'static str, &Parameter)> {
        let all = [
            ("latency_ns", Some(&self.latency_ns)),
            ("send_ns", Some(&self.send_ns)),
            ("receive_ns", Some(&self.receive_ns)),
            ("gap_ns", self.gap_ns.as_ref()),
            ("exchange_ns", self.exchange_ns.as_ref()),
            ("byte_ns", Some(&self.byte_ns)),
            ("eager_bytes", self.eager_bytes.as_ref()),
            ("rendezvous_ns", self.rendezvous_ns.as_ref()),
            ("spread_ns", self.spread_ns.as_ref()),
        ];
        all.into_iter().filter_map(|(name, parameter)| Some((name, parameter?))).collect()
    }
}

impl Arrival {
    /// Its parameters by the names of their fields.
    pub(super) fn parameters(&self) -> [(&'static str, &Parameter); 3] {
        [("mean_ns", &self.mean_ns), ("tail_share", &self.tail_share), ("tail_ns", &self.tail_ns)]
    }
}
