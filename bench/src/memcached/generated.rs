//! Memcached asked by load generators that were written elsewhere, with the locks preloaded and without, in turns.
//!
//! Servers are others than those of our own clients, as the generators store keys of their own. A run makes as many requests for
//! every contender: about as many as the first one answers within a block.

use std::process::Command;
use std::time::Duration;

use corecast::CpuSet;
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::options::Options;
use corecast_race::progress::{Part, Progress};
use serde::Serialize;

use super::clients::Closed;
use super::generator::{Crowd, MemcachedGenerator};
use super::load::MemcachedMix;
use super::report::MemcachedCell;
use super::server::Memcached;
use super::{Block, CONNECTIONS, Field, rows};
use crate::program::{self, Told, without_shims};
use crate::turns::{Situation, TurnOrder};

/// A run that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(600);
/// Requests of each connection by which the rate is guessed.
const FIRST_REQUESTS: usize = 200;

/// A generator that was left out.
#[derive(Clone, Debug, Serialize)]
pub struct MemcachedLeftOut {
    /// `memslap` or `memtier`.
    pub generator: &'static str,
    /// Why.
    pub reason: String,
}

/// Cells of all generators, and those that are not here.
pub(super) type Generated = (Vec<MemcachedCell>, Vec<MemcachedLeftOut>);

/// Which cells there are, and where they run.
pub(super) struct Wanted<'a> {
    pub(super) options: &'a Options,
    pub(super) generators: &'a [MemcachedGenerator],
    pub(super) threads: &'a [usize],
    pub(super) mixes: &'a [MemcachedMix],
    /// Where generators run.
    pub(super) cpus: CpuSet,
    /// How many CPUs servers have.
    pub(super) server_cpus: usize,
}

/// Races the contenders under each generator.
///
/// # Errors
/// A [`BenchError`] if the run is cancelled.
pub(super) fn run(
    field: &Field<'_>,
    wanted: &Wanted<'_>,
    progress: &mut dyn Progress,
) -> Result<Generated, BenchError> {
    let (mut found, mut left_out) = (Vec::new(), Vec::new());
    for &generator in wanted.generators {
        match generator.find() {
            Ok(program) => found.push((generator, program)),
            Err(failure) => {
                left_out.push(MemcachedLeftOut { generator: generator.name(), reason: failure.to_string() })
            }
        }
    }
    let mut situations = Vec::new();
    for &threads in wanted.threads {
        for &mix in wanted.mixes {
            let makes = found.iter().filter(|(generator, _)| generator.makes(mix));
            situations.extend(makes.map(|&generator| (threads, mix, generator)));
        }
    }
    let mut order = TurnOrder::new(wanted.options, field.seed);
    let mut cells = Vec::new();
    for (at, &(threads, mix, (generator, program))) in situations.iter().enumerate() {
        let progress = &mut Part::of(progress, at, situations.len());
        let servers = field.contenders.iter().map(|_| None).collect();
        let cell = Cell { field, wanted, generator, program, threads, mix, servers, requests: None, progress };
        cells.push(cell.race(&mut order)?);
    }
    progress.step(1.0, "done");
    Ok((cells, left_out))
}

/// One generator, mix and number of threads.
struct Cell<'a> {
    field: &'a Field<'a>,
    wanted: &'a Wanted<'a>,
    generator: MemcachedGenerator,
    program: &'static str,
    threads: usize,
    mix: MemcachedMix,
    /// By contender.
    servers: Vec<Option<Memcached>>,
    /// Of each connection.
    requests: Option<usize>,
    progress: &'a mut dyn Progress,
}

impl Cell<'_> {
    fn race(mut self, order: &mut TurnOrder<'_>) -> Result<MemcachedCell, BenchError> {
        let raced = order.race(self.field.contenders.len(), &mut self)?;
        Ok(MemcachedCell {
            client: self.generator.name(),
            threads: self.threads,
            mix: self.mix.name(),
            keys: "its own",
            oversubscribed: self.threads > self.wanted.server_cpus,
            open_rps: None,
            rows: rows(self.field.contenders, &raced),
        })
    }

    /// Runs a command to its end.
    fn told(&self, mut command: Command) -> Result<Told, Failure> {
        without_shims(&mut command);
        program::run(command, &self.wanted.cpus, LIMIT, &|| self.wanted.options.cancel.is_cancelled())
    }

    fn server(&self, at: usize) -> &Memcached {
        self.servers[at].as_ref().expect("a contender is prepared before it runs")
    }

    fn connections(&self) -> usize {
        self.field.client_threads() * CONNECTIONS
    }

    /// A run with this number of requests of each connection.
    fn ask(&self, at: usize, requests: usize) -> Result<Closed, Failure> {
        let crowd = Crowd { threads: self.field.client_threads(), connections: CONNECTIONS, requests };
        let told = self.told(self.generator.command(self.program, self.server(at).socket(), self.mix, crowd))?;
        let all = requests * self.connections();
        match self.generator.rate(&told.output) {
            Some(rate) if told.has_succeeded => Ok(Closed { requests: all, seconds: all as f64 / rate }),
            _ => {
                let words = [&told.errors, &told.output].map(|text| text.trim().lines().next().unwrap_or_default());
                Err(Failure::Ended(format!("{} tells no rate: '{}'", self.program, words.join(" ").trim())))
            }
        }
    }
}

impl Situation for Cell<'_> {
    type Block = Block;

    fn prepare(&mut self, at: usize) -> Result<(), Failure> {
        self.servers[at] = Some(self.field.start(at, self.threads)?);
        let storing = self.generator.storing(self.program, self.server(at).socket(), self.mix);
        let Some(storing) = storing else { return Ok(()) };
        self.told(storing).map(drop)
    }

    fn check(&mut self, at: usize) -> Result<(), Failure> {
        let first = self.ask(at, FIRST_REQUESTS)?;
        let rate = first.requests as f64 / first.seconds / self.connections() as f64;
        let requests = (rate * self.field.block.as_secs_f64()) as usize;
        self.requests.get_or_insert(requests.max(FIRST_REQUESTS));
        Ok(())
    }

    fn wants_round(&mut self, rounds: usize) -> bool {
        let doing = format!("{} of {}, {} server threads", self.mix.name(), self.generator.name(), self.threads);
        self.progress.step(rounds as f64 / self.field.rounds as f64, &doing);
        rounds < self.field.rounds
    }

    fn block(&mut self, at: usize) -> Result<Block, Failure> {
        let closed = self.ask(at, self.requests.expect("set by the checks before"))?;
        // A run stores keys, too, before it gets them.
        Ok(Block { closed, cpu_ns: None, latencies_ns: None })
    }
}
