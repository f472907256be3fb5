//! How much figures depend on what is not known of a machine.
//!
//! Three parameters of the cost model are measured on few machines: the factor of conflicts, the time that a home needs for a
//! request, and the part of a load's time for which a line serves no other. A figure is told with its range over them, and two
//! figures whose order is not the same at all corners of that range are as good as equal.

use std::cmp::Ordering;

use corecast_sim_core::{Costs, Machine, Ticks};

use crate::what_if::with_contention;

/// The machine itself, and at the corners of what is assumed of it, by name: no conflicts or twice as dear ones, homes that need
/// half or twice the time, lines that serve no other request for half or twice the time of a load, but not for longer than it
/// takes. Corners that are the same are there once.
///
/// ```
/// use corecast_sim::corners;
/// use corecast_sim::machine::published;
///
/// let corners = corners(&published::xeon_8x10());
/// assert_eq!((corners.len(), corners[0].0.as_str()), (9, "as given"));
/// ```
#[must_use]
pub fn corners(machine: &Machine) -> Vec<(String, Machine)> {
    let mut found = vec![("as given".to_owned(), machine.clone())];
    for kappa in [0.0, 2.0] {
        for service in [0.5, 2.0] {
            for beta in [0.5, 2.0] {
                let changed = at_corner(machine.costs(), kappa, service, beta);
                let corner = machine.clone().with_costs(changed).expect("all times are there as before");
                if found.iter().all(|(_, known)| *known != corner) {
                    let name = format!("kappa x {kappa}, service x {service}, beta x {beta}");
                    found.push((name, corner));
                }
            }
        }
    }
    found
}

fn at_corner(costs: &Costs, kappa: f64, service: f64, beta: f64) -> Costs {
    let service = (costs.service as f64 * service) as Ticks;
    with_contention(costs, costs.kappa * kappa, service, (costs.beta * beta).min(1.0))
}

/// The order of two figures, each over the same corners; `None` if it is not the same at all of them.
///
/// ```
/// use std::cmp::Ordering;
/// use corecast_sim::order_at_all;
///
/// assert_eq!(order_at_all(&[3.0, 2.5], &[2.0, 2.4]), Some(Ordering::Greater));
/// assert_eq!(order_at_all(&[3.0, 2.5], &[2.0, 2.6]), None);
/// ```
#[must_use]
pub fn order_at_all(one: &[f64], other: &[f64]) -> Option<Ordering> {
    let mut orders = one.iter().zip(other).map(|(one, other)| one.total_cmp(other));
    let first = orders.next()?;
    orders.all(|order| order == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use corecast_sim_core::published;

    use super::*;

    #[test]
    fn a_machine_without_conflicts_has_fewer_corners_and_a_load_occupies_no_longer_than_it_takes() {
        let corners = corners(&published::opteron_4x12());
        assert_eq!(corners.len(), 5);
        let shares: Vec<f64> = corners.iter().map(|(_, corner)| corner.costs().beta).collect();
        assert_eq!(shares, [1.0, 0.5, 1.0, 0.5, 1.0]);
        assert_eq!(corners[1].0, "kappa x 0, service x 0.5, beta x 0.5");
    }

    #[test]
    fn figures_of_no_corner_have_no_order() {
        assert_eq!(order_at_all(&[], &[]), None);
        assert_eq!(order_at_all(&[1.0, 1.0], &[1.0, 1.0]), Some(Ordering::Equal));
    }
}
