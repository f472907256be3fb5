//! A reader of a broadcast channel.

use std::mem::{self, ManuallyDrop};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use corecast::channel::mcast::Policy;
use corecast::channel::mcast::bytes::{Msg, Receiver, receiver};
use corecast::channel::{RecvError, RecvTimeoutError, TryRecvError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple, PyType};

use crate::error;
use crate::exported::{Lent, export};
use crate::hand::{describe, reopening};
use crate::lag;
use crate::meeting::{CHANNEL, Meeting};
use crate::waiting::{Limit, detached, until};
use crate::watch::Watch;

/// A receiving end whose messages may outlive the call that received them, in any thread.
struct Reader {
    /// First, as it says goodbye in the memory of the meeting.
    receiver: Mutex<OneAtATime<Receiver>>,
    /// Messages that were dropped while the receiver was in use.
    dropped: Mutex<Vec<OneAtATime<Msg<'static>>>>,
    meeting: Meeting,
}

/// A value that one thread at a time uses, as it holds the lock of the receiver.
struct OneAtATime<T>(T);

// SAFETY: see the type.
unsafe impl<T> Send for OneAtATime<T> {}

impl Reader {
    /// The receiver, for this thread alone.
    fn enter(&self) -> PyResult<Entered<'_>> {
        self.meeting.check_fork()?;
        let receiver = self.receiver.try_lock().map_err(|_| error::busy("subscriber"))?;
        Ok(Entered { reader: self, receiver: Some(receiver) })
    }

    /// Drops the messages that wait for the receiver, unless it is in use: then who uses it does that.
    fn settle(&self) {
        while let Ok(receiver) = self.receiver.try_lock() {
            let dropped = mem::take(&mut *self.dropped.lock().expect("nothing panics with it"));
            if dropped.is_empty() {
                return;
            }
            drop(dropped);
            drop(receiver);
        }
    }
}

/// The right to use a reader's receiver.
struct Entered<'a> {
    reader: &'a Reader,
    receiver: Option<MutexGuard<'a, OneAtATime<Receiver>>>,
}

impl Entered<'_> {
    fn receiver(&self) -> &Receiver {
        &self.receiver.as_ref().expect("taken when it is dropped only").0
    }

    /// Frees the places of messages that were dropped meanwhile.
    fn settle(&self) {
        self.reader.dropped.lock().expect("nothing panics with it").clear();
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        drop(self.receiver.take());
        // A message that was dropped before has found the receiver in use.
        self.reader.settle();
    }
}

/// Keeps a message in its place.
struct Keeper {
    message: ManuallyDrop<OneAtATime<Msg<'static>>>,
    reader: Arc<Reader>,
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // SAFETY: taken once.
        let message = unsafe { ManuallyDrop::take(&mut self.message) };
        if self.reader.meeting.check_fork().is_err() {
            // It belongs to the parent.
            mem::forget(message);
            return;
        }
        self.reader.dropped.lock().expect("nothing panics with it").push(message);
        self.reader.settle();
    }
}

/// A function that opens a subscriber, with the name and the policy.
type Opening = (Py<PyAny>, (String, Option<Py<PyAny>>));

/// One received message, not yet an object.
type Received = OneAtATime<Msg<'static>>;

/// A reader of a broadcast channel: it gets every message that is published after it subscribed.
///
/// >>> import corecast
/// >>> with corecast.Publisher("docs-subscriber", max_bytes=100) as publisher:
/// ...     reader = corecast.Subscriber("docs-subscriber", timeout=5)
/// ...     publisher.send(b"a message for all")
/// ...     with reader.recv(timeout=5) as view:
/// ...         print(bytes(view[:9]))
/// b'a message'
#[pyclass(module = "corecast", frozen)]
pub(crate) struct Subscriber {
    reader: Mutex<Option<Arc<Reader>>>,
    watch: Mutex<Option<Watch>>,
    name: Option<String>,
    policy: Policy,
}

#[pymethods]
impl Subscriber {
    /// Subscribes to the channel of a name, waiting up to `timeout` seconds, or for ever with None, until a process hosts it.
    ///
    /// `policy` is "reliable" (publishers wait for this reader; it reads in place), "lossy" (they do not, and it is told by
    /// `Lagged` how many messages it missed), or a number of seconds: publishers wait for so long, and then go on without it.
    /// The last two need a channel made with `overwrite=True`.
    #[new]
    #[pyo3(signature = (name, *, policy=None, timeout=10.0))]
    fn new(py: Python<'_>, name: &str, policy: Option<&Bound<'_, PyAny>>, timeout: Option<f64>) -> PyResult<Self> {
        let policy = policy_of(policy)?;
        let meeting = Meeting::find(py, name, Limit::of(timeout)?)?;
        Self::at(meeting, policy, Some(name.to_owned()))
    }

    /// Subscribes by a descriptor that this process inherited: see `Publisher.share`.
    #[classmethod]
    #[pyo3(signature = (fd, *, policy=None))]
    fn from_fd(_class: &Bound<'_, PyType>, fd: i32, policy: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        Self::at(Meeting::of_fd(fd)?, policy_of(policy)?, None)
    }

    /// Receives the next message in place, waiting up to `timeout` seconds; for ever by default. 0 only looks.
    ///
    /// Raises `Timeout`, `Closed` or `Died` once everything was received and no publisher is left, `Lagged`.
    #[pyo3(signature = (timeout=None))]
    fn recv(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Py<PyAny>> {
        let reader = self.reader()?;
        let received = receive(py, &reader, timeout)?;
        hand_out(py, reader, received)
    }

    /// Receives the next message as a copy in `bytes`; as `recv` otherwise.
    #[pyo3(signature = (timeout=None))]
    fn recv_bytes<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyBytes>> {
        let reader = self.reader()?;
        let keeper = Keeper { message: ManuallyDrop::new(receive(py, &reader, timeout)?), reader };
        let bytes = keeper.message.0.bytes();
        PyBytes::new_with(py, bytes.len(), |copy| {
            bytes.copy_to(copy);
            Ok(())
        })
    }

    /// The next message if it is there, else None.
    fn try_recv(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let reader = self.reader()?;
        let received = look(&reader.enter()?).transpose()?;
        received.map(|received| hand_out(py, reader, received)).transpose()
    }

    /// The messages that are open now: those whose objects, views and arrays are not gone.
    #[getter]
    fn open_messages(&self) -> PyResult<u64> {
        Ok(self.reader()?.enter()?.receiver().open_messages())
    }

    /// The messages that were published and are not received yet, or are open: see `Publisher.readers` for what that takes.
    fn behind(&self, py: Python<'_>) -> PyResult<u64> {
        let reader = self.reader()?;
        reader.meeting.check_fork()?;
        detached(py, || lag::own(&reader.meeting.region))
    }

    /// The name of the channel; None if it came by a descriptor.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// A descriptor that becomes readable after `arm` when there is something to receive: for event loops.
    fn fileno(&self) -> PyResult<i32> {
        let reader = self.reader()?;
        let entered = reader.enter()?;
        let mut watch = self.watch.lock().expect("nothing panics with it");
        Ok(Watch::kept(&mut watch, entered.receiver())?.fileno())
    }

    /// True if there is something to receive now; else `fileno` becomes readable when there is.
    fn arm(&self) -> PyResult<bool> {
        let reader = self.reader()?;
        let entered = reader.enter()?;
        let mut watch = self.watch.lock().expect("nothing panics with it");
        Watch::kept(&mut watch, entered.receiver())?.arm();
        Ok(entered.receiver().is_ready())
    }

    /// Leaves the channel; publishers no longer wait for this reader. Messages that are open stay readable.
    fn close(&self) -> PyResult<()> {
        let reader = self.reader.lock().expect("nothing panics with it").take();
        if let Some(reader) = reader {
            if reader.meeting.check_fork().is_ok() && reader.enter().is_err() {
                self.reader.lock().expect("nothing panics with it").replace(reader);
                return Err(error::busy("subscriber"));
            }
            self.watch.lock().expect("nothing panics with it").take();
        }
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

    /// The next message; the end when all publishers have left.
    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        match self.recv(py, None) {
            Err(error) if error::is(py, &error, "Closed") => Ok(None),
            outcome => outcome.map(Some),
        }
    }

    /// Of a named one: another subscriber, opened where it is unpickled, which gets what is sent from then on.
    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<Opening> {
        let py = slf.py();
        let this = slf.get();
        let (open, name) = reopening(py, "subscriber", this.name.as_deref())?;
        let policy = match this.policy {
            Policy::Reliable => None,
            Policy::Lossy => Some("lossy".into_pyobject(py)?.into_any().unbind()),
            Policy::Deadline(time) => Some(time.as_secs_f64().into_pyobject(py)?.into_any().unbind()),
        };
        Ok((open, (name, policy)))
    }

    fn __repr__(&self) -> String {
        describe("Subscriber", self.name.as_deref(), self.reader().is_ok())
    }
}

impl Subscriber {
    fn at(meeting: Meeting, policy: Policy, name: Option<String>) -> PyResult<Self> {
        let end = receiver(&meeting.region, CHANNEL, policy).map_err(error::open)?;
        // SAFETY: the processes of a user trust each other not to write into messages, as the guide says; the views that are
        // given out are read by the interpreter, which tolerates it.
        let honest = unsafe { meeting.region.assume_honest() };
        let end = end.with_honest(&honest);
        drop(honest);
        let reader = Reader { receiver: Mutex::new(OneAtATime(end)), dropped: Mutex::default(), meeting };
        Ok(Self { reader: Mutex::new(Some(Arc::new(reader))), watch: Mutex::default(), name, policy })
    }

    fn reader(&self) -> PyResult<Arc<Reader>> {
        self.reader.lock().expect("nothing panics with it").clone().ok_or_else(|| error::closed("subscriber"))
    }
}

/// The next message, if it is there.
fn look(entered: &Entered<'_>) -> Option<PyResult<Received>> {
    match entered.receiver().try_recv() {
        Ok(message) => Some(Ok(kept(message))),
        Err(TryRecvError::Failed(failed)) => Some(Err(error::recv(failed))),
        Err(_) => None,
    }
}

/// The next message, waited for.
fn receive(py: Python<'_>, reader: &Reader, timeout: Option<f64>) -> PyResult<Received> {
    let limit = Limit::of(timeout)?;
    let entered = reader.enter()?;
    if let Some(received) = look(&entered) {
        return received;
    }
    let outcome = until(py, limit, |part| {
        entered.settle();
        wait(entered.receiver(), part)
    })?;
    outcome.map_err(error::recv)
}

/// Waits for one part of a wait.
fn wait(receiver: &Receiver, part: Duration) -> Option<PyResult<Result<Received, RecvError>>> {
    match receiver.recv_timeout(part) {
        Ok(message) => Some(Ok(Ok(kept(message)))),
        Err(RecvTimeoutError::Failed(failed)) => Some(Ok(Err(failed))),
        Err(_) => None,
    }
}

/// The message without its lifetime: a [`Keeper`] keeps the receiver that it is of.
fn kept(message: Msg<'_>) -> Received {
    // SAFETY: a message refers to its receiver, which is in an `Arc<Reader>` and does not move; whoever has the message has
    // that, too, and drops the message by `Keeper` before.
    OneAtATime(unsafe { mem::transmute::<Msg<'_>, Msg<'static>>(message) })
}

/// The object for a message.
fn hand_out(py: Python<'_>, reader: Arc<Reader>, message: Received) -> PyResult<Py<PyAny>> {
    let keeper = Keeper { message: ManuallyDrop::new(message), reader };
    let (start, bytes) = {
        let bytes = keeper.message.0.bytes();
        let slice = bytes.as_slice().expect("the region's processes were promised to be honest");
        (slice.as_ptr().cast_mut(), slice.len())
    };
    export(py, Lent { start, bytes, is_writable: false, keeper: Box::new(keeper) })
}

/// The policy that an argument names.
fn policy_of(argument: Option<&Bound<'_, PyAny>>) -> PyResult<Policy> {
    let Some(argument) = argument else { return Ok(Policy::Reliable) };
    let wrong = || {
        error::value(format_args!(
            "policy is {argument}: expected 'reliable', 'lossy', or the seconds that publishers wait for this reader"
        ))
    };
    if let Ok(name) = argument.extract::<String>() {
        return match name.as_str() {
            "reliable" => Ok(Policy::Reliable),
            "lossy" => Ok(Policy::Lossy),
            _ => Err(wrong()),
        };
    }
    let seconds: f64 = argument.extract().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(seconds).map(Policy::Deadline).map_err(|_| wrong())
}
