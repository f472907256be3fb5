//! Counts of a service: its clients, and what they asked.

use std::sync::Mutex;

const UNPOISONED: &str = "nobody panics while holding the counts";

/// The counts.
#[derive(Debug, Default)]
pub(super) struct Tally(Mutex<Counts>);

/// The counted events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Clients at the moment.
    pub(super) clients: usize,
    /// Requests read so far.
    pub(super) requests: u64,
    /// Refusals sent so far.
    pub(super) refused: u64,
}

/// A client that is counted until this is dropped.
#[derive(Debug)]
pub(super) struct CountedClient<'a>(&'a Tally);

impl Tally {
    /// Counts one more client, if there are fewer than `most`.
    pub(super) fn admit(&self, most: usize) -> Option<CountedClient<'_>> {
        let mut counts = self.0.lock().expect(UNPOISONED);
        if counts.clients >= most {
            return None;
        }
        counts.clients += 1;
        Some(CountedClient(self))
    }

    /// Counts a request, valid or not.
    pub(super) fn count_request(&self) {
        self.0.lock().expect(UNPOISONED).requests += 1;
    }

    /// Counts a refusal.
    pub(super) fn count_refusal(&self) {
        self.0.lock().expect(UNPOISONED).refused += 1;
    }

    /// All of them.
    pub(super) fn counts(&self) -> Counts {
        *self.0.lock().expect(UNPOISONED)
    }
}

impl Drop for CountedClient<'_> {
    fn drop(&mut self) {
        self.0.0.lock().expect(UNPOISONED).clients -= 1;
    }
}
