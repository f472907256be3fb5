//! `corecast sim compare`: what this machine does beside what its simulation says.

use corecast_race::Options;
use corecast_sim::{MEDIAN_RATIO, WORST_FACTOR, of_model};
use serde::Serialize;

use corecast_cli::failure::Failure;
use corecast_cli::interrupt::Interrupt;
use corecast_cli::machine_args::MachineArgs;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::{printable, table};

use crate::command::commit;
use crate::simulated::{Asked, Compared, ComparedRow, Comparison, compare};
use crate::tell::tell;

/// The most members of a group.
const MOST_MEMBERS: usize = 64;
/// The most runs of the measurement.
const MOST_RUNS: usize = 100;

/// Options of `sim compare`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Compare {
    #[command(flatten)]
    machine: MachineArgs,
    /// Compare these only [default: all].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum)]
    what: Vec<Compared>,
    /// The members of barriers and collectives; they share CPUs where there are more.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = members, default_values_t = [2, 4, 8])]
    members: Vec<usize>,
    /// Measure everything this often, in turns, and tell how well the runs agree among themselves.
    #[arg(long, value_name = "N", value_parser = runs, default_value_t = 3)]
    runs: usize,
    /// Measure with fewer and shorter blocks.
    #[arg(long)]
    quick: bool,
    /// The seed of all orders, and of the simulated threads' begins and pauses.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// The outcome.
#[derive(Debug, Serialize)]
struct Outcome {
    /// The version of corecast.
    version: &'static str,
    /// The commit that the program was built from.
    commit: Option<String>,
    /// The name of the machine.
    machine: String,
    /// Whether its model has the costs of single accesses; else they are assumed from those of messages.
    has_coherence: bool,
    /// The seed.
    seed: u64,
    /// True for fewer and shorter blocks.
    quick: bool,
    /// How often everything was measured.
    runs: usize,
    /// One for each thing that was compared.
    comparisons: Vec<Comparison>,
}

impl Compare {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let model = self.machine.model(output)?;
        let has_coherence = model.machine.extended.coherence.is_some();
        if !has_coherence {
            output.remark("costs of single accesses are assumed; `corecast measure coherence` measures them");
        }
        let simulated = of_model(&model.machine).map_err(Failure::input)?.machine;
        let Self { quick, seed, runs, .. } = *self;
        let (cpus, cancel) = (Some(model.machine.cpu_set()), Interrupt::watch()?.cancel());
        let options = Options { cpus, quick, seed: Some(seed), cancel, commit: commit(), ..Options::default() };
        let what = if self.what.is_empty() { Compared::ALL.to_vec() } else { self.what.clone() };
        let asked = Asked { what, members: self.members.clone(), runs };
        let comparisons = compare(&model.machine, &simulated, &asked, &options, &mut Meter::start(output))?;
        let outcome = Outcome {
            version: env!("CARGO_PKG_VERSION"),
            commit: commit(),
            machine: model.machine.name.clone(),
            has_coherence,
            seed,
            quick,
            runs,
            comparisons,
        };
        tell(output, &outcome, describe)
    }
}

/// A number of members.
fn members(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (2..=MOST_MEMBERS).contains(number));
    number.ok_or_else(|| format!("expected a whole number from 2 to {MOST_MEMBERS}"))
}

/// A number of runs.
fn runs(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=MOST_RUNS).contains(number));
    number.ok_or_else(|| format!("expected a whole number from 1 to {MOST_RUNS}"))
}

fn describe(outcome: &Outcome) -> String {
    let comparisons: Vec<String> = outcome.comparisons.iter().map(describe_one).collect();
    let [least, most] = MEDIAN_RATIO;
    format!(
        "SIMULATED beside measured: {}\n\
         ratio: simulated / measured, the median of {}; it agrees where the median ratio is within {least} to {most}, and no ratio \
         off by more than a factor of {WORST_FACTOR}\n\n{}",
        printable::line(&outcome.machine),
        table::many(outcome.runs, "run"),
        comparisons.join("\n")
    )
}

/// A row for each contender, and how well all of them agree.
fn describe_one(comparison: &Comparison) -> String {
    let Comparison { what, members, unit, rows, ratios, rank_correlation, choice_loss, holds, .. } = comparison;
    let mut lines = table::table(&["contender", ">simulated", ">measured", ">ratio"]);
    for ComparedRow { contender, simulated, measured, ratio, .. } in rows {
        lines.add_row([
            contender.clone(),
            table::number(*simulated, 2),
            table::number(Some(*measured), 2),
            table::number(*ratio, 2),
        ]);
    }
    let failed = rows.iter().filter_map(|row| {
        let words = row.failed.as_ref()?;
        Some(format!("NO OUTCOME: {}: {}\n", row.contender, printable::line(words)))
    });
    let [median, least, most] =
        ratios.map_or([None; 3], |ratios| ratios.map(Some)).map(|ratio| table::number(ratio, 2));
    let loss = table::number(choice_loss.map(|loss| 100.0 * loss), 0);
    let verdict = match holds {
        Some(true) => "agrees: ",
        Some(false) => "DOES NOT AGREE: ",
        None => "",
    };
    let repeated = describe_repeated(comparison);
    format!(
        "{} of {members}, {unit}\n{}{}{verdict}ratio {median} in the median, {least} to {most}; rank correlation {}; \
         the best one of the simulation is measured {loss} % worse than the best one\n\
         of {} pairs of contenders that differ in all runs, the simulation has {} in the measured order\n{repeated}",
        what.name(),
        table::text(&lines),
        failed.collect::<String>(),
        table::number(*rank_correlation, 2),
        comparison.pairs_that_differ,
        comparison.pairs_in_order,
    )
}

/// How well the measurement agrees with itself; nothing where it was taken once.
fn describe_repeated(comparison: &Comparison) -> String {
    let Some(loss) = comparison.repeated_choice_loss else { return String::new() };
    let correlation = table::number(comparison.repeated_rank_correlation, 2);
    format!(
        "the measurement beside itself, one run and another: rank correlation {correlation}; the best one of a run is {:.0} % worse \
         than the best one in another\n",
        100.0 * loss
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_figures_and_the_verdict_are_told() {
        let row = |contender: &str, simulated: Option<f64>| ComparedRow {
            contender: contender.to_owned(),
            simulated,
            measured: 2.0,
            ratio: simulated.map(|figure| figure / 2.0),
            failed: simulated.is_none().then(|| "it \u{1b}hung".to_owned()),
        };
        let text = describe_one(&Comparison {
            what: Compared::Locks,
            members: 2,
            repeated_rank_correlation: Some(0.25),
            repeated_choice_loss: Some(0.125),
            unit: "M/s",
            higher_is_better: true,
            rows: vec![row("mcs", Some(5.0)), row("tas", None)],
            ratios: Some([2.5, 2.5, 2.5]),
            rank_correlation: None,
            pairs_that_differ: 9,
            pairs_in_order: 7,
            choice_loss: Some(0.0),
            holds: Some(false),
        });
        for words in [
            "locks of 2, M/s",
            "mcs",
            "5.00",
            "NO OUTCOME: tas",
            "DOES NOT AGREE: ratio 2.50",
            "measured 0 % worse",
            "of 9 pairs of contenders that differ in all runs, the simulation has 7 in the measured order",
            "one run and another: rank correlation 0.25; the best one of a run is 12 % worse",
        ] {
            assert!(text.contains(words), "'{words}' is not in\n{text}");
        }
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}
