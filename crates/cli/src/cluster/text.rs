//! A plan for a cluster as text.

use corecast::plan::Direction;
use corecast::plan::cluster::{ClusterPlan, FarScheme, Neighbours, Parameter};

use super::study::Study;
use crate::printable;
use crate::report::cluster_rows;
use crate::report::number::time;
use crate::table;

/// More children than this are not listed one by one.
const MOST_CHILDREN: usize = 40;

/// The plan in words; with all that it was made from, if that is asked for.
pub(super) fn describe(study: &Study, is_explained: bool) -> String {
    let mut text =
        format!("{}\n{}", headline(study), table_of(&cluster_rows::CANDIDATES, cluster_rows::candidates(&study.plan)));
    if is_explained {
        let compared = cluster_rows::compared(study.is_beyond_groups);
        text += &format!("\n{}{compared}\n\n{}", why(&study.plan), insides(study));
        text += &format!("\n{}", tiers(study));
        let growth = cluster_rows::growth(&study.growth);
        text += &format!("\ngrowth, simulated:\n{}", table_of(&cluster_rows::GROWTH, growth));
        text += &format!("\n{}", depths(&study.plan));
    }
    if let Some(node) = study.node.or(is_explained.then_some(study.plan.root)) {
        text += &format!("\n{}", neighbours(&study.plan, node));
    }
    if is_explained {
        text += &format!("\n{}", sources(study));
    }
    text
}

fn headline(study: &Study) -> String {
    let ClusterPlan { cluster, operation, bytes, nodes, members, .. } = &study.plan;
    let best = study.plan.best();
    let counted: Vec<String> =
        study.provenance().iter().filter(|(_, n)| *n > 0).map(|(provenance, n)| format!("{n} {provenance}")).collect();
    let bound = if best.is_exact { "" } else { " at most" };
    format!(
        "{operation} of {bytes} B among {} on {} of {}\n\
         simulated from {} parameters; the operation was not measured\n\
         {}: {bound}{} expected, {} with every node punctual (planned in {:.1} ms)\n",
        table::many(*members as usize, "member"),
        table::many(*nodes as usize, "node"),
        printable::line(cluster),
        counted.join(", "),
        best,
        time(best.expected_ns()),
        time(best.quiet_ns),
        study.time_ms,
    )
}

/// The rows under these headings.
fn table_of(headings: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = table::table(headings);
    for row in rows {
        table.add_row(row);
    }
    table::text(&table)
}

fn why(plan: &ClusterPlan) -> String {
    let best = plan.best();
    let about = match best.scheme {
        FarScheme::Tree => "the message enters each unit of each tier once; leaders send to the larger tier first",
        FarScheme::Doubling => "every node exchanges the whole value in each round",
        _ => "each round halves the value; MPI libraries do so for long values",
    };
    let other = plan.candidates.iter().find(|candidate| candidate.scheme != best.scheme);
    let than = other.map_or(String::new(), |other| {
        format!("; {} is {:.2} times as long", other, other.expected_ns() / best.expected_ns())
    });
    let spread = if best.spread_ns > 0.0 { format!(", give or take {}", time(best.spread_ns)) } else { String::new() };
    format!("why {}: {about}{than}\n{} expected{spread}\n", best, time(best.expected_ns()))
}

fn insides(study: &Study) -> String {
    let mut rows = table::table(&["inside a node", ">members", ">up", ">down", "planned from"]);
    for (kind, near) in &study.near {
        let about = printable::line(&near.about).into_owned();
        rows.add_row([kind.clone(), near.members.to_string(), time(near.up_ns), time(near.down_ns), about]);
    }
    table::text(&rows)
}

fn tiers(study: &Study) -> String {
    let mut rows = table::table(&["tier", ">nodes", ">L", ">o send", ">o receive", ">g", ">exchange", ">G per KiB"]);
    let marked = |parameter: &Parameter, scale: f64| {
        format!("{} {}", time(parameter.value * scale), &parameter.provenance.name()[..1])
    };
    let of = |parameter: &Option<Parameter>| parameter.as_ref().map_or_else(|| "-".to_owned(), |of| marked(of, 1.0));
    for tier in &study.model.tiers {
        let size = tier.size.map_or_else(|| "all".to_owned(), |size| size.to_string());
        rows.add_row([
            printable::line(&tier.name).into_owned(),
            size,
            marked(&tier.latency_ns, 1.0),
            marked(&tier.send_ns, 1.0),
            marked(&tier.receive_ns, 1.0),
            of(&tier.gap_ns),
            of(&tier.exchange_ns),
            marked(&tier.byte_ns, 1024.0),
        ]);
    }
    format!("{}m measured, p published, a assumed\n", table::text(&rows))
}

fn depths(plan: &ClusterPlan) -> String {
    let mut text = String::new();
    for (direction, phase) in [(Direction::Up, "reduction"), (Direction::Down, "broadcast")] {
        let Some(depths) = plan.depths(direction) else { continue };
        let counts: Vec<String> = depths
            .iter()
            .map(|nodes| nodes.round())
            .filter(|&nodes| nodes > 0.0)
            .map(|nodes| nodes.to_string())
            .collect();
        text += &format!("nodes of the {phase}'s tree by messages from the root: {}\n", counts.join(" "));
    }
    text
}

fn neighbours(plan: &ClusterPlan, node: u64) -> String {
    let mut text = String::new();
    for (direction, verbs) in
        [(Direction::Up, ["receives from", "then sends to"]), (Direction::Down, ["sends to", "after"])]
    {
        let Some(Neighbours { parent, mut children }) = plan.neighbours(direction, node) else { continue };
        if direction == Direction::Up {
            children.reverse();
        }
        let listed: Vec<String> = children.iter().take(MOST_CHILDREN).map(u64::to_string).collect();
        let more = children.len().saturating_sub(MOST_CHILDREN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let listed = if listed.is_empty() { "no node".to_owned() } else { listed.join(", ") };
        let parent = parent.map_or_else(|| "it is the root".to_owned(), |parent| format!("{} {parent}", verbs[1]));
        let [verb, _] = verbs;
        text += &format!("node {node} {verb} {listed}{more}; {parent}\n");
    }
    text
}

/// Where published and measured parameters come from.
fn sources(study: &Study) -> String {
    let mut text = String::new();
    for (field, parameter) in study.model.parameters() {
        if parameter.source.is_empty() {
            continue;
        }
        let source = printable::line(&parameter.source).into_owned();
        text += &format!("{field} {} ({}): {source}\n", parameter.value, parameter.provenance);
    }
    text
}
