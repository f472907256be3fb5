//! The receiving end, as a [`Select`](crate::select::Select) uses it.

use std::fmt;

use corecast_base::wait::{Parker, WakeWord};

use crate::error::TryRecvError;

/// A receiving end that a [`Select`](crate::select::Select) can look at.
pub trait Selectable {
    /// The message.
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

    /// The word by which the channel's sender wakes the receiver.
    fn wake_handle(&self) -> WakeHandle;
}

/// The wake word of a channel, and how to make it forward to a parker.
pub struct WakeHandle {
    word: WakeWord,
    arm: Arm,
}

/// Makes a wake word forward to the parker with a number.
type Arm = Box<dyn Fn(&WakeWord, u32) + Send>;

impl WakeHandle {
    /// The wake word of one receiver.
    #[must_use]
    pub fn single(word: WakeWord) -> Self {
        Self::new(word, |word, parker| word.arm_for(word.forward(), parker))
    }

    /// A wake word that `arm` makes forward to the parker with a number, in whichever place belongs to this receiver.
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
