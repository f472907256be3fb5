//! The choices of an instance: what its users choose, and the words in which a region keeps them.

use std::fmt;
use std::str::FromStr;

use corecast_base::wait::Wait;
use corecast_lock::Algorithm;

use crate::client_set::MAX_PARTICIPANTS;
use crate::conflicts::Manager;
use crate::slot::MOST_HOLDERS;

/// Where the values of variables are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Values {
    /// In memory that all participants read and write. The servers have the locks only.
    #[default]
    InMemory,
    /// With the server that has the variable's lock: values travel in messages. For machines whose memory is dear to share.
    AtServers,
}

/// When a transaction claims what it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Writes {
    /// When it commits: shorter conflicts, and one message for many variables.
    #[default]
    Lazy,
    /// At the write: conflicts show early.
    Eager,
}

/// Whether servers decide conflicts, or participants themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Form {
    /// Servers, by messages.
    #[default]
    Messages,
    /// The participants themselves, by lock tables in shared memory.
    Shared,
    /// The one of both that is faster here, by the machine's model and, among threads, a short race.
    Auto,
}

impl Form {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Messages, Self::Shared, Self::Auto];

    /// Its name, as in options and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Shared => "shared",
            Self::Auto => "auto",
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no form has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no form is called {0:?}: there are messages, shared and auto")]
pub struct NoSuchForm(pub String);

impl FromStr for Form {
    type Err = NoSuchForm;

    fn from_str(text: &str) -> Result<Self, NoSuchForm> {
        Self::ALL.into_iter().find(|form| form.name() == text).ok_or_else(|| NoSuchForm(text.to_owned()))
    }
}

/// The most words of an instance.
pub(crate) const MOST_VARIABLES: u32 = 1 << 31;
/// The most locks of buckets.
pub(crate) const MOST_BUCKETS: u32 = 1024;
/// The most values of one transaction that others can complete.
pub(crate) const MOST_LOG_ENTRIES: u32 = 1 << 20;

/// The version of the memory's layout.
const VERSION: u64 = 2;

/// The choices of one instance, which all its participants share. The form is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) participants: usize,
    /// Every such participant is a server, in the form of messages: 0, `every`, `2 * every` and on.
    pub(crate) every: usize,
    pub(crate) manager: Manager,
    pub(crate) values: Values,
    pub(crate) writes: Writes,
    pub(crate) is_batched: bool,
    pub(crate) is_shared: bool,
    pub(crate) lock: Algorithm,
    pub(crate) variables: u32,
    /// Locks of the shared form; a power of two.
    pub(crate) buckets: u32,
    /// Entries of the log by which others complete what a killed participant was storing; 0 among threads.
    pub(crate) log_entries: u32,
    /// `2^server_shift` neighbours have one server.
    pub(crate) server_shift: u32,
    pub(crate) wait: Wait,
}

impl Config {
    /// The number of servers.
    pub(crate) fn servers(&self) -> usize {
        if self.is_shared { 0 } else { self.participants.div_ceil(self.every) }
    }

    /// The place of a participant among the servers; `None` if it is an application.
    pub(crate) fn server_number(&self, id: usize) -> Option<usize> {
        (!self.is_shared && id % self.every == 0).then(|| id / self.every)
    }

    /// The participants that are applications.
    pub(crate) fn applications(&self) -> impl Iterator<Item = usize> + use<> {
        let config = *self;
        (0..config.participants).filter(move |&id| config.server_number(id).is_none())
    }

    /// The server that has the lock of a variable.
    #[inline]
    pub(crate) fn server_of(&self, lock: u32, servers: usize) -> usize {
        ((u64::from(mix(lock >> self.server_shift)) * servers as u64) >> 32) as usize
    }

    /// The words of a variable's locks in the shared form: one, or one for the writer and one for each 64 readers.
    pub(crate) fn lock_words(&self) -> usize {
        if self.participants <= MOST_HOLDERS { 1 } else { 1 + self.participants.div_ceil(64) }
    }

    /// The configuration as a region's directory keeps it.
    pub(crate) fn to_words(self) -> [u64; 6] {
        let wait = Wait::ALL.iter().position(|&wait| wait == self.wait).expect("one of all");
        let manager = Manager::ALL.iter().position(|&manager| manager == self.manager).expect("one of all");
        let flags = [
            manager as u64,
            u64::from(self.values == Values::AtServers),
            u64::from(self.writes == Writes::Eager),
            u64::from(self.is_batched),
            u64::from(self.is_shared),
            wait as u64,
            u64::from(self.server_shift),
        ];
        let flags = flags.into_iter().rev().fold(0, |word, flag| word << 8 | (flag & 0xff));
        let (participants, every) = (self.participants as u64, self.every as u64);
        let (buckets, log) = (u64::from(self.buckets), u64::from(self.log_entries));
        let lock = u64::from(self.lock as u32);
        [VERSION << 32 | lock, participants << 32 | every, self.variables.into(), flags, buckets << 32 | log, 0]
    }

    /// The configuration that the words stand for; `None` if they are of another version, or nonsense.
    pub(crate) fn from_words(words: [u64; 6]) -> Option<Self> {
        let [version, counts, variables, flags, sizes, _] = words;
        let flag = |at: u32| (flags >> (8 * at)) & 0xff;
        let config = Self {
            participants: (counts >> 32) as usize,
            every: counts as u32 as usize,
            manager: *Manager::ALL.get(flag(0) as usize)?,
            values: if flag(1) == 1 { Values::AtServers } else { Values::InMemory },
            writes: if flag(2) == 1 { Writes::Eager } else { Writes::Lazy },
            is_batched: flag(3) == 1,
            is_shared: flag(4) == 1,
            lock: Algorithm::of_number(version as u32)?,
            variables: u32::try_from(variables).ok()?,
            buckets: (sizes >> 32) as u32,
            log_entries: sizes as u32,
            server_shift: flag(6).min(31) as u32,
            wait: *Wait::ALL.get(flag(5) as usize)?,
        };
        (version >> 32 == VERSION && config.is_sound()).then_some(config)
    }

    /// Whether a builder makes such an instance, as far as the memory's size and the use of indices depend on it.
    fn is_sound(&self) -> bool {
        let &Self { participants, every, variables, buckets, log_entries, .. } = self;
        let has_roles = if self.is_shared { participants >= 1 } else { (2..=participants).contains(&every) };
        has_roles
            && participants <= MAX_PARTICIPANTS
            && (1..=MOST_VARIABLES).contains(&variables)
            && buckets.is_power_of_two()
            && buckets <= MOST_BUCKETS
            && log_entries <= MOST_LOG_ENTRIES
            && !(self.is_shared && self.values == Values::AtServers)
    }
}

/// A hash of 32 bits: a finaliser of MurmurHash3 (A. Appleby, public domain).
#[inline]
pub(crate) fn mix(mut word: u32) -> u32 {
    word ^= word >> 16;
    word = word.wrapping_mul(0x85eb_ca6b);
    word ^= word >> 13;
    word = word.wrapping_mul(0xc2b2_ae35);
    word ^ (word >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        Config {
            participants: 48,
            every: 3,
            manager: Manager::Wholly,
            values: Values::AtServers,
            writes: Writes::Eager,
            is_batched: true,
            is_shared: false,
            lock: Algorithm::Word,
            variables: 1 << 20,
            buckets: 1024,
            log_entries: 512,
            server_shift: 3,
            wait: Wait::Park,
        }
    }

    #[test]
    fn a_configuration_comes_back_from_its_words() {
        assert_eq!(Config::from_words(config().to_words()), Some(config()));
        let other = Config { is_shared: true, values: Values::InMemory, writes: Writes::Lazy, ..config() };
        assert_eq!(Config::from_words(other.to_words()), Some(other));
        assert_eq!(Config::from_words([0; 6]), None);
    }

    #[test]
    fn a_configuration_that_no_builder_makes_is_refused() {
        let shared = Config { is_shared: true, values: Values::InMemory, ..config() };
        let refused = [
            Config { participants: MAX_PARTICIPANTS + 1, ..config() },
            Config { participants: 1, ..config() },
            Config { every: 0, ..config() },
            Config { every: 1, ..config() },
            Config { every: 49, ..config() },
            Config { variables: 0, ..config() },
            Config { variables: MOST_VARIABLES + 1, ..config() },
            Config { buckets: 0, ..config() },
            Config { buckets: 3, ..config() },
            Config { buckets: 2 * MOST_BUCKETS, ..config() },
            Config { log_entries: u32::MAX, ..config() },
            Config { values: Values::AtServers, ..shared },
            Config { participants: 0, ..shared },
        ];
        for config in refused {
            assert_eq!(Config::from_words(config.to_words()), None, "{config:?}");
        }
        assert!(Config::from_words(Config { participants: 1, ..shared }.to_words()).is_some());
    }

    #[test]
    fn one_of_three_is_a_server_and_each_has_its_share() {
        let config = config();
        assert_eq!((config.servers(), config.applications().count()), (16, 32));
        assert_eq!(config.server_number(6), Some(2));
        let mut shares = [0; 16];
        (0..16_000).for_each(|lock| shares[config.server_of(lock, 16)] += 1);
        assert!(shares.iter().all(|share| (800..1200).contains(share)), "{shares:?}");
    }
}
