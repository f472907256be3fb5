//! Plans on noisy costs: entries are drawn toward the mean of their class.
//!
//! A search that trusts every entry of a noisy matrix builds on those that came out too low. Where the noise is 1 % or
//! less that does not matter, and nothing changes. From 10 % on each entry is taken for a mixture of itself and the
//! mean of its class (the same operation between members of the same two NUMA nodes that separate at the same level of
//! inferred clusters), with the weight
//!
//! ```text
//! sigma^2 / (sigma^2 + variance within the class that is not noise),  sigma = noise * mean of the class
//! ```
//!
//! on the mean; in between the weight fades in. Classes whose entries differ by more than noise stay as they are.
//! The gain is in `docs/design/robust.md`.
//!
//! Source: W. James, C. Stein, Estimation with quadratic loss, 1961.

use std::collections::BTreeMap;

use corecast_machine::clusters;

use crate::plan::{Plan, PlanError};
use crate::problem::Problem;
use crate::request::Request;
use crate::schedule::Schedule;

/// Up to this relative noise costs are taken as they are.
const QUIET: f64 = 0.01;
/// From this relative noise on entries are drawn toward their classes in full.
const NOISY: f64 = 0.10;

impl Problem {
    /// The same problem with costs to plan on if those measured are off by `noise`, a relative standard deviation (0.05
    /// is 5 %): see the module's documentation. At most 1 % changes nothing.
    ///
    /// ```
    /// use corecast_base::CpuId;
    /// use corecast_machine::{CostMatrix, Cpu, Machine, Topology};
    /// use corecast_plan::Problem;
    /// let cpus = (0..3).map(|id| Cpu::flat(CpuId::new(id))).collect();
    /// let mut machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
    /// machine.send = CostMatrix::from_rows(vec![vec![0.0, 99.0, 101.0], vec![101.0, 0.0, 99.0], vec![99.0, 101.0, 0.0]])?;
    /// let problem = Problem::of_machine(&machine)?;
    /// assert_eq!(problem.robust(0.001), problem);
    /// assert_eq!(problem.robust(0.2).send(0, 1), 100.0, "differences of 1 % are noise");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If the noise is negative or not a number.
    #[must_use]
    #[track_caller]
    pub fn robust(&self, noise: f64) -> Self {
        assert!(noise >= 0.0, "noise is a standard deviation, {noise} is not one");
        let fade = ((noise - QUIET) / (NOISY - QUIET)).clamp(0.0, 1.0);
        if fade == 0.0 {
            return self.clone();
        }
        let shrunk = |cost: &dyn Fn(usize, usize) -> f64| shrunk(self, cost, noise, fade);
        self.with_costs(shrunk(&|from, to| self.send(from, to)), shrunk(&|from, to| self.receive(from, to)))
    }
}

impl Request<'_> {
    /// As [`Request::plan`], made on [`Problem::robust`] costs. The prediction is by the problem's own costs; nothing
    /// is proven about those.
    ///
    /// # Errors
    ///
    /// As [`Request::plan`].
    ///
    /// # Panics
    ///
    /// As [`Request::plan`], or if the noise is negative or not a number.
    #[track_caller]
    pub fn plan_robust(&self, problem: &Problem, noise: f64) -> Result<Plan, PlanError> {
        let plan = self.plan(&problem.robust(noise))?;
        if noise <= QUIET {
            return Ok(plan);
        }
        let predicted = Schedule::of_plan(problem, &plan).last().map_or(0.0, |phase| phase.end);
        let why = format!("{}, on costs that allow for {:.0} % of noise", plan.why, 100.0 * noise);
        Ok(Plan { predicted, why, bound: None, is_proven: false, ..plan })
    }
}

/// The dense costs between members, drawn toward the means of their classes.
fn shrunk(problem: &Problem, cost: &dyn Fn(usize, usize) -> f64, noise: f64, fade: f64) -> Vec<f64> {
    let len = problem.len();
    let levels = clusters::levels(len, &|from, to| problem.message(from, to) + problem.message(to, from));
    let parting = |from: usize, to: usize| levels.iter().rposition(|level| level[from] != level[to]);
    let mut classes: BTreeMap<_, Vec<(usize, usize)>> = BTreeMap::new();
    for (from, to) in (0..len).flat_map(|from| (0..len).filter(move |&to| from != to).map(move |to| (from, to))) {
        let class = (problem.numa(from), problem.numa(to), parting(from, to));
        classes.entry(class).or_default().push((from, to));
    }
    let mut shrunk = vec![0.0; len * len];
    for pairs in classes.values() {
        let (mean, variance) = mean_and_variance(pairs.iter().map(|&(from, to)| cost(from, to)));
        let noise = (noise * mean).powi(2);
        let weight = if noise > 0.0 { fade * noise / variance.max(noise) } else { 0.0 };
        for &(from, to) in pairs {
            shrunk[from * len + to] = cost(from, to) + weight * (mean - cost(from, to));
        }
    }
    shrunk
}

/// The mean and the variance around it, for at least one number.
fn mean_and_variance(numbers: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = numbers.clone().count() as f64;
    let mean = numbers.clone().sum::<f64>() / count;
    (mean, numbers.map(|number| (number - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effort::Effort;
    use crate::noise::SIGMA_PER_MAD;
    use crate::operation::Operation;
    use corecast_base::CpuId;
    use corecast_machine::{CostMatrix, Cpu, Machine, Topology};
    use fastrand::Rng;

    /// Two nodes of twelve, all pairs of a kind alike.
    fn two_nodes() -> Machine {
        let cpus = (0..24).map(|id| Cpu { numa: Some(id / 12), ..Cpu::flat(CpuId::new(id)) }).collect();
        let mut machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let costs = |near: f64, far: f64| {
            let cost = |i, j| {
                if i == j {
                    0.0
                } else if i / 12 == j / 12 {
                    near
                } else {
                    far
                }
            };
            CostMatrix::from_fn(24, cost).expect("costs")
        };
        (machine.send, machine.receive) = (costs(20.0, 30.0), costs(60.0, 250.0));
        machine
    }

    fn noisy(costs: &CostMatrix, noise: f64, rng: &mut Rng) -> CostMatrix {
        // The sum of twelve has a variance of 1.
        let mut normal = || (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0;
        let cost = |i, j| (costs.get(i, j) * (1.0 + noise * normal())).max(0.0);
        CostMatrix::from_fn(costs.len(), cost).expect("costs")
    }

    #[test]
    fn plans_on_noise_are_better_if_the_noise_is_known() {
        let truth = two_nodes();
        let true_problem = Problem::of_machine(&truth).expect("CPUs");
        for (noise, gain) in [(0.005, 0.0), (0.1, 0.0), (0.2, 0.05)] {
            let mut rng = Rng::with_seed(1);
            let (mut plain, mut robust) = (0.0, 0.0);
            for _ in 0..10 {
                let (send, receive) = (noisy(&truth.send, noise, &mut rng), noisy(&truth.receive, noise, &mut rng));
                let problem = Problem::of_machine(&Machine { send, receive, ..truth.clone() }).expect("CPUs");
                for operation in [Operation::Broadcast, Operation::Reduce] {
                    let request = Request::new(operation).effort(Effort::Quick);
                    let cost = |plan: Plan| operation.cost(&true_problem, &plan.tree);
                    plain += cost(request.plan(&problem).expect("a plan"));
                    robust += cost(request.plan_robust(&problem, noise).expect("a plan"));
                }
            }
            assert!(robust <= plain * (1.0 - gain), "at {noise}: {robust} instead of {plain}");
        }
    }

    #[test]
    fn predictions_are_by_the_measured_costs() {
        let mut machine = two_nodes();
        machine.receive = noisy(&machine.receive, 0.2, &mut Rng::with_seed(5));
        let problem = Problem::of_machine(&machine).expect("CPUs");
        for operation in Operation::ALL {
            let request = Request::new(operation).effort(Effort::Quick);
            let plan = request.plan_robust(&problem, 0.2).expect("a plan");
            let predicted = Schedule::of_plan(&problem, &plan).last().expect("a phase").end;
            assert_eq!(plan.predicted, predicted, "{operation}");
            assert!(!plan.is_proven && plan.why.ends_with("allow for 20 % of noise"), "{}", plan.why);
            assert_eq!(request.plan_robust(&problem, 0.01), request.plan(&problem), "{operation}");
        }
    }

    #[test]
    fn classes_that_differ_by_more_than_noise_stay_as_they_are() {
        let mut machine = two_nodes();
        machine.send = CostMatrix::from_fn(24, |i, j| if i == j { 0.0 } else { (1 + j % 3) as f64 }).expect("costs");
        let problem = Problem::of_machine(&machine).expect("CPUs");
        let robust = problem.robust(0.05);
        let moved = (1..24).map(|to| (robust.send(0, to) / problem.send(0, to) - 1.0).abs()).fold(0.0, f64::max);
        assert!(moved > 0.0 && moved < 0.02, "{moved}");
    }

    #[test]
    fn noise_is_the_median_of_the_spreads() {
        let mut machine = two_nodes();
        assert_eq!(Problem::of_machine(&machine).expect("CPUs").noise(), None);
        let spread = CostMatrix::from_fn(24, |i, j| match (i, j) {
            (3, 4) => 1000.0,
            _ if i == j => 0.0,
            _ => 0.05 * machine.send.get(i, j),
        });
        machine.extended.send_spread = Some(spread.expect("costs"));
        machine.extended.receive_spread = Some(CostMatrix::zero(24));
        let noise = Problem::of_machine(&machine).expect("CPUs").noise().expect("spreads are there");
        let (near, far) = (SIGMA_PER_MAD * 1.0 / 80.0, SIGMA_PER_MAD * 1.5 / 280.0);
        assert!((far..=near).contains(&noise), "{noise}");
    }
}
