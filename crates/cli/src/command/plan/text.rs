//! A plan as text: its planner, its quality, and its trees.

use corecast::plan::{Operation, Plan, Scheme};

use crate::bounding::certainty;
use crate::planner_args::Timed;
use crate::{printable, table, tree_text};

const DOWN: &str = "messages go down this tree, to children in the order shown:";
const UP: &str = "messages go up this tree, and parents take them as they arrive:";

/// The plan in words, and drawn.
pub(super) fn describe(timed: &Timed) -> String {
    format!("{}\n{}", headline(timed), drawn(&timed.plan))
}

fn headline(timed: &Timed) -> String {
    let plan = &timed.plan;
    let Plan { operation, machine, planner, predicted, unit, why, .. } = plan;
    let (members, predicted) = (plan.cpus.len(), table::cost(*predicted));
    let (machine, planner) = (printable::line(machine), printable::line(planner));
    let (from, depth) = match plan.scheme {
        Scheme::Dissemination(_) | Scheme::Counter => (String::new(), String::new()),
        _ => (format!(" from CPU {}", plan.root()), format!(", depth {}", plan.tree.depth())),
    };
    let made = match plan.effort {
        Some(effort) => {
            format!("effort {effort}, seed {}, {} steps, {:.1} ms", plan.seed, plan.iterations, timed.time_ms)
        }
        None => format!("{:.1} ms", timed.time_ms),
    };
    format!(
        "{operation} among {members} CPUs of {machine}\n\
         {planner}{from}, predicted {predicted} {unit}{depth}\n\
         {}\n{why} ({made})\n",
        certainty(plan)
    )
}

/// The trees, and the order of those who exchange without one.
fn drawn(plan: &Plan) -> String {
    let exchange = match &plan.scheme {
        Scheme::Dissemination(order) => {
            return format!(
                "everybody signals the member that is 1, 2, 4, ... places further on:\n{}\n",
                list(plan, order)
            );
        }
        Scheme::Counter => return "everybody increments one word; the last to come releases all others\n".to_owned(),
        Scheme::ReleaseLine => {
            let up = format!("{UP}\n{}", tree_text::draw(&plan.cpus, plan.up()));
            return format!("{up}then the root writes one line that all others read\n");
        }
        Scheme::Leaders(leaders) => {
            format!("the leaders of groups exchange by dissemination in this order:\n{}\n\n", list(plan, leaders))
        }
        _ => String::new(),
    };
    let down = || format!("{DOWN}\n{}", tree_text::draw(&plan.cpus, &plan.tree));
    let up = || format!("{UP}\n{}", tree_text::draw(&plan.cpus, plan.up()));
    let trees = match (&plan.up, plan.operation) {
        (Some(tree), _) if *tree != plan.tree => format!("{}\n{}", up(), down()),
        (_, Operation::Reduce) => up(),
        _ => down(),
    };
    exchange + &trees
}

fn list(plan: &Plan, members: &[usize]) -> String {
    members.iter().map(|&member| format!("CPU {}", plan.cpus[member])).collect::<Vec<_>>().join(", ")
}
