//! A cost by the number of participants: points `(k, cost)`, ascending by k.

use corecast_base::MAX_CPU_ID;

use crate::cost_matrix::is_cost;
use crate::machine_error::MachineError;

/// `(k, cost)`: the total cost of k of something, in the machine's unit, each k once, ascending.
pub type Curve = Vec<(u32, f64)>;

/// The largest k that is accepted: the largest possible number of CPUs.
const MOST: u32 = MAX_CPU_ID + 1;

/// Checks that the curve has a point, that its k ascend from at least 1, and that its costs are valid.
pub(crate) fn check(field: &'static str, curve: &Curve) -> Result<(), MachineError> {
    if curve.is_empty() {
        return Err(MachineError::NoCurve { field, rule: "is empty".to_owned() });
    }
    let mut before = 0;
    for &(k, cost) in curve {
        if k <= before || k > MOST {
            let rule = format!("has k = {k} after {before}, expected ascending numbers from 1 to {MOST}");
            return Err(MachineError::NoCurve { field, rule });
        }
        if !is_cost(cost) {
            return Err(MachineError::NoCost { field, cost });
        }
        before = k;
    }
    Ok(())
}

/// As [`check`], and checks that no cost is 0.
pub(crate) fn check_positive(field: &'static str, curve: &Curve) -> Result<(), MachineError> {
    check(field, curve)?;
    match curve.iter().find(|&&(_, cost)| cost == 0.0) {
        Some((k, _)) => {
            Err(MachineError::NoCurve { field, rule: format!("has a cost of 0 for k = {k}, expected more") })
        }
        None => Ok(()),
    }
}

/// The curve for at most `most` participants: up to the first point that reaches it, which is needed for the costs that
/// lie before it. `None` if `most` is 0.
pub(crate) fn up_to(most: usize, curve: &Curve) -> Option<Curve> {
    let below = curve.iter().position(|&(k, _)| k as usize >= most).unwrap_or(curve.len());
    (most > 0).then(|| curve.iter().take(below + 1).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_curve_is_named() {
        check("fan_in", &vec![(1, 0.0), (2, 5.0), (64, 1e15)]).expect("a curve");
        for (curve, expected) in [
            (vec![], "`fan_in` is empty"),
            (vec![(0, 1.0)], "`fan_in` has k = 0 after 0"),
            (vec![(2, 1.0), (1, 1.0)], "k = 1 after 2"),
            (vec![(2, 1.0), (2, 1.0)], "k = 2 after 2"),
            (vec![(1, 1.0), (u32::MAX, 1.0)], "k = 4294967295 after 1, expected ascending numbers from 1 to 65536"),
            (vec![(1, -1.0)], "`fan_in` is -1"),
            (vec![(1, f64::NAN)], "`fan_in` is NaN"),
            (vec![(1, f64::INFINITY)], "`fan_in` is inf"),
            (vec![(1, 1e16)], "`fan_in` is 1"),
        ] {
            let error = check("fan_in", &curve).expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_part_of_the_machine_has_a_part_of_the_curve() {
        let curve = vec![(1, 1.0), (2, 2.0), (4, 4.0), (8, 8.0)];
        assert_eq!(up_to(0, &curve), None);
        assert_eq!(up_to(1, &curve), Some(curve[..1].to_vec()));
        assert_eq!(up_to(3, &curve), Some(curve[..3].to_vec()), "4 tells what 3 cost");
        assert_eq!(up_to(4, &curve), Some(curve[..3].to_vec()));
        assert_eq!(up_to(100, &curve), Some(curve));
    }
}
