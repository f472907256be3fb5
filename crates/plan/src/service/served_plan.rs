//! A plan that came from a service, checked like any file from elsewhere.
//!
//! A service is believed only where its answer can be checked or does not matter: the trees must span exactly the
//! members, keep to the root and the limits asked for, and cost what the service says they do by the model at hand. A
//! service with another model, or none, causes an error and never a wrong plan. The lower bound alone is taken on
//! trust; nothing is built on it.

use corecast_base::CpuId;
use corecast_machine::Unit;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::protocol::PlanRequest;
use crate::effort::Effort;
use crate::operation::Operation;
use crate::plan::{Plan, Scheme};
use crate::problem::Problem;
use crate::simulate;
use crate::tree::Tree;
use crate::tree_file::{self, TreeTextError};

/// The largest difference between the service's predicted cost and our own: additions in another order may differ.
const TOLERANCE: f64 = 1e-9;

/// The longest name or reason that is taken over, in characters.
const MAX_WORDS_CHARS: usize = 400;

/// A plan as a service sent it: JSON with the fields of `corecast plan --json`, and what the service says beside it.
#[derive(Clone, Debug)]
pub struct ServedPlan {
    pub(super) json: Box<RawValue>,
    /// It was made for an earlier request.
    pub is_cached: bool,
    /// Its search was ended before its time, and this is the best found until then.
    pub is_stopped: bool,
}

/// Why the answer of a service is not a plan for the request.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unfit {
    /// It does not follow the protocol.
    #[error("the plan does not follow the protocol: {0}")]
    Json(serde_json::Error),
    /// A tree does not span the members.
    #[error(transparent)]
    Tree(#[from] TreeTextError),
    /// It is a plan for something else.
    #[error("the plan has {field} {found}, expected {expected}")]
    Other {
        /// The field.
        field: &'static str,
        /// The service's value.
        found: String,
        /// The value that was asked for.
        expected: String,
    },
    /// It breaks the limits asked for.
    #[error("the plan's trees are not within the limits asked for")]
    Limits,
    /// The members cannot meet in this way: the operation or the model does not allow it, or `order` does not fit.
    #[error("the plan's scheme {scheme} does not fit its operation, its `order` or the model at hand")]
    Scheme {
        /// The scheme.
        scheme: String,
    },
    /// It costs something else than the service says: it was made by another model.
    #[error("the plan costs {cost} by the model at hand and not {predicted}: it was made by another model")]
    Cost {
        /// The cost by the model at hand.
        cost: f64,
        /// The cost that the service says.
        predicted: f64,
    },
}

/// The fields of a plan that are looked at; more may be there.
#[derive(Deserialize)]
struct Fields {
    op: String,
    planner: String,
    scheme: String,
    #[serde(default)]
    order: Vec<u32>,
    predicted: f64,
    unit: Unit,
    bound: Option<f64>,
    proven: bool,
    effort: Option<String>,
    seed: u64,
    iterations: u64,
    why: String,
}

impl ServedPlan {
    /// The JSON as it came.
    #[must_use]
    pub fn json(&self) -> &str {
        self.json.get()
    }

    /// The plan over the members of a problem.
    ///
    /// # Errors
    ///
    /// If it is not a plan for this request over these members, or its cost differs from the one it states.
    pub fn check(&self, request: &PlanRequest, problem: &Problem) -> Result<Plan, Unfit> {
        let plan = read_plan(self.json(), request, problem)?;
        Ok(Plan { why: format!("{}; served", plan.why), ..plan })
    }
}

/// The plan that JSON with the fields of `corecast plan --json` describes, over the members of a problem.
///
/// # Errors
///
/// If it is not a plan for this request over these members, or its cost differs from the one it states.
pub fn read_plan(json: &str, request: &PlanRequest, problem: &Problem) -> Result<Plan, Unfit> {
    let fields: Fields = serde_json::from_str(json).map_err(Unfit::Json)?;
    same("op", &fields.op, request.operation.name())?;
    same("unit", &fields.unit.to_string(), &problem.unit().to_string())?;
    let (tree, up) = trees(json, request, problem)?;
    if [Some(&tree), up.as_ref()].into_iter().flatten().any(|tree| !request.limits.allow(tree)) {
        return Err(Unfit::Limits);
    }
    let scheme = scheme(&fields, request, problem, [&tree, up.as_ref().unwrap_or(&tree)])?;
    let plan = Plan {
        machine: problem.machine().to_owned(),
        operation: request.operation,
        planner: words(&fields.planner),
        why: words(&fields.why),
        effort: fields.effort.as_deref().and_then(|effort| effort.parse::<Effort>().ok()),
        seed: fields.seed,
        iterations: fields.iterations,
        is_root_given: request.root.is_some(),
        tree,
        up,
        scheme,
        cpus: problem.cpus().to_vec(),
        predicted: fields.predicted,
        unit: problem.unit(),
        bound: fields.bound.filter(|bound| (0.0..=fields.predicted).contains(bound)),
        is_proven: fields.proven,
    };
    check_cost(&plan, problem)?;
    Ok(plan)
}

/// The tree that broadcasts go down, or the only one; and the one that reductions go up, for operations of both.
fn trees(json: &str, request: &PlanRequest, problem: &Problem) -> Result<(Tree, Option<Tree>), Unfit> {
    let trees = tree_file::parse(json, problem)?;
    if let Some(root) = request.root {
        same("root", &problem.cpu(trees.down.root()).to_string(), &root.to_string())?;
    }
    let up = request.operation.has_both_phases().then(|| trees.up.unwrap_or_else(|| trees.down.clone()));
    Ok((trees.down, up))
}

fn same(field: &'static str, found: &str, expected: &str) -> Result<(), Unfit> {
    let other = || Unfit::Other { field, found: words(found), expected: expected.to_owned() };
    if found == expected { Ok(()) } else { Err(other()) }
}

/// Text from elsewhere made fit for a terminal: on one line, without control characters, of bounded length.
fn words(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_WORDS_CHARS).collect()
}

/// How the members meet, with an order that names distinct members only.
fn scheme(fields: &Fields, request: &PlanRequest, problem: &Problem, trees: [&Tree; 2]) -> Result<Scheme, Unfit> {
    let misfit = || Unfit::Scheme { scheme: words(&fields.scheme) };
    let member = |&cpu: &u32| problem.member_on(CpuId::new(cpu)).ok_or_else(misfit);
    let order = fields.order.iter().map(member).collect::<Result<Vec<usize>, Unfit>>()?;
    let mut is_there = vec![false; problem.len()];
    if order.iter().any(|&member| std::mem::replace(&mut is_there[member], true)) {
        return Err(misfit());
    }
    let is_barrier = request.operation == Operation::Barrier;
    match fields.scheme.as_str() {
        "trees" if order.is_empty() => Ok(Scheme::Trees),
        "leaders" if is_barrier && trees.iter().all(|tree| lead(&order, tree)) => Ok(Scheme::Leaders(order)),
        "dissemination" if is_barrier && order.len() == problem.len() => Ok(Scheme::Dissemination(order)),
        "release-line" if is_barrier && order.is_empty() => Ok(Scheme::ReleaseLine),
        "counter" if is_barrier && order.is_empty() => Ok(Scheme::Counter),
        _ => Err(misfit()),
    }
}

/// True if the first of them is the root and every other one a child of it.
fn lead(leaders: &[usize], tree: &Tree) -> bool {
    let Some((first, others)) = leaders.split_first() else { return false };
    *first == tree.root() && others.iter().all(|&leader| tree.parent(leader) == Some(*first))
}

fn check_cost(plan: &Plan, problem: &Problem) -> Result<(), Unfit> {
    let cost = match &plan.scheme {
        Scheme::Trees => Some(plan.operation.cost_of_two(problem, plan.up(), &plan.tree)),
        Scheme::Leaders(leaders) => Some(simulate::leaders(problem, plan.up(), &plan.tree, leaders)),
        Scheme::Dissemination(order) => Some(simulate::dissemination(problem, order)),
        Scheme::ReleaseLine => simulate::release_line(problem, plan.up()),
        Scheme::Counter => simulate::counter(problem),
    };
    let cost = cost.ok_or_else(|| Unfit::Scheme { scheme: plan.scheme.name().to_owned() })?;
    let predicted = plan.predicted;
    let is_same = (cost - predicted).abs() <= TOLERANCE * cost.max(1.0);
    if is_same { Ok(()) } else { Err(Unfit::Cost { cost, predicted }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::plan_json::PlanJson;
    use crate::request::Request;
    use corecast_machine::{Cpu, Machine, Topology};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn problem() -> Problem {
        let cpus = (0..6).map(|id| Cpu { numa: Some(id / 3), ..Cpu::flat(CpuId::new(id)) }).collect();
        Problem::of_machine(&Machine::from_topology(&Topology { cpus, ..Topology::default() })).expect("CPUs")
    }

    fn plan(operation: Operation, planner: &str) -> Plan {
        let request = Request::new(operation).planner(planner).effort(Effort::Quick).root(Some(0));
        request.plan(&problem()).expect("a plan")
    }

    fn json_of(plan: &Plan) -> Value {
        serde_json::to_value(PlanJson::of(plan).expect("distinct CPUs")).expect("JSON")
    }

    fn served(json: String) -> Option<ServedPlan> {
        Some(ServedPlan { json: RawValue::from_string(json).ok()?, is_cached: false, is_stopped: false })
    }

    fn check(json: &Value, request: &PlanRequest) -> Result<Plan, Unfit> {
        served(json.to_string()).expect("JSON").check(request, &problem())
    }

    fn request(operation: Operation) -> PlanRequest {
        PlanRequest { root: Some(CpuId::new(0)), ..PlanRequest::new(operation) }
    }

    #[test]
    fn a_served_plan_is_the_plan_made() {
        for operation in Operation::ALL {
            let planned = plan(operation, "auto");
            let served = check(&json_of(&planned), &request(operation)).expect("it fits");
            assert_eq!(Plan { why: planned.why.clone(), ..served.clone() }, planned);
            assert_eq!(served.why, format!("{}; served", planned.why));
        }
    }

    #[test]
    fn members_that_share_cpus_go_by_rank() {
        let machine = Machine::from_topology(&Topology {
            cpus: (0..2).map(|id| Cpu::flat(CpuId::new(id))).collect(),
            ..Topology::default()
        });
        let members: Vec<CpuId> = [0, 1, 0, 1, 0].map(CpuId::new).to_vec();
        let problem = Problem::of_members(&machine, &members).expect("CPUs");
        let ranked = problem.by_rank();
        for operation in Operation::ALL {
            let planned = Request::new(operation).planner("sequential").plan(&problem).expect("a plan");
            PlanJson::of(&planned).expect_err("CPUs are shared");
            let json = PlanJson::of(&planned.clone().over(&ranked)).expect("ranks are distinct");
            let json = serde_json::to_string(&json).expect("JSON");
            let read = read_plan(&json, &PlanRequest::new(operation), &ranked).expect("it fits");
            assert_eq!(read.over(&problem), planned);
        }
    }

    #[test]
    fn a_plan_that_does_not_fit_is_refused() {
        let barrier = json_of(&plan(Operation::Barrier, "binary"));
        for (field, value, expected) in [
            ("op", json!("reduce"), "the plan has op reduce, expected barrier"),
            ("unit", json!("cycles"), "the plan has unit cycles, expected ns"),
            ("root", json!(1), "CPU 1 is a child of"),
            ("children", json!({"0": [1, 2, 3, 4]}), "CPU 5 has no parent"),
            ("children", json!({"0": [5, 4, 3, 2, 1]}), "made by another model"),
            ("up", json!({"root": 1, "children": {"1": [0, 2, 3, 4, 5]}}), "has root CPU 1"),
            ("predicted", json!(1.0), "and not 1: it was made by another model"),
            ("predicted", json!(null), "does not follow the protocol"),
            ("scheme", json!("carrier pigeon"), "scheme carrier pigeon does not fit"),
            ("scheme", json!("leaders"), "scheme leaders does not fit"),
            ("scheme", json!("counter"), "scheme counter does not fit"),
            ("order", json!([0, 0]), "scheme trees does not fit"),
            ("order", json!([17]), "scheme trees does not fit"),
        ] {
            let mut changed = barrier.clone();
            changed[field] = value;
            let error = check(&changed, &request(Operation::Barrier)).expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}");
        }
        let limits = Limits { children: Some(1), depth: None };
        let limited = PlanRequest { limits, ..request(Operation::Barrier) };
        assert!(matches!(check(&barrier, &limited), Err(Unfit::Limits)));
        let elsewhere = PlanRequest { root: Some(CpuId::new(4)), ..request(Operation::Barrier) };
        let error = check(&barrier, &elsewhere).expect_err("another root").to_string();
        assert_eq!(error, "the plan has root 0, expected 4");
    }

    #[test]
    fn words_of_strangers_do_not_reach_the_terminal_as_they_are() {
        let mut json = json_of(&plan(Operation::Reduce, "mst"));
        json["why"] = json!(format!("\u{1b}[2J{}", "x".repeat(1000)));
        let plan = check(&json, &request(Operation::Reduce)).expect("it fits");
        assert!(plan.why.starts_with(" [2Jxxx") && plan.why.len() < 500, "{}", plan.why);
    }

    proptest! {
        #[test]
        fn a_damaged_plan_is_a_plan_or_an_error(at in 0..10_000_usize, byte: u8, operation in 0..5_usize) {
            let operation = Operation::ALL[operation];
            let mut json = json_of(&plan(operation, "auto")).to_string().into_bytes();
            let at = at % json.len();
            json[at] = byte;
            if let Some(served) = String::from_utf8(json).ok().and_then(served) {
                if let Ok(plan) = served.check(&request(operation), &problem()) {
                    prop_assert_eq!(plan.tree.len(), 6);
                }
            }
        }
    }
}
