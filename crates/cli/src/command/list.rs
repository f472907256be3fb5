//! `corecast list`: everything that can be named in options, from the registries.

use std::collections::BTreeMap;

use clap::ValueEnum;
use corecast::Barrier;
use corecast::lock::{Algorithm, Combine, Delegate, Facts, RwAlgorithm, Seq};
use corecast::machine::source::SOURCES;
use corecast::plan::{Effort, Operation, SHAPES, planners};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::Output;
use crate::{benchmarks, table};

/// Options of `list`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The registry to list [default: everything].
    what: Option<Registry>,
}

/// Something with names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum Registry {
    /// The operations that trees can be planned for.
    Operations,
    /// The rules that make trees.
    Shapes,
    /// The planners that search for plans.
    Planners,
    /// How hard is searched.
    Efforts,
    /// The barriers of a group.
    Barriers,
    /// The locks.
    Locks,
    /// What `bench` races.
    Contenders,
    /// The sources that can tell the topology.
    Sources,
}

/// One name.
#[derive(Debug, Serialize)]
struct Entry {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    about: Option<String>,
    /// The operation that a contender is raced at.
    #[serde(skip_serializing_if = "Option::is_none")]
    op: Option<String>,
    /// The properties of a lock.
    #[serde(skip_serializing_if = "Option::is_none")]
    lock: Option<LockEntry>,
}

/// The facts about a lock that help to choose it.
#[derive(Debug, Serialize)]
struct LockEntry {
    /// The type that it is used by.
    front: &'static str,
    /// Its number in the C interface, if it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u32>,
    /// Bytes of one lock, without its data and what it allocates.
    bytes: usize,
    /// The node that an acquisition brings along.
    node: String,
    /// The order of the waiters.
    order: String,
    /// True if threads that have waited for long sleep.
    parks: bool,
    /// The authors who described it.
    source: &'static str,
}

impl LockEntry {
    fn text(&self) -> String {
        let parks = if self.parks { "sleeps" } else { "spins, then yields" };
        let Self { front, bytes, node, order, source, .. } = self;
        format!("{front}, {}, node: {node}, {order}, {parks}; {source}", table::many(*bytes, "byte"))
    }
}

impl Entry {
    fn of_lock(front: &'static str, id: Option<u32>, facts: &Facts, bytes: usize) -> Self {
        let (node, order) = (facts.node.to_string(), facts.order.to_string());
        let properties = LockEntry { front, id, bytes, node, order, parks: facts.parks, source: facts.source };
        let (name, about) = (facts.name.to_owned(), Some(facts.about.to_owned()));
        Self { name, about, op: None, lock: Some(properties) }
    }

    /// All that keeps threads from each other: both registries, and what is of one kind.
    fn of_locks() -> Vec<Self> {
        let mutexes = Algorithm::ALL.iter().map(|&lock| ("Mutex", Some(lock as u32), lock.facts(), lock.len_bytes()));
        let shared = RwAlgorithm::ALL.iter().map(|lock| ("RwLock", None, lock.facts(), lock.len_bytes()));
        let others = [
            ("Seq", None, &Seq::<()>::FACTS, size_of::<Seq<()>>()),
            ("Combine", None, &Combine::FACTS, size_of::<Combine<()>>()),
            ("Delegate", None, &Delegate::FACTS, size_of::<Delegate<()>>()),
        ];
        let all = mutexes.chain(shared).chain(others);
        all.map(|(front, id, facts, bytes)| Self::of_lock(front, id, facts, bytes)).collect()
    }
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let wanted = arguments.what.as_ref().map_or(Registry::value_variants(), std::slice::from_ref);
    if output.is_json() {
        let lists: BTreeMap<Registry, Vec<Entry>> =
            wanted.iter().map(|&registry| Ok((registry, registry.entries(output)?))).collect::<Result<_, Failure>>()?;
        return output.json(&lists);
    }
    let lists: Vec<String> = wanted.iter().map(|registry| registry.text(output)).collect::<Result<_, _>>()?;
    output.text(&lists.join("\n"))
}

impl Registry {
    fn entries(self, output: &Output) -> Result<Vec<Entry>, Failure> {
        let named = |name: &str, about: &str| {
            let about = (!about.is_empty()).then(|| about.to_owned());
            Entry { name: name.to_owned(), about, op: None, lock: None }
        };
        let entries = match self {
            Self::Operations => Operation::ALL.iter().map(|operation| named(operation.name(), "")).collect(),
            Self::Shapes => SHAPES.iter().map(|shape| named(shape.name(), shape.about())).collect(),
            Self::Planners => planners().into_iter().map(|(name, about)| named(name, about)).collect(),
            Self::Efforts => Effort::ALL.iter().map(|effort| named(effort.name(), effort.about())).collect(),
            Self::Barriers => Barrier::ALL.iter().map(|barrier| named(barrier.name(), barrier.about())).collect(),
            Self::Locks => Entry::of_locks(),
            Self::Sources => SOURCES.iter().map(|source| named(source.name(), "")).collect(),
            Self::Contenders => benchmarks::contenders(output)?
                .into_iter()
                .map(|listed| Entry { op: Some(listed.op), ..named(&listed.name, &listed.about) })
                .collect(),
        };
        Ok(entries)
    }

    fn text(self, output: &Output) -> Result<String, Failure> {
        let name = self.to_possible_value().expect("no registry is skipped").get_name().to_owned();
        let entries = self.entries(output)?;
        let of_one_op = entries.chunk_by(|a, b| a.op == b.op).map(|entries| match &entries[0].op {
            None => rows(entries),
            Some(op) => format!("\n{op}\n{}", rows(entries)),
        });
        Ok(format!("{name}\n{}", of_one_op.collect::<String>()))
    }
}

/// A name and what it stands for in each row; the properties of a lock below it.
fn rows(entries: &[Entry]) -> String {
    let mut table = table::table(&["", ""]);
    for entry in entries {
        let about = entry.about.as_deref().unwrap_or_default();
        let properties = entry.lock.as_ref().map_or_else(String::new, |lock| format!("\n{}", lock.text()));
        table.add_row([entry.name.clone(), format!("{about}{properties}")]);
    }
    table::text(&table)
}
