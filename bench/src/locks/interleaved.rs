//! Runs all contenders in one situation, in turns, until the time is over.

use corecast_race::error::BenchError;
use corecast_race::failure::Failure;

use super::Amount;
use crate::turns::{Raced, Situation, TurnOrder};

/// A contender whose wrong results end the run.
pub(super) trait Trusted {
    /// Its name, if it is corecast's own.
    fn trusted(&self) -> Option<&str>;
}

struct Blocks<'a, C, R> {
    contenders: &'a [C],
    amount: &'a Amount,
    run: R,
}

impl<C: Trusted, B, R: FnMut(&C) -> Result<B, Failure>> Situation for Blocks<'_, C, R> {
    type Block = B;
    const IS_CHECKED: bool = false;

    fn wants_round(&mut self, rounds: usize) -> bool {
        rounds < self.amount.rounds && !self.amount.is_over(rounds)
    }

    fn block(&mut self, at: usize) -> Result<B, Failure> {
        (self.run)(&self.contenders[at])
    }

    fn trusted(&self, at: usize) -> Option<&str> {
        self.contenders[at].trusted()
    }
}

/// The blocks of every contender; each block is checked as it is timed.
///
/// # Errors
/// If the user stops the run, or a trusted contender is wrong.
pub(super) fn interleaved<C: Trusted, B>(
    contenders: &[C],
    amount: &Amount,
    order: &mut TurnOrder<'_>,
    run: impl FnMut(&C) -> Result<B, Failure>,
) -> Result<Vec<Raced<B>>, BenchError> {
    order.race(contenders.len(), &mut Blocks { contenders, amount, run })
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::super::QUICK;
    use super::super::contenders::contenders;
    use super::*;
    use corecast_race::options::Options;

    #[test]
    fn rounds_stop_in_pairs_when_the_time_is_over() {
        let (options, two) = (Options::default(), &contenders()[..2]);
        let rounds = |until| {
            let amount = Amount { until, rounds: 6, ..QUICK };
            let mut order = TurnOrder::new(&options, 1);
            let found = interleaved(two, &amount, &mut order, |contender| Ok(contender.name)).expect("nobody stops it");
            found.into_iter().map(|raced| raced.blocks).collect::<Vec<_>>()
        };
        assert_eq!(rounds(Some(Instant::now())), two.iter().map(|own| vec![own.name; 2]).collect::<Vec<_>>());
        assert_eq!(rounds(None).iter().map(Vec::len).collect::<Vec<_>>(), [6, 6]);
    }
}
