//! Places at which a test lets its process die: `CORECAST_CRASH_AT=label:n` kills it at the `n`-th pass of the place.
//!
//! The process dies as of `kill -9`: nothing of it runs any more, and what it has written stays as it is. The variable is
//! read at the first pass of any place; without it a pass costs one relaxed load.

#[cfg(not(loom))]
pub use native::here;

/// A place of no effect: a model has no process to lose.
#[cfg(loom)]
#[inline]
pub fn here(_label: &str) {}

#[cfg(not(loom))]
mod native {
    use std::sync::OnceLock;

    use crate::sync::{AtomicU8, AtomicU64, Ordering};
    use rustix::process::{Signal, getpid, kill_process};

    const VARIABLE: &str = "CORECAST_CRASH_AT";

    const UNREAD: u8 = 0;
    const OFF: u8 = 1;
    const ON: u8 = 2;

    /// Whether the variable was read, and is set. Written by the first threads that pass, always to the same.
    static STATE: AtomicU8 = AtomicU8::new(UNREAD);

    /// The place of this process, once it was read.
    static PLACE: OnceLock<Option<Place>> = OnceLock::new();

    /// Passes of that place.
    static PASSES: AtomicU64 = AtomicU64::new(0);

    struct Place {
        label: String,
        pass: u64,
    }

    /// Kills this process if it is here that it has to die.
    #[inline]
    pub fn here(label: &str) {
        // ORDERING: Relaxed, a hint; the place itself is read through its OnceLock.
        if STATE.load(Ordering::Relaxed) != OFF {
            look(label);
        }
    }

    #[cold]
    fn look(label: &str) {
        let place = PLACE.get_or_init(|| parse(&std::env::var(VARIABLE).ok()?));
        let state = if place.is_some() { ON } else { OFF };
        // ORDERING: Relaxed, a hint; the place itself is read through its OnceLock.
        STATE.store(state, Ordering::Relaxed);
        if place.as_ref().is_some_and(|place| place.label == label && is_last(place.pass)) {
            kill_process(getpid(), Signal::KILL).expect("a process may kill itself");
        }
    }

    fn is_last(pass: u64) -> bool {
        // ORDERING: Relaxed, a count that orders nothing else.
        PASSES.fetch_add(1, Ordering::Relaxed) + 1 == pass
    }

    /// `label`, or `label:n` with `n` from 1.
    fn parse(text: &str) -> Option<Place> {
        match text.rsplit_once(':') {
            None => Some(Place { label: text.to_owned(), pass: 1 }),
            Some((label, pass)) => Some(Place { label: label.to_owned(), pass: pass.parse().ok()? }),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_label_and_the_number_of_the_pass() {
            let read = |text| parse(text).map(|place| (place.label, place.pass));
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
