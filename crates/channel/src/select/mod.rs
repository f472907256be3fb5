//! Receiving from whichever of many channels has something: any of them, or any of a subset.
//!
//! **When to take it:** a server with a channel per client; a stage that merges streams. **When not:** one stream that all
//! write to, in one order for all readers: that is an [`mcast`](crate::mcast) channel of many senders.
//!
//! **How it works.** Sending costs nothing more. The receiver looks at the word that each channel would change next, which
//! is a hit in its own cache until a message comes. It begins where the last message came from, takes at most 31 messages
//! there in a row, and goes on to the next channel, so that no channel starves: with all channels full each is served once
//! in a round. To sleep it makes every channel wake one place (a parker); the fences and the last look are those of a
//! single channel.
//!
//! **Guarantees.** First in, first out within a channel; no order among channels. Receiving waits as the [`Wait`] policy
//! says; a look at n channels takes O(n). [`Select::notifier`] has a file descriptor for event loops.
//!
//! **Source:** receive-from-any and receive-from-subset of libssmp (David, Guerraoui, Trigonakis, Everything you always
//! wanted to know about synchronization but were afraid to ask, SOSP 2013).
//!
//! ```
//! use corecast_channel::select::Select;
//! use corecast_channel::ump;
//! let mut select = Select::new();
//! let (mut a, from_a) = ump::channel::<u32>(16);
//! let (b, from_b) = ump::channel::<u32>(16);
//! let (a_is, b_is) = (select.add(from_a), select.add(from_b));
//! a.send(7)?;
//! assert_eq!(select.recv()?, (a_is, 7));
//! drop(b);
//! assert!(select.recv().is_err_and(|error| error.token() == Some(b_is)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod mixed;
#[cfg(not(loom))]
mod notifier;
mod scan;
mod subset;

use std::fmt;
use std::time::Duration;

use corecast_base::wait::{CpuSharing, LONGEST_SLEEP, Wait, Waiter};

use crate::error::{RecvError, TryRecvError};

pub use crate::selectable::{Selectable, WakeHandle};
pub use mixed::{Mixed, MixedMsg};
#[cfg(not(loom))]
pub use notifier::{Armed, Notifier};
pub use subset::Subset;

use scan::{Scan, WakeWords};

/// The most channels of one [`Select`].
pub const MAX_CHANNELS: usize = 4096;

/// One of the channels of a [`Select`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(usize);

impl Token {
    /// The number of the channel. Channels are numbered in the order in which they were added, from 0; numbers of removed
    /// channels are reused.
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// Nothing was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// One channel returned an error. Unless it is [`RecvError::Lagged`], the Select passes the channel over from now on;
    /// [`Select::remove`] gives its end back.
    #[error("channel {}: {error}", token.0)]
    Channel {
        /// The channel.
        token: Token,
        /// Its error.
        error: RecvError,
    },
    /// No channel has a message now.
    #[error("the channels are empty")]
    Empty,
    /// No message came in time.
    #[error("the channels stayed empty until the deadline")]
    Timeout,
    /// All channels asked for have ended, or there are none.
    #[error("no channel is left to receive from")]
    NoneLeft,
}

impl SelectError {
    /// The channel that the error is about.
    #[must_use]
    pub fn token(self) -> Option<Token> {
        match self {
            Self::Channel { token, .. } => Some(token),
            _ => None,
        }
    }
}

/// The receiving ends of many channels. `R` is one kind of end, or [`Mixed`].
pub struct Select<R> {
    scan: Scan<R>,
    wake_words: WakeWords,
    waiter: Waiter,
}

impl<R: Selectable> Default for Select<R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<R: Selectable> Select<R> {
    /// No channels yet, and the default waiting.
    #[must_use]
    pub fn new() -> Self {
        Self::with_waiter(Waiter::new(Wait::default(), CpuSharing::unpinned(2), None))
    }

    /// No channels yet, and this waiter. A waiter that sleeps cannot wait for channels whose policy never sleeps.
    #[must_use]
    pub fn with_waiter(waiter: Waiter) -> Self {
        Self { scan: Scan::default(), wake_words: WakeWords::default(), waiter }
    }

    /// Receives from this channel too.
    ///
    /// # Panics
    /// With more than [`MAX_CHANNELS`] channels.
    #[track_caller]
    pub fn add(&mut self, end: R) -> Token {
        assert!(self.scan.len() < MAX_CHANNELS, "a Select has at most {MAX_CHANNELS} channels");
        let handle = end.wake_handle();
        let token = self.scan.add(end);
        self.wake_words.put(token.0, handle);
        token
    }

    /// Gives the end back; `None` if it was given back already.
    pub fn remove(&mut self, token: Token) -> Option<R> {
        let end = self.scan.remove(token)?;
        self.wake_words.drop_one(token.0);
        Some(end)
    }

    /// The end itself.
    #[must_use]
    pub fn get(&self, token: Token) -> Option<&R> {
        self.scan.get(token)
    }

    /// The channels that have not ended, as a set to receive from.
    #[must_use]
    pub fn all(&self) -> Subset {
        self.scan.open().collect()
    }

    /// Receives from any channel, without waiting.
    ///
    /// # Errors
    /// [`SelectError::Empty`], [`SelectError::Channel`], or [`SelectError::NoneLeft`].
    pub fn try_recv(&mut self) -> Result<(Token, R::Message<'_>), SelectError> {
        self.try_recv_from(Subset::everything())
    }

    /// Receives from any channel of the subset, without waiting.
    ///
    /// # Errors
    /// As [`try_recv`](Self::try_recv).
    pub fn try_recv_from(&mut self, subset: &Subset) -> Result<(Token, R::Message<'_>), SelectError> {
        match self.scan.find(subset) {
            Some(at) => self.take(at),
            None if self.scan.has_open(subset) => Err(SelectError::Empty),
            None => Err(SelectError::NoneLeft),
        }
    }

    /// Receives from any channel, waiting until one has something.
    ///
    /// # Errors
    /// [`SelectError::Channel`], or [`SelectError::NoneLeft`].
    pub fn recv(&mut self) -> Result<(Token, R::Message<'_>), SelectError> {
        self.recv_from(Subset::everything())
    }

    /// Receives from any channel of the subset, waiting until one has something.
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    pub fn recv_from(&mut self, subset: &Subset) -> Result<(Token, R::Message<'_>), SelectError> {
        self.recv_until(subset, |_| Ok(LONGEST_SLEEP))
    }

    /// Receives from any channel of the subset, waiting for at most `timeout`.
    ///
    /// # Errors
    /// [`SelectError::Timeout`], and those of [`recv`](Self::recv).
    pub fn recv_timeout(&mut self, subset: &Subset, timeout: Duration) -> Result<(Token, R::Message<'_>), SelectError> {
        self.recv_until(subset, |waited| {
            timeout.checked_sub(waited).filter(|left| !left.is_zero()).ok_or(SelectError::Timeout)
        })
    }

    fn recv_until(
        &mut self,
        subset: &Subset,
        limit: impl Fn(Duration) -> Result<Duration, SelectError>,
    ) -> Result<(Token, R::Message<'_>), SelectError> {
        let Self { scan, wake_words, waiter } = self;
        let found = match scan.find(subset) {
            Some(at) => at,
            None if !scan.has_open(subset) => return Err(SelectError::NoneLeft),
            None => waiter.until(&wake_words.within(subset), || scan.find(subset), limit)?,
        };
        self.take(found)
    }

    fn take(&mut self, at: usize) -> Result<(Token, R::Message<'_>), SelectError> {
        let (message, is_open) = self.scan.take(at);
        let token = Token(at);
        message.map(|message| (token, message)).map_err(|error| {
            let error = match error {
                TryRecvError::Failed(error) => error,
                TryRecvError::Empty => RecvError::Corrupt("a message that was there has disappeared"),
            };
            *is_open = matches!(error, RecvError::Lagged { .. });
            SelectError::Channel { token, error }
        })
    }
}

impl<R: Selectable> fmt::Debug for Select<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Select({} channels)", self.scan.len())
    }
}
