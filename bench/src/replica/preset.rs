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

/// The work of the clients in one situation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Workload {
    /// Operations on a store.
    Store { words: &'static str, mix: Mix, is_skewed: bool, rate: Option<f64> },
    /// Requests of this many bytes to a log, each once the last is done or 16 at a time.
    Requests { bytes: usize, is_open: bool },
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
}

impl Workload {
    /// The work in words, for reports.
    pub(super) fn words(&self) -> String {
        match *self {
            Self::Store { words, rate: None, .. } => words.to_owned(),
            Self::Store { words, rate: Some(rate), .. } => format!("{words}, {rate:.0}/s"),
            Self::Requests { bytes, is_open: true } => format!("requests of {bytes} B, 16 at a time"),
            Self::Requests { bytes, is_open: false } => format!("requests of {bytes} B, one at a time"),
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

/// The situations of a run. `members` are the numbers of replicas that the user wants, if any.
pub(super) fn cases(preset: Option<Preset>, is_quick: bool, members: &[usize], rate: f64) -> Vec<Case> {
    let or = |usual: &[usize], quick: &[usize]| {
        if !members.is_empty() {
            members.to_vec()
        } else if is_quick {
            quick.to_vec()
        } else {
            usual.to_vec()
        }
    };
    let mut cases = Vec::new();
    let mut add = |workload, replicas, clients, in_processes| {
        cases.push(Case { workload, replicas, clients, in_processes });
    };
    match preset {
        None => {
            for replicas in or(&[2, 4, 8, 16], &[2, 8]) {
                let places = if is_quick && replicas > 2 { &[false][..] } else { &[false, true] };
                for (workload, &in_processes) in
                    [READS, WRITES, FIFTHS].iter().flat_map(|one| places.iter().map(move |place| (one, place)))
                {
                    add(*workload, replicas, replicas, in_processes);
                }
            }
        }
        Some(Preset::Smelt1Paxos) => {
            for replicas in or(&[8, 12, 16, 20, 24, 28], &[8]) {
                add(WRITES, replicas, 4, false);
            }
        }
        Some(Preset::SmeltKvs) => {
            for replicas in or(&[8], &[4]) {
                for clients in [replicas, 2 * replicas, 4 * replicas] {
                    add(FIFTHS, replicas, clients, false);
                    add(READS, replicas, clients, false);
                }
            }
        }
        Some(Preset::ZimpPaxos) => {
            let sizes = [1, 64, 128, 512, 1024, 4096, 10 << 10, 100 << 10, 1 << 20];
            let sizes = if is_quick { vec![1, 10 << 10, 1 << 20] } else { sizes.to_vec() };
            for replicas in or(&[5], &[5]) {
                for &bytes in &sizes {
                    add(Workload::Requests { bytes, is_open: true }, replicas, 1, false);
                    add(Workload::Requests { bytes, is_open: false }, replicas, 1, false);
                }
            }
        }
        Some(Preset::ZimpSnap) => {
            for replicas in or(&[2, 4, 8, 16, 24], &[2, 4]) {
                for bytes in [128, 4096, 1 << 20] {
                    add(Workload::Checkpoints { bytes }, replicas, 1, false);
                }
            }
        }
        Some(Preset::Ycsb) => {
            for replicas in or(&[2, 8], &[2]) {
                ycsb(rate).into_iter().for_each(|workload| add(workload, replicas, replicas, false));
            }
        }
    }
    cases
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
