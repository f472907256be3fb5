//! Why a node does no more, if it does not.

use std::io;
use std::sync::{Mutex, PoisonError};

use corecast_base::sync::{AtomicU64, Ordering};

use crate::error::{ExecuteError, ReadError};
use crate::{Index, NodeId};

/// Why a node does no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// It is no longer a member.
    Expelled,
    /// Its state differed from that of the others.
    Diverged(Index),
    /// All replicas panicked at this command.
    Poisoned(Index),
    /// The memory of a node is damaged.
    Corrupt(u16),
    /// Its files cannot be written.
    Files,
    /// It was behind when the last member died.
    Lost,
}

/// The end of a node, written once by the thread that has the driver, and read by all its threads.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    word: AtomicU64,
    /// Why nobody may see the state, though it may be as new as any: 0 if all may. Written by the thread that applies, under the
    /// lock of the state.
    unfit: AtomicU64,
    /// The reason why the files cannot be written.
    files: Mutex<String>,
}

const KIND: u32 = 60;
const DIVERGED: u64 = 2 << KIND;
const PANICKED: u64 = 7 << KIND;

impl Ending {
    /// Sets it, unless it is set already.
    pub(crate) fn set(&self, end: End) {
        let word = match end {
            End::Expelled => 1 << KIND,
            End::Diverged(index) => DIVERGED | index,
            End::Poisoned(index) => 3 << KIND | index,
            End::Corrupt(slot) => 4 << KIND | u64::from(slot),
            End::Files => 5 << KIND,
            End::Lost => 6 << KIND,
        };
        // ORDERING: Relaxed, the word says everything
        let _ = self.word.compare_exchange(0, word, Ordering::Relaxed, Ordering::Relaxed);
        if matches!(end, End::Diverged(_)) {
            self.hide_state(word);
        }
    }

    /// The state machine panicked at this command.
    pub(crate) fn panicked(&self, index: Index) {
        self.hide_state(PANICKED | index);
    }

    fn hide_state(&self, why: u64) {
        // ORDERING: Relaxed, the lock of the state orders it before a reader that takes the lock later
        self.unfit.store(why, Ordering::Relaxed);
    }

    /// Whether the state may be seen: to be asked behind its lock.
    ///
    /// # Errors
    /// [`ReadError::Diverged`], [`ReadError::Panicked`], [`ReadError::Poisoned`].
    #[inline(always)]
    pub(crate) fn check_state(&self) -> Result<(), ReadError> {
        // ORDERING: Relaxed, the lock of the state orders it
        let why = self.unfit.load(Ordering::Relaxed);
        if why == 0 { Ok(()) } else { Err(self.state_error(why)) }
    }

    #[cold]
    fn state_error(&self, why: u64) -> ReadError {
        let index = why & ((1 << KIND) - 1);
        match self.get() {
            Some(End::Poisoned(index)) => ReadError::Poisoned { index },
            _ if why & !((1 << KIND) - 1) == DIVERGED => ReadError::Diverged { index },
            _ => ReadError::Panicked { index },
        }
    }

    /// The files cannot be written: the node does no more.
    pub(crate) fn fail_files(&self, error: &io::Error) {
        *self.files.lock().unwrap_or_else(PoisonError::into_inner) = error.to_string();
        self.set(End::Files);
    }

    /// The end in words, if it has come.
    pub(crate) fn describe(&self) -> Option<String> {
        Some(match self.get()? {
            End::Expelled => "no longer a member".to_owned(),
            End::Diverged(index) => format!("its state differed, and it was put out after {index} commands"),
            End::Poisoned(index) => format!("all replicas panicked at command {index}"),
            End::Files => self.files.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            End::Corrupt(slot) => format!("the log in the memory of node {slot} is damaged"),
            End::Lost => "it was behind when the last member died".to_owned(),
        })
    }

    /// The end, if it has come.
    pub(crate) fn get(&self) -> Option<End> {
        // ORDERING: Relaxed, the word says everything
        let word = self.word.load(Ordering::Relaxed);
        let value = word & ((1 << KIND) - 1);
        match word >> KIND {
            0 => None,
            1 => Some(End::Expelled),
            2 => Some(End::Diverged(value)),
            3 => Some(End::Poisoned(value)),
            4 => Some(End::Corrupt(value as u16)),
            5 => Some(End::Files),
            _ => Some(End::Lost),
        }
    }
}

impl End {
    /// As the error of an operation at node `me`.
    pub(crate) fn of_execute(self, me: NodeId) -> ExecuteError {
        match self {
            Self::Expelled => ExecuteError::Expelled(me),
            Self::Diverged(index) => ExecuteError::Diverged { index },
            Self::Poisoned(index) => ExecuteError::Poisoned { index },
            Self::Corrupt(slot) => ExecuteError::Corrupt { slot },
            Self::Files => ExecuteError::Files("see the status of the node".to_owned()),
            Self::Lost => ExecuteError::Lost,
        }
    }

    /// As the error of a read at node `me`.
    pub(crate) fn of_read(self, me: NodeId) -> ReadError {
        match self {
            Self::Poisoned(index) => ReadError::Poisoned { index },
            Self::Lost => ReadError::Lost,
            Self::Diverged(index) => ReadError::Diverged { index },
            Self::Expelled | Self::Corrupt(_) | Self::Files => ReadError::Expelled(me),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_differs_or_is_half_changed_is_not_shown() {
        let ending = Ending::default();
        ending.set(End::Expelled);
        assert_eq!(ending.check_state(), Ok(()), "it is as good as it was");
        let ending = Ending::default();
        ending.panicked(7);
        assert_eq!((ending.get(), ending.check_state()), (None, Err(ReadError::Panicked { index: 7 })));
        ending.set(End::Poisoned(7));
        assert_eq!(ending.check_state(), Err(ReadError::Poisoned { index: 7 }));
        let ending = Ending::default();
        ending.set(End::Diverged(9));
        assert_eq!(ending.check_state(), Err(ReadError::Diverged { index: 9 }));
    }
}
