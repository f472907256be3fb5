//! CPython's buffers, as 3.11 declared them stable; 3.9 and 3.10 have the same, without the declaration.

use std::ffi::{c_char, c_int, c_void};

use pyo3::ffi::{Py_ssize_t, PyObject};

/// With the format of its items, and contiguous in the order of C.
pub(crate) const C_CONTIGUOUS_FORMAT: c_int = 0x0020 | 0x0010 | 0x0008 | 0x0004;
/// It shall be writable.
pub(crate) const WRITABLE: c_int = 0x0001;

/// `Py_buffer`.
#[repr(C)]
pub(crate) struct BufferView {
    pub(crate) buf: *mut c_void,
    pub(crate) obj: *mut PyObject,
    pub(crate) len: Py_ssize_t,
    pub(crate) itemsize: Py_ssize_t,
    pub(crate) readonly: c_int,
    pub(crate) ndim: c_int,
    pub(crate) format: *mut c_char,
    pub(crate) shape: *mut Py_ssize_t,
    pub(crate) strides: *mut Py_ssize_t,
    pub(crate) suboffsets: *mut Py_ssize_t,
    pub(crate) internal: *mut c_void,
}

unsafe extern "C" {
    pub(crate) fn PyObject_GetBuffer(object: *mut PyObject, view: *mut BufferView, flags: c_int) -> c_int;
    pub(crate) fn PyBuffer_Release(view: *mut BufferView);
    pub(crate) fn PyBuffer_FillInfo(
        view: *mut BufferView,
        object: *mut PyObject,
        start: *mut c_void,
        len: Py_ssize_t,
        readonly: c_int,
        flags: c_int,
    ) -> c_int;
}
