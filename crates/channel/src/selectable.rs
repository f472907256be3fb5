//! What a [`Select`](crate::select::Select) needs of a receiving end.

use std::fmt;

use corecast_base::wait::{Parker, WakeWord};

use crate::error::TryRecvError;

/// A receiving end that a [`Select`](crate::select::Select) can look at.
pub trait Selectable {
    /// What is received.
    type Message<'a>
    where
        Self: 'a;

    /// True if [`try_recv`](Self::try_recv) would return anything but [`TryRecvError::Empty`], as far as one look at the
    /// channel's next word tells.
    fn is_ready(&mut self) -> bool;

    /// Receives without waiting.
    ///
    /// # Errors
    /// As the end's own `try_recv`.
    fn try_recv(&mut self) -> Result<Self::Message<'_>, TryRecvError>;

    /// What the channel's sender rings.
    fn wake_handle(&self) -> WakeHandle;
}

/// The word that the sender of a channel rings, and how to make it ring a seat.
pub struct WakeHandle {
    word: WakeWord,
    arm: Arm,
}

/// Makes a word ring the seat with a number.
type Arm = Box<dyn Fn(&WakeWord, u32) + Send>;

impl WakeHandle {
    /// A word with one receiver.
    #[must_use]
    pub fn single(word: WakeWord) -> Self {
        Self::new(word, |word, parker| word.arm_for(word.forward(), parker))
    }

    /// A word that `arm` makes ring the seat with a number, through whichever forward is this receiver's.
    #[must_use]
    pub fn new(word: WakeWord, arm: impl Fn(&WakeWord, u32) + Send + 'static) -> Self {
        Self { word, arm: Box::new(arm) }
    }

    pub(crate) fn word(&self) -> &WakeWord {
        &self.word
    }

    pub(crate) fn arm(&self, parker: &Parker) {
        (self.arm)(&self.word, parker.number());
    }
}

impl fmt::Debug for WakeHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WakeHandle({:?})", self.word)
    }
}
