//! A sender of a broadcast channel.

use std::time::Duration;

use corecast::channel::TrySendError;
use corecast::channel::mcast::bytes::{Loan, Sender, sender, spec};
use corecast::channel::mcast::{Config, Delivery, ZeroReaders};
use corecast::region::Liveness;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use crate::borrowed::Borrowed;
use crate::error::{self, within};
use crate::hand::{LONG_COPY, Opened, SendingEnd, in_part, reopening};
use crate::lag;
use crate::meeting::{CHANNEL, Meeting};
use crate::room::{Room, Written};
use crate::waiting::{Limit, detached, until};

/// The longest message that may lie in a slot: its place is not known before it is sent.
const LONGEST_INLINE: usize = 240;

/// A sender of a broadcast channel: each message is written once, and every subscriber reads it in place.
///
/// >>> import corecast
/// >>> with corecast.Publisher("docs-publisher", max_bytes=1000) as publisher:
/// ...     reader = corecast.Subscriber("docs-publisher", timeout=5)
/// ...     publisher.send(b"written once")
/// ...     with publisher.reserve(4) as room:
/// ...         room[:] = b"more"
/// ...     [reader.recv_bytes(), reader.recv_bytes()]
/// [b'written once', b'more']
#[pyclass(module = "corecast", frozen)]
pub(crate) struct Publisher {
    opened: Opened<Sender>,
}

#[pymethods]
impl Publisher {
    /// Makes a channel and hosts it under `name`, for processes of this user; without a name it is found by `share`.
    ///
    /// `max_bytes`: the longest message. `slots`: the messages that it holds, a power of two; beside short ones it takes `slots +
    /// publishers` times `max_bytes` of memory once that is used: of messages of many megabytes take few, which stay in caches.
    /// `readers`, `publishers`: the most ends at a time.
    /// `overwrite`: subscribers may choose to be left behind. `when_alone`: "discard" or "wait", while there is no subscriber.
    /// `wait`: "adaptive" (spins for a while, then sleeps), "spin", "yield" or "park".
    #[new]
    #[pyo3(signature = (name=None, *, max_bytes=65536, slots=16, readers=64, publishers=1, overwrite=false, when_alone="discard", wait="adaptive"))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn new(
        name: Option<&str>,
        max_bytes: usize,
        slots: usize,
        readers: usize,
        publishers: usize,
        overwrite: bool,
        when_alone: &str,
        wait: &str,
    ) -> PyResult<Self> {
        use corecast::channel::mcast::{MAX_BYTES, MAX_READERS, MAX_SENDERS, MAX_SLOTS};
        within("max_bytes", max_bytes, MAX_BYTES)?;
        within("slots", slots, MAX_SLOTS)?;
        within("readers", readers, MAX_READERS)?;
        within("publishers", publishers, MAX_SENDERS)?;
        let zero_readers = match when_alone {
            "discard" => ZeroReaders::Discard,
            "wait" => ZeroReaders::Block,
            other => return Err(error::value(format_args!("when_alone is '{other}': expected 'discard' or 'wait'"))),
        };
        let config = Config {
            slots,
            block_bytes: max_bytes,
            readers,
            senders: publishers,
            delivery: if overwrite { Delivery::Overwrite } else { Delivery::Gated },
            zero_readers,
            wait: wait.parse().map_err(error::value)?,
            ..Config::default()
        };
        Self::at(Meeting::found(spec(config))?, name)
    }

    /// One more publisher of a channel that another process has made for several, waiting up to `timeout` seconds for it.
    #[classmethod]
    #[pyo3(signature = (name, *, timeout=10.0))]
    fn join(_class: &Bound<'_, PyType>, py: Python<'_>, name: &str, timeout: Option<f64>) -> PyResult<Self> {
        Self::at(Meeting::find(py, name, Limit::of(timeout)?)?, Some(name))
    }

    /// Sends a copy of the bytes of `data`, an object with the buffer protocol, waiting up to `timeout` seconds for room. Memory
    /// that is not contiguous is copied twice, with a `CopyWarning`.
    ///
    /// Raises `Timeout`, `TooLarge`.
    #[pyo3(signature = (data, timeout=None))]
    fn send(&self, py: Python<'_>, data: &Bound<'_, PyAny>, timeout: Option<f64>) -> PyResult<()> {
        let limit = Limit::of(timeout)?;
        let data = Borrowed::of(data)?;
        let hand = self.opened.hand()?;
        let sender = &mut hand.begin()?.end;
        let mut loan = sender.reserve(data.len()).map_err(error::send)?;
        if data.len() < LONG_COPY {
            fill(&mut loan, &data);
        } else {
            detached(py, || fill(&mut loan, &data));
        }
        match loan.try_commit() {
            Ok(()) => return Ok(()),
            Err(TrySendError::Failed(failed)) => return Err(error::send(failed)),
            Err(_) => {}
        }
        if data.len() > LONGEST_INLINE {
            // The bytes are in the sender's own memory already.
            return until(py, limit, |part| commit_within(sender, data.len(), part));
        }
        // SAFETY: the copy of a message that Python changes meanwhile has some of its bytes.
        let bytes = unsafe { data.bytes() };
        until(py, limit, |part| in_part(sender.send_timeout(bytes, part)))
    }

    /// Room for a message of `size` bytes, to be written in place. As a `with` block it gives a writable memoryview, and sends
    /// the message at the end unless an exception leaves the block.
    fn reserve(&self, py: Python<'_>, size: usize) -> PyResult<Room> {
        self.opened.hand()?.reserve(py, size, |sender| {
            let mut loan = sender.reserve(size).map_err(error::send)?;
            Ok(loan.bytes().as_mut_slice().map(<[u8]>::as_mut_ptr).filter(|_| size > LONGEST_INLINE))
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

    /// A descriptor of the channel for a child process, which passes its number to `Subscriber.from_fd`: give it to
    /// `subprocess.Popen(pass_fds=...)`, and close it with `os.close` afterwards.
    fn share(&self) -> PyResult<i32> {
        self.opened.hand()?.meeting.share()
    }

    /// The processes that are attached to the channel: for each a dict of its `pid`, and whether it is `alive` and
    /// `stopped`.
    fn participants<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let hand = self.opened.hand()?;
        let region = &hand.meeting.region;
        let all = region.participants().map_err(|_| error::forked("channel"))?;
        let tell = |who: &corecast::region::Participant| {
            let facts = PyDict::new(py);
            facts.set_item("pid", who.pid)?;
            facts.set_item("alive", region.liveness(who.id) == Liveness::Alive)?;
            facts.set_item("stopped", region.is_stopped(who.id))?;
            Ok(facts)
        };
        all.iter().map(tell).collect()
    }

    /// The subscribers now: for each a dict: its `pid`, the messages that it is `behind`, its `policy` and its `state`, which is
    /// "open", "given up" (it was left behind, and has not noticed yet) or "dead".
    ///
    /// Open messages of a reliable reader count. The number may be too high by an eighth of the slots, as a busy reader seldom
    /// writes where it is. A look takes some system calls: it is for people and for decisions, not for each message.
    fn readers<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let hand = self.opened.hand()?;
        let seen = detached(py, || lag::readers(&hand.meeting.region))?;
        seen.iter().map(|reader| reader.to_dict(py)).collect()
    }

    /// Says goodbye: subscribers receive what was sent, and then `Closed`.
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

    /// Of a named one: one more publisher of the same channel, opened where it is unpickled.
    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, (String,))> {
        let (open, name) = reopening(slf.py(), "publisher", slf.get().opened.name.as_deref())?;
        Ok((open, (name,)))
    }

    fn __repr__(&self) -> String {
        self.opened.describe("Publisher")
    }
}

impl Publisher {
    fn at(meeting: Meeting, name: Option<&str>) -> PyResult<Self> {
        let end = sender(&meeting.region, CHANNEL).map_err(error::open)?;
        // SAFETY: the processes of a user trust each other not to write into messages, as the guide says.
        let honest = unsafe { meeting.region.assume_honest() };
        let sender = end.with_honest(&honest);
        drop(honest);
        Ok(Self { opened: Opened::new(sender, meeting.host(name)?, name) })
    }
}

impl SendingEnd for Sender {
    const NAME: &'static str = "publisher";

    fn commit(&mut self, py: Python<'_>, limit: Limit, message: Written<'_>) -> PyResult<()> {
        match message {
            Written::InPlace(size) => until(py, limit, |part| commit_within(self, size, part)),
            Written::Aside(bytes) => until(py, limit, |part| in_part(self.send_timeout(bytes, part))),
        }
    }
}

/// Sends what lies in the sender's own block, within one part of a wait.
fn commit_within(sender: &mut Sender, size: usize, part: Duration) -> Option<PyResult<()>> {
    match sender.reserve(size) {
        Ok(loan) => in_part(loan.commit_timeout(part)),
        Err(failed) => Some(Err(error::send(failed))),
    }
}

/// Copies a message to its place.
fn fill(loan: &mut Loan<'_>, data: &Borrowed) {
    // SAFETY: of what another thread of Python writes meanwhile, some bytes come over and some do not.
    loan.bytes().copy_from(unsafe { data.bytes() });
}
