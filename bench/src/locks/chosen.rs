//! The contenders of a run: those that are named, of any kind, or all.

use super::ablations::ablations;
use super::contenders::{Contender, combining, contenders};
use super::ticket_variants::ticket_variants;
use super::{LockOptions, readers};
use corecast_race::error::BenchError;

/// The contenders of each kind, in the order of their registries.
pub(super) struct Chosen {
    pub(super) locks: Vec<Contender>,
    pub(super) combining: Vec<Contender>,
    pub(super) readers: Vec<readers::Contender>,
}

impl Chosen {
    /// Refuses a name that no kind has. Ablations take part if they are named, or asked for.
    pub(super) fn of(options: &LockOptions) -> Result<Self, BenchError> {
        let LockOptions { options, ablations: are_wanted, .. } = options;
        let (mut locks, mut combining, mut readers) = (contenders(), combining(), readers::contenders());
        locks.extend(ablations());
        locks.extend(ticket_variants());
        let all = locks.iter().chain(&combining).map(|lock| lock.name).chain(readers.iter().map(|lock| lock.name));
        let names: Vec<&str> = options.chosen(all.collect(), |name| *name)?;
        let is_wanted = |lock: &Contender| *are_wanted || !options.contenders.is_empty() || !lock.is_ablation;
        locks.retain(|lock| is_wanted(lock) && names.contains(&lock.name));
        combining.retain(|lock| names.contains(&lock.name));
        readers.retain(|lock| names.contains(&lock.name));
        Ok(Self { locks, combining, readers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_race::options::Options;

    fn chosen_beside(names: &[&str], ablations: bool) -> Result<[Vec<&'static str>; 3], BenchError> {
        let contenders = names.iter().map(|&name| name.to_owned()).collect();
        let options = Options { contenders, ..Options::default() };
        let chosen = Chosen::of(&LockOptions { options, ablations, ..LockOptions::default() })?;
        Ok([
            chosen.locks.iter().map(|lock| lock.name).collect(),
            chosen.combining.iter().map(|lock| lock.name).collect(),
            chosen.readers.iter().map(|lock| lock.name).collect(),
        ])
    }

    fn chosen(names: &[&str]) -> Result<[Vec<&'static str>; 3], BenchError> {
        chosen_beside(names, false)
    }

    #[test]
    fn ablations_of_auto_take_part_when_they_are_asked_for() {
        let [locks, ..] = chosen_beside(&[], true).expect("all");
        assert_eq!(locks.len(), contenders().len() + ablations().len() + ticket_variants().len());
        let [locks, ..] = chosen(&["auto-spin", "auto"]).expect("both are known");
        assert_eq!(locks, ["auto", "auto-spin"]);
    }

    #[test]
    fn names_of_every_kind_are_known_and_others_refused() {
        let [locks, combining, readers] = chosen(&["seq", "tas", "combine", "rw_std", "std"]).expect("all are known");
        assert_eq!((locks, combining, readers), (vec!["tas", "std"], vec!["combine"], vec!["seq", "rw_std"]));
        let [locks, combining, readers] = chosen(&[]).expect("all");
        assert_eq!((locks.len(), readers.len()), (contenders().len(), readers::contenders().len()));
        assert_eq!(combining, ["combine", "delegate"]);
        let error = chosen(&["tas", "futex"]).expect_err("there is none").to_string();
        assert!(error.contains("'futex'") && error.contains("tas, ") && error.contains("rw_spread, "), "{error}");
    }

    #[test]
    fn no_two_have_one_name() {
        let names = chosen_beside(&[], true).expect("all").concat();
        let distinct: std::collections::BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(distinct.len(), names.len(), "{names:?}");
    }
}
