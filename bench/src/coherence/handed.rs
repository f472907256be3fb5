//! Cases in which participants bring a line into a state in turn, and then one of them is measured.
//!
//! All meet before each step, over lines that are not measured, so that a step begins when the one before is done. Every
//! step, the measured one too, must see what the steps before have left, and in the end every line must hold what its
//! steps come to: a case that measures anything else fails.

use super::group::{Group, Meeting};
use super::instruction;
use super::lines::{Lines, initial};
use super::operation::{Operands, Operation};
use super::state::{Doing, Recipe, Role, State};
use corecast_race::failure::Failure;

/// Values that steps write are this far apart; what increments add is below it.
const APART: u64 = 16;

/// One case of this kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handed {
    operation: Operation,
    state: State,
    recipe: Recipe,
}

/// One participant's step on one line.
struct Action<'a> {
    operation: Operation,
    with: Operands,
    before: u64,
    state: &'a str,
}

impl Handed {
    pub(super) fn new(operation: Operation, state: State) -> Self {
        Self { operation, state, recipe: state.recipe() }
    }

    /// The participant that is measured, by rank.
    pub(super) fn measured_rank(&self) -> usize {
        usize::from(self.recipe.measured == Role::Second)
    }

    /// The ticks of every sample, the timer's own included.
    pub(super) fn ticks(&self, group: &Group, lines: &Lines) -> Result<Vec<u64>, Failure> {
        let done = group.run(&|rank, meeting| self.take_part(rank, meeting, lines))?;
        Ok(done.into_iter().flatten().collect())
    }

    fn take_part(&self, rank: usize, meeting: &Meeting<'_>, lines: &Lines) -> Result<Vec<u64>, Failure> {
        let mut ticks = Vec::with_capacity(if rank == self.measured_rank() { lines.len() } else { 0 });
        let mut left = Vec::with_capacity(if rank == 0 { lines.len() } else { 0 });
        if rank == 0 {
            lines.reset();
        }
        for sample in 0..lines.len() {
            meeting.heed_user();
            let prepared = self.prepare(rank, meeting, lines, sample)?;
            let last = self.action(self.operation, self.recipe.steps.len(), sample, prepared);
            if self.recipe.measured.is_of(rank) {
                lines.know_page(sample);
            }
            meeting.meet()?;
            if self.recipe.measured.is_of(rank) {
                // The meeting's own stores are not to be waited for within the sample.
                instruction::full_fence();
                ticks.push(last.take(lines, sample)?);
            }
            if rank == 0 {
                left.push(last.operation.outcome(prepared, last.with).left);
            }
        }
        meeting.meet()?;
        left.iter().enumerate().try_for_each(|(sample, &left)| check_left(lines, sample, left))?;
        Ok(ticks)
    }

    /// Takes the steps that are this participant's, all in turn; returns what they leave.
    fn prepare(&self, rank: usize, meeting: &Meeting<'_>, lines: &Lines, sample: usize) -> Result<u64, Failure> {
        let mut value = initial(sample);
        for (number, &(role, doing)) in self.recipe.steps.iter().enumerate() {
            meeting.meet()?;
            let operation = match doing {
                Doing::Perform(operation) => operation,
                Doing::Same => self.operation,
                Doing::Move(how) => {
                    if role.is_of(rank) {
                        how.take(lines.word(sample));
                    }
                    continue;
                }
            };
            let action = self.action(operation, number, sample, value);
            if role.is_of(rank) {
                action.take(lines, sample)?;
            }
            value = action.operation.outcome(value, action.with).left;
        }
        Ok(value)
    }

    /// A compare and swap expects what is there; but where the line was left by the same operation it expects, as that one
    /// did, what was there in the beginning.
    fn action(&self, operation: Operation, number: usize, sample: usize, before: u64) -> Action<'_> {
        let compare = if self.state == State::Same { initial(sample) } else { before };
        let value = initial(sample) + APART * (number as u64 + 1);
        Action { operation, with: Operands { compare, value }, before, state: self.state.name() }
    }
}

impl Action<'_> {
    /// Does it and looks at what it has seen.
    #[inline(always)]
    fn take(&self, lines: &Lines, sample: usize) -> Result<u64, Failure> {
        let (ticks, seen) = self.operation.perform(lines.line(sample), self.with);
        let expected = self.operation.outcome(self.before, self.with).seen;
        if seen == expected { Ok(ticks) } else { Err(self.wrong(sample, seen)) }
    }

    #[cold]
    fn wrong(&self, sample: usize, seen: Option<u64>) -> Failure {
        let (operation, state, before) = (self.operation.name(), self.state, self.before);
        let words = format!("{operation} in a case on lines {state} has seen {seen:?} in line {sample}, not {before}");
        Failure::Wrong(words)
    }
}

fn check_left(lines: &Lines, sample: usize, expected: u64) -> Result<(), Failure> {
    let none = Operands { compare: 0, value: 0 };
    match Operation::Load.perform(lines.line(sample), none).1 {
        Some(found) if found == expected => Ok(()),
        found => Err(Failure::Wrong(format!("line {sample} was left with {found:?}, not {expected}"))),
    }
}

#[cfg(test)]
mod tests {
    use corecast::base::sync::Ordering;
    use corecast::machine::pin;
    use fastrand::Rng;

    use super::super::case::{CASES, Kind};
    use super::*;
    use corecast_race::cancel::Cancel;

    /// Four participants on whatever CPUs there are.
    fn crowd() -> Group {
        let allowed = pin::affinity().expect("own mask");
        let cpus = allowed.as_slice().iter().copied().cycle().take(4).collect();
        Group { cpus, cancel: Cancel::new() }
    }

    #[test]
    fn every_case_finds_and_leaves_what_it_should_with_sharers_too() {
        let lines = Lines::untouched(20, &mut Rng::with_seed(11));
        let handed = CASES.iter().filter_map(|case| match case.kind {
            Kind::Handed(operation, state) => Some((operation, state)),
            _ => None,
        });
        let is_possible = |operation: Operation, state: State| operation.impossible().or(state.impossible()).is_none();
        for (operation, state) in handed.filter(|&(operation, state)| is_possible(operation, state)) {
            let ticks = Handed::new(operation, state).ticks(&crowd(), &lines);
            assert_eq!(ticks.map(|ticks| ticks.len()), Ok(20), "{operation:?} {state:?}");
        }
    }

    #[test]
    fn a_line_that_holds_anything_else_fails_the_case() {
        let lines = Lines::untouched(3, &mut Rng::with_seed(11));
        lines.reset();
        let case = Handed::new(Operation::Load, State::Modified);
        let action = case.action(Operation::Load, 1, 2, initial(2));
        assert!(action.take(&lines, 2).is_ok());
        lines.word(2).store(9, Ordering::Relaxed);
        let failure = action.take(&lines, 2).expect_err("not what was prepared").to_string();
        assert_eq!(failure, "wrong result: load in a case on lines modified has seen Some(9) in line 2, not 768");
        assert_eq!(check_left(&lines, 1, initial(1)), Ok(()));
        let failure = check_left(&lines, 2, initial(2)).expect_err("not what was prepared").to_string();
        assert_eq!(failure, "wrong result: line 2 was left with Some(9), not 768");
    }

    #[test]
    fn a_compare_and_swap_on_a_line_left_by_one_fails() {
        let case = Handed::new(Operation::Cas, State::Same);
        let first = case.action(Operation::Cas, 0, 0, initial(0));
        let after = Operation::Cas.outcome(initial(0), first.with).left;
        assert_ne!(after, initial(0));
        let second = case.action(Operation::Cas, 1, 0, after);
        assert_eq!(Operation::Cas.outcome(after, second.with).left, after);
    }
}
