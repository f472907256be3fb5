//! Memory that Python objects look into: a type with the buffer protocol.
//!
//! The stable interface of CPython has buffers from 3.11 on only, and this package supports 3.9, so the type is made by hand.
//! Slots and structures are those that 3.11 declared stable, which 3.9 and 3.10 have had, too.

use std::any::Any;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem::{self, ManuallyDrop};
use std::process;
use std::ptr;

use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use crate::buffer_ffi::{BufferView, PyBuffer_FillInfo};
use crate::error;

/// The numbers of the slots, which pyo3 does not give for interfaces before 3.11.
const GET_BUFFER: c_int = 1;
const RELEASE_BUFFER: c_int = 2;

/// Memory, and the value that keeps it.
pub(crate) struct Lent {
    pub(crate) start: *mut u8,
    pub(crate) bytes: usize,
    pub(crate) is_writable: bool,
    /// Dropped when the object dies, or is released.
    #[expect(dead_code, reason = "it is dropped with the rest")]
    pub(crate) keeper: Box<dyn Any>,
}

/// The object of Python.
#[repr(C)]
struct Exported {
    head: PyObject,
    body: ManuallyDrop<Body>,
}

struct Body {
    /// The process whose memory it is: a forked child does not have it.
    pid: u32,
    lent: Cell<Option<Lent>>,
    /// The buffers that are held by others.
    exports: Cell<usize>,
    /// The view that a `with` block has.
    view: Cell<Option<Py<PyAny>>>,
}

impl Body {
    fn check_unused(&self, py: Python<'_>) -> PyResult<()> {
        if let Some(view) = self.view.take() {
            // A view that others look into is not released.
            if view.call_method0(py, "release").is_err() {
                self.view.set(Some(view));
            }
        }
        if self.exports.get() > 0 {
            return Err(PyBufferError::new_err("views or arrays of the message are still in use"));
        }
        Ok(())
    }

    /// The start, the length and whether it may be written; `None` once it is released.
    fn place(&self) -> Option<(*mut u8, usize, bool)> {
        let lent = self.lent.take();
        let place = lent.as_ref().map(|lent| (lent.start, lent.bytes, lent.is_writable));
        self.lent.set(lent);
        place
    }
}

/// A new object over this memory.
pub(crate) fn export(py: Python<'_>, lent: Lent) -> PyResult<Py<PyAny>> {
    let class = class(py)?.as_ptr().cast();
    // SAFETY: the class is alive and made by `class`, and this thread is attached to the interpreter.
    let object = unsafe { ffi::PyType_GenericAlloc(class, 0) };
    if object.is_null() {
        return Err(PyErr::fetch(py));
    }
    let body = Body { pid: process::id(), lent: Cell::new(Some(lent)), exports: Cell::new(0), view: Cell::new(None) };
    // SAFETY: the object has the size of `Exported`, as its class says, and nobody else knows it.
    let place = unsafe { &raw mut (*object.cast::<Exported>()).body };
    // SAFETY: as above.
    unsafe { place.write(ManuallyDrop::new(body)) };
    // SAFETY: a new reference.
    Ok(unsafe { Bound::from_owned_ptr(py, object) }.unbind())
}

/// Gives back the view of a `with` block.
///
/// # Errors
/// `BufferError` if others look into the memory.
pub(crate) fn check_unused(object: &Bound<'_, PyAny>) -> PyResult<()> {
    assert!(object.get_type().is(class(object.py())?), "made by `export`");
    // SAFETY: the type was checked.
    unsafe { body(object.as_ptr()) }.check_unused(object.py())
}

/// The class, which is made once.
pub(crate) fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.get_or_try_init(py, || make_class(py)).map(|class| class.bind(py))
}

/// The methods of the class.
static mut METHODS: [ffi::PyMethodDef; 4] = [
    method(
        c"release",
        release,
        ffi::METH_NOARGS,
        c"release($self, /)\n--\n\nGives the memory back. Views and arrays of it must be gone.",
    ),
    method(c"__enter__", enter, ffi::METH_NOARGS, c"__enter__($self, /)\n--\n\nA memoryview of the bytes."),
    method(c"__exit__", exit, ffi::METH_VARARGS, c"__exit__($self, *error)\n--\n\nReleases the view and the memory."),
    ffi::PyMethodDef::zeroed(),
];

/// Its description.
const DOC: &std::ffi::CStr = c"Bytes in place: a message that was received, or room for one to be sent.\n\nSupports the buffer protocol: \
    ``memoryview(message)``, ``bytes(message)``, ``numpy.frombuffer(message, ...)``. A ``with`` block gives a memoryview and \
    releases the message at its end. A message that is not released keeps its place in the channel until the object, and all views \
    and arrays of it, are gone.";

fn make_class(py: Python<'_>) -> PyResult<Py<PyType>> {
    let slot = |number: c_int, function: *mut c_void| ffi::PyType_Slot { slot: number, pfunc: function };
    let mut slots = [
        slot(ffi::Py_tp_doc, DOC.as_ptr().cast_mut().cast()),
        slot(ffi::Py_tp_new, refuse_new as *mut c_void),
        slot(ffi::Py_tp_dealloc, dealloc as *mut c_void),
        slot(ffi::Py_tp_methods, (&raw mut METHODS).cast()),
        slot(ffi::Py_sq_length, length as *mut c_void),
        slot(GET_BUFFER, get_buffer as *mut c_void),
        slot(RELEASE_BUFFER, release_buffer as *mut c_void),
        slot(0, ptr::null_mut()),
    ];
    let mut spec = ffi::PyType_Spec {
        name: c"corecast.Message".as_ptr(),
        basicsize: mem::size_of::<Exported>() as c_int,
        itemsize: 0,
        flags: ffi::Py_TPFLAGS_DEFAULT as _,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the slots have functions of the types that they stand for, and end with a zero; all strings are static.
    let class = unsafe { ffi::PyType_FromSpec(&raw mut spec) };
    // SAFETY: a new reference, or null with an exception.
    let class = unsafe { Bound::from_owned_ptr_or_err(py, class) }?;
    Ok(class.cast_into::<PyType>()?.unbind())
}

const fn method(
    name: &'static std::ffi::CStr,
    function: ffi::PyCFunction,
    flags: c_int,
    doc: &'static std::ffi::CStr,
) -> ffi::PyMethodDef {
    let ml_meth = ffi::PyMethodDefPointer { PyCFunction: function };
    ffi::PyMethodDef { ml_name: name.as_ptr(), ml_meth, ml_flags: flags, ml_doc: doc.as_ptr() }
}

/// The body of an object of the class.
///
/// # Safety
/// It is one, and alive for as long as the result is used.
unsafe fn body<'a>(object: *mut PyObject) -> &'a Body {
    // SAFETY: the caller's promise; `export` wrote the body before anybody knew the object.
    unsafe { &(*object.cast::<Exported>()).body }
}

/// Runs a method, with its errors set for the interpreter.
fn answer(method: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>>) -> *mut PyObject {
    // SAFETY: the interpreter calls the functions of a class in a thread that is attached.
    let py = unsafe { Python::assume_attached() };
    match method(py) {
        Ok(object) => object.into_ptr(),
        Err(error) => {
            error.restore(py);
            ptr::null_mut()
        }
    }
}

unsafe extern "C" fn refuse_new(_: *mut ffi::PyTypeObject, _: *mut PyObject, _: *mut PyObject) -> *mut PyObject {
    answer(|_| Err(pyo3::exceptions::PyTypeError::new_err("messages come from a channel: use recv() or reserve()")))
}

unsafe extern "C" fn dealloc(object: *mut PyObject) {
    // SAFETY: the object is alive until the end of this function.
    let class = unsafe { ffi::Py_TYPE(object) };
    // SAFETY: as in `body`; nobody uses the object any more.
    let body = unsafe { &mut (*object.cast::<Exported>()).body };
    // SAFETY: dropped once, as the memory is freed below.
    unsafe { ManuallyDrop::drop(body) };
    // SAFETY: the class is one of the heap, so it has the slot.
    let free = unsafe { ffi::PyType_GetSlot(class, ffi::Py_tp_free) };
    // SAFETY: this slot has a function of this type.
    let free: unsafe extern "C" fn(*mut c_void) = unsafe { mem::transmute(free) };
    // SAFETY: the object came from the class's allocator.
    unsafe { free(object.cast()) };
    // SAFETY: objects of classes of the heap hold a reference to them.
    unsafe { ffi::Py_DECREF(class.cast()) };
}

unsafe extern "C" fn length(object: *mut PyObject) -> ffi::Py_ssize_t {
    // SAFETY: the interpreter passes an object of the class.
    unsafe { body(object) }.place().map_or(0, |(_, bytes, _)| bytes as ffi::Py_ssize_t)
}

unsafe extern "C" fn get_buffer(object: *mut PyObject, view: *mut BufferView, flags: c_int) -> c_int {
    // SAFETY: the interpreter passes an object of the class.
    let body = unsafe { body(object) };
    if body.pid != process::id() {
        answer(|_| Err(error::forked("message")));
        return -1;
    }
    let Some((start, bytes, is_writable)) = body.place() else {
        answer(|_| Err(PyValueError::new_err("the message has been released")));
        return -1;
    };
    // SAFETY: the memory is there for as long as the object, of which the view gets a reference.
    let filled = unsafe {
        PyBuffer_FillInfo(view, object, start.cast(), bytes as ffi::Py_ssize_t, c_int::from(!is_writable), flags)
    };
    if filled == 0 {
        body.exports.set(body.exports.get() + 1);
    }
    filled
}

unsafe extern "C" fn release_buffer(object: *mut PyObject, _: *mut BufferView) {
    // SAFETY: the interpreter passes an object of the class.
    let exports = &unsafe { body(object) }.exports;
    exports.set(exports.get() - 1);
}

unsafe extern "C" fn enter(object: *mut PyObject, _: *mut PyObject) -> *mut PyObject {
    // SAFETY: the interpreter passes an object of the class.
    let body = unsafe { body(object) };
    answer(|py| {
        // SAFETY: the object is alive; the result is a new reference, or null with an exception.
        let view = unsafe { ffi::PyMemoryView_FromObject(object) };
        // SAFETY: as above.
        let view = unsafe { Bound::from_owned_ptr_or_err(py, view) }?;
        body.view.set(Some(view.clone().unbind()));
        Ok(view.unbind())
    })
}

unsafe extern "C" fn exit(object: *mut PyObject, _: *mut PyObject) -> *mut PyObject {
    // SAFETY: the interpreter passes an object of the class.
    unsafe { release(object, ptr::null_mut()) }
}

unsafe extern "C" fn release(object: *mut PyObject, _: *mut PyObject) -> *mut PyObject {
    // SAFETY: the interpreter passes an object of the class.
    let body = unsafe { body(object) };
    answer(|py| {
        body.check_unused(py)?;
        body.lent.set(None);
        Ok(py.None())
    })
}
