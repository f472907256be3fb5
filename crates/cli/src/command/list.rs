//! `corecast list`: everything that can be named in options, from the registries.

use std::collections::BTreeMap;

use clap::ValueEnum;
use corecast::Barrier;
use corecast::machine::source::SOURCES;
use corecast::plan::{Effort, Operation, SHAPES, planners};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::Output;
use crate::table;

/// Options of `list`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    /// What to list [default: everything].
    what: Option<Registry>,
}

/// Something with names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum Registry {
    /// What trees can be planned for.
    Operations,
    /// The rules that make trees.
    Shapes,
    /// Who searches for plans.
    Planners,
    /// How hard is searched.
    Efforts,
    /// The barriers of a group.
    Barriers,
    /// What `bench` races.
    Contenders,
    /// Who can tell the topology.
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
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let wanted = arguments.what.as_ref().map_or(Registry::value_variants(), std::slice::from_ref);
    if output.is_json() {
        let lists: BTreeMap<Registry, Vec<Entry>> =
            wanted.iter().map(|&registry| (registry, registry.entries())).collect();
        return output.json(&lists);
    }
    let lists: Vec<String> = wanted.iter().map(|registry| registry.text()).collect();
    output.text(&lists.join("\n"))
}

impl Registry {
    fn entries(self) -> Vec<Entry> {
        let named = |name: &str, about: &str| {
            let about = (!about.is_empty()).then(|| about.to_owned());
            Entry { name: name.to_owned(), about, op: None }
        };
        match self {
            Self::Operations => Operation::ALL.iter().map(|operation| named(operation.name(), "")).collect(),
            Self::Shapes => SHAPES.iter().map(|shape| named(shape.name(), shape.about())).collect(),
            Self::Planners => planners().into_iter().map(|(name, about)| named(name, about)).collect(),
            Self::Efforts => Effort::ALL.iter().map(|effort| named(effort.name(), "")).collect(),
            Self::Barriers => Barrier::ALL.iter().map(|barrier| named(barrier.name(), barrier.about())).collect(),
            Self::Sources => SOURCES.iter().map(|source| named(source.name(), "")).collect(),
            Self::Contenders => corecast_bench::list()
                .into_iter()
                .map(|listed| Entry { op: Some(listed.op.to_string()), ..named(&listed.contender, &listed.about) })
                .collect(),
        }
    }

    fn text(self) -> String {
        let name = self.to_possible_value().expect("no registry is skipped").get_name().to_owned();
        let mut table = table::table(&["", "", ""]);
        for entry in self.entries() {
            table.add_row([entry.op.unwrap_or_default(), entry.name, entry.about.unwrap_or_default()]);
        }
        let rows: String = table::text(&table).lines().skip(1).map(|line| format!("{line}\n")).collect();
        format!("{name}\n{rows}")
    }
}
