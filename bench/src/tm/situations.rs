//! The situations of a run: workloads with their numbers, and numbers of participants.

use super::TmOptions;
use super::workload::{BankWork, SetWork, TmWorkload, Work};
use crate::counts::{doubled_up_to, or_usual};

/// The number from which growth was published.
const FEW: usize = 6;

/// In the order in which they are run.
pub(super) fn situations(options: &TmOptions, cpus: usize) -> Vec<(Work, usize)> {
    let preset = options.preset.map(|preset| vec![preset.workload()]).unwrap_or_else(|| TmWorkload::ALL.to_vec());
    let workloads = or_usual(&options.workloads, || preset);
    let participants = participants(options, cpus);
    let works = workloads.into_iter().flat_map(|workload| works(options, workload));
    let mut all: Vec<(Work, usize)> =
        works.flat_map(|work| participants.iter().map(move |&participants| (work, participants))).collect();
    // One client that only reads leaves nobody who transfers.
    all.retain(|(work, participants)| work.bank().is_none_or(|bank| bank.readers < *participants));
    // A server and a client are the least that send messages.
    all.retain(|(work, participants)| *work != Work::Mp || *participants > 1);
    all
}

fn participants(options: &TmOptions, cpus: usize) -> Vec<usize> {
    let usual = || match options.preset {
        Some(preset) => preset.participants(),
        None if options.options.quick => {
            let mut few = vec![1, 2.min(cpus), cpus];
            few.dedup();
            few
        }
        None => {
            let mut doubled = doubled_up_to(cpus);
            doubled.extend((cpus > FEW).then_some(FEW));
            doubled.push(2 * cpus);
            doubled.sort_unstable();
            doubled
        }
    };
    or_usual(&options.participants, usual)
}

/// A workload with all its numbers.
fn works(options: &TmOptions, workload: TmWorkload) -> Vec<Work> {
    match workload {
        TmWorkload::Bank => banks(options),
        TmWorkload::Table => tables(options).into_iter().map(Work::Table).collect(),
        TmWorkload::List => sets(options, &[0]).into_iter().map(Work::List).collect(),
        // In the paper there is none: one size and one share of updates.
        TmWorkload::Map => {
            sets(options, &[0]).into_iter().rfind(|set| set.updates_percent > 0).map(Work::Map).into_iter().collect()
        }
        TmWorkload::Queue => vec![Work::Queue],
        TmWorkload::MapReduce => vec![Work::MapReduce],
        TmWorkload::Writes => vec![Work::Writes],
        TmWorkload::Mp => vec![Work::Mp],
    }
}

/// Every number of readers without checks, every share of checks without readers, and every share of sums of all accounts without
/// either.
fn banks(options: &TmOptions) -> Vec<Work> {
    let usual = |of: fn(super::TmPreset) -> Vec<u32>, otherwise: &[u32]| options.preset.map_or(otherwise.to_vec(), of);
    let checks = or_usual(&options.checks_percent, || usual(super::TmPreset::checks_percent, &[0, 50, 90]));
    let readers = or_usual(&options.readers, || options.preset.map_or(vec![0, 1], super::TmPreset::readers));
    let scans = or_usual(&options.scans_percent, || vec![0]);
    let bank = |checks_percent, readers, scans_percent| Work::Bank(BankWork { checks_percent, readers, scans_percent });
    let mut banks = Vec::new();
    for (at, &readers) in readers.iter().enumerate() {
        let checks = if at == 0 { &checks[..] } else { &checks[..1] };
        banks.extend(checks.iter().map(|&checks| bank(checks, readers, scans[0])));
    }
    banks.extend(scans[1..].iter().map(|&scans| bank(checks[0], readers[0], scans)));
    banks
}

/// All sets with buckets, and every further share of moves and of snapshots with the last of them.
fn tables(options: &TmOptions) -> Vec<SetWork> {
    let moves = or_usual(&options.moves_percent, || vec![0]);
    let snapshots = or_usual(&options.snapshots_percent, || vec![0]);
    let first = |set| SetWork { moves_percent: moves[0], snapshots_percent: snapshots[0], ..set };
    let mut tables: Vec<SetWork> = sets(options, &[2, 4]).into_iter().map(first).collect();
    let Some(&last) = tables.last() else { return tables };
    tables.extend(moves[1..].iter().map(|&moves_percent| SetWork { moves_percent, ..last }));
    tables.extend(snapshots[1..].iter().map(|&snapshots_percent| SetWork { snapshots_percent, ..last }));
    tables
}

/// Sizes, loads and updates of sets: those of the paper, or one of each if quick.
fn sets(options: &TmOptions, loads: &[u64]) -> Vec<SetWork> {
    let is_small = options.options.quick || options.preset.is_some();
    let (sizes, updates): (&[u64], &[u32]) = match (options.preset.is_some(), options.options.quick) {
        (true, _) => (&[1024], &[10]),
        (false, true) => (&[128], &[10]),
        (false, false) => (&[1024, 128], &[0, 10]),
    };
    let loads = if is_small { &loads[..1] } else { loads };
    let mut sets = Vec::new();
    for &initial in sizes {
        for &load in loads {
            sets.extend(updates.iter().map(|&updates| SetWork { load, ..SetWork::plain(initial, updates) }));
        }
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tm::TmPreset;
    use corecast_race::options::Options;

    #[test]
    fn a_quick_run_has_one_of_each_and_a_thorough_one_the_papers() {
        let options = |quick| TmOptions { options: Options { quick, ..Options::default() }, ..TmOptions::default() };
        let quick = situations(&options(true), 2);
        let of = |workload, all: &[(Work, usize)]| all.iter().filter(|(work, _)| work.workload() == workload).count();
        assert_eq!(TmWorkload::ALL.map(|workload| of(workload, &quick)), [7, 2, 2, 2, 2, 2, 2, 1], "{quick:?}");
        let thorough = situations(&options(false), 12);
        // 1, 2, 4, 6, 8, 12 and 24 participants.
        assert_eq!(
            TmWorkload::ALL.map(|workload| of(workload, &thorough)),
            [27, 56, 28, 7, 7, 7, 7, 6],
            "{thorough:?}"
        );
    }

    #[test]
    fn a_preset_has_the_sizes_that_were_published() {
        let all = |preset| situations(&TmOptions { preset: Some(preset), ..TmOptions::default() }, 2);
        let bank = |checks_percent, readers| Work::Bank(BankWork { checks_percent, readers, scans_percent: 0 });
        let numbers = [6, 12, 18, 24, 30, 36, 48];
        let both = [0, 90].map(|checks| numbers.map(|participants| (bank(checks, 0), participants)));
        assert_eq!(all(TmPreset::Bank), both.concat());
        assert_eq!(all(TmPreset::ReadAll), numbers.map(|participants| (bank(0, 1), participants)));
        assert_eq!(all(TmPreset::List).len(), numbers.len());
    }

    #[test]
    fn shares_of_moves_and_snapshots_are_raced_besides() {
        let options = Options { quick: true, ..Options::default() };
        let (moves_percent, snapshots_percent) = (vec![0, 20], vec![1, 5]);
        let options = TmOptions { options, moves_percent, snapshots_percent, ..TmOptions::default() };
        let all = situations(&options, 1).into_iter().filter_map(|(work, _)| work.set());
        let found: Vec<_> =
            all.filter(|set| set.load > 0).map(|set| (set.moves_percent, set.snapshots_percent)).collect();
        assert_eq!(found, [(0, 1), (20, 1), (0, 5)]);
    }

    #[test]
    fn shares_of_sums_are_raced_besides() {
        let scans_percent = vec![0, 20];
        let options = TmOptions { scans_percent, readers: vec![0], checks_percent: vec![50], ..TmOptions::default() };
        let mut banks: Vec<_> = situations(&options, 2).into_iter().filter_map(|(work, _)| work.bank()).collect();
        banks.dedup();
        let found: Vec<_> = banks.iter().map(|bank| (bank.checks_percent, bank.scans_percent)).collect();
        assert_eq!(found, [(50, 0), (50, 20)]);
    }
}
