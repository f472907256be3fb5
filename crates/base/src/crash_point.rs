//! Places at which a test lets its process die: `CORECAST_CRASH_AT=label:n` kills it at the `n`-th pass of the place.
//!
//! The process dies as of `kill -9`: nothing of it runs any more, and what it has written stays as it is. With
//! `CORECAST_STOP_AT` it is stopped there, as of `kill -STOP`, and goes on when the test continues it. The variables are read at
//! the first pass of any place; without them a pass costs one relaxed load.

#[cfg(not(any(loom, simulated)))]
pub use native::here;

/// A place of no effect: a model has no process to lose, and a simulated thread is killed by its accesses.
#[cfg(any(loom, simulated))]
#[inline]
pub fn here(_label: &str) {}

#[cfg(not(any(loom, simulated)))]
mod native {
    use std::sync::OnceLock;

    use crate::sync::{AtomicU8, AtomicU64, Ordering};
    use rustix::process::{Signal, getpid, kill_process};

    /// The variables, and the signal of each.
    const VARIABLES: [(&str, Signal); 2] = [("CORECAST_CRASH_AT", Signal::KILL), ("CORECAST_STOP_AT", Signal::STOP)];

    const UNREAD: u8 = 0;
    const OFF: u8 = 1;
    const ON: u8 = 2;

    /// Whether the variables were read, and one is set. Written by the first threads that pass, always to the same.
    static STATE: AtomicU8 = AtomicU8::new(UNREAD);

    /// The place of this process, once it was read.
    static PLACE: OnceLock<Option<Place>> = OnceLock::new();

    /// Passes of that place.
    static PASSES: AtomicU64 = AtomicU64::new(0);

    struct Place {
        label: String,
        pass: u64,
        signal: Signal,
    }

    /// Kills or stops this process if it is here that it has to die or to stop.
    #[inline]
    pub fn here(label: &str) {
        // ORDERING: Relaxed, a hint; the place itself is read through its OnceLock.
        if STATE.load(Ordering::Relaxed) != OFF {
            look(label);
        }
    }

    #[cold]
    fn look(label: &str) {
        let place = PLACE.get_or_init(|| {
            VARIABLES.iter().find_map(|&(variable, signal)| parse(&std::env::var(variable).ok()?, signal))
        });
        let state = if place.is_some() { ON } else { OFF };
        // ORDERING: Relaxed, a hint; the place itself is read through its OnceLock.
        STATE.store(state, Ordering::Relaxed);
        if let Some(place) = place.as_ref().filter(|place| place.label == label && is_last(place.pass)) {
            kill_process(getpid(), place.signal).expect("a process may kill itself");
        }
    }

    fn is_last(pass: u64) -> bool {
        // ORDERING: Relaxed, a count that orders nothing else.
        PASSES.fetch_add(1, Ordering::Relaxed) + 1 == pass
    }

    /// `label`, or `label:n` with `n` from 1.
    fn parse(text: &str, signal: Signal) -> Option<Place> {
        let (label, pass) = match text.rsplit_once(':') {
            None => (text, 1),
            Some((label, pass)) => (label, pass.parse().ok()?),
        };
        Some(Place { label: label.to_owned(), pass, signal })
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_label_and_the_number_of_the_pass() {
            let read = |text| parse(text, Signal::KILL).map(|place| (place.label, place.pass));
            assert_eq!(read("before-rename"), Some(("before-rename".to_owned(), 1)));
            assert_eq!(read("applied:70"), Some(("applied".to_owned(), 70)));
            assert_eq!(read("applied:often"), None);
        }

        #[test]
        fn a_process_without_the_variable_lives() {
            here("before-rename");
            here("before-rename");
        }
    }
}
