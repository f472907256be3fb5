//! Whether two lists of figures agree: in the order of pairs, in size, and in what is best.

/// Sums over the places that were compared.
#[derive(Debug, Default)]
pub(crate) struct Agreement {
    /// Pairs that differ by the factor that counts, and those of them that the simulation has in the same order.
    pairs: usize,
    ordered: usize,
    /// Simulated by measured.
    ratios: Vec<f64>,
    /// For each comparison the part of the best measured rate that is lost by taking what is best in the simulation.
    losses: Vec<f64>,
}

impl Agreement {
    /// Compares rates of the same things; measured pairs count that differ by `factor`.
    pub(crate) fn compare(&mut self, simulated: &[f64], measured: &[f64], factor: f64) {
        for one in 0..measured.len() {
            self.ratios.push(simulated[one] / measured[one]);
            for other in 0..one {
                let (is, was) = (simulated[one] / simulated[other], measured[one] / measured[other]);
                if was.max(1.0 / was) >= factor {
                    self.pairs += 1;
                    self.ordered += usize::from((is > 1.0) == (was > 1.0));
                }
            }
        }
        let chosen = (0..simulated.len()).max_by(|&one, &other| simulated[one].total_cmp(&simulated[other]));
        let best = measured.iter().copied().fold(0.0, f64::max);
        self.losses.extend(chosen.map(|chosen| 1.0 - measured[chosen] / best));
    }

    /// The part of the pairs in order.
    pub(crate) fn ordered(&self) -> f64 {
        self.ordered as f64 / self.pairs as f64
    }

    /// The part of the figures that are wrong by no more than this factor.
    pub(crate) fn within(&self, factor: f64) -> f64 {
        let within = self.ratios.iter().filter(|ratio| ratio.max(1.0 / **ratio) <= factor);
        within.count() as f64 / self.ratios.len() as f64
    }

    /// The factor by which half of the figures are wrong at most.
    pub(crate) fn median_error(&self) -> f64 {
        let mut errors: Vec<f64> = self.ratios.iter().map(|ratio| ratio.max(1.0 / ratio)).collect();
        errors.sort_by(f64::total_cmp);
        errors[errors.len() / 2]
    }

    /// The mean and the worst loss by choice.
    pub(crate) fn losses(&self) -> (f64, f64) {
        (self.losses.iter().sum::<f64>() / self.losses.len() as f64, self.losses.iter().copied().fold(0.0, f64::max))
    }
}

#[test]
fn what_agrees_and_what_does_not() {
    let mut agreement = Agreement::default();
    agreement.compare(&[1.0, 2.0, 4.0], &[1.0, 4.0, 2.0], 1.5);
    assert!((agreement.ordered() - 2.0 / 3.0).abs() < 1e-9, "{agreement:?}");
    assert!((agreement.within(1.5) - 1.0 / 3.0).abs() < 1e-9, "{agreement:?}");
    assert_eq!((agreement.median_error(), agreement.losses()), (2.0, (0.5, 0.5)));
}
