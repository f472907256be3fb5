//! The cases, one line each: the number that ccbench gives them, what is measured, and on which lines.
//!
//! The [`State`] says how a line gets into it, and which participant is measured. To add a case, add its line; a state or an
//! operation that does not exist yet is one more variant of its enum.

use serde::Serialize;

use super::alone::Instruction;
use super::operation::Operation;
use super::state::State;
use corecast_race::error::BenchError;

/// The kind of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Participants bring a line into a state in turn, and one is measured.
    Handed(Operation, State),
    /// All participants at once, on one line.
    Contended(Operation),
    /// All participants of some clusters at once, on this number of lines of one home.
    Clusters(usize),
    /// One participant increments a line of its own over and over.
    Own,
    /// One participant loads from one line after the other, of this many bytes; each load waits for the one before.
    Chain(usize),
    /// One participant, and no line at all.
    Alone(Instruction),
}

/// One case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Case {
    /// Its number in ccbench; `None` for those that ccbench lacks.
    pub(super) number: Option<u8>,
    pub(super) kind: Kind,
}

/// The cases that options can name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedCase {
    /// Its name.
    pub name: String,
    /// Its number in ccbench, if that has it.
    pub number: Option<u8>,
    /// The measured operation, in words.
    pub about: String,
    /// The least number of CPUs that it takes.
    pub cpus: usize,
}

/// A case of ccbench.
const fn known(number: u8, operation: Operation, state: State) -> Case {
    Case { number: Some(number), kind: Kind::Handed(operation, state) }
}

/// A case that ccbench lacks.
const fn added(operation: Operation, state: State) -> Case {
    Case { number: None, kind: Kind::Handed(operation, state) }
}

const fn chain(number: u8, bytes: usize) -> Case {
    Case { number: Some(number), kind: Kind::Chain(bytes) }
}

const fn alone(number: u8, instruction: Instruction) -> Case {
    Case { number: Some(number), kind: Kind::Alone(instruction) }
}

/// All cases.
pub(super) const CASES: &[Case] = {
    use Operation::{Cas, Fai, FailingCas, Load, Or, Store, Swap, Tas, WideCas};
    use State::{
        Demoted, Exclusive, Invalid, Modified, OwnedElsewhere, OwnedHere, OwnedHereByMany, OwnedThere,
        OwnedThereByMany, Prefetched, Same, Shared, SharedDemoted, SharedElsewhere, SharedPrefetched,
        SharedWrittenBack, WrittenBack,
    };
    &[
        known(0, Store, Modified),
        Case { number: Some(1), kind: Kind::Contended(Store) },
        known(2, Store, Exclusive),
        known(3, Store, SharedElsewhere),
        added(Store, Shared),
        known(4, Store, OwnedHere),
        known(5, Store, OwnedThere),
        added(Store, OwnedHereByMany),
        added(Store, OwnedThereByMany),
        known(6, Store, Invalid),
        known(7, Load, Modified),
        known(8, Load, Exclusive),
        known(9, Load, SharedElsewhere),
        known(10, Load, OwnedElsewhere),
        known(11, Load, Invalid),
        known(12, Cas, Same),
        known(13, Fai, Same),
        known(14, Tas, Same),
        known(15, Swap, Same),
        known(16, Cas, Modified),
        added(FailingCas, Modified),
        known(17, Fai, Modified),
        known(18, Tas, Modified),
        known(19, Swap, Modified),
        added(Or, Modified),
        added(WideCas, Modified),
        known(20, Cas, SharedElsewhere),
        known(21, Fai, SharedElsewhere),
        known(22, Tas, SharedElsewhere),
        known(23, Swap, SharedElsewhere),
        added(FailingCas, SharedElsewhere),
        added(Or, SharedElsewhere),
        added(WideCas, SharedElsewhere),
        added(Cas, Shared),
        added(FailingCas, Shared),
        added(Fai, Shared),
        added(Tas, Shared),
        added(Swap, Shared),
        added(Or, Shared),
        added(WideCas, Shared),
        added(Cas, Exclusive),
        added(FailingCas, Exclusive),
        added(Fai, Exclusive),
        added(Tas, Exclusive),
        added(Swap, Exclusive),
        added(Or, Exclusive),
        added(WideCas, Exclusive),
        added(Cas, OwnedThere),
        added(Fai, OwnedThere),
        added(Tas, OwnedThere),
        added(Swap, OwnedThere),
        added(Cas, Invalid),
        known(25, Fai, Invalid),
        added(Tas, Invalid),
        added(Swap, Invalid),
        added(Load, Prefetched),
        added(Store, Prefetched),
        added(Cas, Prefetched),
        added(Load, Demoted),
        added(Store, Demoted),
        added(Cas, Demoted),
        added(Load, WrittenBack),
        added(Store, WrittenBack),
        added(Cas, WrittenBack),
        added(Load, SharedPrefetched),
        added(Store, SharedPrefetched),
        added(Cas, SharedPrefetched),
        added(Load, SharedDemoted),
        added(Store, SharedDemoted),
        added(Cas, SharedDemoted),
        added(Load, SharedWrittenBack),
        added(Store, SharedWrittenBack),
        added(Cas, SharedWrittenBack),
        Case { number: Some(24), kind: Kind::Contended(Cas) },
        Case { number: None, kind: Kind::Contended(Fai) },
        Case { number: None, kind: Kind::Clusters(1) },
        Case { number: None, kind: Kind::Clusters(8) },
        Case { number: None, kind: Kind::Clusters(64) },
        chain(26, 64),
        Case { number: None, kind: Kind::Own },
        chain(27, 16 << 10),
        chain(27, 256 << 10),
        chain(27, 4 << 20),
        chain(27, 64 << 20),
        alone(28, Instruction::LoadFence),
        alone(29, Instruction::StoreFence),
        alone(30, Instruction::FullFence),
        alone(31, Instruction::Empty),
        alone(32, Instruction::Pause),
        alone(33, Instruction::Nop),
    ]
};

impl Case {
    /// Its name: what is done, and on which lines.
    pub(super) fn name(self) -> String {
        match self.kind {
            Kind::Alone(instruction) => instruction.name().to_owned(),
            _ => format!("{}-{}", self.operation(), self.lines()),
        }
    }

    /// The operation, in words.
    pub(super) fn operation(self) -> &'static str {
        match self.kind {
            Kind::Handed(operation, _) | Kind::Contended(operation) => operation.name(),
            Kind::Clusters(_) | Kind::Own => Operation::Fai.name(),
            Kind::Chain(_) => Operation::Load.name(),
            Kind::Alone(instruction) => instruction.name(),
        }
    }

    /// On which lines.
    pub(super) fn lines(self) -> String {
        match self.kind {
            Kind::Handed(_, state) => state.name().to_owned(),
            Kind::Contended(_) => "contended".to_owned(),
            Kind::Clusters(lines) => format!("contended-{lines}"),
            Kind::Chain(64) | Kind::Own => "own-cache".to_owned(),
            Kind::Chain(bytes) if bytes < 1 << 20 => format!("chain-{}KiB", bytes >> 10),
            Kind::Chain(bytes) => format!("chain-{}MiB", bytes >> 20),
            Kind::Alone(_) => "none".to_owned(),
        }
    }

    /// The least number of CPUs that it takes.
    pub(super) fn cpus(self) -> usize {
        match self.kind {
            Kind::Handed(_, state) if state.has_sharers() => 3,
            Kind::Handed(..) | Kind::Contended(_) | Kind::Clusters(_) => 2,
            Kind::Chain(_) | Kind::Own | Kind::Alone(_) => 1,
        }
    }

    fn about(self) -> String {
        match self.kind {
            Kind::Handed(operation, state) => format!("{} on a line {}", operation.name(), state.about()),
            Kind::Contended(operation) => format!("{} by all CPUs at once on one line", operation.name()),
            Kind::Clusters(1) => {
                "fai by all CPUs of 1, 2 and so on clusters, on one line; one of 64 in a row".to_owned()
            }
            Kind::Clusters(lines) => {
                format!("fai by all CPUs of 1, 2 and so on clusters, on {lines} lines of one home; one of 64 in a row")
            }
            Kind::Own => "fai on a line that is in the own first cache, one of 64 in a row".to_owned(),
            Kind::Chain(64) => "load of a line that is in the own first cache".to_owned(),
            Kind::Chain(bytes) => format!("load from a random chain over {} KiB", bytes >> 10),
            Kind::Alone(instruction) => instruction.about().to_owned(),
        }
    }
}

/// All cases, as they can be named.
#[must_use]
pub fn coherence_cases() -> Vec<ListedCase> {
    let listed =
        |case: &Case| ListedCase { name: case.name(), number: case.number, about: case.about(), cpus: case.cpus() };
    CASES.iter().map(listed).collect()
}

/// The cases asked for by name or number; all if none is.
pub(super) fn chosen(asked: &[String]) -> Result<Vec<Case>, BenchError> {
    let is_asked =
        |case: &Case, word: &str| case.name() == word || case.number.is_some_and(|number| number.to_string() == word);
    if let Some(word) = asked.iter().find(|word| !CASES.iter().any(|case| is_asked(case, word))) {
        let known = CASES.iter().map(|case| case.name()).collect::<Vec<_>>().join(", ");
        return Err(BenchError::Case { name: word.clone(), known });
    }
    let is_chosen = |case: &&Case| asked.is_empty() || asked.iter().any(|word| is_asked(case, word));
    Ok(CASES.iter().filter(is_chosen).copied().collect())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_case_of_ccbench_is_there_and_names_are_unique() {
        let numbers: HashSet<u8> = CASES.iter().filter_map(|case| case.number).collect();
        assert_eq!(numbers, (0..34).collect());
        let names: HashSet<String> = CASES.iter().map(|case| case.name()).collect();
        assert_eq!(names.len(), CASES.len());
    }

    #[test]
    fn cases_are_chosen_by_name_or_number() {
        let names = |asked: &[&str]| -> Vec<String> {
            let asked: Vec<String> = asked.iter().map(|&word| word.to_owned()).collect();
            chosen(&asked).expect("known").iter().map(|case| case.name()).collect()
        };
        assert_eq!(names(&["7", "cas-modified"]), ["load-modified", "cas-modified"]);
        assert_eq!(names(&["27"]).len(), 4);
        assert_eq!(names(&[]).len(), CASES.len());
        let error = chosen(&["7".into(), "34".into()]).expect_err("there is no such number").to_string();
        assert!(error.starts_with("no case is called '34': expected a number from 0 to 33 or one of store-modified, "));
    }
}
