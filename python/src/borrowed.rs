//! Memory of Python objects that a call looks into: bytes, arrays and all else with the buffer protocol.

use std::ffi::{CStr, c_int};
use std::mem::MaybeUninit;

use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::buffer_ffi::{BufferView, C_CONTIGUOUS_FORMAT, PyBuffer_Release, PyObject_GetBuffer, WRITABLE};
use crate::error;

/// Contiguous memory of an object, which it keeps alive and in place until this is dropped.
pub(crate) struct Borrowed {
    /// In a box, as the interpreter keeps its address.
    view: Box<BufferView>,
}

// SAFETY: the memory stays where it is until the view is released, in whichever thread is attached to the interpreter then.
unsafe impl Send for Borrowed {}
// SAFETY: as above; nothing in it changes.
unsafe impl Sync for Borrowed {}

impl Borrowed {
    /// The bytes of an object, in place. Those of one that is not contiguous are copied, with a warning that says so.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        match Self::contiguous(object, C_CONTIGUOUS_FORMAT) {
            // Arrays of numpy say it by a ValueError.
            Err(error) if is_refusal(object.py(), &error) => Self::copied(object),
            other => other,
        }
    }

    /// Memory of an object that is to be written, in place.
    pub(crate) fn writable(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::contiguous(object, C_CONTIGUOUS_FORMAT | WRITABLE)
    }

    fn contiguous(object: &Bound<'_, PyAny>, flags: c_int) -> PyResult<Self> {
        let mut view = Box::<MaybeUninit<BufferView>>::new(MaybeUninit::uninit());
        // SAFETY: the object is alive, and the view has the layout that the interpreter expects.
        if unsafe { PyObject_GetBuffer(object.as_ptr(), view.as_mut_ptr(), flags) } != 0 {
            return Err(PyErr::fetch(object.py()));
        }
        // SAFETY: the call filled it.
        Ok(Self { view: unsafe { view.assume_init() } })
    }

    fn copied(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = object.py();
        let view = py.import("builtins")?.call_method1("memoryview", (object,))?;
        let bytes = view.call_method0("tobytes")?.cast_into::<PyBytes>()?;
        error::warn_of_copy(py)?;
        Self::contiguous(&bytes, C_CONTIGUOUS_FORMAT)
    }

    /// Its length in bytes.
    pub(crate) fn len(&self) -> usize {
        usize::try_from(self.view.len).expect("a buffer has a length")
    }

    /// The address of the first byte.
    pub(crate) fn start(&self) -> *mut u8 {
        self.view.buf.cast()
    }

    /// The bytes of one item.
    pub(crate) fn item_bytes(&self) -> usize {
        usize::try_from(self.view.itemsize).expect("an item has a length")
    }

    /// The format of its items, as the module `struct` writes it.
    pub(crate) fn format(&self) -> &str {
        if self.view.format.is_null() {
            return "B";
        }
        // SAFETY: the interpreter's string, which ends with a zero and lives as long as the view.
        unsafe { CStr::from_ptr(self.view.format) }.to_str().unwrap_or("?")
    }

    /// The bytes.
    ///
    /// # Safety
    /// Nobody writes them meanwhile.
    pub(crate) unsafe fn bytes(&self) -> &[u8] {
        if self.view.len == 0 {
            return &[];
        }
        // SAFETY: the view says so, and the caller that nobody writes.
        unsafe { std::slice::from_raw_parts(self.start(), self.len()) }
    }
}

/// True if an object with the buffer protocol is not contiguous.
fn is_refusal(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyBufferError>(py) || error.is_instance_of::<PyValueError>(py)
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        // Without an interpreter there is nothing to give back to.
        let _ = Python::try_attach(|_| {
            // SAFETY: it was filled by the interpreter and is released once, by a thread that is attached.
            unsafe { PyBuffer_Release(&raw mut *self.view) };
        });
    }
}
