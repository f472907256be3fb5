//! The planner and its effort, as options that `plan` takes, and the plan that they ask for.

use std::time::Instant;

use clap::builder::{PossibleValue, PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use corecast::CpuId;
use corecast::base::MAX_CPU_ID;
use corecast::plan::service::PlanRequest;
use corecast::plan::{AUTO, Effort, Limits, Operation, Plan, PlanError, PlanJson, Problem, Request, SHAPES, planners};

use crate::failure::Failure;

/// The planner, how hard it searches, and within which limits.
#[derive(Clone, Debug, PartialEq, clap::Args)]
pub struct PlannerArgs {
    /// The planner or shape that makes the plan; auto is the best that the effort finds.
    #[arg(long, visible_alias = "shape", value_name = "NAME", default_value = AUTO, value_parser = planner_parser())]
    pub planner: String,
    /// How hard to search.
    #[arg(long, value_name = "EFFORT", default_value = Effort::default().name(), value_parser = effort_parser())]
    pub effort: Effort,
    /// The seed of the search; the same seed gives the same plan.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Start from this CPU [default: the one that makes the plan cheapest, or that the shape chooses].
    #[arg(long, value_name = "CPU", value_parser = root_parser())]
    root: Option<CpuId>,
    /// Give no CPU more children than this.
    #[arg(long, value_name = "N", value_parser = limit_parser())]
    max_children: Option<usize>,
    /// Put no CPU further below the root than this.
    #[arg(long, value_name = "N", value_parser = limit_parser())]
    max_depth: Option<usize>,
    /// Plan on costs that allow for noise of PERCENT percent [without a number: as the model's spreads say].
    #[arg(long, value_name = "PERCENT", require_equals = true, num_args = 0..=1, value_parser = parse_percent)]
    robust: Option<Option<f64>>,
}

/// The planner whose time and memory grow exponentially with the members.
pub const EXACT: &str = "exact";

/// A plan, and how long it took to make.
#[derive(Clone, Debug)]
pub struct Timed {
    /// The plan.
    pub plan: Plan,
    /// How long it took to make, in milliseconds.
    pub time_ms: f64,
}

impl Timed {
    /// As JSON with its time.
    ///
    /// # Errors
    /// A `Failure` with its exit code: bad input, or trouble of the environment.
    pub fn json(&self) -> Result<PlanJson, Failure> {
        let plan = PlanJson::of(&self.plan).map_err(Failure::input)?;
        Ok(PlanJson { time_ms: Some(self.time_ms), ..plan })
    }
}

/// Accepts the names of all operations.
pub fn operation_parser() -> impl TypedValueParser<Value = Operation> {
    PossibleValuesParser::new(Operation::ALL.map(Operation::name)).try_map(|name| name.parse::<Operation>())
}

fn planner_parser() -> PossibleValuesParser {
    PossibleValuesParser::new([AUTO].into_iter().chain(names()))
}

/// Every planner and every shape.
pub fn names() -> impl Iterator<Item = &'static str> {
    planners().into_iter().map(|(name, _)| name).chain(SHAPES.iter().map(|shape| shape.name()))
}

fn effort_parser() -> impl TypedValueParser<Value = Effort> {
    let efforts = Effort::ALL.map(|effort| PossibleValue::new(effort.name()).help(effort.about()));
    PossibleValuesParser::new(efforts).try_map(|name| name.parse::<Effort>())
}

fn root_parser() -> impl TypedValueParser<Value = CpuId> {
    clap::value_parser!(u32).range(..=i64::from(MAX_CPU_ID)).map(CpuId::new)
}

/// A number of percent as a share.
fn parse_percent(text: &str) -> Result<f64, String> {
    let percent = text.parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent));
    percent.map(|percent| percent / 100.0).ok_or_else(|| "expected a number from 0 to 100".to_owned())
}

fn limit_parser() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..)
}

impl PlannerArgs {
    /// Whatever plan this effort finds.
    pub fn of_effort(effort: Effort) -> Self {
        Self {
            planner: AUTO.to_owned(),
            effort,
            seed: 0,
            root: None,
            max_children: None,
            max_depth: None,
            robust: None,
        }
    }

    /// True unless it is all as if nothing but a root had been given.
    pub fn asks_for_more_than_a_root(&self) -> bool {
        *self != Self { root: self.root, ..Self::of_effort(Effort::default()) }
    }

    /// True unless it is all as if nothing but an effort had been given.
    pub fn asks_for_more_than_effort(&self) -> bool {
        *self != Self::of_effort(self.effort)
    }

    /// True if the search may take so long that its user interrupts it.
    pub fn is_long(&self) -> bool {
        self.effort >= Effort::Patient || self.planner == EXACT
    }

    /// The same asked of a plan service, which knows of no noise.
    pub fn request(&self, operation: Operation) -> PlanRequest {
        PlanRequest {
            planner: self.planner.clone(),
            effort: self.effort,
            seed: self.seed,
            root: self.root,
            limits: self.limits(),
            ..PlanRequest::new(operation)
        }
    }

    /// The most members whose optimum this effort looks for.
    pub fn exact_reach(&self) -> usize {
        self.effort.max(Effort::Normal).exact_reach()
    }

    fn limits(&self) -> Limits {
        Limits { children: self.max_children, depth: self.max_depth }
    }

    /// Refuses to allow for a noise that nobody knows.
    ///
    /// # Errors
    /// A `Failure` with its exit code: bad input, or trouble of the environment.
    pub fn check(&self, problem: &Problem) -> Result<(), Failure> {
        if self.robust.is_some() && self.noise(problem).is_none() {
            let error =
                format!("the model of {} has no send_spread and receive_spread to tell its noise", problem.machine());
            return Err(Failure::input(error).with_help("--robust=PERCENT says how noisy it is"));
        }
        Ok(())
    }

    /// The noise to allow for: a relative standard deviation.
    fn noise(&self, problem: &Problem) -> Option<f64> {
        self.robust?.or_else(|| problem.noise())
    }

    /// The plan by the planner asked for; a long search ends early with the best so far once `stop` is true.
    ///
    /// # Errors
    /// An error in words.
    pub fn plan(
        &self,
        operation: Operation,
        problem: &Problem,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Timed, PlanError> {
        self.plan_by(&self.planner, operation, problem, stop)
    }

    /// The same by another planner or shape.
    ///
    /// # Errors
    /// An error in words.
    pub fn plan_by(
        &self,
        planner: &str,
        operation: Operation,
        problem: &Problem,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Timed, PlanError> {
        let limits = self.limits();
        let request = Request::new(operation).planner(planner).effort(self.effort).seed(self.seed);
        let request = request.limits(limits).stop(stop);
        let begun = Instant::now();
        let plan = match self.noise(problem) {
            None => request.plan_from(problem, self.root)?,
            Some(noise) => request.root(self.root_member(problem)?).plan_robust(problem, noise)?,
        };
        Ok(Timed { plan, time_ms: begun.elapsed().as_secs_f64() * 1e3 })
    }

    /// The member on the CPU that the options name as the root.
    ///
    /// # Errors
    /// [`PlanError::RootOutside`] if no member is there.
    pub fn root_member(&self, problem: &Problem) -> Result<Option<usize>, PlanError> {
        let outside = |root| PlanError::RootOutside { root, cpus: problem.cpus().iter().copied().collect() };
        self.root.map(|root| problem.member_on(root).ok_or_else(|| outside(root))).transpose()
    }
}
