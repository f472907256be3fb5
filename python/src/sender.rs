//! The sending end of a channel between two processes.

use corecast::channel::TrySendError;
use corecast::channel::ump::bytes::{Loan, Sender as End, sender, spec};
use corecast::channel::ump::{Config, MAX_SLOTS};
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

use crate::borrowed::Borrowed;
use crate::error::{self, within};
use crate::hand::{LONG_COPY, Opened, SendingEnd, in_part, reopening};
use crate::meeting::{CHANNEL, Meeting};
use crate::room::{Room, Written};
use crate::waiting::{Limit, detached, until};

/// The longest message: a quarter of the longest ring.
const LONGEST: usize = 64 * (MAX_SLOTS / 4) - 64;

/// A new channel between two processes.
pub(crate) fn found(max_bytes: usize, slots: usize, wait: &str) -> PyResult<Meeting> {
    within("max_bytes", max_bytes, LONGEST)?;
    within("slots", slots, MAX_SLOTS)?;
    let config = Config { slots, wait: wait.parse().map_err(error::value)?, ..Config::default() };
    Meeting::found(spec(config.holding(max_bytes)))
}

/// The sending end of a channel from one process to one other.
///
/// >>> import corecast
/// >>> sender = corecast.Sender("docs-sender", max_bytes=100)
/// >>> receiver = corecast.Receiver("docs-sender", timeout=5)
/// >>> sender.send(b"a request")
/// >>> receiver.recv_bytes(timeout=5)
/// b'a request'
#[pyclass(module = "corecast", frozen)]
pub(crate) struct Sender {
    opened: Opened<End>,
}

#[pymethods]
impl Sender {
    /// Makes a channel and hosts it under `name`, for one receiver of this user; without a name it is found by `share`. With
    /// `create=False` takes the sending end of a channel that its receiver has made, waiting up to `timeout` seconds for it.
    ///
    /// `max_bytes`: the longest message. `slots`: the size of its ring in lines of 64 bytes; it is made large enough for four
    /// messages of `max_bytes`. `wait`: "adaptive" (spins for a while, then sleeps), "spin", "yield" or "park".
    #[new]
    #[pyo3(signature = (name=None, *, create=true, max_bytes=65536, slots=64, wait="adaptive", timeout=10.0))]
    fn new(
        py: Python<'_>,
        name: Option<&str>,
        create: bool,
        max_bytes: usize,
        slots: usize,
        wait: &str,
        timeout: Option<f64>,
    ) -> PyResult<Self> {
        let limit = Limit::of(timeout)?;
        let meeting = match name {
            Some(name) if !create => Meeting::find(py, name, limit)?,
            None if !create => {
                return Err(error::value("a channel that another process has made is found by its name: give one"));
            }
            _ => found(max_bytes, slots, wait)?,
        };
        Self::at(meeting, name)
    }

    /// Takes the sending end by a descriptor that this process inherited: see `Receiver.share`.
    #[classmethod]
    fn from_fd(_class: &Bound<'_, PyType>, fd: i32) -> PyResult<Self> {
        Self::at(Meeting::of_fd(fd)?, None)
    }

    /// Sends a copy of the bytes of `data`, an object with the buffer protocol, waiting up to `timeout` seconds for room. Memory
    /// that is not contiguous is copied twice, with a `CopyWarning`.
    ///
    /// Raises `Timeout`, `TooLarge`, `Closed` or `Died`.
    #[pyo3(signature = (data, timeout=None))]
    fn send(&self, py: Python<'_>, data: &Bound<'_, PyAny>, timeout: Option<f64>) -> PyResult<()> {
        let limit = Limit::of(timeout)?;
        let data = Borrowed::of(data)?;
        let hand = self.opened.hand()?;
        let end = &mut hand.begin()?.end;
        // SAFETY: of what another thread of Python writes meanwhile, some bytes come over and some do not.
        let bytes = unsafe { data.bytes() };
        let sent = if bytes.len() < LONG_COPY { end.try_send(bytes) } else { detached(py, || end.try_send(bytes)) };
        match sent {
            Ok(()) => Ok(()),
            Err(TrySendError::Failed(failed)) => Err(error::send(failed)),
            Err(_) => until(py, limit, |part| in_part(end.send_timeout(bytes, part))),
        }
    }

    /// Room for a message of `size` bytes, to be written in place, waiting up to `timeout` seconds for it. As a `with` block it
    /// gives a writable memoryview, and sends the message at the end unless an exception leaves the block.
    #[pyo3(signature = (size, timeout=None))]
    fn reserve(&self, py: Python<'_>, size: usize, timeout: Option<f64>) -> PyResult<Room> {
        let limit = Limit::of(timeout)?;
        self.opened.hand()?.reserve(py, size, |end| {
            until(py, limit, |part| in_part(end.reserve_timeout(size, part).map(drop)))?;
            let mut loan = end.try_reserve(size).map_err(gone)?;
            Ok(loan.bytes().as_mut_slice().map(<[u8]>::as_mut_ptr))
        })
    }

    /// The longest message, in bytes.
    #[getter]
    fn max_bytes(&self) -> PyResult<usize> {
        Ok(self.opened.hand()?.enter()?.end.max_len())
    }

    /// The name of the channel; None if there is none.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.opened.name.as_deref()
    }

    /// A descriptor of the channel for a child process, which passes its number to `Receiver.from_fd`: give it to
    /// `subprocess.Popen(pass_fds=...)`, and close it with `os.close` afterwards.
    fn share(&self) -> PyResult<i32> {
        self.opened.hand()?.meeting.share()
    }

    /// Says goodbye: the receiver gets what was sent, and then `Closed`.
    fn close(&self) -> PyResult<()> {
        self.opened.close()
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close()
    }

    /// Of a named one: the sending end, taken where it is unpickled. One process at a time can have it.
    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, (String,))> {
        let (open, name) = reopening(slf.py(), "sender", slf.get().opened.name.as_deref())?;
        Ok((open, (name,)))
    }

    fn __repr__(&self) -> String {
        self.opened.describe("Sender")
    }
}

impl Sender {
    fn at(meeting: Meeting, name: Option<&str>) -> PyResult<Self> {
        let end = sender(&meeting.region, CHANNEL).map_err(error::open)?;
        // SAFETY: the processes of a user trust each other not to write into messages, as the guide says.
        let honest = unsafe { meeting.region.assume_honest() };
        let end = end.with_honest(&honest);
        drop(honest);
        Ok(Self { opened: Opened::new(end, meeting.host(name)?, name) })
    }
}

impl SendingEnd for End {
    const NAME: &'static str = "sender";

    fn commit(&mut self, py: Python<'_>, limit: Limit, message: Written<'_>) -> PyResult<()> {
        match message {
            Written::InPlace(size) => self.try_reserve(size).map(Loan::commit).map_err(gone),
            Written::Aside(bytes) => until(py, limit, |part| in_part(self.send_timeout(bytes, part))),
        }
    }
}

/// The error of a place that was there before.
fn gone(error: TrySendError<()>) -> PyErr {
    match error {
        TrySendError::Failed(failed) => error::send(failed),
        _ => error::named("Corrupt", "room that was there is gone"),
    }
}
