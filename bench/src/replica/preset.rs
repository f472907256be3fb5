//! The experiments that are repeated, and the situations of each.

use std::str::FromStr;

use super::load::Mix;

/// An experiment of a paper, or of a benchmark that many use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// Smelt: 1Paxos on 8 to 28 replicas, 4 load cores.
    Smelt1Paxos,
    /// Smelt: a store with a replica on each NUMA node, four fifths of the operations get.
    SmeltKvs,
    /// ZIMP: PaxosInside among a proposer, an acceptor and 3 learners, requests of 1 byte to 1 MB.
    ZimpPaxos,
    /// ZIMP: checkpoints of 128 bytes to 1 MB among 2 to 24 nodes.
    ZimpSnap,
    /// YCSB A to D and F, in an open loop.
    Ycsb,
}

impl Preset {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Smelt1Paxos, Self::SmeltKvs, Self::ZimpPaxos, Self::ZimpSnap, Self::Ycsb];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Smelt1Paxos => "smelt-1paxos",
            Self::SmeltKvs => "smelt-kvs",
            Self::ZimpPaxos => "zimp-paxos",
            Self::ZimpSnap => "zimp-snap",
            Self::Ycsb => "ycsb",
        }
    }
}

impl FromStr for Preset {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|preset| preset.name() == name);
        found.ok_or_else(|| format!("no experiment is called {name}"))
    }
}

/// A part of the stratum of robustness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RobustPart {
    /// Writes while a replica idles or is stopped: Q3.
    HeldBack,
    /// The pauses after kills and stops: Q2.
    Pauses,
    /// The time until a killed replica's successor can be read: Q9.
    Restarts,
}

impl RobustPart {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::HeldBack, Self::Pauses, Self::Restarts];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HeldBack => "held-back",
            Self::Pauses => "pauses",
            Self::Restarts => "restarts",
        }
    }
}

impl FromStr for RobustPart {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|part| part.name() == name);
        found.ok_or_else(|| format!("no part of the robustness is called {name}"))
    }
}

/// When the client of a log sends its next request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Pace {
    /// Once the last one is done.
    OneByOne,
    /// As long as fewer than 15 are under way.
    Outstanding,
    /// At this number a second, whatever became of those before.
    Rate(f64),
}

/// The work of the clients in one situation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Workload {
    /// Operations on a store.
    Store { words: &'static str, mix: Mix, is_skewed: bool, rate: Option<f64> },
    /// Requests of this many bytes to a log.
    Requests { bytes: usize, pace: Pace },
    /// Checkpoints of this many bytes.
    Checkpoints { bytes: usize },
}

/// One situation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Case {
    pub(super) workload: Workload,
    pub(super) replicas: usize,
    pub(super) clients: usize,
    pub(super) in_processes: bool,
    /// Whether reads of stale values are raced, too.
    pub(super) has_stale_reads: bool,
}

impl Workload {
    /// The work in words, for reports.
    pub(super) fn words(&self) -> String {
        match *self {
            Self::Store { words, rate: None, .. } => words.to_owned(),
            Self::Store { words, rate: Some(rate), .. } => format!("{words}, {rate:.0}/s"),
            Self::Requests { bytes, pace: Pace::OneByOne } => format!("requests of {bytes} B, one at a time"),
            Self::Requests { bytes, pace: Pace::Outstanding } => format!("requests of {bytes} B, 15 at a time"),
            Self::Requests { bytes, pace: Pace::Rate(rate) } => format!("requests of {bytes} B, {rate:.0}/s"),
            Self::Checkpoints { bytes } => format!("checkpoints of {bytes} B"),
        }
    }
}

const READS: Workload = store("reads", Mix::Reads);
const WRITES: Workload = store("writes", Mix::Writes);
const FIFTHS: Workload = store("80/20", Mix::Shares(80));

const fn store(words: &'static str, mix: Mix) -> Workload {
    Workload::Store { words, mix, is_skewed: false, rate: None }
}

/// The operations of YCSB in an open loop, at this rate of all clients together.
fn ycsb(rate: f64) -> [Workload; 5] {
    let mixes = [
        ("YCSB A", Mix::Shares(50)),
        ("YCSB B", Mix::Shares(95)),
        ("YCSB C", Mix::Shares(100)),
        ("YCSB D", Mix::Latest),
        ("YCSB F", Mix::ReadModifyWrite),
    ];
    mixes.map(|(words, mix)| Workload::Store { words, mix, is_skewed: true, rate: Some(rate) })
}

/// The situations for a number of replicas.
type CasesOf<'a> = Box<dyn Fn(usize) -> Vec<Case> + 'a>;

/// The situations of a run. `members` are the numbers of replicas that the user wants, if any.
pub(super) fn cases(preset: Option<Preset>, is_quick: bool, members: &[usize], rate: f64) -> Vec<Case> {
    let or = |usual: &[usize], quick: &[usize]| {
        let usual = if is_quick { quick } else { usual };
        if members.is_empty() { usual.to_vec() } else { members.to_vec() }
    };
    let (replicas, of): (Vec<usize>, CasesOf<'_>) = match preset {
        None => (or(&[2, 4, 8, 16], &[2, 8]), Box::new(|replicas| usual(replicas, is_quick))),
        Some(Preset::Smelt1Paxos) => {
            (or(&[8, 12, 16, 20, 24, 28], &[8]), Box::new(|replicas| vec![case(WRITES, replicas, 4)]))
        }
        Some(Preset::SmeltKvs) => (or(&[8], &[4]), Box::new(smelt_kvs)),
        Some(Preset::ZimpPaxos) => (or(&[5], &[5]), Box::new(|replicas| zimp_paxos(replicas, is_quick, rate))),
        Some(Preset::ZimpSnap) => (or(&[2, 4, 8, 16, 24], &[2, 4]), Box::new(zimp_snap)),
        Some(Preset::Ycsb) => {
            (or(&[2, 8], &[2]), Box::new(|replicas| ycsb(rate).map(|load| case(load, replicas, replicas)).to_vec()))
        }
    };
    replicas.into_iter().flat_map(of).collect()
}

/// Clients that are threads.
pub(super) const fn case(workload: Workload, replicas: usize, clients: usize) -> Case {
    Case { workload, replicas, clients, in_processes: false, has_stale_reads: false }
}

/// A client at each replica, among threads and among processes. A quick run leaves out what no gate asks for and another row
/// shows as well.
fn usual(replicas: usize, is_quick: bool) -> Vec<Case> {
    let is_all = !is_quick || replicas == 2;
    let mut cases = Vec::new();
    for workload in [READS, WRITES, FIFTHS] {
        if is_all || workload != FIFTHS {
            cases.push(case(workload, replicas, replicas));
        }
        if !is_quick || workload == WRITES || replicas == 2 && workload == READS {
            cases.push(Case { in_processes: true, ..case(workload, replicas, replicas) });
        }
    }
    cases
}

fn smelt_kvs(replicas: usize) -> Vec<Case> {
    let of = |workload, clients| Case { has_stale_reads: true, ..case(workload, replicas, clients) };
    let with = |clients| [of(FIFTHS, clients), of(READS, clients)];
    [replicas, 2 * replicas, 4 * replicas].into_iter().flat_map(with).collect()
}

/// The most bytes in a second that a client with a rate sends: no more than a log among five replicas that share two CPUs takes.
const MOST_BYTES_A_SECOND: f64 = 50e6;

fn zimp_paxos(replicas: usize, is_quick: bool, rate: f64) -> Vec<Case> {
    const SIZES: &[usize] = &[1, 64, 128, 512, 1024, 4096, 10 << 10, 100 << 10, 1 << 20];
    let sizes = if is_quick { &[1, 10 << 10, 1 << 20] } else { SIZES };
    let of = |&bytes: &usize| {
        let rate = rate.min(MOST_BYTES_A_SECOND / bytes as f64);
        let paces = [Pace::Outstanding, Pace::OneByOne, Pace::Rate(rate)];
        paces.map(|pace| case(Workload::Requests { bytes, pace }, replicas, 1))
    };
    sizes.iter().flat_map(of).collect()
}

fn zimp_snap(replicas: usize) -> Vec<Case> {
    [128, 4096, 1 << 20].map(|bytes| case(Workload::Checkpoints { bytes }, replicas, 1)).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_has_situations_and_a_name() {
        for preset in Preset::ALL {
            assert_eq!(preset.name().parse(), Ok(preset));
            let (all, quick) = (cases(Some(preset), false, &[], 1e4), cases(Some(preset), true, &[], 1e4));
            assert!(!quick.is_empty() && quick.len() <= all.len(), "{}", preset.name());
            assert!(cases(Some(preset), true, &[3], 1e4).iter().all(|case| case.replicas == 3));
        }
        assert!("smelt".parse::<Preset>().is_err());
        assert!(cases(None, true, &[], 1e4).iter().any(|case| case.in_processes));
    }
}
