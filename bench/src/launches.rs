//! Launches of a program with a preload object and without it, which alternate: the values that they tell, and their ratios.

use crate::stats::median;

/// Both outcomes, `false`'s first, in the order in which they are returned or the opposite one.
pub(crate) fn in_either_order<T, E>(true_first: bool, run: impl Fn(bool) -> Result<T, E>) -> Result<[T; 2], E> {
    let first = run(true_first)?;
    let second = run(!true_first)?;
    Ok(if true_first { [second, first] } else { [first, second] })
}

/// Whether an object says, in its statistics of a launch, that it has served something; its number comes behind these words.
pub(crate) fn serves(statistics: &str, words: &str) -> bool {
    let is_served = |line: &str| line.split_once(words).is_some_and(|(_, rest)| !rest.starts_with("0,"));
    statistics.lines().any(is_served)
}

/// The values of one thing from launches without the object and with it.
#[derive(Clone, Debug)]
pub(crate) struct Samples<K> {
    /// The thing.
    pub(crate) of: K,
    /// Of each two neighbouring launches, without and with.
    pub(crate) pairs: Vec<[f64; 2]>,
}

/// Adds what two neighbouring launches have told. Things that only one of them told are left out.
pub(crate) fn collect<K: PartialEq>(samples: &mut Vec<Samples<K>>, alone: Vec<(K, f64)>, shim: &[(K, f64)]) {
    for (of, alone) in alone {
        let Some(&(_, shim)) = shim.iter().find(|(thing, _)| *thing == of) else { continue };
        let pair = [alone, shim];
        match samples.iter_mut().find(|known| known.of == of) {
            Some(known) => known.pairs.push(pair),
            None => samples.push(Samples { of, pairs: vec![pair] }),
        }
    }
}

impl<K> Samples<K> {
    /// The medians without and with the object.
    pub(crate) fn medians(&self) -> [f64; 2] {
        [0, 1].map(|at| median(&self.pairs.iter().map(|pair| pair[at]).collect::<Vec<_>>()).expect("a pair at least"))
    }

    /// The median of the ratios of neighbouring launches, without over with. `None` if most pairs have a value below the
    /// resolution: it is too short to tell.
    pub(crate) fn ratio(&self, resolution: f64) -> Option<f64> {
        let long = self.pairs.iter().filter(|pair| pair.iter().all(|&value| value >= resolution));
        let ratios: Vec<f64> = long.map(|[alone, shim]| alone / shim).collect();
        median(&ratios).filter(|_| 2 * ratios.len() > self.pairs.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_of_neighbouring_launches() {
        let mut samples = Vec::new();
        for (alone, shim) in [(2.0, 1.0), (30.0, 10.0), (8.0, 2.0)] {
            collect(&mut samples, vec![("barrier", alone), ("only alone", alone)], &[("barrier", shim)]);
        }
        assert_eq!((samples.len(), samples[0].of, samples[0].pairs.len()), (1, "barrier", 3));
        assert_eq!((samples[0].medians(), samples[0].ratio(0.005)), ([8.0, 2.0], Some(3.0)));
    }

    #[test]
    fn values_that_are_too_short_to_tell_have_no_ratio() {
        let samples = |pairs: &[[f64; 2]]| Samples { of: (), pairs: pairs.to_vec() };
        assert_eq!(samples(&[[0.02, -0.001], [0.02, 0.0], [0.02, 0.01]]).ratio(0.005), None);
        assert_eq!(samples(&[[0.02, 0.02], [-0.02, 0.02], [0.02, 0.02]]).ratio(0.005), Some(1.0));
    }

    #[test]
    fn an_object_that_serves_nothing_is_noticed() {
        let told = "corecast mpi: MPI_Barrier: served 0, diverted 0\ncorecast mpi: MPI_Bcast: served 20, diverted 0\n";
        assert!(serves(told, ": served ") && serves(told, "Bcast: served ") && !serves(told, "Barrier: served "));
        assert!(!serves("", ": served "));
    }

    #[test]
    fn outcomes_keep_their_places_in_either_order() {
        for true_first in [false, true] {
            assert_eq!(in_either_order(true_first, Ok::<bool, ()>), Ok([false, true]));
        }
    }
}
