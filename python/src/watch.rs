//! A descriptor for event loops that becomes readable when an end has something to receive.

use std::cell::Cell;
use std::os::fd::AsRawFd;
use std::process;

use corecast::channel::TryRecvError;
use corecast::channel::select::{Notifier, Select, Selectable, WakeHandle};
use pyo3::prelude::*;

/// The descriptor of one receiver.
pub(crate) struct Watch {
    select: Select<Word>,
    notifier: Notifier,
    pid: u32,
}

impl Watch {
    /// The descriptor of the receiver with this wake word.
    fn of(receiver: &impl Selectable) -> PyResult<Self> {
        let mut select = Select::new();
        select.add(Word(Cell::new(Some(receiver.wake_handle()))));
        let notifier = select.notifier()?;
        Ok(Self { select, notifier, pid: process::id() })
    }

    /// The one that is kept, or a new one: in a forked child that of the parent is of no use.
    pub(crate) fn kept<'a>(kept: &'a mut Option<Self>, receiver: &impl Selectable) -> PyResult<&'a mut Self> {
        if kept.as_ref().is_none_or(|watch| watch.pid != process::id()) {
            *kept = Some(Self::of(receiver)?);
        }
        Ok(kept.as_mut().expect("just made"))
    }

    pub(crate) fn fileno(&self) -> i32 {
        self.notifier.as_raw_fd()
    }

    /// Makes the descriptor readable with the next message. The caller looks at the receiver afterwards, as a message may have
    /// come before.
    pub(crate) fn arm(&mut self) {
        let _ = self.notifier.arm(&mut self.select);
    }
}

/// The wake word of a receiver that is used elsewhere: here no message is seen.
struct Word(Cell<Option<WakeHandle>>);

impl Selectable for Word {
    type Message<'a> = ();

    fn is_ready(&mut self) -> bool {
        false
    }

    fn try_recv(&mut self) -> Result<(), TryRecvError> {
        Err(TryRecvError::Empty)
    }

    fn wake_handle(&self) -> WakeHandle {
        self.0.take().expect("a Select asks once, when the end is added")
    }
}
