//! A machine of which only the transfers of lines between CPUs are known: all other costs are assumed from those.

use crate::median::median;
use corecast_sim_core::{ByState, Costs, Location, Machine, MachineError, Protocol, System, TICKS, Ticks};

/// Two distances differ if their times do by more than this factor.
const STEP: f64 = 1.1;

/// The facts that are known of a machine.
#[derive(Clone, Debug)]
pub struct Known {
    /// Its name.
    pub name: String,
    /// Units of the times in a microsecond: 1000 of nanoseconds.
    pub units_per_us: f64,
    /// The package and the memory node of each CPU.
    pub locations: Vec<Location>,
    /// The time until a CPU has a line that another one has written: the row is that of the writer.
    pub transfers: Vec<Vec<f64>>,
}

/// The machine with the costs that are assumed where nothing is known: all states of a line cost what a modified one does, but
/// 0.9 for stores and 1.1 for read-modify-writes of shared lines.
///
/// Distances are numbered by the time of a transfer, in steps of a tenth; the time of each is the median of its pairs.
///
/// # Errors
/// [`MachineError`] if there are no CPUs, too many, or nodes without one.
pub fn assumed(known: &Known) -> Result<Machine, MachineError> {
    let Known { name, units_per_us, locations, transfers } = known;
    let pairs = || (0..locations.len()).flat_map(|one| (0..locations.len()).map(move |other| (one, other)));
    let time = |(one, other): (usize, usize)| (transfers[one][other] + transfers[other][one]) / 2.0;
    let distinct = || pairs().filter(|(one, other)| one != other);
    let least = distinct().map(time).fold(f64::INFINITY, f64::min).max(1.0);
    let step = |pair| (time(pair).max(least) / least).log(STEP).round() as usize;
    let mut steps: Vec<usize> = distinct().map(step).collect();
    steps.sort_unstable();
    steps.dedup();
    let class = |pair: (usize, usize)| if pair.0 == pair.1 { 0 } else { steps.binary_search(&step(pair)).unwrap_or(0) };
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); steps.len().max(1)];
    distinct().for_each(|pair| times[class(pair)].push(time(pair)));
    let row: Vec<f64> = times.iter_mut().map(|times| median(times).unwrap_or(least)).collect();
    let costs = costs(&row, *units_per_us);
    // Steps of a tenth from one nanosecond to a millisecond are fewer than 256.
    Machine::new(name, *units_per_us, locations.clone(), |one, other| class((one, other)).min(255) as u8, costs)
}

/// The costs, from the times of transfers by distance and the units in a microsecond.
pub(crate) fn costs(row: &[f64], per_us: f64) -> Costs {
    let scaled = |factor: f64| -> Vec<Ticks> { row.iter().map(|time| ticks(time * factor)).collect() };
    let by_state = |owned: f64, shared: f64| ByState {
        modified: scaled(owned),
        owned: Vec::new(),
        exclusive: scaled(owned),
        shared: scaled(shared),
    };
    let ns = |ns: f64| ticks(ns * per_us / 1000.0);
    Costs {
        load: by_state(1.0, 1.0),
        store: by_state(0.9, 0.9),
        read_modify_write: by_state(1.0, 1.1),
        memory: row.iter().map(|time| ns(90.0).max(ticks(*time))).collect(),
        hit: ns(2.0),
        // Transfers are measured by messages, with what overlaps in them.
        ahead: 0,
        read_modify_write_hit: ns(8.0),
        pause: ns(40.0),
        look: 0,
        hold: ns(6.0),
        store_buffer: 56,
        gap: scaled(0.3),
        beta: 0.3,
        service: ns(12.0),
        kappa: 3.0,
        protocol: Protocol { has_directory: false, has_owned: false },
        system: System::linux(per_us),
    }
}

pub(crate) fn ticks(units: f64) -> Ticks {
    (units * TICKS as f64).round().max(1.0) as Ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two packages of two CPUs: 50 ns within, 200 to 205 ns between.
    fn known() -> Known {
        let locations = (0..4).map(|cpu| Location { package: cpu / 2, node: cpu / 2 }).collect();
        let time = |one: usize, other: usize| match (one, other) {
            _ if one == other => 0.0,
            _ if one / 2 == other / 2 => 50.0,
            (0, 2) => 205.0,
            _ => 200.0,
        };
        let transfers = (0..4).map(|one| (0..4).map(|other| time(one, other)).collect()).collect();
        Known { name: "two packages".to_owned(), units_per_us: 1000.0, locations, transfers }
    }

    #[test]
    fn near_times_are_one_distance_and_its_time_is_the_median() {
        let machine = assumed(&known()).expect("it can be");
        assert_eq!([(0, 1), (0, 2), (1, 2), (1, 3)].map(|(one, other)| machine.distance(one, other)), [0, 1, 1, 1]);
        assert_eq!(machine.costs().load.modified, [400, 1600]);
        assert_eq!(machine.costs().read_modify_write.shared, [440, 1760]);
    }

    #[test]
    fn one_cpu_is_a_machine() {
        let locations = vec![Location { package: 0, node: 0 }];
        let one = Known { locations, transfers: vec![vec![0.0]], ..known() };
        assert_eq!(assumed(&one).expect("it can be").cpus(), 1);
        let none = Known { locations: Vec::new(), transfers: Vec::new(), ..known() };
        assert!(assumed(&none).is_err());
    }
}
