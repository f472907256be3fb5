//! A sending end as an object of Python has it: one thread at a time uses it, and one message at a time is written in place.

use std::sync::{Arc, Mutex, MutexGuard};

use corecast::channel::SendTimeoutError;
use pyo3::prelude::*;

use crate::error;
use crate::meeting::Meeting;
use crate::room::{Outlet, Room, Written};
use crate::waiting::Limit;

/// From this length on the interpreter's lock is given away while a message is copied.
pub(crate) const LONG_COPY: usize = 32 << 10;

/// The end of a channel of one kind.
pub(crate) trait SendingEnd: Send + 'static {
    /// Its name in errors.
    const NAME: &'static str;

    /// Sends a message that was written in room of [`Hand::reserve`].
    fn commit(&mut self, py: Python<'_>, limit: Limit, message: Written<'_>) -> PyResult<()>;
}

/// An end, and the memory that it is in.
pub(crate) struct Hand<E> {
    /// First, as it says goodbye in the memory of the meeting.
    held: Mutex<Held<E>>,
    pub(crate) meeting: Meeting,
}

/// An end that a thread uses.
pub(crate) struct Held<E> {
    pub(crate) end: E,
    /// True while a message is written in place.
    is_reserved: bool,
}

impl<E: SendingEnd> Hand<E> {
    /// The end, for this thread alone.
    pub(crate) fn enter(&self) -> PyResult<MutexGuard<'_, Held<E>>> {
        self.meeting.check_fork()?;
        self.held.try_lock().map_err(|_| error::busy(E::NAME))
    }

    /// The end, for a new message.
    pub(crate) fn begin(&self) -> PyResult<MutexGuard<'_, Held<E>>> {
        let held = self.enter()?;
        if held.is_reserved {
            let why = format_args!("room of this {} is reserved: commit or cancel that first", E::NAME);
            return Err(error::named("Busy", why));
        }
        Ok(held)
    }

    /// Room for a message, at a place that `find` asks the end for, or in memory of its own where there is none.
    pub(crate) fn reserve(
        self: &Arc<Self>,
        py: Python<'_>,
        size: usize,
        find: impl FnOnce(&mut E) -> PyResult<Option<*mut u8>>,
    ) -> PyResult<Room> {
        let held = &mut *self.begin()?;
        let in_place = find(&mut held.end)?;
        let room = Room::open(py, Arc::clone(self), in_place, size)?;
        held.is_reserved = true;
        Ok(room)
    }
}

impl<E: SendingEnd> Outlet for Hand<E> {
    fn commit(&self, py: Python<'_>, limit: Limit, message: Written<'_>) -> PyResult<()> {
        let mut held = self.enter()?;
        held.end.commit(py, limit, message)?;
        held.is_reserved = false;
        Ok(())
    }

    fn cancel(&self) -> PyResult<()> {
        self.enter()?.is_reserved = false;
        Ok(())
    }

    fn give_up(&self) {
        if self.meeting.check_fork().is_ok() {
            // A view that is still there keeps the memory, and the next message overwrites what it shows.
            self.held.lock().expect("nothing panics with it").is_reserved = false;
        }
    }
}

/// An end until it is closed, and the name of its channel.
pub(crate) struct Opened<E> {
    hand: Mutex<Option<Arc<Hand<E>>>>,
    pub(crate) name: Option<String>,
}

impl<E: SendingEnd> Opened<E> {
    pub(crate) fn new(end: E, meeting: Meeting, name: Option<&str>) -> Self {
        let held = Mutex::new(Held { end, is_reserved: false });
        Self { hand: Mutex::new(Some(Arc::new(Hand { held, meeting }))), name: name.map(str::to_owned) }
    }

    /// The end, unless it is closed.
    pub(crate) fn hand(&self) -> PyResult<Arc<Hand<E>>> {
        self.hand.lock().expect("nothing panics with it").clone().ok_or_else(|| error::closed(E::NAME))
    }

    /// Says goodbye, unless a message is under way.
    pub(crate) fn close(&self) -> PyResult<()> {
        let mut hand = self.hand.lock().expect("nothing panics with it");
        if let Some(open) = hand.as_ref().filter(|hand| hand.meeting.check_fork().is_ok()) {
            drop(open.begin()?);
        }
        hand.take();
        Ok(())
    }

    /// The end in words.
    pub(crate) fn describe(&self, class: &str) -> String {
        describe(class, self.name.as_deref(), self.hand().is_ok())
    }
}

/// An end in words.
pub(crate) fn describe(class: &str, name: Option<&str>, is_open: bool) -> String {
    format!("{class}({:?}{})", name.unwrap_or("without a name"), if is_open { "" } else { ", closed" })
}

/// The function of `corecast._reopen` that opens an end like this one, and the name that it takes.
pub(crate) fn reopening(py: Python<'_>, what: &'static str, name: Option<&str>) -> PyResult<(Py<PyAny>, String)> {
    let name = name.ok_or_else(|| error::not_picklable(what))?.to_owned();
    Ok((py.import("corecast._reopen")?.getattr(what)?.unbind(), name))
}

/// The outcome of one part of a wait for room; `None` if there was none.
pub(crate) fn in_part(outcome: Result<(), SendTimeoutError<impl Sized>>) -> Option<PyResult<()>> {
    match outcome {
        Ok(()) => Some(Ok(())),
        Err(SendTimeoutError::Failed(failed)) => Some(Err(error::send(failed))),
        Err(_) => None,
    }
}
