//! Errors of the library as the exceptions of the package's module `_errors`.

use std::fmt::Display;

use corecast::channel::{OpenChannelError, RecvError, SendError};
use corecast::collective::Error;
use corecast::processes::JoinError;
use corecast::rendezvous::RendezvousError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

/// The class of this name in `corecast._errors`.
fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    Ok(py.import("corecast._errors")?.getattr(name)?.cast_into::<PyType>()?)
}

/// An exception of this class, with this text.
pub(crate) fn named(name: &'static str, why: impl Display) -> PyErr {
    with(name, why, |_| Ok(()))
}

/// An exception of this class, with this text and the keywords that `tell` sets.
fn with(name: &'static str, why: impl Display, tell: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>) -> PyErr {
    Python::attach(|py| {
        let made = (|| {
            let keywords = PyDict::new(py);
            tell(&keywords)?;
            let text = PyTuple::new(py, [why.to_string()])?;
            Ok(PyErr::from_value(class(py, name)?.call(text, Some(&keywords))?))
        })();
        made.unwrap_or_else(|error: PyErr| error)
    })
}

/// An argument with an impossible value.
pub(crate) fn value(why: impl Display) -> PyErr {
    PyValueError::new_err(why.to_string())
}

/// Checks that a size is possible.
pub(crate) fn within(name: &str, given: usize, most: usize) -> PyResult<()> {
    if (1..=most).contains(&given) {
        return Ok(());
    }
    Err(value(format_args!("{name} is {given}: expected 1 to {most}")))
}

/// True for an exception of this class of `corecast._errors`.
pub(crate) fn is(py: Python<'_>, error: &PyErr, name: &str) -> bool {
    class(py, name).is_ok_and(|class| error.is_instance(py, &class))
}

/// An end without a name cannot be opened anew elsewhere.
pub(crate) fn not_picklable(what: &str) -> PyErr {
    pyo3::exceptions::PyTypeError::new_err(format!(
        "this {what} has no name by which another process could open its own: pass the descriptor of `share`"
    ))
}

/// An argument of a type that has no such operation.
pub(crate) fn dtype(why: impl Display) -> PyErr {
    pyo3::exceptions::PyTypeError::new_err(why.to_string())
}

pub(crate) fn timeout() -> PyErr {
    named("Timeout", "nothing happened until the limit of the wait")
}

/// The object is in use by another thread, or by a call that a signal handler interrupts.
pub(crate) fn busy(what: &str) -> PyErr {
    named(
        "Busy",
        format_args!(
            "this {what} is in use by another thread, or by the call that this one interrupts: open one for each"
        ),
    )
}

pub(crate) fn closed(what: &str) -> PyErr {
    named("Closed", format_args!("this {what} has been closed"))
}

pub(crate) fn forked(what: &str) -> PyErr {
    named(
        "Forked",
        format_args!("this {what} belongs to the parent of this process: open one anew in the child, by its name"),
    )
}

/// Says that the bytes of an object were copied.
pub(crate) fn warn_of_copy(py: Python<'_>) -> PyResult<()> {
    let text = c"the memory is not contiguous, so it was copied: numpy.ascontiguousarray makes that copy once";
    PyErr::warn(py, class(py, "CopyWarning")?.as_any(), text, 2)
}

pub(crate) fn recv(error: RecvError) -> PyErr {
    match error {
        RecvError::Closed => named("Closed", error),
        RecvError::Died => named("Died", error),
        RecvError::Lagged { missed } => with("Lagged", error, |keywords| keywords.set_item("missed", missed)),
        RecvError::Forked => forked("end"),
        other => named("Corrupt", other),
    }
}

pub(crate) fn send<T>(error: SendError<T>) -> PyErr {
    let class = match &error {
        SendError::Closed(_) => "Closed",
        SendError::Died(_) => "Died",
        SendError::TooLarge { .. } => "TooLarge",
        SendError::Forked(_) => return forked("end"),
        _ => "Corrupt",
    };
    named(class, error)
}

pub(crate) fn open(error: OpenChannelError) -> PyErr {
    let class = match &error {
        OpenChannelError::Closed { .. } => "Closed",
        OpenChannelError::Died { .. } => "Died",
        OpenChannelError::Taken { .. } => "Exists",
        OpenChannelError::Policy { .. } => return value(error),
        OpenChannelError::Forked(_) => return forked("region"),
        OpenChannelError::Layout { .. } => "Corrupt",
        _ => "Error",
    };
    named(class, error)
}

pub(crate) fn meet(error: RendezvousError) -> PyErr {
    let class = match &error {
        RendezvousError::NotFound(_) => "NotFound",
        RendezvousError::Exists(_) => "Exists",
        RendezvousError::TimedOut(_) => "Timeout",
        RendezvousError::BadName(_) | RendezvousError::PathTooLong { .. } => return value(error),
        _ => "Error",
    };
    named(class, error)
}

pub(crate) fn join(error: JoinError) -> PyErr {
    match error {
        JoinError::Member(error) => group(error),
        JoinError::Meet(error) => meet(error),
        JoinError::SetupTimeout { .. } => named("Timeout", error),
        other => named("Error", other),
    }
}

pub(crate) fn group(error: Error) -> PyErr {
    match error {
        Error::MemberLost { rank, loss } => with("MemberLost", error, |keywords| {
            keywords.set_item("rank", rank)?;
            keywords.set_item("loss", loss.to_string())
        }),
        Error::Timeout { ref missing } => {
            with("Timeout", error, |keywords| keywords.set_item("missing", missing.ranks().collect::<Vec<_>>()))
        }
        Error::Forked => forked("group"),
        Error::Corrupt => named("Corrupt", error),
        Error::BadRank { .. } | Error::WrongCount { .. } => value(error),
        other => named("Error", other),
    }
}
