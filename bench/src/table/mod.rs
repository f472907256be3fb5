//! `corecast bench table`: SSYNC's hash table with every lock of the registry and behind message-passing servers, and corecast's
//! own, against dashmap, papaya, scc and the standard library's map behind a mutex.
//!
//! The hash table experiment of SSYNC (David, Guerraoui, Trigonakis, SOSP 2013): 12 or 512 buckets of 12 or 48 elements on
//! average, four fifths of the operations get and copy 64 bytes, the others put and remove in turns. Every contender is
//! checked in every situation before it is timed there. They run in turns, in an order drawn anew for each round, each
//! round over new tables.

mod batched;
mod combined;
mod confined;
mod contenders;
mod deal;
mod delegated;
mod draw;
mod gates;
mod guarded;
mod host;
mod latency;
mod locked;
mod messages;
#[cfg(test)]
mod model;
mod options;
mod original;
mod packed;
mod planned;
mod play;
mod processes;
mod pthread;
mod published;
mod readers;
mod report;
mod rivals;
mod section;
mod sequenced;
mod serving;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

use corecast::base::{Clock, CpuId};
use corecast::machine::Machine;

use crate::counts::{doubled_up_to, or_usual};
use crate::stats::{jain, least, mean, median, median_of, most, most_to_fewest};
use crate::turns::{Raced, Situation, TurnOrder};
use contenders::{Contender, Kind, Races, contenders, with_shares};
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::harness::is_crowded;
use corecast_race::options::Options;
use corecast_race::progress::{Part, Progress};
pub(crate) use draw::Zipf;
use host::Setting;
pub(crate) use latency::Latency;
pub use options::{MAX_BATCH, TableOptions};
use play::Turn;
pub use processes::table_member;
pub use published::{Point, Published};
pub use report::{TableCell, TableReport, TableRow};
pub(crate) use rivals::Multiply;
use section::Section;

/// This many times as many threads as CPUs are raced, too, up to [`MOST_THREADS`].
const CROWD: usize = 4;
/// Every client has two rings to every server.
const MOST_THREADS: usize = 256;
const ROUNDS: usize = 10;
const QUICK_ROUNDS: usize = 5;
const BLOCK: Duration = Duration::from_secs(1);
const QUICK_BLOCK: Duration = Duration::from_millis(5);

/// Races all tables.
///
/// # Errors
/// A [`BenchError`] if the options do not fit the machine, or the run is cancelled.
///
/// # Panics
/// If a number of threads, buckets, elements or operations of a batch is 0, a batch has more than [`MAX_BATCH`], or all
/// participants are servers.
pub fn table(
    machine: &Machine,
    options: &TableOptions,
    progress: &mut dyn Progress,
) -> Result<TableReport, BenchError> {
    let shared = options.checked();
    let cpus: Vec<CpuId> = shared.usable_cpus(machine)?.iter().collect();
    let cluster = confined::largest_cluster(machine, &cpus);
    let seed = shared.seed_or_draw();
    let mut order = TurnOrder::new(shared, seed);
    let rounds = if shared.quick { QUICK_ROUNDS } else { ROUNDS };
    let usual = Setting { seed, ..usual(options, machine, (&cpus, &cluster)) };
    let contenders = with_shares(chosen(options)?, &options.every(), &usual);
    let situations = situations(options, cpus.len());
    let mut cells = Vec::new();
    for &(buckets, mean, threads) in &situations {
        let setting = Setting { buckets, mean, threads, ..usual.clone() };
        let mut part = Part::of(progress, cells.len(), situations.len());
        let mut tables = Tables { contenders: &contenders, setting: &setting, rounds, progress: &mut part };
        let raced = order.race(contenders.len(), &mut tables)?;
        cells.push(cell(&contenders, &setting, &raced));
    }
    progress.step(1.0, "done");
    Ok(report(machine, options, &usual, rounds, cells))
}

fn report(
    machine: &Machine,
    options: &TableOptions,
    usual: &Setting<'_>,
    rounds: usize,
    cells: Vec<TableCell>,
) -> TableReport {
    TableReport {
        machine: machine.name.clone(),
        commit: options.options.commit.clone(),
        seed: usual.seed,
        quick: options.options.quick,
        cpus: usual.cpus.iter().map(|cpu| cpu.get()).collect(),
        wait: usual.wait.to_string(),
        every: options.every(),
        batch: usual.batch,
        zipf: usual.zipf,
        unpinned: !usual.is_pinned,
        writes_payload: usual.writes_payload,
        fence: usual.section.is_fenced,
        block_ms: u64::try_from(usual.time.as_millis()).unwrap_or(u64::MAX),
        rounds,
        gates: gates::judge(&cells, sizes(machine, &usual.cpus), options.departs()),
        cells,
        published: published::PUBLISHED,
    }
}

/// How large the part of the machine is that was used.
fn sizes(machine: &Machine, cpus: &[CpuId]) -> gates::Sizes {
    let packages = cpus.iter().filter_map(|&cpu| machine.cpus[machine.position(cpu)?].package);
    gates::Sizes { cpus: cpus.len(), packages: packages.collect::<BTreeSet<_>>().len() }
}

/// The settings that all situations share, but for the seed.
fn usual<'a>(
    options: &'a TableOptions,
    machine: &'a Machine,
    (cpus, cluster): (&'a [CpuId], &'a [CpuId]),
) -> Setting<'a> {
    let &TableOptions { options: Options { ref place, wait, quick, .. }, zipf, writes_payload, unpinned, .. } = options;
    Setting {
        buckets: 1,
        mean: 1,
        threads: 1,
        cpus: Cow::Borrowed(cpus),
        machine: Some(machine),
        is_pinned: !unpinned,
        cluster,
        every: options.every()[0],
        batch: options.batch.unwrap_or(MAX_BATCH),
        zipf,
        writes_payload,
        section: Section { is_fenced: !options.without_fence },
        place,
        wait,
        time: options.block.unwrap_or(if quick { QUICK_BLOCK } else { BLOCK }),
        seed: 0,
        original: options.original.as_deref(),
        user: Some(&options.options.cancel),
    }
}

/// Those that are named; of all, if none is, those that this race has.
fn chosen(options: &TableOptions) -> Result<Vec<Contender>, BenchError> {
    let mut chosen = options.options.chosen(contenders(), |contender| contender.name)?;
    let are_named = !options.options.contenders.is_empty();
    chosen.retain(|contender| {
        let has_it = match contender.races {
            Races::All => true,
            Races::Unhurried => !options.options.quick,
            Races::Misaligned => options.misaligned,
            Races::Original => options.original.is_some(),
        };
        has_it || are_named
    });
    Ok(chosen)
}

/// Buckets, mean and threads, in the order in which they are run.
fn situations(options: &TableOptions, cpus: usize) -> Vec<(usize, usize, usize)> {
    let mut usual = doubled_up_to(cpus);
    usual.retain(|&threads| !options.options.quick || threads <= 2 || threads == cpus);
    usual.extend(Some(CROWD * cpus).filter(|&crowd| !options.options.quick && crowd <= MOST_THREADS));
    let (threads, buckets) = (or_usual(&options.threads, || usual), or_usual(&options.buckets, || vec![12, 512]));
    let means = or_usual(&options.means, || vec![12, 48]);
    let mut all = Vec::new();
    for &buckets in &buckets {
        for &mean in &means {
            all.extend(threads.iter().map(|&threads| (buckets, mean, threads)));
        }
    }
    all
}

/// All contenders at tables of one shape.
struct Tables<'a> {
    contenders: &'a [Contender],
    setting: &'a Setting<'a>,
    rounds: usize,
    progress: &'a mut dyn Progress,
}

impl Situation for Tables<'_> {
    type Block = Turn;

    fn prepare(&mut self, at: usize) -> Result<(), Failure> {
        let contender = &self.contenders[at];
        (contender.check)(&contender.adapted(self.setting))
    }

    fn wants_round(&mut self, rounds: usize) -> bool {
        let Setting { buckets, mean, threads, .. } = self.setting;
        let doing = format!("{buckets} buckets of {mean}, {threads} threads");
        self.progress.step(rounds as f64 / self.rounds as f64, &doing);
        rounds < self.rounds
    }

    fn block(&mut self, at: usize) -> Result<Turn, Failure> {
        let contender = &self.contenders[at];
        (contender.turn)(&contender.adapted(self.setting))
    }

    fn trusted(&self, at: usize) -> Option<&str> {
        let Contender { name, kind, .. } = self.contenders[at];
        (kind != Kind::Rival).then_some(name)
    }
}

fn cell(contenders: &[Contender], setting: &Setting<'_>, raced: &[Raced<Turn>]) -> TableCell {
    let &Setting { buckets, mean, threads, .. } = setting;
    let rows = contenders.iter().zip(raced).map(|(contender, raced)| row(contender, setting, raced));
    let mut rows: Vec<TableRow> = rows.collect();
    let best = most(rows.iter().map(|row| row.mops));
    rows.iter_mut().for_each(|row| row.regret = best.zip(row.mops).map(|(best, mops)| best / mops));
    TableCell { buckets, mean, threads, oversubscribed: is_crowded(threads, setting.cpus.len()), rows }
}

fn row(contender: &Contender, setting: &Setting<'_>, raced: &Raced<Turn>) -> TableRow {
    let turns = &raced.blocks;
    let rate = |of: fn(&Turn) -> u64| turns.iter().map(|turn| of(turn) as f64 / turn.seconds / 1e6).collect::<Vec<_>>();
    let mops = rate(tries);
    let mut latency = Latency::default();
    turns.iter().for_each(|turn| latency.merge(&turn.latency));
    let ns = |share| latency.percentile(share).map(|ticks| Clock::get().ns(ticks));
    let all_tries: u64 = turns.iter().map(tries).sum();
    let share =
        |of: fn(&Turn) -> u64| (all_tries > 0).then(|| turns.iter().map(of).sum::<u64>() as f64 / all_tries as f64);
    let setting = &contender.adapted(setting);
    let servers = (contender.servers)(setting);
    let meant = setting.threads.max(servers + 1) - servers;
    // It tells the tries of all of its threads together.
    let is_split = contender.races != Races::Original;
    TableRow {
        contender: contender.label(),
        every: (servers > 0).then_some(setting.every),
        ours: contender.kind != Kind::Rival,
        clients: turns.first().filter(|_| is_split).map_or(meant, |turn| turn.tries.len()),
        servers,
        mops: median(&mops),
        mean_mops: mean(&mops),
        min_mops: least(mops.iter().copied()),
        max_mops: most(mops.iter().copied()),
        regret: None,
        hit_mops: median(&rate(|turn| turn.hits)).filter(|_| is_split),
        hits: share(|turn| turn.hits).filter(|_| is_split),
        gets: share(|turn| turn.gets).filter(|_| is_split),
        jain: median_of(turns.iter().filter(|_| is_split).map(|turn| jain(&turn.tries))),
        most_to_fewest: most_to_fewest(turns.iter().filter(|_| is_split).map(|turn| &turn.tries[..])),
        p50_ns: ns(0.5),
        p99_ns: ns(0.99),
        p999_ns: ns(0.999),
        samples: latency.samples(),
        skipped: raced.skipped(),
        failed: raced.has_failed(),
    }
}

fn tries(turn: &Turn) -> u64 {
    turn.tries.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::this_machine::this_machine;

    #[test]
    fn every_table_is_checked_and_told_with_its_hits_and_fairness() {
        let names: Vec<_> = contenders().iter().map(|contender| contender.name).collect();
        let contenders = names.iter().map(|&name| name.to_owned()).collect();
        let options = Options { quick: true, contenders, ..Options::default() };
        let (threads, means) = (vec![1, 4], vec![20]);
        let options = TableOptions { options, threads, means, buckets: vec![3], ..TableOptions::default() };
        let report = table(&this_machine(), &options, &mut ()).expect("it runs");
        assert_eq!(report.cells.iter().map(|cell| cell.threads).collect::<Vec<_>>(), [1, 4]);
        for cell in &report.cells {
            assert_eq!(cell.rows.iter().map(|row| row.contender.as_str()).collect::<Vec<_>>(), names);
            for row in &cell.rows {
                if row.contender.starts_with("confined") {
                    assert!(row.skipped.as_ref().is_some_and(|reason| reason.contains("not confined")), "{row:?}");
                    continue;
                }
                if row.contender == "messages-planned"
                    && row.skipped.as_ref().is_some_and(|why| why.contains("not planned"))
                {
                    continue;
                }
                if row.contender.starts_with("original-") {
                    assert!(row.skipped.as_ref().is_some_and(|reason| reason.contains("--original")), "{row:?}");
                    continue;
                }
                if row.contender == "messages-processes" {
                    assert!(row.skipped.as_ref().is_some_and(|reason| reason.contains("no program")), "{row:?}");
                    continue;
                }
                assert_eq!(row.skipped, None, "{}", row.contender);
                assert!(row.mops.is_some() && row.min_mops <= row.mops && row.mops <= row.max_mops, "{row:?}");
                // On a busy machine there may be blocks in which nobody gets anywhere.
                if row.mops > Some(0.0) {
                    assert!(row.regret >= Some(1.0) && row.hits.is_some_and(|hits| hits <= 1.0), "{row:?}");
                }
                let are_served = ["messages", "msg-server", "messages-batched", "messages-planned", "delegated"];
                let serves = if are_served.contains(&&*row.contender) { cell.threads.div_ceil(3) } else { 0 };
                assert_eq!((row.servers, row.clients), (serves, cell.threads.max(serves + 1) - serves));
            }
            assert!(cell.rows.iter().any(|row| row.regret == Some(1.0)));
            assert!(cell.rows.iter().any(|row| row.hits.is_some_and(|hits| hits > 0.0 && hits < 1.0)));
        }
    }

    #[test]
    fn a_quick_race_has_what_the_paper_had_and_the_rivals() {
        let names = |quick: bool| {
            let options = Options { quick, ..Options::default() };
            let (threads, buckets, means) = (vec![1], vec![1], vec![1]);
            let block = Some(Duration::from_micros(1));
            let options = TableOptions { options, threads, buckets, means, block, ..TableOptions::default() };
            let report = table(&this_machine(), &options, &mut ()).expect("it runs");
            report.cells[0].rows.iter().map(|row| row.contender.clone()).collect::<Vec<_>>()
        };
        let (quick, all) = (names(true), names(false));
        assert!(["clh", "messages", "packed-auto", "scc"].iter().all(|name| quick.contains(&(*name).to_owned())));
        assert!(quick.len() < all.len() && all.contains(&"combined".to_owned()), "{quick:?}");
        assert!(!quick.contains(&"combined".to_owned()));
    }

    #[test]
    fn servers_are_raced_in_every_share_and_nodes_off_the_lines_beside_those_on_them() {
        let contenders = ["ticket", "misaligned-ticket", "messages", "delegated"].map(str::to_owned).to_vec();
        let options = Options { quick: true, contenders, ..Options::default() };
        let sizes = TableOptions { threads: vec![4], buckets: vec![12], means: vec![12], ..TableOptions::default() };
        let options = TableOptions { options, every: vec![2, 4], batch: Some(3), ..sizes };
        let report = table(&this_machine(), &options, &mut ()).expect("it runs");
        assert_eq!((&*report.every, report.batch), (&[2, 4][..], 3));
        let told = report.cells[0].rows.iter().map(|row| (row.contender.as_str(), row.every, row.servers, row.clients));
        assert_eq!(
            told.collect::<Vec<_>>(),
            [
                ("ticket", None, 0, 4),
                ("misaligned-ticket", None, 0, 4),
                ("delegated", Some(2), 2, 2),
                ("delegated/4", Some(4), 1, 3),
                ("messages", Some(2), 2, 2),
                ("messages/4", Some(4), 1, 3),
            ]
        );
        let named = |misaligned| {
            let options = TableOptions { misaligned, ..TableOptions::default() };
            chosen(&options).expect("all are known").iter().any(|contender| contender.name == "misaligned-clh")
        };
        assert_eq!((named(false), named(true)), (false, true));
    }

    #[test]
    #[should_panic(expected = "a batch has 1 to 7 operations")]
    fn a_batch_of_nothing_is_refused() {
        let options = TableOptions { batch: Some(0), ..TableOptions::default() };
        let _refused = table(&this_machine(), &options, &mut ());
    }

    #[test]
    fn skewed_keys_free_threads_and_written_bytes_are_told() {
        let contenders = ["ticket", "rw_ttas", "packed-auto", "confined-tas", "dashmap"].map(str::to_owned).to_vec();
        let options = Options { quick: true, contenders, ..Options::default() };
        let (threads, buckets, means) = (vec![2], vec![12], vec![12]);
        let block = Some(Duration::from_millis(20));
        let changed = TableOptions {
            zipf: Some(0.99),
            unpinned: true,
            writes_payload: true,
            without_fence: true,
            ..TableOptions::default()
        };
        let options = TableOptions { options, threads, buckets, means, block, ..changed };
        let report = table(&this_machine(), &options, &mut ()).expect("it runs");
        assert_eq!(
            (report.zipf, report.unpinned, report.writes_payload, report.fence),
            (Some(0.99), true, true, false)
        );
        for row in &report.cells[0].rows {
            if row.contender == "confined-tas" {
                assert!(row.skipped.as_ref().is_some_and(|reason| reason.contains("not bound")), "{row:?}");
                continue;
            }
            assert!(row.hit_mops.is_some() && row.hit_mops <= row.mops, "{row:?}");
            assert_eq!((row.p50_ns > Some(0.0), row.p50_ns <= row.p99_ns), (row.samples > 0, true), "{row:?}");
        }
        assert!(report.cells[0].rows.iter().any(|row| row.samples > 0 && row.hit_mops > Some(0.0)));
    }

    #[test]
    fn threads_double_up_to_the_number_of_cpus() {
        let threads = |quick: bool, cpus: usize| {
            let options = Options { quick, ..Options::default() };
            let options = TableOptions { options, buckets: vec![12], means: vec![12], ..TableOptions::default() };
            situations(&options, cpus).into_iter().map(|(_, _, threads)| threads).collect::<Vec<_>>()
        };
        assert_eq!((threads(false, 12), threads(true, 12)), (vec![1, 2, 4, 8, 12, 48], vec![1, 2, 12]));
        assert_eq!((threads(false, 2), threads(true, 2), threads(true, 1)), (vec![1, 2, 8], vec![1, 2], vec![1]));
        assert_eq!(threads(false, 100).last(), Some(&100), "400 are too many");
        let quick = TableOptions { options: Options { quick: true, ..Options::default() }, ..TableOptions::default() };
        assert_eq!(situations(&quick, 1), [(12, 12, 1), (12, 48, 1), (512, 12, 1), (512, 48, 1)]);
    }

    #[test]
    #[should_panic(expected = "a table has threads, buckets and elements")]
    fn a_table_of_nothing_is_refused() {
        let options = TableOptions { means: vec![12, 0], ..TableOptions::default() };
        let _refused = table(&this_machine(), &options, &mut ());
    }

    #[test]
    fn an_unknown_contender_is_named() {
        let options = Options { contenders: vec!["btree".to_owned()], ..Options::default() };
        let error = table(&this_machine(), &TableOptions { options, ..TableOptions::default() }, &mut ());
        let error = error.expect_err("there is none").to_string();
        assert!(
            error.contains("'btree'") && error.contains("messages-planned, messages-processes, original-tas"),
            "{error}"
        );
    }
}
