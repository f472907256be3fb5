//! Launches of which members, a leader or a host are killed in the midst of operations.
//!
//! Victims of a launch die one after the other, as long as there are some and the library goes on without them: a launch takes
//! longer than a death.
//!
//! Processes are named by descriptors, which are taken while all of them wait for each other: a number may be that of another
//! process by the time of the death.

use std::os::fd::OwnedFd;
use std::time::Duration;

use corecast_race::error::BenchError;
use corecast_race::options::Options;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::Serialize;

use super::bed::{self, Bed};
use super::campaign::{Campaign, Victim};
use super::death::now_ns;
use super::launch::{Ended, Launch, NodesPrograms};
use super::library::Library;
use super::work::{After, DeathAt, DeathPlace, HostMembers, NodesShape, Task, Told, Work, failed_name};
use crate::stats::{Samples, median};

/// A launch that takes longer hangs. It takes a second, and more on a busy machine.
const LIMIT: Duration = Duration::from_secs(40);
/// And this much for each death.
const LIMIT_OF_DEATH: Duration = Duration::from_secs(5);
/// The time from operations to a death, in milliseconds.
const BEFORE_MS: std::ops::Range<u64> = 2..40;

/// The time between two looks at a launch whose leader is to die at a place.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

/// The deaths of one kind under one library.
#[derive(Clone, Debug, Serialize)]
pub struct NodesDeathRow {
    /// The library.
    pub library: String,
    /// The victim.
    pub victim: Victim,
    /// The place in an operation at which it died; `null` if it was killed at any time.
    pub place: Option<DeathPlace>,
    /// Hosts of a launch.
    pub hosts: usize,
    /// Members on each host.
    pub members: usize,
    /// How members are processes: nested or ranks.
    pub shape: NodesShape,
    /// True if the library can go on after such a death.
    pub is_survivable: bool,
    /// The options with which its launcher lets processes of MPI die; `null` if it has none.
    pub launch_flags: Option<&'static str>,
    /// Deaths.
    pub runs: usize,
    /// Deaths of which all survivors were told the right name; of those that cannot be survived, those after which the job ended
    /// with a failure.
    pub named: usize,
    /// Deaths after which the group of the survivors worked.
    pub shrunk: usize,
    /// Launches that had to be ended.
    pub hung: usize,
    /// From the death until a survivor was told, in milliseconds: the median over all survivors.
    pub median_ms: Option<f64>,
    /// The longest of the same.
    pub max_ms: Option<f64>,
    /// From the death until a survivor had done an operation of the new group, in milliseconds: the longest.
    pub after_max_ms: Option<f64>,
    /// The outcome of the first death that did not go as it should.
    pub first_wrong: Option<String>,
}

/// The outcome of one death.
#[derive(Default)]
struct Outcome {
    is_named: bool,
    is_shrunk: bool,
    has_hung: bool,
    told_ms: Vec<f64>,
    after_ms: Vec<f64>,
    wrong: Option<String>,
}

impl Outcome {
    /// There was no death.
    fn none(ended: &Ended, words: &str) -> Self {
        Self { has_hung: *ended == Ended::Hung, wrong: Some(format!("{words}: {ended:?}")), ..Self::default() }
    }

    /// A death after which the job has to end, with a failure.
    fn of_job(ended: &Ended) -> Self {
        let wrong = match ended {
            Ended::Badly(_) | Ended::Launcher(_) => None,
            Ended::Hung => Some("the job did not end".to_owned()),
            Ended::Well => Some("the job ended as if nobody had died".to_owned()),
        };
        Self { is_named: wrong.is_none(), has_hung: *ended == Ended::Hung, wrong, ..Self::default() }
    }
}

/// All deaths of a campaign under one library.
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
    while outcomes.len() < campaign.runs {
        done(outcomes.len());
        let is_survivable = campaign.is_survivable(library);
        let deaths = campaign.deaths_of_launch(is_survivable).min(campaign.runs - outcomes.len());
        let at = campaign.draw_place(random);
        let task = (campaign.shape, HostMembers::even(campaign.members), Task::Die { deaths, at });
        let launch = Launch::start(bed, library, programs, campaign.hosts, task, campaign.lanes)?;
        let victims = Victims { bed, campaign, is_survivable, deaths, at };
        outcomes.extend(victims.kill(launch, options, random)?);
    }
    Ok(row(library, campaign, outcomes))
}

fn row(library: &Library, campaign: Campaign, outcomes: Vec<Outcome>) -> NodesDeathRow {
    let told = Samples::of(outcomes.iter().flat_map(|outcome| outcome.told_ms.iter().copied()));
    let after = Samples::of(outcomes.iter().flat_map(|outcome| outcome.after_ms.iter().copied()));
    let count = |is: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| is(outcome)).count();
    NodesDeathRow {
        library: library.name.clone(),
        victim: campaign.victim,
        place: campaign.place,
        hosts: campaign.hosts,
        members: campaign.members,
        shape: campaign.shape,
        is_survivable: campaign.is_survivable(library),
        launch_flags: library.survival_flags(),
        runs: campaign.runs,
        named: count(|outcome| outcome.is_named),
        shrunk: count(|outcome| outcome.is_shrunk),
        hung: count(|outcome| outcome.has_hung),
        median_ms: median(told.all()),
        max_ms: told.most(),
        after_max_ms: after.most(),
        first_wrong: outcomes.into_iter().find_map(|outcome| outcome.wrong),
    }
}

/// The deaths of one launch.
struct Victims<'a> {
    bed: &'a Bed,
    campaign: Campaign,
    is_survivable: bool,
    deaths: usize,
    /// The place of the only death, if it has one.
    at: Option<DeathAt>,
}

/// A death.
struct Death {
    number: usize,
    /// The rank in the first group.
    victim: usize,
    killed_ns: u64,
    /// The ranks in the first group of the members before it, and of those behind it.
    living: Vec<usize>,
    survivors: Vec<usize>,
}

impl Victims<'_> {
    /// The longest time of the launch.
    fn limit(&self) -> Duration {
        LIMIT + LIMIT_OF_DEATH * self.deaths as u32
    }

    /// Kills one after the other; at least one outcome.
    fn kill(
        self,
        mut launch: Launch<'_>,
        options: &Options,
        random: &mut fastrand::Rng,
    ) -> Result<Vec<Outcome>, BenchError> {
        let limit = self.limit();
        let mut living: Vec<usize> = (0..self.campaign.hosts * self.campaign.members).collect();
        let Some(processes) = processes(&mut launch, living.len(), options) else {
            let (_, _folder, ended) = launch.finish(LIMIT, options)?;
            return Ok(vec![Outcome::none(&ended, "the members did not meet")]);
        };
        let (mut deaths, mut trouble) = (Vec::new(), None);
        for number in 0..self.deaths {
            let death = match self.kill_one(&mut launch, &processes, living, (number, options), random) {
                Ok(death) => death,
                Err(words) => {
                    trouble = Some(words);
                    break;
                }
            };
            let has_gone_on = self.is_survivable && have_gone_on(&mut launch, &death, limit, options);
            living = death.survivors.clone();
            deaths.push(death);
            if !has_gone_on {
                break;
            }
        }
        let (work, _folder, ended) = launch.finish(limit, options)?;
        // A launch that hangs does so behind its last death.
        let ended_of = |place: usize| if place + 1 == deaths.len() { &ended } else { &Ended::Well };
        let judged = deaths.iter().enumerate().map(|(place, death)| self.judge(&work, death, ended_of(place)));
        let judged: Vec<Outcome> = judged.collect();
        Ok(judged.into_iter().chain(trouble.map(|words| Outcome::none(&ended, &words))).collect())
    }

    /// An error says why there is no death.
    fn kill_one(
        &self,
        launch: &mut Launch<'_>,
        processes: &[OwnedFd],
        living: Vec<usize>,
        (number, options): (usize, &Options),
        random: &mut fastrand::Rng,
    ) -> Result<Death, String> {
        let victim = match self.at {
            Some(at) => at.host * self.campaign.members,
            None => self.campaign.draw(&living, random),
        };
        let survivors = self.campaign.survivors(&living, victim);
        if let Some(at) = self.at {
            let killed_ns = died_at(launch, &processes[victim], (at.host, victim), options)
                .map_err(|words| format!("rank {victim} of the first group {words}"))?;
            return Ok(Death { number, victim, killed_ns, living, survivors });
        }
        // A leader that dies at a place needs nobody, and its launch may be over by now.
        std::thread::sleep(Duration::from_millis(random.u64(BEFORE_MS)));
        if launch.is_over(self.limit(), options) {
            return Err(format!("the launch was over before death {number}"));
        }
        let killed_ns = now_ns();
        if self.campaign.victim == Victim::Host {
            self.bed.kill_host(victim / self.campaign.members + 1);
        } else {
            let killed = pidfd_send_signal(&processes[victim], Signal::KILL);
            killed.map_err(|error| format!("rank {victim} of the first group cannot be killed: {error}"))?;
        }
        Ok(Death { number, victim, killed_ns, living, survivors })
    }

    /// The words of the survivors of a death, judged.
    fn judge(&self, work: &Work, death: &Death, ended: &Ended) -> Outcome {
        let has_hung = *ended == Ended::Hung;
        if !self.is_survivable {
            return Outcome::of_job(ended);
        }
        let Death { number, victim, killed_ns, living, survivors } = death;
        let since = |at_ns: u64| at_ns.saturating_sub(*killed_ns) as f64 / 1e6;
        let told: Vec<Option<Told>> =
            survivors.iter().map(|rank| work.told(&format!("told-{rank}-{number}"))).collect();
        let after: Vec<Option<After>> = survivors.iter().map(|rank| work.told(&after_name(*rank, *number))).collect();
        let is_right = |(told, &rank): (&Told, &usize)| self.campaign.is_named(told, rank, (*victim, living));
        let has_heard = |(told, rank): (&Option<Told>, _)| told.as_ref().is_some_and(|told| is_right((told, rank)));
        let is_named = told.iter().zip(survivors).all(has_heard);
        let goes_on = |(after, &rank): (&Option<After>, &usize)| {
            let leads = self.campaign.leads(rank, survivors);
            after.as_ref().is_some_and(|after| after.members == survivors.len() && after.leads == leads)
        };
        let is_shrunk = after.iter().zip(survivors).all(goes_on);
        let words = || {
            let all = told.iter().zip(survivors).filter_map(|(told, rank)| Some((told.as_ref()?, rank)));
            let told = all.into_iter().find(|&heard| !is_right(heard)).map(|(told, _)| told.words.clone());
            let told = told.unwrap_or_else(|| "no wrong name".to_owned());
            let failures = work.failures().join("; ");
            format!("rank {victim} of the first group was killed as number {number}; {told}; {failures}; {ended:?}")
        };
        let is_right = is_named && is_shrunk && !has_hung;
        Outcome {
            is_named,
            is_shrunk,
            has_hung,
            told_ms: told.iter().flatten().map(|told| since(told.at_ns)).collect(),
            after_ms: after.iter().flatten().map(|after| since(after.at_ns)).collect(),
            wrong: (!is_right).then(words),
        }
    }
}

/// The time at which a leader has died at its place, as the descriptor of its process tells; an error if it ends otherwise, or
/// lives on when the launch is over.
fn died_at(
    launch: &mut Launch<'_>,
    process: &OwnedFd,
    (host, rank): (usize, usize),
    options: &Options,
) -> Result<u64, String> {
    loop {
        // Asked first: a launch ends behind its processes.
        let is_over = launch.is_over(LIMIT, options);
        if poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&LOOK)).is_ok_and(|ready| ready > 0) {
            let at_ns = now_ns();
            return match failure_of(&launch.work, host, rank) {
                Some(words) => Err(format!("has failed before it came to the place of its death: {words}")),
                None => Ok(at_ns),
            };
        }
        if is_over {
            return Err("has not come to the place of its death".to_owned());
        }
    }
}

/// The words with which the process of a rank has ended with an error. One that dies at a place leaves none.
fn failure_of(work: &Work, host: usize, rank: usize) -> Option<String> {
    let pid: u32 = work.told(&format!("pid-{rank}"))?;
    work.told(&failed_name(&bed::name(host + 1), pid))
}

/// The name of the file in which a survivor tells that it has gone on.
fn after_name(rank: usize, death: usize) -> String {
    format!("after-{rank}-{death}")
}

/// Waits until all survivors of a death have gone on; false if the launch ends, or takes too long.
fn have_gone_on(launch: &mut Launch<'_>, death: &Death, limit: Duration, options: &Options) -> bool {
    let has = |work: &Work, rank: usize| work.told::<After>(&after_name(rank, death.number)).is_some();
    loop {
        if death.survivors.iter().all(|&rank| has(&launch.work, rank)) {
            return true;
        }
        if launch.is_over(limit, options) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The processes of all ranks, once all are in the group; `None` if they do not come.
fn processes(launch: &mut Launch<'_>, ranks: usize, options: &Options) -> Option<Vec<OwnedFd>> {
    loop {
        let found: Option<Vec<Pid>> =
            (0..ranks).map(|rank| Pid::from_raw(launch.work.told(&format!("pid-{rank}"))?)).collect();
        if let Some(pids) = found {
            // One that has ended already has none.
            return pids.into_iter().map(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()).collect();
        }
        if launch.is_over(LIMIT, options) {
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_ends_as_if_nobody_had_died_is_wrong() {
        let outcomes =
            [Ended::Badly("killed".to_owned()), Ended::Well, Ended::Hung].map(|ended| Outcome::of_job(&ended));
        assert_eq!(outcomes.each_ref().map(|outcome| outcome.is_named), [true, false, false]);
        assert_eq!(outcomes.map(|outcome| outcome.wrong.is_some()), [false, true, true]);
    }

    #[test]
    fn a_victim_that_has_failed_has_not_died_at_its_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let work = Work {
            shape: NodesShape::Nested,
            members: HostMembers::even(2),
            lanes: 1,
            task: Task::Idle,
            folder: folder.path().to_owned(),
        };
        assert_eq!(failure_of(&work, 1, 2), None, "nobody knows the process");
        work.tell("pid-2", &77).expect("a folder");
        work.tell(&failed_name(&bed::name(1), 77), &"another host's").expect("a folder");
        assert_eq!(failure_of(&work, 1, 2), None);
        work.tell(&failed_name(&bed::name(2), 77), &"refused").expect("a folder");
        assert_eq!(failure_of(&work, 1, 2).as_deref(), Some("refused"));
    }
}
