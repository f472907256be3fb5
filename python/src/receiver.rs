//! The receiving end of a channel between two processes.

use std::mem::{self, ManuallyDrop};
use std::sync::{Arc, Mutex, MutexGuard};

use corecast::channel::select::Selectable;
use corecast::channel::ump::bytes::{Msg, Receiver as End, receiver};
use corecast::channel::{RecvTimeoutError, TryRecvError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple, PyType};

use crate::error;
use crate::exported::{Lent, export};
use crate::hand::{describe, reopening};
use crate::meeting::{CHANNEL, Meeting};
use crate::sender::found;
use crate::waiting::{Limit, detached, until};
use crate::watch::Watch;

/// A receiving end, of which one message at a time is open.
struct Hand {
    /// First, as it says goodbye in the memory of the meeting.
    held: Mutex<Held>,
    meeting: Meeting,
}

struct Held {
    end: End,
    /// True while a message is open: it uses the end.
    is_open: bool,
}

impl Hand {
    fn enter(&self) -> PyResult<MutexGuard<'_, Held>> {
        self.meeting.check_fork()?;
        let held = self.held.try_lock().map_err(|_| error::busy("receiver"))?;
        if held.is_open {
            return Err(error::named(
                "Busy",
                "a message of this receiver is open: release it, and all views and arrays of it, before the next one",
            ));
        }
        Ok(held)
    }
}

/// Keeps a message in its place.
struct Keeper {
    message: ManuallyDrop<Msg<'static>>,
    hand: Arc<Hand>,
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if self.hand.meeting.check_fork().is_err() {
            // It belongs to the parent.
            return;
        }
        // Nobody holds the lock for long while a message is open.
        let mut held = self.hand.held.lock().expect("nothing panics with it");
        // SAFETY: dropped once, and nobody else uses the end.
        unsafe { ManuallyDrop::drop(&mut self.message) };
        held.is_open = false;
    }
}

/// The receiving end of a channel from one process to one other.
///
/// >>> import corecast
/// >>> sender = corecast.Sender("docs-receiver", max_bytes=100)
/// >>> receiver = corecast.Receiver("docs-receiver", timeout=5)
/// >>> sender.send(b"for one")
/// >>> with receiver.recv() as view:
/// ...     print(bytes(view))
/// b'for one'
#[pyclass(module = "corecast", frozen)]
pub(crate) struct Receiver {
    hand: Mutex<Option<Arc<Hand>>>,
    watch: Mutex<Option<Watch>>,
    name: Option<String>,
}

#[pymethods]
impl Receiver {
    /// Takes the receiving end of the channel of a name, waiting up to `timeout` seconds, or for ever with None, until a process
    /// hosts it. With `create=True` this process makes the channel: see `Sender` for its sizes.
    #[new]
    #[pyo3(signature = (name, *, create=false, max_bytes=65536, slots=64, wait="adaptive", timeout=10.0))]
    fn new(
        py: Python<'_>,
        name: &str,
        create: bool,
        max_bytes: usize,
        slots: usize,
        wait: &str,
        timeout: Option<f64>,
    ) -> PyResult<Self> {
        let limit = Limit::of(timeout)?;
        let meeting = if create { found(max_bytes, slots, wait)? } else { Meeting::find(py, name, limit)? };
        Self::at(meeting, Some(name.to_owned()))
    }

    /// Takes the receiving end by a descriptor that this process inherited: see `Sender.share`.
    #[classmethod]
    fn from_fd(_class: &Bound<'_, PyType>, fd: i32) -> PyResult<Self> {
        Self::at(Meeting::of_fd(fd)?, None)
    }

    /// Receives the next message in place, waiting up to `timeout` seconds; for ever by default. 0 only looks. It has to be
    /// released before the next one.
    ///
    /// Raises `Timeout`; `Closed` or `Died` once everything was received and the sender is gone.
    #[pyo3(signature = (timeout=None))]
    fn recv(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Py<PyAny>> {
        let limit = Limit::of(timeout)?;
        let hand = self.hand()?;
        let mut held = hand.enter()?;
        if let Some(message) = look(&hand, &mut held)? {
            drop(held);
            return hand_out(py, message);
        }
        let message = until(py, limit, |part| match held.end.recv_timeout(part).map(kept) {
            Ok(message) => {
                held.is_open = true;
                Some(Ok(Keeper { message, hand: Arc::clone(&hand) }))
            }
            Err(RecvTimeoutError::Failed(failed)) => Some(Err(error::recv(failed))),
            Err(_) => None,
        })?;
        drop(held);
        hand_out(py, message)
    }

    /// Receives the next message as a copy in `bytes`; as `recv` otherwise.
    #[pyo3(signature = (timeout=None))]
    fn recv_bytes<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyBytes>> {
        let limit = Limit::of(timeout)?;
        let hand = self.hand()?;
        let mut held = hand.enter()?;
        let copy = |message: Msg<'_>| {
            PyBytes::new_with(py, message.len(), |copy| {
                message.copy_to(copy);
                Ok(())
            })
        };
        match held.end.try_recv() {
            Ok(message) => return copy(message),
            Err(TryRecvError::Failed(failed)) => return Err(error::recv(failed)),
            Err(_) => {}
        }
        loop {
            let Some(part) = limit.part() else { return Err(error::timeout()) };
            // Without its lifetime, as the message is made into bytes when this thread has the interpreter's lock again.
            match detached(py, || held.end.recv_timeout(part).map(kept)) {
                Ok(message) => return copy(ManuallyDrop::into_inner(message)),
                Err(RecvTimeoutError::Failed(failed)) => return Err(error::recv(failed)),
                Err(_) => py.check_signals()?,
            }
        }
    }

    /// The next message if it is there, else None.
    fn try_recv(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let hand = self.hand()?;
        let mut held = hand.enter()?;
        let message = look(&hand, &mut held)?;
        drop(held);
        message.map(|message| hand_out(py, message)).transpose()
    }

    /// The name of the channel; None if it came by a descriptor.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// A descriptor of the channel, for the sender in a child process: see `Sender.share`.
    fn share(&self) -> PyResult<i32> {
        self.hand()?.meeting.share()
    }

    /// A descriptor that becomes readable after `arm` when there is something to receive: for event loops.
    fn fileno(&self) -> PyResult<i32> {
        let hand = self.hand()?;
        let held = hand.enter()?;
        let mut watch = self.watch.lock().expect("nothing panics with it");
        Ok(Watch::kept(&mut watch, &held.end)?.fileno())
    }

    /// True if there is something to receive now; else `fileno` becomes readable when there is.
    fn arm(&self) -> PyResult<bool> {
        let hand = self.hand()?;
        let mut held = hand.enter()?;
        let mut watch = self.watch.lock().expect("nothing panics with it");
        Watch::kept(&mut watch, &held.end)?.arm();
        Ok(held.end.is_ready())
    }

    /// Leaves the channel: the sender's next call raises `Closed`.
    fn close(&self) -> PyResult<()> {
        let mut hand = self.hand.lock().expect("nothing panics with it");
        if let Some(open) = hand.as_ref().filter(|hand| hand.meeting.check_fork().is_ok()) {
            drop(open.enter()?);
            self.watch.lock().expect("nothing panics with it").take();
        }
        hand.take();
        Ok(())
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close()
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// The next message; the end when the sender has left.
    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        match self.recv(py, None) {
            Err(error) if error::is(py, &error, "Closed") => Ok(None),
            outcome => outcome.map(Some),
        }
    }

    /// Of a named one: the receiving end, taken where it is unpickled. One process at a time can have it.
    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, (String,))> {
        let (open, name) = reopening(slf.py(), "receiver", slf.get().name.as_deref())?;
        Ok((open, (name,)))
    }

    fn __repr__(&self) -> String {
        describe("Receiver", self.name.as_deref(), self.hand().is_ok())
    }
}

impl Receiver {
    fn at(meeting: Meeting, name: Option<String>) -> PyResult<Self> {
        let end = receiver(&meeting.region, CHANNEL).map_err(error::open)?;
        // SAFETY: the processes of a user trust each other not to write into messages, as the guide says; the views that are
        // given out are read by the interpreter, which tolerates it.
        let honest = unsafe { meeting.region.assume_honest() };
        let end = end.with_honest(&honest);
        drop(honest);
        let held = Mutex::new(Held { end, is_open: false });
        let meeting = meeting.host(name.as_deref())?;
        Ok(Self { hand: Mutex::new(Some(Arc::new(Hand { held, meeting }))), watch: Mutex::default(), name })
    }

    fn hand(&self) -> PyResult<Arc<Hand>> {
        self.hand.lock().expect("nothing panics with it").clone().ok_or_else(|| error::closed("receiver"))
    }
}

/// The next message, if it is there.
fn look(hand: &Arc<Hand>, held: &mut Held) -> PyResult<Option<Keeper>> {
    let message = match held.end.try_recv() {
        Ok(message) => kept(message),
        Err(TryRecvError::Failed(failed)) => return Err(error::recv(failed)),
        Err(_) => return Ok(None),
    };
    held.is_open = true;
    Ok(Some(Keeper { message, hand: Arc::clone(hand) }))
}

/// The message without its lifetime.
fn kept(message: Msg<'_>) -> ManuallyDrop<Msg<'static>> {
    // SAFETY: a message refers to its end, which is in an `Arc<Hand>` and does not move; nobody uses that while `is_open` says
    // that there is one, or while the caller has the lock.
    ManuallyDrop::new(unsafe { mem::transmute::<Msg<'_>, Msg<'static>>(message) })
}

/// The object for a message.
fn hand_out(py: Python<'_>, keeper: Keeper) -> PyResult<Py<PyAny>> {
    let in_place = keeper.message.as_slice().map(|slice| (slice.as_ptr().cast_mut(), slice.len()));
    let (start, bytes) = in_place.expect("the region's processes were promised to be honest");
    export(py, Lent { start, bytes, is_writable: false, keeper: Box::new(keeper) })
}
