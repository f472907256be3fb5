//! The contenders of `corecast bench messages`: channels between pairs, and ways for a server to receive.
//!
//! To add a pair: name a contender of `bench channels`. To add a server: a file here that implements [`Family`]. Either is a
//! line in [`contenders`].

mod crossbeam_select;
mod one_queue;
mod ump;

use std::sync::Arc;

use super::family::{Family, Serving};
use super::report::Trip;
use super::server::bodies;
use crate::channels::{self, Wire};
use corecast_race::harness::{Abort, Body};
use crossbeam_select::CrossbeamSelect;
use one_queue::{Crossbeam, Std};
use ump::Ump;

/// Messages that may be under way in one channel.
const DEPTH: usize = 64;

/// Makes the bodies of a server and its clients, or says why not.
type Serve = fn(&Serving) -> Result<Vec<Box<dyn Body>>, String>;

/// One of them.
#[derive(Clone, Copy)]
pub(super) struct Contender {
    pub(super) name: &'static str,
    pub(super) ours: bool,
    /// Whether it races between pairs.
    pub(super) is_pair: bool,
    pub(super) serve: Option<Serve>,
}

/// All of them, corecast's first.
pub(super) fn contenders() -> Vec<Contender> {
    let pair = |name| Contender { name, ours: false, is_pair: true, serve: None };
    vec![
        Contender { ours: true, serve: Some(serve::<Ump>), ..pair("ump") },
        pair("one-line"),
        pair("rtrb"),
        Contender { serve: Some(serve::<Crossbeam>), ..pair("crossbeam-channel") },
        Contender { is_pair: false, serve: Some(serve::<CrossbeamSelect>), ..pair("crossbeam-select") },
        Contender { serve: Some(serve::<Std>), ..pair("std-sync-channel") },
    ]
}

fn serve<F: Family>(serving: &Serving) -> Result<Vec<Box<dyn Body>>, String> {
    match F::refuses(serving.receive) {
        Some(reason) => Err(reason.to_owned()),
        None => Ok(bodies::<F>(serving)),
    }
}

impl Contender {
    /// The bodies of one pair: the one that sends or asks, then the one that receives or answers.
    pub(super) fn pair(&self, wire: &Wire, trip: Trip, abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, String> {
        channels::pair(self.name, wire, trip == Trip::RoundTrip, abort)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use corecast::base::wait::Wait;

    use super::super::report::Receive;
    use super::*;
    use crate::this_machine::this_machine;
    use corecast_race::failure::Failure;
    use corecast_race::harness::{Crew, Task};

    /// All bodies do this once more and more often.
    fn run(bodies: Vec<Box<dyn Body>>, abort: &Arc<Abort>) -> Result<(), Failure> {
        let cpus = this_machine().cpu_set();
        let seats: Vec<_> = cpus.iter().collect::<Vec<_>>().into_iter().cycle().take(bodies.len()).collect();
        let mut crew = Crew::start(&seats, true, Duration::from_secs(60)).expect("allowed CPUs");
        let bodies = crew.run(bodies, Task::Check { rounds: 200 }, abort)?.bodies;
        crew.run(bodies, Task::Check { rounds: 3 }, abort).map(drop)
    }

    #[test]
    fn every_pair_delivers_both_ways() {
        for contender in contenders().into_iter().filter(|contender| contender.is_pair) {
            for (trip, bytes) in [(Trip::OneWay, 56), (Trip::OneWay, 64), (Trip::RoundTrip, 56), (Trip::RoundTrip, 64)]
            {
                let (wire, abort) = (Wire::new(bytes, 1, true, Wait::Adaptive), Arc::default());
                let bodies = contender.pair(&wire, trip, &abort).expect("a pair");
                assert_eq!(run(bodies, &abort), Ok(()), "{} {trip:?} {bytes}", contender.name);
            }
        }
    }

    #[test]
    fn every_server_hears_all_its_clients_or_says_why_not() {
        let (wait, wake_cost) = (Wait::Adaptive, None);
        for contender in contenders() {
            let Some(serve) = contender.serve else { continue };
            for (clients, trip, receive) in [
                (1, Trip::OneWay, Receive::Subset),
                (3, Trip::OneWay, Receive::Any),
                (3, Trip::RoundTrip, Receive::Subset),
                (4, Trip::OneWay, Receive::Subset),
                (2, Trip::RoundTrip, Receive::Any),
            ] {
                let work = Duration::from_nanos(100);
                match serve(&Serving { clients, trip, receive, work, wait, wake_cost }) {
                    Ok(bodies) => {
                        let done = run(bodies, &Arc::default());
                        assert_eq!(done, Ok(()), "{} {clients} {trip:?} {receive:?}", contender.name);
                    }
                    Err(reason) => {
                        assert!(receive == Receive::Subset && contender.name.ends_with("-channel"), "{reason}");
                    }
                }
            }
        }
    }
}
