//! What a [`Select`](super::Select) needs of a receiving end.

use std::fmt;

use corecast_base::wait::{Seat, WakeWord};

use crate::error::TryRecvError;
use crate::ump;

/// A receiving end that a [`Select`](super::Select) can look at.
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
    fn alarm(&self) -> Alarm;
}

/// The word that the sender of a channel rings, and how to make it ring a seat.
pub struct Alarm {
    word: WakeWord,
    arm: Arm,
}

/// Makes a word ring the seat with a number.
type Arm = Box<dyn Fn(&WakeWord, u32) + Send>;

impl Alarm {
    /// A word with one receiver.
    #[must_use]
    pub fn single(word: WakeWord) -> Self {
        Self::new(word, |word, seat| word.arm_for(word.forward(), seat))
    }

    /// A word that `arm` makes ring the seat with a number, through whichever forward is this receiver's.
    #[must_use]
    pub fn new(word: WakeWord, arm: impl Fn(&WakeWord, u32) + Send + 'static) -> Self {
        Self { word, arm: Box::new(arm) }
    }

    pub(super) fn word(&self) -> &WakeWord {
        &self.word
    }

    pub(super) fn arm(&self, seat: &Seat) {
        (self.arm)(&self.word, seat.number());
    }
}

impl fmt::Debug for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alarm").field("word", &self.word).finish_non_exhaustive()
    }
}

impl<T: Send> Selectable for ump::Receiver<T> {
    type Message<'a>
        = T
    where
        T: 'a;

    #[inline]
    fn is_ready(&mut self) -> bool {
        self.is_ready()
    }

    fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.try_recv()
    }

    fn alarm(&self) -> Alarm {
        Alarm::single(self.data_bell().clone())
    }
}
