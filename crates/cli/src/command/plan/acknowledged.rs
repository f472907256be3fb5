//! `corecast plan --op acknowledged`: the diamond ring for broadcasts that are acknowledged.

use corecast::plan::diamond::{Diamond, DiamondError, DiamondJson, NodeJson};

use crate::failure::Failure;
use crate::table;

/// To how many a node sends if nobody says.
const ARITY: usize = 2;

/// Options of `--op acknowledged`.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
#[command(next_help_heading = "With --op acknowledged")]
pub(super) struct RingArgs {
    /// Let each node send to K others [default: 2].
    #[arg(long, value_name = "K")]
    arity: Option<usize>,
    /// Plan a ring of N nodes, on no machine [default: a node on every CPU].
    #[arg(long, value_name = "N", conflicts_with_all = ["machine", "sysfs_root", "synthetic", "cpus", "root"])]
    pub(super) n: Option<usize>,
    /// Let one more node gather in the root's place.
    #[arg(long)]
    companion: bool,
}

impl RingArgs {
    /// The ring of this many nodes.
    pub(super) fn ring(&self, nodes: usize) -> Result<Diamond, Failure> {
        let make: fn(usize, usize) -> Result<Diamond, DiamondError> =
            if self.companion { Diamond::with_companion } else { Diamond::new };
        make(nodes, self.arity.unwrap_or(ARITY)).map_err(Failure::input)
    }
}

/// The ring in words: a line for every node.
pub(super) fn describe(ring: &Diamond, json: &DiamondJson) -> String {
    let DiamondJson { messages, shortest, longest, nodes, .. } = json;
    let has_cpus = nodes.iter().any(|node| node.cpu.is_some());
    let headings = if has_cpus {
        [">node", "role", "sends to", "waits for", ">CPU"]
    } else {
        [">node", "role", "sends to", "waits for", ""]
    };
    let mut rows = table::table(&headings);
    for node in nodes {
        rows.add_row(row(node));
    }
    let ways = if shortest == longest { longest.to_string() } else { format!("{shortest} to {longest}") };
    format!("{ring}: {messages} messages, {ways} of them one after the other\n\n{}", table::text(&rows))
}

fn row(node: &NodeJson) -> [String; 5] {
    let list = |nodes: Vec<usize>| nodes.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let successors = node.successors.iter().map(|edge| edge.to).collect();
    let cpu = node.cpu.map_or(String::new(), |cpu| cpu.to_string());
    [node.id.to_string(), node.role.to_string(), list(successors), list(node.predecessors.clone()), cpu]
}
