//! Room for a message that is written in place.

use std::any::Any;
use std::slice;
use std::sync::{Arc, Mutex};

use pyo3::prelude::*;

use crate::error;
use crate::exported::{Lent, check_unused, export};
use crate::waiting::Limit;

/// A sending end that has given room away.
pub(crate) trait Outlet: Any + Send + Sync {
    /// Sends the message and takes new ones.
    fn commit(&self, py: Python<'_>, limit: Limit, message: Written<'_>) -> PyResult<()>;

    /// Takes new messages.
    fn cancel(&self) -> PyResult<()>;

    /// As [`cancel`](Self::cancel), when the room has died.
    fn give_up(&self);
}

/// A message, where it was written.
pub(crate) enum Written<'a> {
    /// This many bytes, which the caller has written at the end's place in the channel.
    InPlace(usize),
    /// Bytes in memory of the room.
    Aside(&'a [u8]),
}

/// The address of the bytes.
#[derive(Clone, Copy)]
struct Start(*mut u8);

// SAFETY: only the thread that has locked the room uses it.
unsafe impl Send for Start {}
// SAFETY: as above.
unsafe impl Sync for Start {}

/// Room for one message, of `reserve`: a `with` block gives a writable memoryview and sends the message at its end, unless an
/// exception leaves the block.
#[pyclass(module = "corecast", frozen)]
pub(crate) struct Room {
    outlet: Arc<dyn Outlet>,
    memory: Py<PyAny>,
    start: Start,
    size: usize,
    /// False where the place is not known before it is sent, or may be read meanwhile: then the bytes are copied.
    is_in_place: bool,
    is_open: Mutex<bool>,
}

impl Room {
    /// Room at this place of the channel, or in memory of its own.
    pub(crate) fn open(
        py: Python<'_>,
        outlet: Arc<impl Outlet>,
        in_place: Option<*mut u8>,
        size: usize,
    ) -> PyResult<Self> {
        let mut aside = if in_place.is_none() { vec![0_u8; size] } else { Vec::new() }.into_boxed_slice();
        let start = in_place.unwrap_or(aside.as_mut_ptr());
        let keeper = Box::new((Arc::clone(&outlet), aside));
        let memory = export(py, Lent { start, bytes: size, is_writable: true, keeper })?;
        let is_open = Mutex::new(true);
        Ok(Self { outlet, memory, start: Start(start), size, is_in_place: in_place.is_some(), is_open })
    }
}

#[pymethods]
impl Room {
    /// The bytes, with the buffer protocol.
    #[getter]
    fn memory(&self, py: Python<'_>) -> Py<PyAny> {
        self.memory.clone_ref(py)
    }

    /// Sends the message, waiting up to `timeout` seconds for a place. Views and arrays of the room must be gone.
    #[pyo3(signature = (timeout=None))]
    fn commit(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        let limit = Limit::of(timeout)?;
        let mut is_open = self.is_open.try_lock().map_err(|_| error::busy("room"))?;
        if !*is_open {
            return Err(error::value("the room has been committed or cancelled"));
        }
        check_unused(self.memory.bind(py))?;
        let message = if self.is_in_place {
            Written::InPlace(self.size)
        } else {
            // SAFETY: the memory is that of the room, of which there is no view.
            Written::Aside(unsafe { slice::from_raw_parts(self.start.0, self.size) })
        };
        self.outlet.commit(py, limit, message)?;
        *is_open = false;
        self.memory.call_method0(py, "release").map(drop)
    }

    /// Sends nothing.
    fn cancel(&self, py: Python<'_>) -> PyResult<()> {
        let mut is_open = self.is_open.try_lock().map_err(|_| error::busy("room"))?;
        if *is_open {
            self.memory.call_method0(py, "release")?;
            self.outlet.cancel()?;
            *is_open = false;
        }
        Ok(())
    }

    fn __enter__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.memory.call_method0(py, "__enter__")
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        kind: &Bound<'_, PyAny>,
        _error: &Bound<'_, PyAny>,
        _trace: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        if kind.is_none() { self.commit(py, None) } else { self.cancel(py) }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if self.is_open.get_mut().is_ok_and(|is_open| *is_open) {
            self.outlet.give_up();
        }
    }
}
