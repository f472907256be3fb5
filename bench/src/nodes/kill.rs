//! Launches of which one member, leader or host is killed in the midst of operations.

use std::time::Duration;

use corecast::collective::MAX_MEMBERS;
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::options::Options;
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;

use super::bed::Bed;
use super::death::now_ns;
use super::launch::{Ended, Launch, NodesPrograms};
use super::library::Library;
use super::work::{After, NodesShape, Task, Told, Work};
use crate::stats::{Samples, median};

/// A launch that takes longer hangs. It takes a second, and more on a busy machine.
const LIMIT: Duration = Duration::from_secs(40);
/// The time from the first operation to a death, in milliseconds.
const BEFORE_MS: std::ops::Range<u64> = 2..40;

/// The victim of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Victim {
    /// A member that does not lead its node.
    Member,
    /// The leader of a node.
    Leader,
    /// All processes of a host.
    Host,
}

/// The deaths of one kind under one library.
#[derive(Clone, Debug, Serialize)]
pub struct NodesDeathRow {
    /// The library.
    pub library: String,
    /// The victim.
    pub victim: Victim,
    /// Hosts of a launch.
    pub hosts: usize,
    /// Members on each host.
    pub members: usize,
    /// True if the library can go on after such a death.
    pub is_survivable: bool,
    /// Launches.
    pub runs: usize,
    /// Launches in which all survivors were told the right name; of a death that cannot be survived, those that ended.
    pub named: usize,
    /// Launches in which the group of the survivors worked.
    pub shrunk: usize,
    /// Launches that had to be ended.
    pub hung: usize,
    /// From the death until a survivor was told, in milliseconds: the median over all survivors.
    pub median_ms: Option<f64>,
    /// The longest of the same.
    pub max_ms: Option<f64>,
    /// From the death until a survivor had done an operation of the new group, in milliseconds: the longest.
    pub after_max_ms: Option<f64>,
    /// The outcome of the first launch that did not go as it should.
    pub first_wrong: Option<String>,
}

/// How and how often.
#[derive(Clone, Copy, Debug)]
pub(super) struct Campaign {
    pub(super) victim: Victim,
    pub(super) hosts: usize,
    pub(super) members: usize,
    pub(super) runs: usize,
}

/// The outcome of one launch.
#[derive(Default)]
struct Outcome {
    is_named: bool,
    is_shrunk: bool,
    has_hung: bool,
    told_ms: Vec<f64>,
    after_ms: Vec<f64>,
    wrong: Option<String>,
}

/// All launches of a campaign under one library.
pub(super) fn kill_many(
    bed: &Bed,
    library: &Library,
    programs: &NodesPrograms,
    campaign: Campaign,
    options: &Options,
    random: &mut fastrand::Rng,
    mut done: impl FnMut(usize),
) -> Result<NodesDeathRow, BenchError> {
    let mut outcomes = Vec::with_capacity(campaign.runs);
    for run in 0..campaign.runs {
        done(run);
        outcomes.push(kill_one(bed, library, programs, campaign, options, random)?);
    }
    let told = Samples::of(outcomes.iter().flat_map(|outcome| outcome.told_ms.iter().copied()));
    let after = Samples::of(outcomes.iter().flat_map(|outcome| outcome.after_ms.iter().copied()));
    let count = |is: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| is(outcome)).count();
    Ok(NodesDeathRow {
        library: library.name.clone(),
        victim: campaign.victim,
        hosts: campaign.hosts,
        members: campaign.members,
        is_survivable: campaign.is_survivable(library),
        runs: campaign.runs,
        named: count(|outcome| outcome.is_named),
        shrunk: count(|outcome| outcome.is_shrunk),
        hung: count(|outcome| outcome.has_hung),
        median_ms: median(told.all()),
        max_ms: told.most(),
        after_max_ms: after.most(),
        first_wrong: outcomes.into_iter().find_map(|outcome| outcome.wrong),
    })
}

impl Campaign {
    /// The launcher of Open MPI 5 ends the job when one of its daemons dies, so a host that is lost with its daemon ends every
    /// job.
    fn is_survivable(self, library: &Library) -> bool {
        match self.victim {
            Victim::Member => true,
            Victim::Leader => library.survives(),
            Victim::Host => false,
        }
    }

    /// The host of the victim, from 0, and its local rank.
    fn draw(self, random: &mut fastrand::Rng) -> (usize, usize) {
        let host = random.usize(..self.hosts);
        let local = match self.victim {
            Victim::Member => random.usize(1..self.members),
            Victim::Leader | Victim::Host => 0,
        };
        (host, local)
    }
}

fn kill_one(
    bed: &Bed,
    library: &Library,
    programs: &NodesPrograms,
    campaign: Campaign,
    options: &Options,
    random: &mut fastrand::Rng,
) -> Result<Outcome, BenchError> {
    let Campaign { victim, hosts, members, .. } = campaign;
    let work = (NodesShape::Nested, members, Task::Die);
    let mut launch = Launch::start(bed, library, programs, hosts, work)?;
    let ranks = hosts * members;
    let Some(pids) = pids(&mut launch, ranks) else {
        let (_, _folder, ended) = launch.finish(LIMIT, options)?;
        let wrong = Some(format!("the members did not meet: {ended:?}"));
        return Ok(Outcome { has_hung: ended == Ended::Hung, wrong, ..Outcome::default() });
    };
    let (host, local) = campaign.draw(random);
    let rank = host * members + local;
    std::thread::sleep(Duration::from_millis(random.u64(BEFORE_MS)));
    let killed_ns = now_ns();
    if victim == Victim::Host {
        bed.kill_host(host + 1);
    } else {
        kill_process(pids[rank], Signal::KILL).map_err(|error| Failure::refused(format!("cannot kill: {error}")))?;
    }
    let (work, _folder, ended) = launch.finish(LIMIT, options)?;
    let survivors: Vec<usize> = match victim {
        Victim::Member => (0..ranks).filter(|&other| other != rank).collect(),
        // A node without its leader is lost as a whole.
        Victim::Leader | Victim::Host => (0..ranks).filter(|&other| other / members != host).collect(),
    };
    if campaign.is_survivable(library) {
        return Ok(judge(&work, &survivors, (rank, host, victim), killed_ns, &ended));
    }
    let has_hung = ended == Ended::Hung;
    let wrong = has_hung.then(|| "the job did not end".to_owned());
    Ok(Outcome { is_named: !has_hung, has_hung, wrong, ..Outcome::default() })
}

/// The processes of all ranks, once all are in the group; `None` if they do not come.
fn pids(launch: &mut Launch<'_>, ranks: usize) -> Option<Vec<Pid>> {
    assert!(ranks <= MAX_MEMBERS, "{ranks} members");
    loop {
        let found: Option<Vec<Pid>> =
            (0..ranks).map(|rank| Pid::from_raw(launch.work.told(&format!("pid-{rank}"))?)).collect();
        if found.is_some() {
            return found;
        }
        if launch.is_over(LIMIT) {
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The words of the survivors of a launch, judged.
fn judge(
    work: &Work,
    survivors: &[usize],
    (rank, node, victim): (usize, usize, Victim),
    killed_ns: u64,
    ended: &Ended,
) -> Outcome {
    let since = |at_ns: u64| at_ns.saturating_sub(killed_ns) as f64 / 1e6;
    let told: Vec<Option<Told>> = survivors.iter().map(|rank| work.told(&format!("told-{rank}"))).collect();
    let after: Vec<Option<After>> = survivors.iter().map(|rank| work.told(&format!("after-{rank}"))).collect();
    let is_right = |told: &Told| match victim {
        Victim::Member => told.named == Some(rank),
        Victim::Leader | Victim::Host => told.node == Some(node),
    };
    let is_named = told.iter().all(|told| told.as_ref().is_some_and(is_right));
    let is_shrunk = after.iter().all(|after| after.as_ref().is_some_and(|after| after.members == survivors.len()));
    let words = || {
        let told = told.iter().flatten().find(|told| !is_right(told)).map(|told| told.words.clone());
        let failures = work.failures().join("; ");
        format!("rank {rank} was killed; {}; {failures}; {ended:?}", told.unwrap_or_else(|| "no wrong name".to_owned()))
    };
    let is_right = is_named && is_shrunk && *ended != Ended::Hung;
    Outcome {
        is_named,
        is_shrunk,
        has_hung: *ended == Ended::Hung,
        told_ms: told.iter().flatten().map(|told| since(told.at_ns)).collect(),
        after_ms: after.iter().flatten().map(|after| since(after.at_ns)).collect(),
        wrong: (!is_right).then(words),
    }
}
