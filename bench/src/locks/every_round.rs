//! The outcome of all rounds of a contender, and what follows if it failed in one.

use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::skip::Skip;

/// All rounds, or why the lock called so is skipped.
///
/// # Errors
/// [`BenchError::Failed`] if a lock of corecast's was wrong in any of them: then no figure of the run is worth anything.
pub(super) fn every_round<T>(
    name: &str,
    ours: bool,
    rounds: Vec<Result<T, Failure>>,
) -> Result<Result<Vec<T>, Skip>, BenchError> {
    let failures = rounds.iter().filter_map(|round| round.as_ref().err());
    match failures.filter(|_| ours).find(|failure| matches!(failure, Failure::Wrong(_))) {
        Some(failure) => Err(failure.clone().named(name).into()),
        None => {
            let has_begun = rounds.iter().any(Result::is_ok);
            let skip = |failure: Failure| if has_begun { Skip::broken(&failure) } else { Skip::asked(&failure) };
            Ok(rounds.into_iter().collect::<Result<_, Failure>>().map_err(skip))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed_rounds() -> Vec<Result<u32, Failure>> {
        let (refused, wrong) = (Failure::Refused("no CPU".to_owned()), Failure::Wrong("one is lost".to_owned()));
        vec![Ok(1), Err(refused), Err(wrong)]
    }

    #[test]
    fn one_of_ours_that_is_wrong_ends_the_run() {
        let error = every_round("tas", true, failed_rounds()).expect_err("it is wrong in the last round");
        assert_eq!(error, BenchError::Failed(Failure::Wrong("tas: one is lost".to_owned())));
        assert_eq!(error.to_string(), "the measurement failed: wrong result: tas: one is lost");
    }

    #[test]
    fn one_that_is_refused_in_all_rounds_is_unfit_and_in_one_has_failed() {
        let refused = || Failure::Refused("no CPU".to_owned());
        assert_eq!(every_round("std", false, vec![Err::<u32, _>(refused()); 2]), Ok(Err(Skip::unfit("no CPU"))));
        assert_eq!(every_round("std", false, failed_rounds()), Ok(Err(Skip::broken(&refused()))));
        let wrong = vec![Err::<u32, _>(Failure::Wrong("one is lost".to_owned()))];
        let skip = Skip { reason: "wrong result: one is lost".to_owned(), failed: true };
        assert_eq!(every_round("std", false, wrong), Ok(Err(skip)));
        assert_eq!(every_round("tas", true, failed_rounds()[..2].to_vec()), Ok(Err(Skip::broken(&refused()))));
        assert_eq!(every_round("tas", true, vec![Ok(1), Ok(2)]), Ok(Ok(vec![1, 2])));
    }
}
