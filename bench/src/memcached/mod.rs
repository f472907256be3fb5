//! `corecast bench memcached`: Debian's memcached with corecast's locks preloaded under it, beside the same without.
//!
//! The workload of SSYNC (David, Guerraoui, Trigonakis, SOSP 2013, figure 12) with a client of our own: gets, sets, and two
//! mixes by Zipf's law, over a Unix socket. Each contender has a server of its own. In every round each has a block with closed
//! loops, which tell the throughput and the CPU time, and one with open loops at the same rate for all, which tell the latency.
//! Servers that are not measured sleep. With four CPUs or more, server and clients have CPUs of their own.
//!
//! - [`server`], [`protocol`]: memcached and a connection to it; [`load`], [`clients`]: requests, and when they are sent;
//! - [`generator`], [`generated`]: load generators that were written elsewhere, and the same race with them;
//! - [`gates`], [`published`]: what is asked, and what others found.

mod clients;
mod gates;
mod generated;
mod generator;
mod load;
mod protocol;
mod published;
mod report;
mod server;

use std::path::{Path, PathBuf};
use std::time::Duration;

use corecast::CpuSet;
use corecast::base::CpuId;
use corecast::lock::Algorithm;
use corecast::machine::Machine;

use self::clients::{Clients, Closed};
use self::gates::{Evidence, ratio};
use self::generated::Generated;
pub use self::generated::MemcachedLeftOut;
pub use self::generator::MemcachedGenerator;
use self::load::KEYS;
pub use self::load::MemcachedMix;
use self::protocol::{KEY_BYTES, VALUE_BYTES};
pub use self::published::MEMCACHED_PRESET;
pub use self::report::{MemcachedCell, MemcachedReport, MemcachedRow};
use self::server::Memcached;
use crate::counts::or_usual;
use crate::stats::{Samples, median, median_of};
use crate::turns::{Raced, Situation, TurnOrder};
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::options::Options;
use corecast_race::progress::{Part, Progress};

/// Without a shim, and with one that passes everything on.
const NONE: &str = "none";
const PASS_THROUGH: &str = "pthread";
/// The lock that is meant to be taken.
const AUTO: &str = "auto";
/// With fewer CPUs server and clients share all.
const ENOUGH_TO_SPLIT: usize = 4;
/// Threads of clients that share CPUs with the server.
const SHARING_THREADS: usize = 2;
/// Connections of each thread of clients.
const CONNECTIONS: usize = 8;
/// The share of the most throughput that open loops ask for: a server that does 1.6 times less still keeps up.
const OPEN_SHARE: f64 = 0.5;

/// The options of the benchmark.
#[derive(Clone, Debug)]
pub struct MemcachedOptions {
    /// CPUs, contenders, seed, and how to stop it. The rest is not looked at.
    pub options: Options,
    /// The preload object with the locks, or why there is none.
    pub object: Result<PathBuf, String>,
    /// Takes the threads, the mixes and the locks of the published experiment where none is named.
    pub preset: bool,
    /// The numbers of the server's threads; 1, 2, 4, .. up to twice its CPUs by default.
    pub threads: Vec<usize>,
    /// The mixes of requests; all by default.
    pub mixes: Vec<MemcachedMix>,
    /// The load generators of others that ask, too; all by default.
    pub generators: Option<Vec<MemcachedGenerator>>,
    /// Requests that a connection of a closed loop sends before it reads the answers; 1 by default.
    pub pipeline: Option<usize>,
    /// Rounds; 10 by default, 3 if quick.
    pub rounds: Option<usize>,
    /// How long a block is; 2 s by default, 300 ms if quick.
    pub block: Option<Duration>,
}

/// The situation that all cells share.
#[derive(Clone, Copy)]
struct Field<'a> {
    contenders: &'a [&'static str],
    object: &'a Result<PathBuf, String>,
    server_cpus: &'a [CpuId],
    client_cpus: &'a [CpuId],
    pipeline: usize,
    rounds: usize,
    block: Duration,
    seed: u64,
}

impl Field<'_> {
    fn client_threads(&self) -> usize {
        if self.client_cpus.is_empty() { SHARING_THREADS } else { self.client_cpus.len() }
    }

    /// The server of a contender, with all keys in it.
    fn start(&self, at: usize, threads: usize) -> Result<Memcached, Failure> {
        server::version()?;
        let shim = match (self.contenders[at], self.object) {
            (NONE, _) => None,
            (_, Err(why)) => return Err(Failure::Refused(why.clone())),
            (lock, Ok(object)) => Some((Path::new(object), lock)),
        };
        Memcached::start(threads, self.server_cpus, shim)
    }
}

fn contenders() -> Vec<&'static str> {
    [NONE, PASS_THROUGH].into_iter().chain(Algorithm::ALL.iter().map(|lock| lock.facts().name)).collect()
}

/// The contenders under the generators of others, in a run that names none.
const GENERATED: [&str; 3] = [NONE, PASS_THROUGH, AUTO];
/// The contenders of a quick run that names none.
const QUICK: [&str; 6] = [NONE, PASS_THROUGH, AUTO, "tas", "ticket", "mcs"];

/// Races locks under memcached.
///
/// # Errors
/// A [`BenchError`] if the options do not fit the machine or the run is cancelled.
pub fn memcached(
    machine: &Machine,
    wanted: &MemcachedOptions,
    progress: &mut dyn Progress,
) -> Result<MemcachedReport, BenchError> {
    let options = &wanted.options;
    let cpus = options.usable_cpus(machine)?;
    let (server_cpus, client_cpus) = split(cpus.as_slice());
    let mut contenders = options.chosen(contenders(), |name| name)?;
    match options.contenders.is_empty() {
        true if wanted.preset => contenders.retain(|name| published::CONTENDERS.contains(name)),
        true if options.quick => contenders.retain(|name| QUICK.contains(name)),
        _ => {}
    }
    let field = Field {
        contenders: &contenders,
        object: &wanted.object,
        server_cpus,
        client_cpus,
        pipeline: wanted.pipeline.unwrap_or(1),
        rounds: wanted.rounds.unwrap_or(if options.quick { 3 } else { 10 }),
        block: wanted.block.unwrap_or(Duration::from_millis(if options.quick { 300 } else { 2000 })),
        seed: options.seed_or_draw(),
    };
    let server_count = if server_cpus.is_empty() { cpus.len() } else { server_cpus.len() };
    let cells = run(&field, wanted, server_count, &mut Part::of(progress, 0, 2))?;
    let generated = generate(&field, wanted, &cpus, &mut Part::of(progress, 1, 2))?;
    let gates = gates::gates(&Evidence { cells: &cells, cpus: server_count, busy: options.busy });
    let preset = wanted.preset.then_some(MEMCACHED_PRESET);
    Ok(MemcachedReport { preset, gates, ..report(machine, options, &field, cells, generated) })
}

/// The same cells by the generators of others.
fn generate(
    field: &Field<'_>,
    wanted: &MemcachedOptions,
    cpus: &CpuSet,
    progress: &mut dyn Progress,
) -> Result<Generated, BenchError> {
    let is_meant = |name: &&'static str| !wanted.options.contenders.is_empty() || GENERATED.contains(name);
    let contenders: Vec<&str> = field.contenders.iter().copied().filter(is_meant).collect();
    let shares = field.client_cpus.is_empty();
    let server_cpus = if shares { cpus.len() } else { field.server_cpus.len() };
    let wanted = generated::Wanted {
        options: &wanted.options,
        generators: wanted.generators.as_deref().unwrap_or(&MemcachedGenerator::ALL),
        threads: &threads(wanted, server_cpus),
        mixes: &mixes(wanted),
        cpus: if shares { cpus.clone() } else { field.client_cpus.iter().copied().collect() },
        server_cpus,
    };
    generated::run(&Field { contenders: &contenders, ..*field }, &wanted, progress)
}

/// The numbers of the server's threads.
fn threads(wanted: &MemcachedOptions, cpus: usize) -> Vec<usize> {
    let doubled = std::iter::successors(Some(1), |count| Some(2 * count));
    or_usual(&wanted.threads, || match wanted.preset {
        true => published::threads(cpus),
        false => doubled.take_while(|&count| count <= 2 * cpus).collect(),
    })
}

/// The mixes of requests.
fn mixes(wanted: &MemcachedOptions) -> Vec<MemcachedMix> {
    let usual = if wanted.preset { &published::MIXES[..] } else { &MemcachedMix::ALL };
    or_usual(&wanted.mixes, || usual.to_vec())
}

/// The report without a verdict.
fn report(
    machine: &Machine,
    options: &Options,
    field: &Field<'_>,
    cells: Vec<MemcachedCell>,
    (generated, left_out): Generated,
) -> MemcachedReport {
    let numbers = |cpus: &[CpuId]| cpus.iter().map(|cpu| cpu.get()).collect();
    MemcachedReport {
        machine: machine.name.clone(),
        commit: options.commit.clone(),
        seed: field.seed,
        quick: options.quick,
        busy: options.busy,
        preset: None,
        version: server::version().ok(),
        server_cpus: numbers(field.server_cpus),
        client_cpus: numbers(field.client_cpus),
        client_threads: field.client_threads(),
        connections: field.client_threads() * CONNECTIONS,
        pipeline: field.pipeline,
        keys: KEYS,
        key_bytes: KEY_BYTES,
        value_bytes: VALUE_BYTES,
        block_ms: u64::try_from(field.block.as_millis()).unwrap_or(u64::MAX),
        rounds: field.rounds,
        published: published::figures(&cells),
        gates: Vec::new(),
        cells,
        generated,
        left_out,
    }
}

/// Half of the CPUs for the server and half for its clients, if there are enough.
fn split(cpus: &[CpuId]) -> (&[CpuId], &[CpuId]) {
    if cpus.len() < ENOUGH_TO_SPLIT { (&[], &[]) } else { cpus.split_at(cpus.len() / 2) }
}

fn run(
    field: &Field<'_>,
    wanted: &MemcachedOptions,
    cpus: usize,
    progress: &mut dyn Progress,
) -> Result<Vec<MemcachedCell>, BenchError> {
    let threads = threads(wanted, cpus);
    let mixes = mixes(wanted);
    let situations: Vec<_> = threads.iter().flat_map(|&count| mixes.iter().map(move |&mix| (count, mix))).collect();
    let mut order = TurnOrder::new(&wanted.options, field.seed);
    let mut cells = Vec::new();
    for (at, &(count, mix)) in situations.iter().enumerate() {
        let mut part = Part::of(progress, at, situations.len());
        let servers = field.contenders.iter().map(|_| None).collect();
        let mut cell = Cell { field, threads: count, mix, servers, open_rps: None, progress: &mut part };
        let raced = order.race(field.contenders.len(), &mut cell)?;
        cells.push(MemcachedCell {
            client: "corecast",
            threads: count,
            mix: mix.name(),
            keys: mix.keys(),
            oversubscribed: count > cpus,
            open_rps: cell.open_rps,
            rows: rows(field.contenders, &raced),
        });
    }
    progress.step(1.0, "done");
    Ok(cells)
}

/// One mix and number of threads.
struct Cell<'a> {
    field: &'a Field<'a>,
    threads: usize,
    mix: MemcachedMix,
    /// By contender.
    servers: Vec<Option<Memcached>>,
    /// The share of the most that a contender did in its check.
    open_rps: Option<f64>,
    progress: &'a mut dyn Progress,
}

/// One contender in one round.
struct Block {
    closed: Closed,
    cpu_ns: Option<f64>,
    /// None if the server did less than was asked of it.
    latencies_ns: Option<Samples>,
}

impl Cell<'_> {
    fn clients<'a>(&'a self, server: &'a Memcached, time: Duration, seed: u64) -> Clients<'a> {
        Clients {
            socket: server.socket(),
            mix: self.mix,
            threads: self.field.client_threads(),
            connections: CONNECTIONS,
            pipeline: self.field.pipeline,
            cpus: self.field.client_cpus,
            time,
            seed: self.field.seed ^ seed,
        }
    }

    fn server(&self, at: usize) -> &Memcached {
        self.servers[at].as_ref().expect("a contender is prepared before it runs")
    }
}

impl Situation for Cell<'_> {
    type Block = Block;

    fn prepare(&mut self, at: usize) -> Result<(), Failure> {
        self.servers[at] = Some(self.field.start(at, self.threads)?);
        Ok(())
    }

    fn check(&mut self, at: usize) -> Result<(), Failure> {
        // One request at a time, as in open loops.
        let clients = Clients { pipeline: 1, ..self.clients(self.server(at), self.field.block, 1) };
        let closed = clients.closed()?;
        // The same for all, so that latencies compare; a contender that cannot keep up has none.
        let rate = OPEN_SHARE * closed.requests as f64 / closed.seconds;
        self.open_rps = self.open_rps.filter(|&most| most > rate).or(Some(rate));
        Ok(())
    }

    fn wants_round(&mut self, rounds: usize) -> bool {
        let doing = format!("{} of {} server threads", self.mix.name(), self.threads);
        self.progress.step(rounds as f64 / self.field.rounds as f64, &doing);
        rounds < self.field.rounds
    }

    fn block(&mut self, at: usize) -> Result<Block, Failure> {
        let server = self.server(at);
        let clients = self.clients(server, self.field.block, 2);
        let before_ns = server.cpu_ns();
        let closed = clients.closed()?;
        let cpu_ns = server.cpu_ns().zip(before_ns).map(|(after, before)| (after - before) / closed.requests as f64);
        let rate = self.open_rps.expect("set by the checks before");
        Ok(Block { closed, cpu_ns, latencies_ns: clients.open(rate)?.map(Samples::of) })
    }
}

fn rows(contenders: &[&'static str], raced: &[Raced<Block>]) -> Vec<MemcachedRow> {
    let mut rows: Vec<MemcachedRow> = contenders.iter().zip(raced).map(|(name, raced)| row(name, raced)).collect();
    let plain = rows.iter().find(|row| row.contender == NONE).cloned();
    for row in &mut rows {
        row.ratio = plain.as_ref().and_then(|plain| ratio(row, plain));
    }
    rows
}

fn row(name: &'static str, raced: &Raced<Block>) -> MemcachedRow {
    let blocks = &raced.blocks;
    let latencies = || blocks.iter().map(|block| block.latencies_ns.as_ref());
    // A median over the rounds that it kept up with would flatter it.
    let keeps_up = latencies().all(|latencies| latencies.is_some());
    let quantile = |share| keeps_up.then(|| median_of(latencies().flatten().map(|all| all.quantile(share)))).flatten();
    let rates: Vec<f64> = blocks.iter().map(|block| block.closed.requests as f64 / block.closed.seconds).collect();
    MemcachedRow {
        contender: name.to_owned(),
        ours: name != NONE && name != PASS_THROUGH,
        rps: median(&rates),
        ratio: None,
        cpu_ns: median_of(blocks.iter().map(|block| block.cpu_ns)),
        p50_ns: quantile(0.5),
        p99_ns: quantile(0.99),
        p999_ns: quantile(0.999),
        skipped: raced.skipped(),
        failed: raced.has_failed(),
        rates,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::this_machine::this_machine;

    #[test]
    fn the_server_without_a_shim_is_measured_and_what_is_missing_is_told() {
        let options = Options { quick: true, contenders: vec![NONE.into(), AUTO.into()], ..Options::default() };
        let wanted = MemcachedOptions {
            options,
            object: Err("there is no object".to_owned()),
            preset: false,
            threads: vec![2],
            mixes: vec![MemcachedMix::Mixed],
            generators: Some(Vec::new()),
            pipeline: Some(4),
            rounds: Some(2),
            block: Some(Duration::from_millis(50)),
        };
        let report = memcached(&this_machine(), &wanted, &mut ()).expect("it runs");
        let rows = &report.cells[0].rows;
        assert_eq!([rows[0].contender.as_str(), &rows[1].contender], [NONE, AUTO]);
        assert_eq!(report.gates.len(), 7);
        if report.version.is_none() {
            corecast_testing::skipped("memcached", rows[0].skipped.as_deref().unwrap_or_default());
            return;
        }
        assert_eq!(rows[0].skipped, None);
        assert!(rows[0].rps > Some(0.0) && rows[0].ratio == Some(1.0), "{rows:?}");
        assert!(rows[0].p50_ns <= rows[0].p99_ns && rows[0].p99_ns <= rows[0].p999_ns, "{rows:?}");
        assert_eq!((rows[1].skipped.as_deref(), rows[1].failed), (Some("there is no object"), false));
    }

    #[test]
    fn generators_of_others_ask_the_same_contenders() {
        let wanted = MemcachedOptions {
            options: Options { quick: true, contenders: vec![NONE.into(), AUTO.into()], ..Options::default() },
            object: Err("there is no object".to_owned()),
            preset: false,
            threads: vec![1],
            mixes: vec![MemcachedMix::Set, MemcachedMix::Half],
            generators: None,
            pipeline: None,
            rounds: Some(2),
            block: Some(Duration::from_millis(20)),
        };
        let report = memcached(&this_machine(), &wanted, &mut ()).expect("it runs");
        for MemcachedLeftOut { generator, reason } in &report.left_out {
            assert!(reason.contains(" in PATH: "), "{generator}: {reason}");
        }
        let has = |name: &str| !report.left_out.iter().any(|left_out| left_out.generator == name);
        let cells = report.generated.iter().map(|cell| (cell.client, cell.mix)).collect::<Vec<_>>();
        let expected = [("memslap", "set"), ("memtier", "set"), ("memtier", "half")];
        assert_eq!(cells, expected.into_iter().filter(|(client, _)| has(client)).collect::<Vec<_>>());
        for cell in &report.generated {
            assert_eq!(cell.rows[1].skipped.as_deref(), Some("there is no object"));
            let is_measured = cell.rows[0].rps > Some(0.0) && cell.rows[0].ratio == Some(1.0);
            assert!(is_measured == report.version.is_some(), "{cell:?}");
        }
        assert!(report.cells.iter().all(|cell| cell.client == "corecast"));
    }

    #[test]
    fn server_and_clients_share_few_cpus() {
        let cpus: Vec<CpuId> = (0..4).map(CpuId::new).collect();
        assert_eq!(split(&cpus[..2]), (&[][..], &[][..]));
        assert_eq!(split(&cpus), (&cpus[..2], &cpus[2..]));
    }
}
