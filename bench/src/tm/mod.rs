//! `corecast bench tm`: corecast's transactional memory, by messages and in shared memory, under every contention manager,
//! against locks, the transactional memories of crates, and GCC's.
//!
//! The experiments of TM2C (Gramoli, Guerraoui, Trigonakis, EuroSys 2012): a bank, a hash table and a sorted list, a
//! map-reduce over a file, and bare round trips; and a map and a queue. Every contender is checked in every situation before it
//! is timed there. They run in turns, in an order drawn anew for each round, each round over a new memory.
//!
//! - `workload`: the kinds of work, with their numbers; `situations`: those of a run; `preset`: those that were published;
//! - `bank`, `set`, `queue`, `histogram`, `steps`: the work of a client, written once for all memories;
//! - `host`, `session`, `tally`: the traits of a memory, its clients in threads of their own, and what they count;
//! - `ours` with `sets` and `variant`, `planned`, `rivals`, `contenders`: the memories; `processes` with `member`: participants
//!   that are processes;
//! - `report`, `published`, `gates`: what is told, and what is asked.

mod bank;
mod contenders;
mod gates;
mod histogram;
mod host;
mod member;
mod ours;
mod planned;
mod preset;
mod processes;
mod published;
mod queue;
mod report;
mod rivals;
mod session;
mod set;
mod sets;
mod situations;
mod steps;
mod tally;
mod variant;
mod workload;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use corecast::base::CpuId;
use corecast::machine::Machine;
use corecast::tm::Manager;
use corecast::tm::placement::SERVERS_EVERY;

use crate::stats::{jain, least, median, median_of, most};
use crate::turns::{Raced, Situation, TurnOrder};
use contenders::{Contender, contenders, other_shares};
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::harness::is_crowded;
use corecast_race::options::Options;
use corecast_race::progress::{Part, Progress};
use host::Setting;
pub use member::tm_member;
pub use preset::{NoTmPreset, TmPreset};
pub use report::{TmCell, TmReport, TmRow};
use situations::situations;
use tally::{Tally, Turn};
use workload::Work;
pub use workload::{NoWorkload, TmWorkload};

/// The options of the benchmark.
#[derive(Clone, Debug, Default)]
pub struct TmOptions {
    /// CPUs, contenders, how channels wait, pace, seed, and how to stop it. The rest is not looked at.
    pub options: Options,
    /// The experiment to repeat: it chooses what is not chosen below.
    pub preset: Option<TmPreset>,
    /// The kinds of work; all by default.
    pub workloads: Vec<TmWorkload>,
    /// The numbers of participants, servers among them; by default 1, 2, 4, .. up to the number of CPUs, 6 if it is below, and
    /// twice the CPUs; only 1, 2 and the number of CPUs if quick.
    pub participants: Vec<usize>,
    /// One of each of these numbers of participants is a server, where there are servers: every third by default, as in the
    /// paper, and of fewer participants the last; of the bank without checks, readers and sums also every second and only one,
    /// unless quick.
    pub every: Vec<usize>,
    /// The contention managers; all by default, where one client only reads; elsewhere FairCM.
    pub managers: Vec<Manager>,
    /// Transactions of the bank, in 100, that sum two accounts; 0, 50 and 90 by default.
    pub checks_percent: Vec<u32>,
    /// The numbers of clients of the bank that only sum all accounts; 0 and 1 by default.
    pub readers: Vec<usize>,
    /// Transactions of the bank's other clients, in 100, that sum all accounts; 0 by default. Besides the first they are raced
    /// with the first number of readers and the first share of checks only.
    pub scans_percent: Vec<u32>,
    /// Operations of the table, in 100, that move a value from one key to another; 0 by default. Besides the first they are raced
    /// with the last of the tables and the first share of snapshots only.
    pub moves_percent: Vec<u32>,
    /// Operations of the table, in 100, that look at all keys at one moment; 0 by default; else as moves.
    pub snapshots_percent: Vec<u32>,
    /// The file whose letters are counted; that of this program by default.
    pub file: Option<PathBuf>,
    /// How long a block is; 100 ms by default, 2 s of a preset, 15 ms if quick.
    pub block: Option<Duration>,
}

const ROUNDS: usize = 5;
const QUICK_ROUNDS: usize = 3;
const BLOCK: Duration = Duration::from_millis(100);
const PRESET_BLOCK: Duration = Duration::from_secs(2);
const QUICK_BLOCK: Duration = Duration::from_millis(15);
/// The text that is looked at of a larger file.
const MOST_TEXT: u64 = 64 << 20;

impl TmOptions {
    fn every(&self) -> Vec<usize> {
        if self.every.is_empty() { vec![SERVERS_EVERY] } else { self.every.clone() }
    }

    fn block(&self) -> Duration {
        let usual = match (self.options.quick, self.preset) {
            (true, _) => QUICK_BLOCK,
            (false, Some(_)) => PRESET_BLOCK,
            (false, None) => BLOCK,
        };
        self.block.unwrap_or(usual)
    }

    /// The beginning of the file.
    fn text(&self) -> Result<Vec<u8>, BenchError> {
        let path = self.file.clone().map_or_else(std::env::current_exe, Ok);
        let read = path.and_then(|path| {
            let mut text = Vec::new();
            std::io::Read::read_to_end(&mut std::io::Read::take(std::fs::File::open(path)?, MOST_TEXT), &mut text)?;
            Ok(text)
        });
        read.map_err(|error| Failure::refused(format!("the file of the map-reduce: {error}")).into())
    }

    #[track_caller]
    fn checked(&self) -> &Options {
        assert!(self.every.iter().all(|&every| every > 1), "not all participants are servers");
        assert!(!self.participants.contains(&0), "somebody takes part");
        let most = |percents: &[u32]| percents.iter().copied().max().unwrap_or(0);
        let of_bank = most(&self.checks_percent) + most(&self.scans_percent);
        assert!(of_bank <= 100, "of 100 transactions at most all check or sum");
        let of_table = most(&self.moves_percent) + most(&self.snapshots_percent);
        assert!(of_table <= 100, "of 100 operations at most all move a value or look at all keys");
        &self.options
    }
}

/// Races all memories. A run that is cancelled reports the situations that it has come to the end of, if there are any.
///
/// # Errors
/// A [`BenchError`] if the options do not fit the machine, the file cannot be read, the run is cancelled in its first situation,
/// or one of our memories was wrong.
///
/// # Panics
/// If all participants are servers, none takes part, or more than 100 % of the transactions check or sum, or move or look at all
/// keys.
pub fn tm(machine: &Machine, options: &TmOptions, progress: &mut dyn Progress) -> Result<TmReport, BenchError> {
    let shared = options.checked();
    let cpus: Vec<CpuId> = shared.usable_cpus(machine)?.iter().collect();
    let all = chosen(options)?;
    let seed = shared.seed_or_draw();
    let text = Arc::new(options.text()?);
    let usual = Setting {
        work: Work::Mp,
        participants: 1,
        every: options.every()[0],
        machine,
        cpus: &cpus,
        wait: shared.wait,
        place: &shared.place,
        time: options.block(),
        seed,
        text: Arc::clone(&text),
    };
    let rounds = if shared.quick { QUICK_ROUNDS } else { ROUNDS };
    let (mut order, situations) = (TurnOrder::new(shared, seed), situations(options, cpus.len()));
    let mut cells = Vec::new();
    for &(work, participants) in &situations {
        let setting = Setting { work, participants, ..usual.clone() };
        let raced: Vec<&Contender> =
            all.iter().filter(|contender| takes_part(options, contender, (work, participants))).collect();
        let mut part = Part::of(progress, cells.len(), situations.len());
        let mut memories = Memories { contenders: &raced, setting: &setting, rounds, progress: &mut part };
        match order.race(raced.len(), &mut memories) {
            Ok(blocks) => cells.push(cell(&raced, &setting, &blocks)),
            Err(BenchError::Cancelled) if !cells.is_empty() => break,
            Err(error) => return Err(error),
        }
    }
    progress.step(1.0, "done");
    let cut = cells.len() < situations.len();
    Ok(TmReport { cut, ..report(machine, options, &usual, rounds, cells) })
}

fn report(machine: &Machine, options: &TmOptions, usual: &Setting<'_>, rounds: usize, cells: Vec<TmCell>) -> TmReport {
    TmReport {
        machine: machine.name.clone(),
        commit: options.options.commit.clone(),
        seed: usual.seed,
        quick: options.options.quick,
        preset: options.preset.map(TmPreset::name),
        cpus: usual.cpus.iter().map(|cpu| cpu.get()).collect(),
        wait: usual.wait.to_string(),
        every: options.every(),
        text_bytes: usual.text.len(),
        block_ms: u64::try_from(usual.time.as_millis()).unwrap_or(u64::MAX),
        rounds,
        published: published::published(&cells),
        over_one_lock: gates::over_one_lock(&cells, usual.cpus.len()),
        gates: gates::judge(&cells, usual.cpus.len()),
        cut: false,
        cells,
    }
}

/// Those that are named, with the managers that are.
fn chosen(options: &TmOptions) -> Result<Vec<Contender>, BenchError> {
    let mut all = contenders(&options.every());
    if options.every.is_empty() && !options.options.quick {
        all.extend(other_shares());
    }
    let named = &options.options.contenders;
    if let Some(name) = named.iter().find(|name| !all.iter().any(|contender| contender.name == **name)) {
        let mut known: Vec<String> = all.into_iter().map(|contender| contender.name).collect();
        known.dedup();
        return Err(BenchError::Contender { name: name.clone(), known: known.join(", ") });
    }
    all.retain(|contender| named.is_empty() || named.contains(&contender.name));
    let is_managed = |manager| options.managers.is_empty() || options.managers.contains(&manager);
    all.retain(|contender| contender.variant.is_none_or(|variant| is_managed(variant.manager)));
    Ok(all)
}

/// Whether a contender is raced at this work: every manager where one client only reads, as in the paper, and where somebody asks
/// for it; servers where there is a client, too.
fn takes_part(options: &TmOptions, contender: &Contender, (work, participants): (Work, usize)) -> bool {
    let is_asked = !options.options.contenders.is_empty() || !options.managers.is_empty();
    let is_readers = work.bank().is_some_and(|bank| bank.readers > 0);
    let has_room = participants > 1 || !contender.has_servers();
    let has_room = has_room && contender.has_share_of_its_own(options.every()[0], participants);
    has_room && (contender.is_for)(work) && (!contender.is_manager_of_many || is_asked || is_readers)
}

/// All contenders in one situation.
struct Memories<'a> {
    contenders: &'a [&'a Contender],
    setting: &'a Setting<'a>,
    rounds: usize,
    progress: &'a mut dyn Progress,
}

impl Situation for Memories<'_> {
    type Block = Turn;

    fn prepare(&mut self, at: usize) -> Result<(), Failure> {
        let contender = &self.contenders[at];
        session::check(&contender.with, &contender.adapted(self.setting))
    }

    fn wants_round(&mut self, rounds: usize) -> bool {
        let Setting { work, participants, .. } = self.setting;
        let doing = format!("{}, {participants} participants", work.workload());
        self.progress.step(rounds as f64 / self.rounds as f64, &doing);
        rounds < self.rounds
    }

    fn block(&mut self, at: usize) -> Result<Turn, Failure> {
        let contender = &self.contenders[at];
        session::turn(&contender.with, &contender.adapted(self.setting))
    }

    fn trusted(&self, at: usize) -> Option<&str> {
        let contender = self.contenders[at];
        contender.variant.is_some().then_some(&contender.name)
    }
}

fn cell(contenders: &[&Contender], setting: &Setting<'_>, raced: &[Raced<Turn>]) -> TmCell {
    let (bank, set) = (setting.work.bank(), setting.work.set());
    let table = set.filter(|set| set.load > 0);
    let rows = contenders.iter().zip(raced).map(|(contender, raced)| row(contender, setting, raced));
    let mut rows: Vec<TmRow> = rows.collect();
    // Without data it is no memory that one could take.
    let best = most(rows.iter().filter(|row| row.is_memory()).map(|row| row.mtps));
    rows.iter_mut()
        .filter(|row| row.is_memory())
        .for_each(|row| row.regret = best.zip(row.mtps).map(|(best, mtps)| best / mtps));
    TmCell {
        workload: setting.work.workload().name(),
        checks_percent: bank.map(|bank| bank.checks_percent),
        readers: bank.map(|bank| bank.readers),
        scans_percent: bank.map(|bank| bank.scans_percent),
        initial: set.map(|set| set.initial),
        load: table.map(|table| table.load),
        updates_percent: set.map(|set| set.updates_percent),
        moves_percent: table.map(|table| table.moves_percent),
        snapshots_percent: table.map(|table| table.snapshots_percent),
        participants: setting.participants,
        oversubscribed: is_crowded(setting.participants, setting.cpus.len()),
        rows,
    }
}

fn row(contender: &Contender, setting: &Setting<'_>, raced: &Raced<Turn>) -> TmRow {
    let turns = &raced.blocks;
    let expected = contender.servers(setting);
    let clients = turns.first().map_or(setting.participants - expected, |turn| turn.tallies.len());
    // A form that is chosen when the memory is made may have servers, or not.
    let servers = if contender.chooses_form() { setting.participants - clients } else { expected };
    let mtps: Vec<f64> = turns.iter().map(|turn| turn.rate(|tally| tally.commits) / 1e6).collect();
    let scans = turns.iter().map(|turn| turn.rate(|tally| tally.scans));
    let is_summed = setting.work.bank().is_some_and(|bank| bank.readers > 0 || bank.scans_percent > 0);
    let is_summed = is_summed || setting.work.set().is_some_and(|set| set.snapshots_percent > 0);
    let workers = clients - setting.work.bank().map_or(0, |bank| bank.readers.min(clients));
    let median_mtps = median(&mtps);
    TmRow {
        contender: contender.label(),
        ours: contender.variant.is_some(),
        clients,
        servers,
        every: contender.has_servers().then(|| variant::Variant::every(&contender.adapted(setting))),
        mtps: median_mtps,
        min_mtps: least(mtps.iter().copied()),
        max_mtps: most(mtps.iter().copied()),
        rounds_mtps: mtps,
        regret: None,
        transaction_ns: median_mtps.filter(|mtps| *mtps > 0.0).map(|mtps| workers as f64 * 1e3 / mtps),
        aborts: aborted(turns),
        scans_per_s: if is_summed { median_of(scans) } else { None },
        jain: median_of(turns.iter().map(|turn| jain(&of_workers(turn)))),
        jain_of_time: median_of(turns.iter().map(|turn| jain(&turn.of_clients(|tally| tally.effective)))),
        skipped: raced.skipped(),
        failed: raced.has_failed(),
    }
}

/// Transactions of the clients that do not only read.
fn of_workers(turn: &Turn) -> Vec<u64> {
    turn.tallies.iter().filter(|tally| !tally.is_reader).map(|tally| tally.commits).collect()
}

/// Attempts that were aborted, as a part of all.
fn aborted(turns: &[Turn]) -> Option<f64> {
    let sum = |of: fn(&Tally) -> u64| turns.iter().map(|turn| turn.sum(of)).sum::<u64>() as f64;
    let (aborts, commits) = (sum(|tally| tally.aborts), sum(|tally| tally.commits + tally.scans));
    (commits > 0.0).then(|| aborts / (aborts + commits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::this_machine::this_machine;

    fn quick(contenders: &[&str]) -> TmOptions {
        let contenders = contenders.iter().map(|&name| name.to_owned()).collect();
        let options = Options { quick: true, contenders, ..Options::default() };
        TmOptions { options, block: Some(Duration::from_millis(2)), ..TmOptions::default() }
    }

    #[test]
    fn every_memory_is_checked_at_every_work_and_told() {
        let options = TmOptions { participants: vec![1, 3], checks_percent: vec![50], ..quick(&[]) };
        let report = tm(&this_machine(), &options, &mut ()).expect("it runs");
        for cell in &report.cells {
            let named = |name: &str| cell.rows.iter().any(|row| row.contender == name);
            assert_eq!(named("messages-fair-cm"), cell.participants > 1, "{cell:?}");
            let is_structure = ["map", "queue"].contains(&cell.workload);
            assert_eq!(named("one-lock"), cell.workload != "mp");
            assert_eq!(named("stm"), cell.workload != "mp" && !is_structure);
            assert_eq!(named("messages-wholly"), cell.readers == Some(1), "managers where one client only reads");
            for row in &cell.rows {
                // There is no program here that processes could run.
                let may_be_missing = row.contender == "libitm" || row.contender.contains("-processes");
                // Where the plan is the order of the CPUs' numbers it is not raced.
                let may_be_missing = may_be_missing || row.contender == "messages-planned";
                assert!(row.skipped.is_none() || may_be_missing, "{}: {row:?}", cell.workload);
                assert!(!row.failed, "{}: {row:?}", cell.workload);
                assert!(row.is_memory() || row.regret.is_none(), "{row:?}");
                let clients = if row.contender == "sequential" { 1 } else { cell.participants - row.servers };
                let is_served = row.contender.starts_with("messages");
                assert!(row.contender == "auto" || row.clients == clients && (row.servers > 0) == is_served, "{row:?}");
            }
        }
        assert_eq!(report.gates.len(), 9);
        assert!(report.published.iter().all(|figure| figure.here.is_none()), "nobody has 6 participants");
    }

    #[test]
    fn servers_are_raced_in_every_share_under_the_managers_asked_for() {
        let (every, managers) = (vec![2, 4], vec![Manager::None, Manager::Wholly]);
        let sizes = TmOptions { participants: vec![4], workloads: vec![TmWorkload::Bank], ..quick(&[]) };
        let options = TmOptions { every, managers, checks_percent: vec![0], readers: vec![1], ..sizes };
        let report = tm(&this_machine(), &options, &mut ()).expect("it runs");
        let ours = report.cells[0].rows.iter().filter(|row| row.ours);
        let told: Vec<_> = ours.map(|row| (row.contender.as_str(), row.servers, row.every)).collect();
        assert_eq!(
            told,
            [
                ("messages-none", 2, Some(2)),
                ("messages-none/4", 1, Some(4)),
                ("messages-wholly", 2, Some(2)),
                ("messages-wholly/4", 1, Some(4)),
                ("shared-none", 0, None),
                ("shared-wholly", 0, None),
            ]
        );
    }

    #[test]
    fn the_bank_is_raced_with_most_servers_and_with_one() {
        let options = Options { contenders: vec!["messages-fair-cm".to_owned()], ..Options::default() };
        let block = Some(Duration::from_millis(1));
        let sizes = TmOptions { options, block, participants: vec![3, 5], ..TmOptions::default() };
        let options = TmOptions { workloads: vec![TmWorkload::Bank], checks_percent: vec![0, 50], ..sizes };
        let report = tm(&this_machine(), &TmOptions { readers: vec![0], ..options }, &mut ()).expect("it runs");
        let told = |cell: &TmCell| {
            let rows: Vec<_> = cell.rows.iter().map(|row| format!("{} {}", row.contender, row.servers)).collect();
            (cell.participants, cell.checks_percent, rows.join(", "))
        };
        let told: Vec<_> = report.cells.iter().map(told).collect();
        let usual = |servers| format!("messages-fair-cm {servers}");
        assert_eq!(
            told,
            [
                (3, Some(0), format!("{}, messages-fair-cm/2 2", usual(1))),
                (5, Some(0), format!("{}, messages-fair-cm/2 3, messages-fair-cm/all 1", usual(2))),
                (3, Some(50), usual(1)),
                (5, Some(50), usual(2)),
            ]
        );
    }

    #[test]
    fn tables_are_moved_in_and_counted_at_one_moment() {
        let workloads = vec![TmWorkload::Table];
        let sizes = TmOptions { workloads, participants: vec![1, 3], ..quick(&[]) };
        let options = TmOptions { moves_percent: vec![20], snapshots_percent: vec![5], ..sizes };
        let report = tm(&this_machine(), &options, &mut ()).expect("it runs");
        for cell in &report.cells {
            assert_eq!((cell.moves_percent, cell.snapshots_percent), (Some(20), Some(5)));
            for row in &cell.rows {
                assert!(row.skipped.is_none() && row.scans_per_s.is_some(), "{row:?}");
            }
        }
    }

    /// Cancels the run when the second situation begins.
    struct CancelLater(corecast_race::Cancel);

    impl Progress for CancelLater {
        fn step(&mut self, _share: f64, doing: &str) {
            if doing.contains("2 participants") {
                self.0.cancel();
            }
        }
    }

    #[test]
    fn a_run_that_is_cut_keeps_its_figures() {
        let (participants, checks_percent) = (vec![1, 2], vec![0]);
        let bank =
            TmOptions { participants, checks_percent, workloads: vec![TmWorkload::Bank], ..quick(&["one-lock"]) };
        let options = TmOptions { readers: vec![0], ..bank };
        let cancel = options.options.cancel.clone();
        let report = tm(&this_machine(), &options, &mut CancelLater(cancel)).expect("one situation was raced");
        let raced: Vec<_> = report.cells.iter().map(|cell| cell.participants).collect();
        assert_eq!((raced, report.cut), (vec![1], true));
        let nothing = tm(&this_machine(), &options, &mut ()).map(drop);
        assert_eq!(nothing, Err(BenchError::Cancelled), "it is cancelled from the beginning");
    }

    #[test]
    fn an_unknown_contender_and_a_missing_file_are_named() {
        let error = tm(&this_machine(), &quick(&["htm"]), &mut ()).expect_err("there is none").to_string();
        assert!(error.contains("'htm'") && error.contains("messages-fair-cm") && error.contains("libitm"), "{error}");
        let options = TmOptions { file: Some("/no/such/file".into()), ..quick(&["one-lock"]) };
        let error = tm(&this_machine(), &options, &mut ()).expect_err("there is none").to_string();
        assert!(error.contains("the file of the map-reduce"), "{error}");
    }

    #[test]
    #[should_panic(expected = "not all participants are servers")]
    fn servers_only_are_refused() {
        let _refused = tm(&this_machine(), &TmOptions { every: vec![1], ..quick(&[]) }, &mut ());
    }
}
