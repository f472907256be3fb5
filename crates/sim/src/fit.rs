//! Parameters of contention that bring a simulation nearest to what was measured of contended lines.
//!
//! Two parameters of the cost model can be found in no single access: `service`, the time that a home needs for a request, and
//! `kappa`, the factor of requests that meet. [`fit`] searches them by the measured increments of contended lines
//! ([`Contended`]), of which each set of parameters gives simulated ones. The distance of a set is the mean of the logarithms of
//! ratios without their signs, so that each row counts as much as another.
//!
//! The search is a grid of all powers of two in a range, with 0 and the given values, then four steps around the best point:
//! a half, a quarter, an eighth and a sixteenth of a power, in each parameter and both. It has no random number: the same
//! rows give the same values. These are off by up to a sixteenth of a power of two, which is 4 %.
//!
//! A parameter that the rows cannot tell stays as it is: one whose double or half comes as near, with the value of the other
//! that is best then. Then the other one is searched alone.

use corecast_sim_core::Machine;
use measured_machine::Contended;

use crate::median::median;

/// The values of the grid beside 0: the first one, doubled up to the last.
const SERVICE_NS: [f64; 2] = [2.0, 256.0];
const KAPPA: [f64; 2] = [0.25, 16.0];
/// The steps of the search behind the grid, in powers of two.
const STEPS: [f64; 4] = [0.5, 0.25, 0.125, 0.0625];
/// Two sets of parameters come as near as each other if their distances differ by less, 2 % of the mean factor: half of the
/// last step.
const AS_NEAR: f64 = 0.02;

/// A set of parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contention {
    /// The time of a home for a request, in nanoseconds.
    pub service_ns: f64,
    /// The factor by which a request takes longer that meets another one, of a line in another package.
    pub kappa: f64,
}

/// One of these parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FitParameter {
    /// [`Contention::service_ns`].
    Service,
    /// [`Contention::kappa`].
    Kappa,
}

/// A parameter, and whether the rows decide it.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The parameter.
    pub parameter: FitParameter,
    /// Its value before.
    pub given: f64,
    /// Whether they decide it.
    pub verdict: Verdict,
}

/// Whether rows decide a parameter, and how.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// This value comes nearest, and neither its double nor its half comes as near.
    Found(f64),
    /// They do not: values from the first to the second of these come as near, within 2 %.
    Flat([f64; 2]),
    /// They do not: the greatest value of the grid comes nearest, or one beyond it, and its double comes nearer.
    Edge(f64),
    /// They do not: no increment of them depends on it, for this reason.
    NoInfluence(&'static str),
}

/// The outcome of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The sets of parameters that were simulated.
    pub evaluations: usize,
    /// The figures of the rows with the parameters as given.
    pub given: Figures,
    /// With those that were found, the others as given.
    pub fitted: Figures,
    /// The parameters, service first.
    pub findings: [Finding; 2],
}

/// Simulated figures of all rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Nanoseconds between two moves of a line, for each row; infinite where none moved.
    pub between_ns: Vec<f64>,
    /// The median of the factors by which these are off, either way.
    pub median_factor: f64,
    /// The geometric mean of these factors, which the search makes least.
    pub mean_factor: f64,
}

impl FitParameter {
    /// Both, in the order of [`Fit::findings`].
    pub const ALL: [Self; 2] = [Self::Service, Self::Kappa];

    /// Its name, as in a model file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::Kappa => "kappa",
        }
    }

    /// Why no increments by these CPUs depend on it; `None` if some do.
    #[must_use]
    pub fn without_influence(self, machine: &Machine, rows: &[Contended]) -> Option<&'static str> {
        let package = |&cpu: &usize| machine.location(cpu).package;
        let is_wide = |row: &Contended| row.cpus.iter().any(|cpu| package(cpu) != package(&row.cpus[0]));
        let is_wide = rows.iter().any(is_wide);
        match self {
            Self::Service if machine.costs().protocol.has_directory || is_wide => None,
            Self::Service => Some(
                "the CPUs of each row are in one package, and without a directory only requests that leave one wait for a home",
            ),
            Self::Kappa if is_wide => None,
            Self::Kappa => {
                Some("the CPUs of each row are in one package, and only requests that leave one are slowed down")
            }
        }
    }

    fn of(self, set: Contention) -> f64 {
        match self {
            Self::Service => set.service_ns,
            Self::Kappa => set.kappa,
        }
    }

    fn with(self, value: f64, set: Contention) -> Contention {
        match self {
            Self::Service => Contention { service_ns: value, ..set },
            Self::Kappa => Contention { kappa: value, ..set },
        }
    }

    fn range(self) -> [f64; 2] {
        match self {
            Self::Service => SERVICE_NS,
            Self::Kappa => KAPPA,
        }
    }

    /// 0, the powers of two, and the value as given.
    fn grid(self, given: f64) -> Vec<f64> {
        let [first, last] = self.range();
        let powers = std::iter::successors(Some(first), |value| Some(2.0 * value)).take_while(|&value| value <= last);
        let mut values: Vec<f64> = [0.0, given].into_iter().chain(powers).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    }
}

/// Searches the parameters whose simulated rows come nearest to the measured ones. `simulate` gives the figures of all rows
/// for each of some sets; `without_influence` has the reasons for parameters that no row depends on, service first.
///
/// # Errors
/// Those of `simulate`.
pub fn fit<E>(
    measured_ns: &[f64],
    given: Contention,
    without_influence: [Option<&'static str>; 2],
    simulate: impl FnMut(&[Contention]) -> Result<Vec<Vec<f64>>, E>,
) -> Result<Fit, E> {
    let mut search = Search { measured_ns, given, simulate, tried: Vec::new() };
    let mut undecided = without_influence.map(|reason| reason.map(Verdict::NoInfluence));
    loop {
        let is_free = |&parameter: &FitParameter| undecided[parameter as usize].is_none();
        let free: Vec<FitParameter> = FitParameter::ALL.into_iter().filter(is_free).collect();
        let best = search.best(&free, given)?;
        let mut is_decided = true;
        for &parameter in &free {
            let verdict = search.undecided(parameter, &free, &best)?;
            is_decided &= verdict.is_none();
            undecided[parameter as usize] = verdict;
        }
        if is_decided {
            return Ok(search.outcome(&best, undecided));
        }
    }
}

/// A set that was simulated.
#[derive(Clone, Debug)]
struct Tried {
    set: Contention,
    between_ns: Vec<f64>,
    /// The mean of the logarithms of ratios, without their signs.
    distance: f64,
}

struct Search<'a, S> {
    measured_ns: &'a [f64],
    given: Contention,
    simulate: S,
    tried: Vec<Tried>,
}

impl<S, E> Search<'_, S>
where
    S: FnMut(&[Contention]) -> Result<Vec<Vec<f64>>, E>,
{
    /// The nearest set that differs from `base` in these parameters only.
    fn best(&mut self, free: &[FitParameter], base: Contention) -> Result<Tried, E> {
        let mut sets = vec![base];
        for parameter in free {
            let grid = parameter.grid(parameter.of(self.given));
            sets = sets.iter().flat_map(|&set| grid.iter().map(move |&value| parameter.with(value, set))).collect();
        }
        let mut best = self.nearest(&sets)?;
        for step in STEPS {
            let mut around = vec![best.set];
            for parameter in free {
                let factors = [2f64.powf(-step), 1.0, 2f64.powf(step)];
                let values = |set| factors.map(|factor| parameter.with(rounded(parameter.of(set) * factor), set));
                around = around.into_iter().flat_map(values).collect();
            }
            around.push(best.set);
            best = self.nearest(&around)?;
        }
        Ok(best)
    }

    /// Simulates those of these sets that were not tried, and returns the nearest of all of them.
    fn nearest(&mut self, sets: &[Contention]) -> Result<Tried, E> {
        let mut fresh: Vec<Contention> = Vec::new();
        for set in sets {
            if self.tried.iter().all(|tried| tried.set != *set) && !fresh.contains(set) {
                fresh.push(*set);
            }
        }
        let figures = if fresh.is_empty() { Vec::new() } else { (self.simulate)(&fresh)? };
        for (set, between_ns) in fresh.into_iter().zip(figures) {
            let factors = factors(self.measured_ns, &between_ns);
            let distance = factors.iter().map(|factor| factor.ln()).sum::<f64>() / factors.len().max(1) as f64;
            self.tried.push(Tried { set, between_ns, distance });
        }
        let asked = self.tried.iter().filter(|tried| sets.contains(&tried.set));
        let nearest = asked.min_by(|one, other| one.distance.total_cmp(&other.distance));
        Ok(nearest.expect("each set was tried").clone())
    }

    /// The reason why the rows do not tell this parameter, which is one of those that were searched; `None` if they do.
    fn undecided(
        &mut self,
        parameter: FitParameter,
        free: &[FitParameter],
        best: &Tried,
    ) -> Result<Option<Verdict>, E> {
        let at = parameter.of(best.set);
        let others: Vec<FitParameter> = free.iter().copied().filter(|&other| other != parameter).collect();
        let (half, double) = if at > 0.0 { (Some(at / 2.0), 2.0 * at) } else { (None, parameter.range()[0]) };
        let mut profile = |value| Ok(self.best(&others, parameter.with(rounded(value), best.set))?.distance);
        let below = half.map(&mut profile).transpose()?;
        let above = profile(double)?;
        if above < best.distance && at >= parameter.range()[1] {
            return Ok(Some(Verdict::Edge(at)));
        }
        let as_near = best.distance + AS_NEAR;
        if above >= as_near && below.is_none_or(|below| below >= as_near) {
            return Ok(None);
        }
        // The whole range of values that come as near beside the best ones of the others.
        let sets: Vec<Contention> =
            parameter.grid(parameter.of(self.given)).into_iter().map(|value| parameter.with(value, best.set)).collect();
        self.nearest(&sets)?;
        let near = self.tried.iter().filter(|tried| tried.distance < as_near).map(|tried| parameter.of(tried.set));
        Ok(Some(Verdict::Flat(near.fold([at; 2], |[least, most], value| [least.min(value), most.max(value)]))))
    }

    fn outcome(&self, best: &Tried, undecided: [Option<Verdict>; 2]) -> Fit {
        let given = self.tried.iter().find(|tried| tried.set == self.given).expect("it is in each grid");
        let figures = |tried: &Tried| Figures::of(self.measured_ns, &tried.between_ns);
        let finding = |parameter: FitParameter| {
            let found = || Verdict::Found(parameter.of(best.set));
            let verdict = undecided[parameter as usize].clone().unwrap_or_else(found);
            Finding { parameter, given: parameter.of(self.given), verdict }
        };
        Fit {
            evaluations: self.tried.len(),
            given: figures(given),
            fitted: figures(best),
            findings: FitParameter::ALL.map(finding),
        }
    }
}

impl Figures {
    fn of(measured_ns: &[f64], between_ns: &[f64]) -> Self {
        let mut factors = factors(measured_ns, between_ns);
        let mean = factors.iter().map(|factor| factor.ln()).sum::<f64>() / factors.len().max(1) as f64;
        let median_factor = median(&mut factors).unwrap_or(1.0);
        Self { between_ns: between_ns.to_vec(), median_factor, mean_factor: mean.exp() }
    }
}

/// By how much each figure is off, either way: 1 if it is right.
fn factors(measured_ns: &[f64], between_ns: &[f64]) -> Vec<f64> {
    let factor = |(measured, between): (&f64, &f64)| (between / measured).max(measured / between);
    measured_ns.iter().zip(between_ns).map(factor).collect()
}

/// To three digits, as people read and files keep it.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use corecast_sim_core::{Location, Machine};

    use super::*;
    use crate::assumed::{Known, assumed};
    use crate::contended::between_moves_ns;
    use crate::what_if::WhatIf;

    const GIVEN: Contention = Contention { service_ns: 12.0, kappa: 3.0 };

    /// This number of packages of three CPUs: 60 ns within, 150 ns between.
    fn machine(packages: u16) -> Machine {
        let locations: Vec<Location> =
            (0..3 * packages).map(|cpu| Location { package: cpu / 3, node: cpu / 3 }).collect();
        let time = |one: usize, other: usize| if one / 3 == other / 3 { 60.0 } else { 150.0 };
        let cpus = locations.len();
        let transfers = (0..cpus).map(|one| (0..cpus).map(|other| time(one, other)).collect()).collect();
        assumed(&Known { name: "packages".to_owned(), units_per_us: 1000.0, locations, transfers }).expect("a machine")
    }

    fn rows(packages: usize) -> Vec<Contended> {
        let row =
            |clusters, lines| Contended { clusters, cpus: (0..3 * clusters).collect(), lines, time: 1.0, handed: 1.0 };
        (1..=packages).flat_map(|clusters| [1, 8, 64].map(|lines| row(clusters, lines))).collect()
    }

    fn figures(machine: &Machine, set: Contention, seed: u64) -> Vec<f64> {
        let Contention { service_ns, kappa } = set;
        let what_if = WhatIf { service_ns: Some(service_ns), kappa: Some(kappa), ..WhatIf::default() };
        let changed = machine.clone().with_costs(what_if.apply(machine.costs(), 1000.0)).expect("a machine");
        let between = |row| between_moves_ns(&changed, row, 20.0, seed).expect("it ends").unwrap_or(f64::INFINITY);
        rows(machine.nodes()).iter().map(between).collect()
    }

    /// The outcome of rows that were simulated with other parameters and another seed.
    fn planted(packages: u16, truth: Contention) -> Fit {
        let machine = machine(packages);
        let measured = figures(&machine, truth, 9);
        let rows = rows(packages.into());
        let influence = FitParameter::ALL.map(|parameter| parameter.without_influence(&machine, &rows));
        let simulate =
            |sets: &[Contention]| Ok::<_, Infallible>(sets.iter().map(|&set| figures(&machine, set, 1)).collect());
        fit(&measured, GIVEN, influence, simulate).expect("it ends")
    }

    /// Within two of the last steps of the search, as the seeds differ.
    fn is_found(finding: &Finding, truth: f64) -> bool {
        matches!(finding.verdict, Verdict::Found(found) if (found / truth).log2().abs() <= 0.13)
    }

    #[test]
    fn planted_parameters_come_back() {
        let truth = Contention { service_ns: 55.0, kappa: 1.3 };
        let Fit { given, fitted, findings, evaluations } = planted(2, truth);
        assert!(is_found(&findings[0], 55.0) && is_found(&findings[1], 1.3), "{findings:?}");
        assert!(given.median_factor > 1.3 && fitted.median_factor < 1.03, "{given:?} {fitted:?}");
        assert!(fitted.mean_factor < 1.04, "{fitted:?}");
        // The grid, steps around its best point, and the double and half of each parameter with each value of the other.
        assert!((9 * 10 + 4 * 8..9 * 10 + 4 * 8 + 4 * (10 + 4 * 2)).contains(&evaluations), "{evaluations}");
    }

    #[test]
    fn one_package_decides_nothing() {
        let Fit { given, fitted, findings, evaluations } = planted(1, Contention { service_ns: 55.0, kappa: 1.3 });
        assert!(findings.iter().all(|finding| matches!(finding.verdict, Verdict::NoInfluence(_))), "{findings:?}");
        assert_eq!((evaluations, given), (1, fitted));
    }

    /// Two rows of 100 ns are simulated by a formula.
    fn of(figures: impl Fn(Contention) -> [f64; 2]) -> Fit {
        let simulate =
            |sets: &[Contention]| Ok::<_, Infallible>(sets.iter().map(|&set| figures(set).to_vec()).collect());
        fit(&[100.0; 2], GIVEN, [None, None], simulate).expect("it ends")
    }

    #[test]
    fn a_parameter_that_rows_do_not_tell_stays_and_the_other_one_is_found() {
        // Homes that need up to 20 ns are never waited for.
        let found = of(|set| [40.0 * (1.0 + set.kappa), 100.0 + (set.service_ns - 20.0).max(0.0)]);
        assert_eq!(found.findings[0].verdict, Verdict::Flat([0.0, 16.0]), "{found:?}");
        assert!(is_found(&found.findings[1], 1.5), "{found:?}");
        assert!(found.fitted.median_factor < 1.1, "{found:?}");
    }

    #[test]
    fn two_that_make_up_for_each_other_are_not_decided_and_a_value_at_the_end_is_none() {
        let ridge = of(|set| [10.0 * (1.0 + set.kappa) * (1.0 + set.service_ns); 2]);
        assert!(ridge.findings.iter().all(|finding| matches!(finding.verdict, Verdict::Flat(_))), "{ridge:?}");
        assert_eq!(ridge.fitted, ridge.given);
        let edge = of(|set| [set.kappa, set.service_ns / 1000.0]);
        assert!(edge.findings.iter().all(|finding| matches!(finding.verdict, Verdict::Edge(_))), "{edge:?}");
    }

    #[test]
    fn values_have_three_digits() {
        assert_eq!([0.0, 1.5151, 90.509, 181.02].map(rounded), [0.0, 1.52, 90.5, 181.0]);
    }
}
