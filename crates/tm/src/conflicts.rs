//! The contention managers: which of two transactions that want one variable goes on.
//!
//! | manager | key of a transaction | when to take it |
//! |---|---|---|
//! | none | none: the requester loses | transactions of one length, few conflicts; livelock is possible |
//! | back-off | none: the requester loses, and waits for a random time that doubles | as none, with more conflicts |
//! | wholly | commits of the participant | nobody may starve, and all transactions are about as long |
//! | offset-greedy | start of the first attempt | old transactions first; needs no clock that servers share |
//! | fair-cm | time of the participant's successful attempts | the choice without further knowledge: fair in that time |
//!
//! The smaller key wins, and of equal keys the smaller client. Under the last three no participant starves: the key of one that
//! loses stands still, while the keys of those that win grow, or newer transactions have larger ones. At some time it is the
//! smallest, and beats all.
//!
//! A server decides with [`Manager::beats`]; a participant's side is [`Contention`](crate::contention::Contention).
//!
//! Sources: Gramoli, Guerraoui, Trigonakis, TM2C: a software transactional memory for many-cores, EuroSys 2012 (wholly,
//! offset-greedy, FairCM); Guerraoui, Herlihy, Pochon, Toward a theory of transactional contention managers, PODC 2005 (greedy).

use std::fmt;
use std::str::FromStr;

use crate::status::ClientId;

/// How a conflict of two transactions is decided.
///
/// ```
/// use corecast_tm::Manager;
///
/// assert_eq!("fair-cm".parse(), Ok(Manager::FairCm));
/// assert_eq!(Manager::default().to_string(), "fair-cm");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Manager {
    /// The requester loses.
    None,
    /// The requester loses, and waits longer after each time.
    BackOff,
    /// The participant with fewer commits wins.
    Wholly,
    /// The transaction that began first wins; a server compares by its own clock.
    OffsetGreedy,
    /// The participant whose successful attempts took less time wins.
    #[default]
    FairCm,
}

impl Manager {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::None, Self::BackOff, Self::Wholly, Self::OffsetGreedy, Self::FairCm];

    /// Its name, as in options and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::BackOff => "back-off",
            Self::Wholly => "wholly",
            Self::OffsetGreedy => "offset-greedy",
            Self::FairCm => "fair-cm",
        }
    }

    /// Whether the transaction of `client` with `key` goes on, and that of `other` with `other_key` is aborted.
    #[inline]
    #[must_use]
    pub fn beats(self, key: u64, client: ClientId, other_key: u64, other: ClientId) -> bool {
        !self.requester_loses() && (key, client) < (other_key, other)
    }

    /// The key of a request with which a server compares: `sent` is the key in the message, `now` the server's clock,
    /// in the unit of the client's.
    ///
    /// Clients of offset-greedy send the time since their first attempt. The server counts back from its own clock; the error
    /// is the delay of the message.
    #[inline]
    #[must_use]
    pub fn server_key(self, sent: u64, now: u64) -> u64 {
        if self == Self::OffsetGreedy { now.saturating_sub(sent) } else { sent }
    }

    /// Whether servers need a clock for [`server_key`](Self::server_key).
    #[must_use]
    pub const fn needs_clock_at_server(self) -> bool {
        matches!(self, Self::OffsetGreedy)
    }

    /// Whether the requester loses every conflict, so that keys do not matter.
    #[must_use]
    pub const fn requester_loses(self) -> bool {
        matches!(self, Self::None | Self::BackOff)
    }
}

impl fmt::Display for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no contention manager has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no contention manager is called {0:?}: there are none, back-off, wholly, offset-greedy and fair-cm")]
pub struct NoSuchManager(pub String);

impl FromStr for Manager {
    type Err = NoSuchManager;

    fn from_str(text: &str) -> Result<Self, NoSuchManager> {
        Self::ALL.into_iter().find(|manager| manager.name() == text).ok_or_else(|| NoSuchManager(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: ClientId = ClientId(1);
    const SECOND: ClientId = ClientId(2);

    #[test]
    fn names_lead_back() {
        for manager in Manager::ALL {
            assert_eq!(manager.name().parse(), Ok(manager));
        }
        let error = "karma".parse::<Manager>().expect_err("there is none");
        let names = Manager::ALL.iter().all(|manager| error.to_string().contains(manager.name()));
        assert!(names, "{error}");
    }

    #[test]
    fn the_smaller_key_wins_and_then_the_smaller_client() {
        for manager in [Manager::Wholly, Manager::OffsetGreedy, Manager::FairCm] {
            assert!(manager.beats(1, SECOND, 2, FIRST));
            assert!(!manager.beats(2, FIRST, 1, SECOND));
            assert!(manager.beats(1, FIRST, 1, SECOND));
            assert!(!manager.beats(1, SECOND, 1, FIRST));
        }
    }

    #[test]
    fn without_keys_the_requester_loses() {
        for manager in [Manager::None, Manager::BackOff] {
            assert!(!manager.beats(0, FIRST, 9, SECOND));
        }
    }

    #[test]
    fn greedy_counts_back_from_the_clock_of_the_server() {
        assert_eq!(Manager::OffsetGreedy.server_key(30, 100), 70);
        assert_eq!(Manager::OffsetGreedy.server_key(130, 100), 0);
        assert_eq!(Manager::FairCm.server_key(30, 100), 30);
    }
}
