//! A page about a plan for a cluster: what it should take, how that grows with the number of nodes, the tree of nodes, and
//! where the parameters come from. All of it is simulated, and the page says so first.

use corecast::plan::cluster::{ClusterModel, ClusterPlan, FarScheme, NearCosts, Parameter, Provenance};
use maud::{Markup, html};

use super::cluster_rows::{self, Growth};
use super::frame::Frame;
use super::line_chart::{Line, LineChart};
use super::node_tree;
use super::number::{significant, time};
use super::plain_table::table;
use crate::table::many;

/// The contents of the page.
pub(crate) struct ClusterPage<'a> {
    pub(crate) model: &'a ClusterModel,
    pub(crate) near: &'a NearCosts,
    pub(crate) plan: &'a ClusterPlan,
    pub(crate) growth: &'a [Growth],
    /// Any text.
    pub(crate) created_at: &'a str,
    /// The version of the program.
    pub(crate) version: &'a str,
    /// The command that says the same in words.
    pub(crate) command: &'a str,
    /// The ways that were compared, in words.
    pub(crate) compared: &'a str,
}

/// The page as an HTML document in UTF-8, which loads and runs nothing.
pub(crate) fn render(page: &ClusterPage<'_>) -> String {
    let ClusterPlan { operation, bytes, nodes, cluster, .. } = page.plan;
    let heading = format!("{operation} of {bytes} bytes on {}, simulated", many(*nodes as usize, "node"));
    let frame = Frame {
        kind: "corecast plan --cluster",
        heading: &heading,
        machine: cluster,
        created_at: page.created_at,
        version: page.version,
    };
    let main = html! {
        (costs(page))
        (growth(page))
        (tree(page))
        (parameters(page.model))
        section id="reading" {
            h2 { "How to read this" }
            p {
                "No cluster was measured for this page. A message costs what the smallest tier says that has both nodes in one "
                "unit: a latency, the time for which the CPUs of both ends are busy, and the time of each byte. Trees are those of "
                "earliest completion, tier by tier. Waits are of two kinds: what a message waits on average for its later side, and the "
                "expected number of interruptions on one chain of messages. Do not set these figures beside measured ones in one "
                "chart."
            }
            h3 { "Make it again" }
            pre { code { (page.command) } }
        }
    };
    frame.around(&frame.header(&origin(page)), &main)
}

/// The number of parameters by provenance, before any figure.
fn origin(page: &ClusterPage<'_>) -> Markup {
    let parameters = page.model.parameters();
    let count = |wanted| parameters.iter().filter(|(_, of)| of.provenance == wanted).count();
    let counts = Provenance::ALL.map(|provenance| format!("{} {provenance}", count(provenance)));
    html! {
        div class="origin doubtful" {
            p { "Figures: " strong { "simulated" } "from " (counts.join(", ")) " parameters. The plan is as good as they are." }
        }
        dl class="facts" {
            dt { "members" } dd { (significant(page.plan.members as f64)) " on " (significant(page.plan.nodes as f64)) " nodes" }
            @for (kind, near) in page.near {
                dt { "inside " (kind) } dd { (near.members) " members: " (time(near.up_ns)) " up, " (time(near.down_ns)) " down; " (near.about) }
            }
        }
        nav aria-label="Sections" {
            a href="#costs" { "Costs" } a href="#growth" { "Growth" } a href="#tree" { "The tree of nodes" }
            a href="#parameters" { "Parameters" } a href="#reading" { "How to read this" }
        }
    }
}

fn costs(page: &ClusterPage<'_>) -> Markup {
    let best = page.plan.best();
    html! {
        section id="costs" {
            h2 { "What it should take" }
            p {
                strong { (time(best.expected_ns())) } " by " (best) ", " (time(best.quiet_ns)) " with every node punctual. "
                "Near is inside the nodes, far between them; messages are those of the longest chain. Ways " (page.compared) "."
            }
            (table("simulated", &plain(&cluster_rows::CANDIDATES), cluster_rows::candidates(page.plan)))
        }
    }
}

/// Headings of the terminal without the signs before them.
fn plain<'a>(headings: &[&'a str]) -> Vec<&'a str> {
    headings.iter().map(|heading| heading.trim_start_matches(['?', '>'])).collect()
}

fn growth(page: &ClusterPage<'_>) -> Markup {
    let lines = FarScheme::Tree;
    let of = |i: usize| page.growth.iter().map(move |step| step.by_scheme[i].1).collect::<Vec<_>>();
    let mut curves: Vec<Line> = (0..3)
        .map(|i| (page.growth.first().map_or(lines, |step| step.by_scheme[i].0), of(i)))
        .filter(|(_, values)| values.iter().any(Option::is_some))
        .map(|(scheme, values)| Line { name: scheme.to_string(), is_ours: scheme == FarScheme::Tree, values })
        .collect();
    let quiet = page.growth.iter().map(|step| Some(step.quiet_ns)).collect();
    curves.push(Line { name: "best, punctual".to_owned(), is_ours: false, values: quiet });
    let last = page.growth.len().saturating_sub(1);
    let chart = LineChart {
        title: "simulated time against the number of nodes",
        description: "Curves for each way of the messages between nodes; the table below has the numbers.",
        steps: page.growth.iter().enumerate().map(|(i, step)| tick(i, last, step.nodes)).collect(),
        note: "nodes, doubled from step to step".to_owned(),
        lines: curves,
        write: time,
    };
    html! {
        section id="growth" {
            h2 { "How it grows" }
            (chart.figure())
            (table("simulated", &plain(&cluster_rows::GROWTH), cluster_rows::growth(page.growth)))
        }
    }
}

/// Every fourth step has its number, and the last.
fn tick(step: usize, last: usize, nodes: u64) -> String {
    let is_near_last = last - step < 2 && step != last;
    if (step % 4 == 0 && !is_near_last) || step == last { significant(nodes as f64) } else { String::new() }
}

fn tree(page: &ClusterPage<'_>) -> Markup {
    html! {
        section id="tree" {
            h2 { "The tree of nodes" }
            (node_tree::figure(page.plan))
        }
    }
}

fn parameters(model: &ClusterModel) -> Markup {
    let row = |(field, of): (String, &Parameter)| {
        vec![field, significant(of.value), of.provenance.to_string(), of.source.clone()]
    };
    html! {
        section id="parameters" {
            h2 { "Parameters" }
            (table("", &["field", "value", "provenance", "source"], model.parameters().into_iter().map(row)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast::plan::Operation;
    use corecast::plan::cluster::{self, ClusterRequest, Near};

    #[test]
    fn the_page_says_that_it_is_simulated_and_has_every_source() {
        let text = include_str!("../../../../docs/examples/cluster.json").replace("switch\"", "<b>\"");
        let model = cluster::parse(text).expect("a cluster").scaled(3000);
        let near = Near { members: 256, up_ns: 800.0, down_ns: 700.0, about: "<i>".to_owned() };
        let near = NearCosts::from([("node".to_owned(), near)]);
        for (operation, bytes) in [(Operation::Allreduce, 1 << 20), (Operation::Broadcast, 8), (Operation::Reduce, 8)] {
            let plan = ClusterRequest::new(operation).bytes(bytes).plan(&model, &near).expect("a plan");
            let step = |nodes| Growth {
                nodes,
                members: 256 * nodes,
                scheme: FarScheme::Tree,
                quiet_ns: 900.0 * nodes as f64,
                expected_ns: 1000.0 * nodes as f64,
                by_scheme: [(FarScheme::Tree, Some(1e3)), (FarScheme::Doubling, Some(2e3)), (FarScheme::Halving, None)],
            };
            let page = render(&ClusterPage {
                model: &model,
                near: &near,
                plan: &plan,
                growth: &[step(1), step(2), step(3)],
                created_at: "2026-11-26",
                version: "0.1.0",
                command: "corecast plan",
                compared: cluster_rows::compared(false),
            });
            assert!(page.contains("<strong>simulated</strong>") && page.contains("openucx/ucx#9908"), "{page}");
            assert!(page.contains("doubling") && !page.contains("<i>") && !page.contains("NaN"));
            assert!(page.matches("<svg").count() == 2, "the growth and the tree");
        }
    }
}
