//! Stratum 3: how long operations take here, all contenders of a situation in turns.

use std::sync::Arc;
use std::time::Duration;

use corecast::base::wait::Wait;
use corecast::base::{Clock, CpuId};
use corecast::replica::net;

use super::contenders::{Contender, contenders};
use super::crew::{Crew, Program};
use super::host::Setting;
use super::load::{BATCH, Load, Mix};
use super::payloads::{Log, Logs, Span};
use super::play::Block;
use super::preset::{Case, Workload};
use super::report::{ReplicaCell, ReplicaRow};
use super::series::{NET, NetSeries, Series, forms};
use super::snapshots;
use crate::stats::{least, median, most};
use crate::table::Latency;
use crate::turns::{Raced, Situation, TurnOrder};
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, is_crowded};
use corecast_race::options::Options;
use corecast_race::progress::Progress;

/// The run of stratum 3.
pub(super) struct Run<'a> {
    pub(super) options: &'a Options,
    pub(super) program: Option<&'a Program>,
    pub(super) cpus: &'a [CpuId],
    pub(super) wait: Wait,
    pub(super) rounds: usize,
    pub(super) time: Duration,
    /// The requests of a block to a log; `None` for as many as fit its time.
    pub(super) requests: Option<u64>,
    pub(super) seed: u64,
}

/// One who is raced in a situation.
#[derive(Clone, Copy)]
enum Entrant {
    Store(Contender),
    Log(&'static Series),
    NetLog(&'static NetSeries),
    Checkpoint(&'static Series),
    Compared(&'static Series),
    Copies,
}

/// The things that an entrant keeps between its blocks.
enum Opened {
    Nothing,
    Store(Crew),
    Log(Logs),
    NetLog(Logs<net::Node<Log>>),
}

impl Entrant {
    fn name(&self) -> &'static str {
        match self {
            Self::Store(contender) => contender.name,
            Self::Log(series) | Self::Checkpoint(series) => series.name,
            Self::NetLog(series) => series.name,
            Self::Compared(_) => snapshots::COMPARED,
            Self::Copies => snapshots::COPIED,
        }
    }

    fn is_ours(&self) -> bool {
        match self {
            Self::Store(contender) => contender.is_ours(),
            Self::Log(_) | Self::NetLog(_) | Self::Checkpoint(_) | Self::Compared(_) => true,
            Self::Copies => false,
        }
    }

    /// All of a situation. A name that is not known is refused where the options are read.
    fn all(case: &Case, named: &[String]) -> Vec<Self> {
        let all: Vec<Self> = match case.workload {
            Workload::Store { .. } if case.in_processes => {
                contenders().into_iter().filter(Contender::has_processes).map(Self::Store).collect()
            }
            Workload::Store { .. } => contenders().into_iter().map(Self::Store).collect(),
            Workload::Requests { .. } => {
                let net = NET.iter().filter(|series| series.is_form);
                forms().map(Self::Log).chain(net.map(Self::NetLog)).collect()
            }
            Workload::Checkpoints { .. } => {
                let compared = forms().take(1).map(Self::Compared);
                forms().map(Self::Checkpoint).chain(compared).chain([Self::Copies]).collect()
            }
        };
        let is_wanted = |entrant: &Self| match entrant {
            _ if !named.is_empty() => named.iter().any(|name| name == entrant.name()),
            Self::Store(contender) => contender.takes_part(case),
            _ => true,
        };
        all.into_iter().filter(is_wanted).collect()
    }
}

/// The names that a user may ask for.
pub(super) fn names() -> Vec<&'static str> {
    contenders().iter().map(|contender| contender.name).chain([snapshots::COMPARED, snapshots::COPIED]).collect()
}

/// All contenders of a situation, interleaved.
pub(super) fn cell(
    run: &Run<'_>,
    case: &Case,
    order: &mut TurnOrder<'_>,
    progress: &mut dyn Progress,
) -> Result<ReplicaCell, BenchError> {
    let entrants = Entrant::all(case, &run.options.contenders);
    let setting = Setting { members: case.replicas, clients: case.clients, cpus: run.cpus.to_vec(), wait: run.wait };
    let opened = entrants.iter().map(|_| Opened::Nothing).collect();
    let abort = Arc::new(Abort::heeding(&run.options.cancel));
    let mut race = Race { run, case, entrants: &entrants, setting: &setting, opened, abort, progress };
    let raced = order.race(entrants.len(), &mut race)?;
    drop(race);
    let is_batched = matches!(case.workload, Workload::Store { mix: Mix::Reads, rate: None, .. });
    let rows = entrants.iter().zip(&raced).map(|(entrant, raced)| row(entrant, raced, is_batched)).collect();
    let most = case.replicas.max(case.clients);
    Ok(ReplicaCell {
        workload: case.workload.words(),
        replicas: case.replicas,
        clients: case.clients,
        place: if case.in_processes { "processes" } else { "threads" },
        oversubscribed: is_crowded(most, run.cpus.len()),
        rows,
    })
}

/// The contenders of one situation.
struct Race<'a> {
    run: &'a Run<'a>,
    case: &'a Case,
    entrants: &'a [Entrant],
    setting: &'a Setting,
    opened: Vec<Opened>,
    abort: Arc<Abort>,
    progress: &'a mut dyn Progress,
}

impl Situation for Race<'_> {
    type Block = Block;

    fn prepare(&mut self, at: usize) -> Result<(), Failure> {
        self.opened[at] = match &self.entrants[at] {
            Entrant::Store(contender) if self.case.in_processes => {
                let program = self.run.program.ok_or_else(|| Failure::Refused("no program was named".to_owned()))?;
                Opened::Store(Crew::processes(contender, self.setting, program, &self.abort)?)
            }
            Entrant::Store(contender) => Opened::Store(Crew::threads(contender, self.setting)?),
            Entrant::Log(series) => Opened::Log(Logs::open(series, self.setting, 0)?),
            Entrant::NetLog(series) => Opened::NetLog(Logs::over_messages(series, self.setting)?),
            Entrant::Checkpoint(_) | Entrant::Compared(_) | Entrant::Copies => Opened::Nothing,
        };
        Ok(())
    }

    fn check(&mut self, at: usize) -> Result<(), Failure> {
        match &mut self.opened[at] {
            Opened::Store(crew) => crew.check(),
            // Logs and checkpoints are checked in each block.
            Opened::Log(_) | Opened::NetLog(_) | Opened::Nothing => Ok(()),
        }
    }

    fn wants_round(&mut self, rounds: usize) -> bool {
        let doing = format!("{}, {} replicas", self.case.workload.words(), self.case.replicas);
        self.progress.step(rounds as f64 / self.run.rounds as f64, &doing);
        rounds < self.run.rounds
    }

    fn block(&mut self, at: usize) -> Result<Block, Failure> {
        let (setting, time) = (self.setting, self.run.time);
        let span = self.run.requests.map_or(Span::Time(time), Span::Requests);
        match (&mut self.opened[at], self.case.workload, self.entrants[at]) {
            (Opened::Store(crew), workload, _) => crew.block(&load(self.run, self.setting, &workload)),
            (Opened::Log(logs), Workload::Requests { bytes, pace }, _) => logs.block(bytes, pace, span),
            (Opened::NetLog(logs), Workload::Requests { bytes, pace }, _) => logs.block(bytes, pace, span),
            (_, Workload::Checkpoints { bytes }, Entrant::Checkpoint(series)) => {
                snapshots::of_group((series, true), setting, bytes, time)
            }
            (_, Workload::Checkpoints { bytes }, Entrant::Compared(series)) => {
                snapshots::of_group((series, false), setting, bytes, time)
            }
            (_, Workload::Checkpoints { bytes }, _) => snapshots::of_copies(setting, bytes, time),
            _ => Err(Failure::Refused("it has no such work".to_owned())),
        }
    }

    fn trusted(&self, at: usize) -> Option<&str> {
        let entrant = &self.entrants[at];
        entrant.is_ours().then(|| entrant.name())
    }
}

fn load(run: &Run<'_>, setting: &Setting, workload: &Workload) -> Load {
    let Workload::Store { mix, is_skewed, rate, .. } = *workload else {
        unreachable!("only stores are given a load");
    };
    let every_ns = rate.map(|rate| 1e9 * setting.clients as f64 / rate);
    let time_ns = u64::try_from(run.time.as_nanos()).unwrap_or(u64::MAX);
    Load { mix, is_skewed, every_ns, time_ns, seed: run.seed }
}

/// The largest of the clients' own medians, in ticks: that of all writes is that of the clients that get most done.
fn slowest_client(blocks: &[Block]) -> Option<u64> {
    let clients = blocks.iter().map(|block| block.writes_of.len()).max().unwrap_or(0);
    let median = |client: usize| {
        let mut all = Latency::default();
        blocks.iter().filter_map(|block| block.writes_of.get(client)).for_each(|one| all.merge(one));
        all.percentile(0.5)
    };
    (0..clients).filter_map(median).max()
}

fn row(entrant: &Entrant, raced: &Raced<Block>, is_batched: bool) -> ReplicaRow {
    let kops: Vec<f64> = raced.blocks.iter().map(|block| block.operations as f64 / block.seconds / 1e3).collect();
    let (mut reads, mut writes) = (Latency::default(), Latency::default());
    for block in &raced.blocks {
        reads.merge(&block.reads);
        writes.merge(&block.writes);
    }
    let slowest = slowest_client(&raced.blocks);
    let batch = if is_batched { BATCH as f64 } else { 1.0 };
    let ns = |latency: &Latency, share| latency.percentile(share).map(|ticks| Clock::get().ns(ticks));
    ReplicaRow {
        contender: entrant.name().to_owned(),
        ours: entrant.is_ours(),
        kops: median(&kops),
        min_kops: least(kops.iter().copied()),
        max_kops: most(kops.iter().copied()),
        read_p50_ns: ns(&reads, 0.5).map(|ns| ns / batch),
        read_p99_ns: ns(&reads, 0.99).map(|ns| ns / batch),
        write_p50_ns: ns(&writes, 0.5),
        write_p99_ns: ns(&writes, 0.99),
        slowest_p50_ns: slowest.map(|ticks| Clock::get().ns(ticks)),
        samples: reads.samples() + writes.samples(),
        skipped: raced.skipped(),
        failed: raced.has_failed(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replica::preset::{Preset, cases};
    use crate::this_machine::this_machine;

    /// The rows of a situation, of short blocks.
    fn rows(case: &Case, contenders: &[&str]) -> Vec<ReplicaRow> {
        let contenders = contenders.iter().map(|&name| name.to_owned()).collect();
        let options = Options { quick: true, contenders, ..Options::default() };
        let cpus: Vec<CpuId> = options.usable_cpus(&this_machine()).expect("CPUs").iter().collect();
        let time = Duration::from_millis(2);
        let (wait, requests) = (Wait::Adaptive, None);
        let run = Run { options: &options, program: None, cpus: &cpus, wait, rounds: 1, time, requests, seed: 5 };
        let mut order = TurnOrder::new(&options, 5);
        cell(&run, case, &mut order, &mut ()).expect("nothing of ours is wrong").rows
    }

    #[test]
    fn every_store_is_checked_and_timed_or_says_why_not() {
        let case = cases(None, true, &[2], 1e4).into_iter().find(|case| case.workload.words() == "80/20");
        for row in rows(&case.expect("a usual case"), &[]) {
            let may_be_absent = ["lmdb", "redis", "memcached"].contains(&row.contender.as_str());
            match &row.skipped {
                None => assert!(row.kops > Some(0.0) && row.samples > 0, "{row:?}"),
                Some(reason) => assert!(may_be_absent && !row.failed, "{}: {reason}", row.contender),
            }
        }
    }

    #[test]
    fn every_experiment_runs_on_two_replicas() {
        for preset in Preset::ALL {
            let case = cases(Some(preset), true, &[2], 1e4)[0];
            for row in rows(&case, &["shm-separate", "shm-fused", "std-rwlock", snapshots::COMPARED, snapshots::COPIED])
            {
                assert!(row.skipped.is_none() && row.kops > Some(0.0), "{}: {row:?}", preset.name());
            }
        }
    }

    #[test]
    fn processes_need_a_program() {
        let case = Case { in_processes: true, ..cases(None, true, &[2], 1e4)[0] };
        let rows = rows(&case, &["robust-mutex"]);
        assert_eq!(rows[0].skipped.as_deref(), Some("no program was named"));
    }
}
