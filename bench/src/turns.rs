//! The race engine: contenders run in turns, a block each in every round, in an order drawn anew for each round. So a machine
//! that changes its speed does so for all of them.
//!
//! A [`Situation`] says how a contender is prepared, checked and run for one block. [`TurnOrder::race`] decides when each runs,
//! stops for the user, and keeps the blocks of each contender or the reason why it has none. [`TurnOrder::round`] is one round
//! for situations that keep their own results.

use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::options::Options;
use corecast_race::skip::Skip;
use fastrand::Rng;

/// A place and a time at which contenders are compared. Contenders are known by their numbers.
pub(crate) trait Situation {
    /// The result of one block.
    type Block;

    /// True if a contender has run once it is checked: then an error in its first block is a breakdown. Otherwise such an error
    /// may say that it cannot take part.
    const IS_CHECKED: bool = true;

    /// Makes a contender ready.
    ///
    /// # Errors
    /// Why it cannot take part.
    fn prepare(&mut self, _at: usize) -> Result<(), Failure> {
        Ok(())
    }

    /// Runs it once before it is timed.
    ///
    /// # Errors
    /// A breakdown.
    fn check(&mut self, _at: usize) -> Result<(), Failure> {
        Ok(())
    }

    /// Whether there is another round after this number of rounds. Called right before it: the place for a probe of the
    /// machine.
    fn wants_round(&mut self, rounds: usize) -> bool;

    /// One timed block of a contender.
    ///
    /// # Errors
    /// Why the contender has no figures: it runs no more in this situation.
    fn block(&mut self, at: usize) -> Result<Self::Block, Failure>;

    /// The name of a contender whose wrong result ends the run, as then no figure is worth anything; `None` for others.
    fn trusted(&self, _at: usize) -> Option<&str> {
        None
    }
}

/// The blocks of one contender.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Raced<B> {
    /// None if it was skipped.
    pub(crate) blocks: Vec<B>,
    /// Why it was skipped.
    pub(crate) skip: Option<Skip>,
}

impl<B> Raced<B> {
    /// As rows of reports have it.
    pub(crate) fn skipped(&self) -> Option<String> {
        self.skip.as_ref().map(|skip| skip.reason.clone())
    }

    /// As rows of reports have it.
    pub(crate) fn has_failed(&self) -> bool {
        self.skip.as_ref().is_some_and(|skip| skip.failed)
    }

    fn keep(&mut self, skip: Skip) {
        self.blocks.clear();
        self.skip = Some(skip);
    }
}

/// The random order of a run, and the user who may stop it.
#[derive(Debug)]
pub(crate) struct TurnOrder<'a> {
    pub(crate) random: Rng,
    pub(crate) options: &'a Options,
}

impl<'a> TurnOrder<'a> {
    pub(crate) fn new(options: &'a Options, seed: u64) -> Self {
        Self { random: Rng::with_seed(seed), options }
    }

    /// One turn of each of this number of contenders.
    ///
    /// # Errors
    /// [`BenchError::Cancelled`], or the error of a turn.
    pub(crate) fn round(
        &mut self,
        contenders: usize,
        mut turn: impl FnMut(usize) -> Result<(), BenchError>,
    ) -> Result<(), BenchError> {
        let mut order: Vec<usize> = (0..contenders).collect();
        self.random.shuffle(&mut order);
        order.into_iter().try_for_each(|at| {
            self.options.go_on()?;
            turn(at)
        })
    }

    /// Prepares and checks this number of contenders, and runs rounds of those that can take part.
    ///
    /// # Errors
    /// [`BenchError::Cancelled`], or [`BenchError::Failed`] if a trusted contender was wrong.
    pub(crate) fn race<S: Situation>(
        &mut self,
        contenders: usize,
        situation: &mut S,
    ) -> Result<Vec<Raced<S::Block>>, BenchError> {
        let options = self.options;
        let mut raced = Vec::with_capacity(contenders);
        for at in 0..contenders {
            options.go_on()?;
            let mut own = Raced { blocks: Vec::new(), skip: None };
            if let Err(failure) = situation.prepare(at) {
                own.keep(Skip::asked(&tolerable(situation, at, failure, options)?));
            } else if let Err(failure) = situation.check(at) {
                own.keep(Skip::broken(&tolerable(situation, at, failure, options)?));
            }
            raced.push(own);
        }
        let mut rounds = 0;
        while situation.wants_round(rounds) {
            self.round(contenders, |at| {
                let own = &mut raced[at];
                if own.skip.is_some() {
                    return Ok(());
                }
                match situation.block(at) {
                    Ok(block) => own.blocks.push(block),
                    Err(failure) => {
                        let failure = tolerable(situation, at, failure, options)?;
                        let has_run = S::IS_CHECKED || !own.blocks.is_empty();
                        own.keep(if has_run { Skip::broken(&failure) } else { Skip::asked(&failure) });
                    }
                }
                Ok(())
            })?;
            rounds += 1;
        }
        options.go_on()?;
        Ok(raced)
    }
}

/// A failure that concerns its contender only.
fn tolerable(
    situation: &impl Situation,
    at: usize,
    failure: Failure,
    options: &Options,
) -> Result<Failure, BenchError> {
    // A contender that gave up because of the user has not failed.
    options.go_on()?;
    match (failure, situation.trusted(at)) {
        (failure @ Failure::Wrong(_), Some(name)) => Err(failure.named(name).into()),
        (failure, _) => Ok(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each contender is what its turns return, from the preparation on.
    struct Script<const IS_CHECKED: bool> {
        contenders: Vec<Vec<Result<u32, Failure>>>,
        trusted: Option<usize>,
        rounds: usize,
    }

    impl<const IS_CHECKED: bool> Situation for Script<IS_CHECKED> {
        type Block = u32;
        const IS_CHECKED: bool = IS_CHECKED;

        fn prepare(&mut self, at: usize) -> Result<(), Failure> {
            if IS_CHECKED { self.block(at).map(drop) } else { Ok(()) }
        }

        fn check(&mut self, at: usize) -> Result<(), Failure> {
            self.prepare(at)
        }

        fn wants_round(&mut self, rounds: usize) -> bool {
            rounds < self.rounds
        }

        fn block(&mut self, at: usize) -> Result<u32, Failure> {
            self.contenders[at].remove(0)
        }

        fn trusted(&self, at: usize) -> Option<&str> {
            (self.trusted == Some(at)).then_some("ours")
        }
    }

    fn refused() -> Result<u32, Failure> {
        Err(Failure::Refused("no CPU".to_owned()))
    }

    fn wrong() -> Result<u32, Failure> {
        Err(Failure::Wrong("one is lost".to_owned()))
    }

    fn race<const IS_CHECKED: bool>(
        contenders: Vec<Vec<Result<u32, Failure>>>,
        trusted: Option<usize>,
    ) -> Result<Vec<Raced<u32>>, BenchError> {
        let count = contenders.len();
        let mut situation = Script::<IS_CHECKED> { contenders, trusted, rounds: 2 };
        TurnOrder::new(&Options::default(), 3).race(count, &mut situation)
    }

    fn skip(reason: &str, failed: bool) -> Raced<u32> {
        Raced { blocks: Vec::new(), skip: Some(Skip { reason: reason.to_owned(), failed }) }
    }

    #[test]
    fn a_contender_that_fails_runs_no_more_and_the_others_go_on() {
        let contenders = vec![
            vec![refused()],
            vec![Ok(0), refused()],
            vec![Ok(0), Ok(0), refused()],
            vec![Ok(0), Ok(0), Ok(1), wrong()],
            vec![Ok(0), Ok(0), Ok(7), Ok(8)],
        ];
        let expected = [
            skip("no CPU", false),
            skip("no CPU", true),
            skip("no CPU", true),
            skip("wrong result: one is lost", true),
            Raced { blocks: vec![7, 8], skip: None },
        ];
        assert_eq!(race::<true>(contenders, None).expect("nobody stops it"), expected);
    }

    #[test]
    fn an_error_of_the_first_block_is_a_refusal_where_nothing_was_checked() {
        let contenders = vec![vec![refused()], vec![wrong()], vec![Ok(1), refused()], vec![Ok(1), Ok(2)]];
        let expected = [
            skip("no CPU", false),
            skip("wrong result: one is lost", true),
            skip("no CPU", true),
            Raced { blocks: vec![1, 2], skip: None },
        ];
        assert_eq!(race::<false>(contenders, None).expect("nobody stops it"), expected);
    }

    #[test]
    fn a_trusted_contender_that_is_wrong_ends_the_run() {
        let contenders = || vec![vec![Ok(1), Ok(1)], vec![Ok(1), wrong()]];
        let error = race::<false>(contenders(), Some(1)).expect_err("it is wrong in the last round");
        assert_eq!(error.to_string(), "the measurement failed: wrong result: ours: one is lost");
        assert!(race::<false>(contenders(), Some(0)).is_ok());
        assert!(race::<false>(vec![vec![refused()]], Some(0)).is_ok(), "a refusal is no wrong result");
    }

    #[test]
    fn the_user_stops_it_and_a_contender_that_gave_up_has_not_failed() {
        let options = Options::default();
        options.cancel.cancel();
        let mut situation = Script::<false> { contenders: vec![vec![Ok(1)]], trusted: None, rounds: 1 };
        assert_eq!(TurnOrder::new(&options, 1).race(1, &mut situation), Err(BenchError::Cancelled));
        let mut turns = TurnOrder::new(&options, 1);
        assert_eq!(turns.round(1, |_| panic!("it was stopped before")), Err(BenchError::Cancelled));
    }

    #[test]
    fn every_contender_has_a_turn_in_each_round_and_orders_differ() {
        let options = Options::default();
        let mut turns = TurnOrder::new(&options, 5);
        let mut orders = std::collections::BTreeSet::new();
        for _ in 0..20 {
            let mut order = Vec::new();
            let push = |at| {
                order.push(at);
                Ok(())
            };
            turns.round(4, push).expect("nobody stops it");
            orders.insert(order.clone());
            order.sort_unstable();
            assert_eq!(order, [0, 1, 2, 3]);
        }
        assert!(orders.len() > 1);
    }
}
