//! The limits of a plan service: its clients, its searches, and how long either may take.

use std::thread;
use std::time::Duration;

/// The limits of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long a client may take to send a request, or to read an answer.
    pub idle_timeout: Duration,
    /// How many clients are served at once; a further one is told that the service is busy.
    pub max_clients: usize,
    /// How many searches run at once, at least one; other requests wait for their turn.
    pub searches: usize,
    /// How long one search may take; the answer is then the best plan found.
    pub search_limit: Duration,
}

impl Default for Options {
    /// 30 s for a client, 64 clients, as many searches as there are CPUs for this process, a minute for each.
    fn default() -> Self {
        Self {
            idle_timeout: Duration::from_secs(30),
            max_clients: 64,
            searches: thread::available_parallelism().map_or(1, usize::from),
            search_limit: Duration::from_secs(60),
        }
    }
}
