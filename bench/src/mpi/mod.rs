//! `corecast bench mpi`: MPI libraries with and without corecast's preload object before them.
//!
//! Both are the same program in C, which the race of collectives builds and starts; blocks of one and the other alternate, and
//! every operation is checked before it is timed. Barriers are timed back to back, operations with a root and allreduces in
//! windows that all ranks begin at one time and that end with the last of them.
//!
//! - [`lengths`]: which operations the object serves, in its own words; [`published`]: figures of others;
//! - [`foreign`], [`suite`]: benchmarks that were written elsewhere, OSU's and Intel's, which run as well if they are named.

mod foreign;
#[path = "../../../crates/shims/mpi/src/lengths.rs"]
mod lengths;
mod published;
mod suite;

use corecast::machine::Machine;
use corecast_race::error::BenchError;
use corecast_race::gate::{Demand, Gate};
use corecast_race::options::Options;
use corecast_race::progress::{Part, Progress};
use corecast_race::report::{Group, Timing};
use corecast_race::{Op, collectives};
use serde::Serialize;

use self::foreign::{Foreign, Ran};
pub use self::foreign::{MpiForeign, MpiForeignRow, MpiForeignSkip};
use self::lengths::{Crowd, Kind, LIMIT_BYTES, left_to_library};
pub use self::published::MPI_PRESET;
use crate::counts::or_usual;
use crate::published::{PublishedFigure, smelt_participants};
use crate::rules::{Rule, at_least, at_most, judge_beside};
use crate::stats::{geometric_mean, most};

const COMMAND: &str = "corecast bench mpi";
/// The libraries, by the names of their contenders.
const LIBRARIES: [&str; 3] = ["openmpi", "mpich", "intel-mpi"];
/// A contender that has the object before it is called as the library, with this behind.
const PRELOADED: &str = "+shim";
const OPS: [Op; 4] = [Op::Barrier, Op::Broadcast, Op::Reduce, Op::Allreduce];
/// Bytes that operations carry.
const SIZES: [usize; 7] = [8, 64, 512, MIDDLE_BYTES, 4 << 10, 8 << 10, PASSED_BYTES];
const QUICK_SIZES: [usize; 4] = [8, MIDDLE_BYTES, 4 << 10, PASSED_BYTES];
/// Among two ranks some operations of this length are left to the library.
const MIDDLE_BYTES: usize = 1 << 10;
/// Messages of this length are longer than what the object serves.
const PASSED_BYTES: usize = 64 << 10;
/// The fewest ranks of the gates of wide groups.
const WIDE: usize = 16;

/// The outcome of `corecast bench mpi`.
#[derive(Clone, Debug, Serialize)]
pub struct MpiReport {
    /// The machine's name.
    pub machine: String,
    /// The commit that the program was built from; `null` if it was not built in a git checkout.
    pub commit: Option<String>,
    /// From this all orders were drawn.
    pub seed: u64,
    /// True for fewer and shorter blocks.
    pub quick: bool,
    /// Busy processes beside all launches and blocks.
    pub busy: usize,
    /// The experiment that was repeated; `null` for the usual run.
    pub preset: Option<&'static str>,
    /// Warnings that the reader should know before believing the numbers.
    pub warnings: Vec<String>,
    /// One entry for each library, operation, length and number of ranks.
    pub rows: Vec<MpiRow>,
    /// One entry for each operation, length and number of ranks of benchmarks that were written elsewhere. None is judged.
    pub foreign: Vec<MpiForeignRow>,
    /// The ones of these that could not be measured.
    pub foreign_left_out: Vec<MpiForeignSkip>,
    /// Figures that the authors of Smelt have published.
    pub published: Vec<PublishedFigure>,
    /// The demands on the object, and whether they are met here.
    pub gates: Vec<Gate>,
}

/// The options that only this benchmark has.
#[derive(Clone, Debug, Default)]
pub struct MpiOptions {
    /// Takes the ranks, the operations and the length of the published experiment where none is named.
    pub preset: bool,
    /// Benchmarks of others that are to run as well.
    pub foreign: MpiForeign,
}

/// A library at one operation.
#[derive(Clone, Debug, Serialize)]
pub struct MpiRow {
    /// The library, such as `openmpi`.
    pub library: String,
    /// The operation.
    pub op: Op,
    /// The bytes that it carries.
    pub bytes: usize,
    /// The number of ranks.
    pub ranks: usize,
    /// True if ranks share CPUs.
    pub oversubscribed: bool,
    /// The interval that was timed.
    pub timing: Timing,
    /// The median without the object, in nanoseconds.
    pub without_ns: Option<f64>,
    /// The median with it.
    pub with_ns: Option<f64>,
    /// The median of a group of corecast's own, for a program that is written for it.
    pub corecast_ns: Option<f64>,
    /// The first time divided by the second: above 1 the object is a gain.
    pub speedup: Option<f64>,
    /// Why it was not timed; `null` if it was.
    pub skipped: Option<String>,
}

/// Races every library that is installed with and without the object, and runs the benchmarks of others.
///
/// `options.participants` are the numbers of ranks, by default 2, and 4 in a run that is not quick; `options.place` has to be
/// processes.
///
/// # Errors
/// A [`BenchError`] if the options do not fit the machine, a benchmark of others does not run, or the run is cancelled.
pub fn mpi(
    machine: &Machine,
    options: &Options,
    wanted: &MpiOptions,
    progress: &mut dyn Progress,
) -> Result<MpiReport, BenchError> {
    let cpus = options.usable_cpus(machine)?;
    let options = completed(options, wanted.preset, cpus.len());
    options.heats(cpus.len())?;
    let foreign = wanted.foreign.open(&cpus, &options)?;
    let parts = 1 + usize::from(foreign.is_some());
    let report = collectives(machine, &options, &mut Part::of(progress, 0, parts))?;
    let run = |foreign: Foreign| foreign.run(&options, report.seed, &mut Part::of(progress, 1, parts));
    let Ran { rows: foreign, left_out } = foreign.map(run).transpose()?.unwrap_or_default();
    let rows: Vec<MpiRow> = report.groups.iter().flat_map(rows_of).collect();
    Ok(MpiReport {
        machine: report.machine,
        commit: report.commit,
        seed: report.seed,
        quick: report.quick,
        busy: options.busy,
        preset: wanted.preset.then_some(MPI_PRESET),
        warnings: report.warnings,
        foreign,
        foreign_left_out: left_out,
        published: published::figures(|op| wide(&rows, op).ok()),
        gates: judge_beside(options.busy, RULES, &BESIDE, rows.as_slice()),
        rows,
    })
}

/// The options with this benchmark's contenders, and with ranks, operations and sizes where there are none: the usual ones, or
/// those of the published experiment.
fn completed(options: &Options, is_preset: bool, cpus: usize) -> Options {
    let contenders = LIBRARIES.iter().flat_map(|&library| [library.to_owned(), format!("{library}{PRELOADED}")]);
    let (ranks, ops, sizes) = match (is_preset, options.quick) {
        (true, _) => (smelt_participants(cpus), &published::OPS[..], &[published::BYTES][..]),
        (false, true) => (vec![2], &OPS[..], &QUICK_SIZES[..]),
        (false, false) => (vec![2, 4], &OPS[..], &SIZES[..]),
    };
    Options {
        contenders: contenders.collect(),
        participants: or_usual(&options.participants, || ranks),
        ops: or_usual(&options.ops, || ops.to_vec()),
        sizes: or_usual(&options.sizes, || sizes.to_vec()),
        ..options.clone()
    }
}

fn rows_of(group: &Group) -> impl Iterator<Item = MpiRow> + '_ {
    LIBRARIES.iter().map(|&library| row_of(group, library))
}

fn row_of(group: &Group, library: &str) -> MpiRow {
    let row = |name: &str| group.rows.iter().find(|row| row.contender == name);
    let median = |name: &str| row(name)?.summary.map(|summary| summary.median_ns);
    let preloaded = format!("{library}{PRELOADED}");
    let (without_ns, with_ns) = (median(library), median(&preloaded));
    let skipped = [library, &preloaded].into_iter().find_map(|name| row(name)?.skipped.clone());
    MpiRow {
        library: library.to_owned(),
        op: group.op,
        bytes: group.bytes,
        ranks: group.participants,
        oversubscribed: group.oversubscribed,
        timing: group.timing,
        without_ns,
        with_ns,
        corecast_ns: median(&group.reference),
        speedup: without_ns.zip(with_ns).map(|(without, with)| without / with),
        skipped,
    }
}

const OPEN_MPI_PAIR: Demand = at_least(1.5, "barrier of 2 ranks, Open MPI without / with the object", COMMAND);
const MPICH_PAIR: Demand = at_least(5.0, "barrier of 2 ranks, MPICH without / with the object", COMMAND);
const INTEL_PAIR: Demand = at_least(1.8, "barrier of 2 ranks, Intel MPI without / with the object", COMMAND);
const MPICH_CROWD: Demand = at_least(5.0, "barrier of 4 ranks on 2 CPUs, MPICH without / with the object", COMMAND);
const WIDE_BROADCAST: Demand =
    at_least(1.6, "broadcast of 8 bytes, 16 ranks or more, Open MPI without / with the object", COMMAND);
const WIDE_REDUCE: Demand =
    at_least(1.6, "reduction of 8 bytes, 16 ranks or more, Open MPI without / with the object", COMMAND);
const PASSED: Demand =
    at_most(1.02, "operations that the object passes on, time with / without, geometric mean", COMMAND);
const PASSED_WORST: Demand =
    at_most(1.1, "operations that the object passes on, time with / without, the worst", COMMAND);

const RULES: &[Rule<[MpiRow]>] = &[
    Rule::new(OPEN_MPI_PAIR, |rows| pair(rows, "openmpi")),
    Rule::new(MPICH_PAIR, |rows| pair(rows, "mpich")),
    Rule::new(INTEL_PAIR, |rows| pair(rows, "intel-mpi")),
    Rule::new(MPICH_CROWD, |rows| {
        speedup(rows, "mpich", "--n 4 on 2 CPUs", |row| row.ranks == 4 && row.oversubscribed)
    }),
    Rule::new(WIDE_BROADCAST, |rows| wide(rows, Op::Broadcast)),
    Rule::new(WIDE_REDUCE, |rows| wide(rows, Op::Reduce)),
    Rule::new(PASSED, |rows| geometric_mean(&passed(rows)?).ok_or_else(no_passed)),
    // A gain of one must not hide the loss of another; a median alone differs from run to run by some hundredths.
    Rule::new(PASSED_WORST, |rows| most(passed(rows)?).ok_or_else(no_passed)),
];

/// A gain at one length must not hide a loss at another.
const BESIDE: Rule<[MpiRow]> = Rule::new(
    at_most(1.05, "beside busy processes: with / without the object, operations that it serves, the worst", COMMAND),
    |rows| {
        let served = rows.iter().filter(|row| row.is_served() == Some(true));
        most(served.map(MpiRow::loss)).ok_or_else(|| "a library that is installed".to_owned())
    },
);

fn pair(rows: &[MpiRow], library: &str) -> Result<f64, String> {
    speedup(rows, library, "--n 2 on 2 CPUs", |row| row.ranks == 2 && !row.oversubscribed)
}

/// The gain of a barrier of this kind.
fn speedup(rows: &[MpiRow], library: &str, needs: &str, is_meant: impl Fn(&MpiRow) -> bool) -> Result<f64, String> {
    let of_library = |row: &&MpiRow| row.library == library && row.op == Op::Barrier && is_meant(row);
    let row = rows.iter().find(of_library).ok_or_else(|| needs.to_owned())?;
    row.speedup.ok_or_else(|| format!("{library}: {}", row.skipped.as_deref().unwrap_or("no samples")))
}

/// The gain of a barrier, or of an operation of 8 bytes, among many ranks with a CPU each.
fn wide(rows: &[MpiRow], op: Op) -> Result<f64, String> {
    let is_meant = |row: &&MpiRow| {
        let is_short = op == Op::Barrier || row.bytes == 8;
        row.library == LIBRARIES[0] && row.op == op && is_short && row.ranks >= WIDE && !row.oversubscribed
    };
    rows.iter().find(is_meant).and_then(|row| row.speedup).ok_or_else(|| format!("{WIDE} CPUs"))
}

/// The losses of operations that are not served, where ranks have a CPU each.
fn passed(rows: &[MpiRow]) -> Result<Vec<f64>, String> {
    let is_meant = |row: &&MpiRow| row.is_served() == Some(false) && !row.oversubscribed;
    let losses: Vec<f64> = rows.iter().filter(is_meant).filter_map(MpiRow::loss).collect();
    if losses.is_empty() { Err(no_passed()) } else { Ok(losses) }
}

fn no_passed() -> String {
    format!("messages of {PASSED_BYTES} bytes, a CPU for each rank")
}

impl MpiRow {
    fn loss(&self) -> Option<f64> {
        self.speedup.map(f64::recip)
    }

    /// Whether the object serves the operation, by its own table; `None` where a contest decides that as the group is set up.
    fn is_served(&self) -> Option<bool> {
        let kind = match self.op {
            Op::Broadcast => Kind::Broadcast,
            Op::Reduce => Kind::Reduce,
            Op::Allreduce => Kind::Allreduce,
            _ => return Some(true),
        };
        let crowds: &[Crowd] = match (self.oversubscribed, self.ranks) {
            (true, _) => &[Crowd::Crowded],
            (false, 2) => &[Crowd::Pair, Crowd::PairApart],
            (false, _) => &[Crowd::Wide],
        };
        let is_open_mpi = self.library == LIBRARIES[0];
        let is_left =
            |&crowd: &Crowd| left_to_library(kind, crowd, is_open_mpi).is_some_and(|left| left.contains(&self.bytes));
        match crowds.iter().filter(|crowd| is_left(crowd)).count() {
            _ if self.bytes > LIMIT_BYTES => Some(false),
            0 => Some(true),
            left if left == crowds.len() => Some(false),
            // Open MPI's pairs are never apart.
            _ if is_open_mpi => Some(false),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_race::gate::Verdict;

    fn row(library: &str, op: Op, bytes: usize, ranks: usize, speedup: f64) -> MpiRow {
        MpiRow {
            library: library.to_owned(),
            op,
            bytes,
            ranks,
            oversubscribed: ranks > 2,
            timing: Timing::Batches,
            without_ns: Some(100.0 * speedup),
            with_ns: Some(100.0),
            corecast_ns: None,
            speedup: Some(speedup),
            skipped: None,
        }
    }

    #[test]
    fn each_gate_finds_its_rows_or_says_what_it_needs() {
        let rows = [
            row("openmpi", Op::Barrier, 0, 2, 1.4),
            row("mpich", Op::Barrier, 0, 2, 6.0),
            row("mpich", Op::Barrier, 0, 4, 50.0),
            row("openmpi", Op::Reduce, PASSED_BYTES, 2, 0.5),
            row("openmpi", Op::Broadcast, PASSED_BYTES, 2, 2.0),
        ];
        let verdicts: Vec<Verdict> =
            judge_beside(0, RULES, &BESIDE, rows.as_slice()).into_iter().map(|gate| gate.verdict).collect();
        use Verdict::{Holds, Missed, NotJudged};
        assert_eq!(verdicts, [Missed, Holds, NotJudged, Holds, NotJudged, NotJudged, Holds, Missed, NotJudged]);
        let beside = judge_beside(2, RULES, &BESIDE, rows.as_slice()).pop().expect("it is the last");
        assert_eq!(beside.measured, Some(1.0 / 1.4));
    }

    #[test]
    fn options_of_the_user_go_before_those_of_an_experiment() {
        let of = |options: &Options, is_preset| {
            let Options { participants, ops, sizes, .. } = completed(options, is_preset, 16);
            (participants, ops.len(), sizes.len())
        };
        assert_eq!(of(&Options::default(), false), (vec![2, 4], 4, SIZES.len()));
        let quick = Options { quick: true, ..Options::default() };
        assert_eq!(of(&quick, false), (vec![2], 4, QUICK_SIZES.len()));
        assert_eq!(of(&Options::default(), true), (vec![16], 3, 1));
        let named = Options { participants: vec![3], ops: vec![Op::Allreduce], ..Options::default() };
        assert_eq!(of(&named, true), (vec![3], 1, 1));
    }

    #[test]
    fn what_is_passed_is_not_judged_as_served() {
        let is_served = |library, op, bytes, ranks| row(library, op, bytes, ranks, 0.5).is_served();
        for (library, op, bytes, ranks) in [
            ("openmpi", Op::Broadcast, MIDDLE_BYTES, 2),
            ("openmpi", Op::Allreduce, 64, 2),
            ("openmpi", Op::Broadcast, 8, 4),
            ("openmpi", Op::Reduce, MIDDLE_BYTES, 4),
            ("mpich", Op::Reduce, MIDDLE_BYTES, 2),
            ("mpich", Op::Allreduce, PASSED_BYTES, 4),
        ] {
            assert_eq!(is_served(library, op, bytes, ranks), Some(false), "{library} {op:?} {bytes} {ranks}");
        }
        for (library, op, bytes, ranks) in [
            ("openmpi", Op::Barrier, 0, 2),
            ("openmpi", Op::Broadcast, 8, 2),
            ("mpich", Op::Broadcast, 8, 2),
            ("mpich", Op::Reduce, MIDDLE_BYTES, 4),
        ] {
            assert_eq!(is_served(library, op, bytes, ranks), Some(true), "{library} {op:?} {bytes} {ranks}");
        }
        assert_eq!(is_served("mpich", Op::Broadcast, MIDDLE_BYTES, 2), None, "the contest decides");
    }
}
