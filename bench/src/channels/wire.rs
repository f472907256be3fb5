//! The setting a contender is built for: one row's length of messages, receivers, and depth.

use std::time::Duration;

use corecast::base::wait::Wait;
use serde::{Deserialize, Serialize};

use corecast_race::harness::Patience;

/// The most bytes that messages under way may take together: a quarter of a last-level cache of 32 MiB, which a ring
/// shares with everything else.
const FOOTPRINT_BYTES: usize = 8 << 20;
/// Messages under way, if they are small.
const MOST_MESSAGES: usize = 64;
/// A channel of less would hand over message by message.
const FEWEST_MESSAGES: usize = 4;

/// One sender and some receivers of messages of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Wire {
    /// The length of every message in bytes.
    pub(crate) bytes: usize,
    /// The number of participants that receive every message.
    pub(crate) receivers: usize,
    /// How many messages may be under way to a receiver, for contenders that can be told.
    pub(crate) depth: usize,
    /// True if some participant may have to wait for a CPU.
    pub(crate) oversubscribed: bool,
    /// True if the receivers are other processes.
    pub(crate) among_processes: bool,
    /// How corecast's contenders wait, by name.
    pub(crate) wait: WaitName,
    /// How often contenders poll before they yield that have no waiting of their own; `None` leaves it to the harness.
    pub(crate) polls: Option<u32>,
    /// The cost of a sleep and wake-up on this machine in nanoseconds, if it was measured.
    pub(crate) wake_ns: Option<u64>,
}

impl Wire {
    /// A wire with the depth that all contenders are given for messages of this length.
    pub(crate) fn new(bytes: usize, receivers: usize, oversubscribed: bool, wait: Wait) -> Self {
        let depth = (FOOTPRINT_BYTES / bytes.max(1)).clamp(FEWEST_MESSAGES, MOST_MESSAGES).next_power_of_two();
        let depth = if depth * bytes > FOOTPRINT_BYTES { depth / 2 } else { depth }.max(FEWEST_MESSAGES);
        Self {
            bytes,
            receivers,
            depth,
            oversubscribed,
            among_processes: false,
            wait: WaitName(wait),
            polls: None,
            wake_ns: None,
        }
    }

    /// A wire of a program: as this one, with messages of another length and another number of receivers.
    pub(crate) fn of_lane(&self, bytes: usize, receivers: usize) -> Self {
        let own = Self::new(bytes, receivers, self.oversubscribed, self.wait());
        Self { among_processes: self.among_processes, polls: self.polls, wake_ns: self.wake_ns, ..own }
    }

    /// How contenders wait that have no waiting of their own.
    pub(crate) fn patience(&self) -> Patience {
        self.polls.map_or_else(|| Patience::new(self.oversubscribed), Patience::polling)
    }

    /// The cost of a wake-up that corecast's contenders are given.
    pub(crate) fn wake_cost(&self) -> Option<Duration> {
        self.wake_ns.map(Duration::from_nanos)
    }

    /// How corecast's contenders wait.
    pub(crate) fn wait(&self) -> Wait {
        self.wait.0
    }
}

/// A waiting policy that travels by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct WaitName(Wait);

impl WaitName {
    /// The name of this policy.
    pub(crate) fn of(wait: Wait) -> Self {
        Self(wait)
    }

    /// The policy.
    pub(crate) fn wait(self) -> Wait {
        self.0
    }
}

impl From<WaitName> for String {
    fn from(wait: WaitName) -> Self {
        wait.0.name().to_owned()
    }
}

impl TryFrom<String> for WaitName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        name.parse().map(Self).map_err(|error| format!("{error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_messages_get_fewer_slots_and_stay_within_the_footprint() {
        let depth = |bytes| Wire::new(bytes, 1, false, Wait::Adaptive).depth;
        assert_eq!([0, 1, 4096, 100_000, 131_072].map(depth), [64; 5]);
        assert_eq!([1_000_000, 1 << 20, 8 << 20, 1 << 30].map(depth), [8, 8, 4, 4]);
    }

    #[test]
    fn a_wire_survives_the_way_to_another_process() {
        let wire = Wire::new(512, 3, true, Wait::Park);
        let text = serde_json::to_string(&wire).expect("plain data");
        assert_eq!(serde_json::from_str::<Wire>(&text).expect("its own text"), wire);
        assert!(serde_json::from_str::<Wire>(&text.replace("park", "often")).is_err());
    }
}
