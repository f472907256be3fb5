//! A dictionary of which each process has a copy, and that outlives any of them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use corecast::region::Liveness;
use corecast::replica::kv::{Answer, Condition, Key, MAX_KEYS, Op, Out, Query, Store, Value};
use corecast::replica::{Batch, Config, Level, MAX_SLOTS, NodeProcess};
use pyo3::exceptions::{PyKeyError, PyOverflowError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyList, PyTuple, PyType};

use crate::borrowed::Borrowed;
use crate::error::{self, within};
use crate::hand::{describe, reopening};
use crate::replicated_group::{found, join};
use crate::replicated_member::{Member, forked};
use crate::waiting::{Limit, detached};

/// A dictionary of bytes that processes share: each has a copy of all of it, and the copies are kept identical (by 1Paxos).
///
/// A change that was made is not lost as long as one process lives, whichever others are killed or stopped. `get` and all other
/// reads but `get_local` show every change that has returned in any process before the read began, and read this
/// process's copy. Any number of threads may use one object. Keys (1 to 1,024 bytes) and values (up to 16 MiB) are bytes, or
/// other objects with the buffer protocol; text is to be encoded. A store that `corecast kv serve NAME` serves is such a
/// dictionary, too.
///
/// >>> import corecast
/// >>> with corecast.Replicated.create("docs-replicated", replicas=3) as settings:
/// ...     settings[b"colour"] = b"blue"
/// ...     settings.compare_and_set(b"colour", b"blue", b"red"), settings.increment(b"starts"), settings[b"colour"]
/// (True, 1, b'red')
#[pyclass(module = "corecast", frozen)]
pub(crate) struct Replicated {
    member: Mutex<Option<Arc<Member>>>,
    name: String,
    pid: u32,
}

#[pymethods]
impl Replicated {
    /// Makes an empty dictionary under a name, of which at most `replicas` processes have a copy at the same time.
    ///
    /// Each process sets `bulk_bytes` of memory aside for changes longer than 32 bytes that are under way, and no single change
    /// is longer than that. With a `folder` every change is in files there before it returns (`fsync` is "always", or "everysec"
    /// or "never", which lose less than a second, or all that the system has not written yet, at a power loss); then the
    /// dictionary begins with what they hold. The folder is for this dictionary only, and all its processes name it.
    ///
    /// Raises `Exists` where the name is in use.
    #[classmethod]
    #[pyo3(signature = (name, *, replicas=16, bulk_bytes=32 << 20, folder=None, fsync="always"))]
    fn create(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        name: &str,
        replicas: usize,
        bulk_bytes: u64,
        folder: Option<PathBuf>,
        fsync: &str,
    ) -> PyResult<Self> {
        within("replicas", replicas, MAX_SLOTS)?;
        let layout = |config: Config| config.slots(replicas).bulk_bytes(bulk_bytes);
        Ok(Self::of(found(py, name, layout, folder, fsync)?, name))
    }

    /// Takes a copy of the dictionary of a name, waiting up to `timeout` seconds, or for ever with None, until a process has
    /// made it and a place is free. `folder` and `fsync` are as for `create`.
    #[classmethod]
    #[pyo3(signature = (name, *, timeout=10.0, folder=None, fsync="always"))]
    fn join(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        name: &str,
        timeout: Option<f64>,
        folder: Option<PathBuf>,
        fsync: &str,
    ) -> PyResult<Self> {
        Ok(Self::of(join(py, name, Limit::of(timeout)?, folder, fsync)?, name))
    }

    /// The value of a key, or `default`.
    #[pyo3(signature = (key, default=None, timeout=None))]
    fn get(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        default: Option<Py<PyAny>>,
        timeout: Option<f64>,
    ) -> PyResult<Option<Py<PyAny>>> {
        let value = self.value(py, Level::Linearizable, Limit::of(timeout)?, key_of(key)?)?;
        Ok(value.map(|value| bytes_of(py, &value)).or(default))
    }

    /// The value of a key, or `default`, in this process's copy as it is. It may lack changes of others that have returned, and
    /// waits for no other process.
    #[pyo3(signature = (key, default=None))]
    fn get_local(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        default: Option<Py<PyAny>>,
    ) -> PyResult<Option<Py<PyAny>>> {
        let value = self.value(py, Level::Local, Limit::of(None)?, key_of(key)?)?;
        Ok(value.map(|value| bytes_of(py, &value)).or(default))
    }

    /// The values of keys at one moment, as a list; None for a key without one.
    #[pyo3(signature = (keys, timeout=None))]
    fn get_many(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<Vec<Option<Py<PyAny>>>> {
        let limit = Limit::of(timeout)?;
        let query = Query::MultiGet(keys_of(keys)?);
        match self.member()?.read(py, Level::Linearizable, limit, &query)? {
            Answer::Values(values) => {
                Ok(values.iter().map(|value| value.as_ref().map(|value| bytes_of(py, value))).collect())
            }
            other => Err(unexpected(other)),
        }
    }

    /// Gives a key a value; with `only_if` "absent" or "present" only a key that has none, or one. True if it was set.
    #[pyo3(signature = (key, value, *, only_if=None, timeout=None))]
    fn set(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        only_if: Option<&str>,
        timeout: Option<f64>,
    ) -> PyResult<bool> {
        let condition = match only_if {
            None => Condition::Always,
            Some("absent") => Condition::Absent,
            Some("present") => Condition::Present,
            Some(other) => {
                return Err(error::value(format_args!("only_if is '{other}': expected 'absent', 'present' or None")));
            }
        };
        let op = Op::Set { key: key_of(key)?, value: value_of(value)?, condition };
        self.is_done(py, Limit::of(timeout)?, op)
    }

    /// Gives a key the value `new` if it has exactly the value `old`, or none where `old` is None. True if it was set.
    #[pyo3(signature = (key, old, new, timeout=None))]
    fn compare_and_set(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        old: Option<&Bound<'_, PyAny>>,
        new: &Bound<'_, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<bool> {
        let (key, new) = (key_of(key)?, value_of(new)?);
        let op = match old {
            Some(old) => Op::CompareAndSet { key, old: value_of(old)?, new },
            None => Op::Set { key, value: new, condition: Condition::Absent },
        };
        self.is_done(py, Limit::of(timeout)?, op)
    }

    /// Adds to the value of a key, a decimal integer of 64 bits such as b"-7", 0 where there is none; returns the sum.
    ///
    /// Raises `ValueError` if the value is no such integer, and `OverflowError` if the sum is none; the value stays then.
    #[pyo3(signature = (key, by=1, timeout=None))]
    fn increment(&self, py: Python<'_>, key: &Bound<'_, PyAny>, by: i64, timeout: Option<f64>) -> PyResult<i64> {
        let limit = Limit::of(timeout)?;
        match self.execute(py, limit, Op::Increment { key: key_of(key)?, by })? {
            Out::Integer(sum) => Ok(sum),
            Out::NotAnInteger => {
                Err(error::value(format_args!("the value of {} is no integer of 64 bits", key.repr()?)))
            }
            Out::Overflow => {
                Err(PyOverflowError::new_err(format!("the value of {} and {by} have no sum of 64 bits", key.repr()?)))
            }
            other => Err(unexpected(other)),
        }
    }

    /// Puts bytes behind the value of a key, or sets it; returns the length that it has then.
    #[pyo3(signature = (key, data, timeout=None))]
    fn append(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<u64> {
        let limit = Limit::of(timeout)?;
        match self.execute(py, limit, Op::Append { key: key_of(key)?, bytes: value_of(data)? })? {
            Out::Count(len) => Ok(len),
            Out::TooLong => Err(error::named(
                "TooLarge",
                format_args!("the value of {} would be longer than a value may be", key.repr()?),
            )),
            other => Err(unexpected(other)),
        }
    }

    /// Removes keys, all at one moment; returns the number of those that were there.
    #[pyo3(signature = (*keys, timeout=None))]
    fn delete(&self, py: Python<'_>, keys: &Bound<'_, PyTuple>, timeout: Option<f64>) -> PyResult<u64> {
        let limit = Limit::of(timeout)?;
        match self.execute(py, limit, Op::Delete { keys: keys_of(keys)? })? {
            Out::Count(count) => Ok(count),
            other => Err(unexpected(other)),
        }
    }

    /// Sets all keys of a mapping, or of pairs, at one moment: no read shows a part of it.
    #[pyo3(signature = (items, timeout=None))]
    fn update(&self, py: Python<'_>, items: &Bound<'_, PyAny>, timeout: Option<f64>) -> PyResult<()> {
        let limit = Limit::of(timeout)?;
        let items = py.get_type::<PyDict>().call1((items,))?.cast_into::<PyDict>()?;
        let mut ops = Batch::new();
        for (key, value) in items.iter() {
            ops.push(&Op::Set { key: key_of(&key)?, value: value_of(&value)?, condition: Condition::Always });
        }
        if ops.is_empty() {
            return Ok(());
        }
        self.member()?.execute(py, limit, &ops).map(drop)
    }

    /// All keys at one moment, as a list in no order.
    #[pyo3(signature = (timeout=None))]
    fn keys<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyList>> {
        let keys = self.all(py, timeout, |key, _| key.clone())?;
        PyList::new(py, keys.iter().map(|key| PyBytes::new(py, key.as_bytes())))
    }

    /// All values at one moment, as a list in no order.
    #[pyo3(signature = (timeout=None))]
    fn values<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyList>> {
        let values = self.all(py, timeout, |_, value| value.clone())?;
        PyList::new(py, values.iter().map(|value| PyBytes::new(py, value)))
    }

    /// All pairs of a key and its value at one moment, as a list in no order.
    #[pyo3(signature = (timeout=None))]
    fn items<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyList>> {
        let items = self.all(py, timeout, |key, value| (key.clone(), value.clone()))?;
        PyList::new(py, items.iter().map(|(key, value)| (PyBytes::new(py, key.as_bytes()), PyBytes::new(py, value))))
    }

    /// The processes that have or had a copy, as dicts: "node" (a name that no other process of the dictionary ever has), "pid",
    /// "alive", "stopped", "died" (killed, or ended without `close`), "member", "leader", "acceptor" and "me". A process that
    /// takes the place of one that is gone takes it off the list.
    fn participants<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let member = self.member()?;
        let (processes, status) = detached(py, || (member.node.processes(), member.node.status()));
        let tell = |process: &NodeProcess| {
            let facts = PyDict::new(py);
            facts.set_item("node", process.node.to_string())?;
            facts.set_item("pid", process.pid)?;
            facts.set_item("alive", process.liveness == Liveness::Alive)?;
            facts.set_item("stopped", process.is_stopped)?;
            facts.set_item("died", process.liveness == Liveness::Dead)?;
            facts.set_item("member", status.members.contains(&process.node))?;
            facts.set_item("leader", process.node == status.leader)?;
            facts.set_item("acceptor", process.node == status.acceptor)?;
            facts.set_item("me", process.node == status.me)?;
            Ok(facts)
        };
        processes.iter().map(tell).collect()
    }

    /// The name of the dictionary.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Gives this process's copy up, once the calls of other threads have returned. The others go on; after the last one the
    /// dictionary is gone, but for its files.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.check_fork()?;
        let member = self.member.lock().expect("nothing panics with it").take();
        detached(py, || drop(member));
        Ok(())
    }

    fn __getitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let value = self.value(py, Level::Linearizable, Limit::of(None)?, key_of(key)?)?;
        value.map(|value| bytes_of(py, &value)).ok_or_else(|| PyKeyError::new_err(key.clone().unbind()))
    }

    fn __setitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set(py, key, value, None, None).map(drop)
    }

    fn __delitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        match self.delete(py, &PyTuple::new(py, [key])?, None)? {
            0 => Err(PyKeyError::new_err(key.clone().unbind())),
            _ => Ok(()),
        }
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.count(py, &Query::Exists(vec![key_of(key)?]))? == 1)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.count(py, &Query::Size).map(|count| count as usize)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.keys(py, None)?.try_iter()
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }

    /// Another copy of the same dictionary, taken where it is unpickled.
    fn __reduce__(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, (String,))> {
        let (reopen, name) = reopening(py, "replicated", Some(&self.name))?;
        Ok((reopen, (name,)))
    }

    fn __repr__(&self) -> String {
        describe("Replicated", Some(&self.name), self.member().is_ok())
    }
}

impl Replicated {
    fn of(member: Member, name: &str) -> Self {
        Self { member: Mutex::new(Some(Arc::new(member))), name: name.to_owned(), pid: std::process::id() }
    }

    fn check_fork(&self) -> PyResult<()> {
        if self.pid == std::process::id() { Ok(()) } else { Err(forked()) }
    }

    /// The node, unless it is closed.
    fn member(&self) -> PyResult<Arc<Member>> {
        self.check_fork()?;
        self.member.lock().expect("nothing panics with it").clone().ok_or_else(|| error::closed("dictionary"))
    }

    fn value(&self, py: Python<'_>, level: Level, limit: Limit, key: Key) -> PyResult<Option<Value>> {
        match self.member()?.read(py, level, limit, &Query::Get(key))? {
            Answer::Value(value) => Ok(value),
            other => Err(unexpected(other)),
        }
    }

    fn count(&self, py: Python<'_>, query: &Query) -> PyResult<u64> {
        match self.member()?.read(py, Level::Linearizable, Limit::of(None)?, query)? {
            Answer::Count(count) => Ok(count),
            other => Err(unexpected(other)),
        }
    }

    fn execute(&self, py: Python<'_>, limit: Limit, op: Op) -> PyResult<Out> {
        let outs = self.member()?.execute(py, limit, &Batch::from_iter([op]))?;
        outs.iter().next().ok_or_else(|| unexpected("nothing"))
    }

    /// Does an operation under a condition; true if that held.
    fn is_done(&self, py: Python<'_>, limit: Limit, op: Op) -> PyResult<bool> {
        match self.execute(py, limit, op)? {
            Out::Done => Ok(true),
            Out::Refused => Ok(false),
            other => Err(unexpected(other)),
        }
    }

    /// Something of each entry, at one moment.
    fn all<R>(&self, py: Python<'_>, timeout: Option<f64>, take: impl Fn(&Key, &Value) -> R) -> PyResult<Vec<R>> {
        let limit = Limit::of(timeout)?;
        let all = |store: &Store| store.iter().map(|(key, value)| take(key, value)).collect();
        self.member()?.look(py, Level::Linearizable, limit, all)
    }
}

impl Drop for Replicated {
    /// Leaving waits for the others, and other threads go on meanwhile.
    fn drop(&mut self) {
        let member = self.member.get_mut().expect("nothing panics with it").take();
        // Without an interpreter the closure is dropped, and the node with it.
        let _ = Python::try_attach(move |py| detached(py, || drop(member)));
    }
}

/// Calls `use_bytes` with the bytes of an object.
fn with_bytes<R>(object: &Bound<'_, PyAny>, use_bytes: impl FnOnce(&[u8]) -> R) -> PyResult<R> {
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(use_bytes(bytes.as_bytes()));
    }
    let borrowed = Borrowed::of(object)?;
    // SAFETY: this thread holds the interpreter's lock until they are copied; the guide forbids others to write meanwhile.
    Ok(use_bytes(unsafe { borrowed.bytes() }))
}

fn key_of(object: &Bound<'_, PyAny>) -> PyResult<Key> {
    with_bytes(object, Key::new)?.map_err(error::value)
}

fn value_of(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    with_bytes(object, Value::new)?.map_err(|long| error::named("TooLarge", long))
}

/// At most as many keys as one operation takes.
fn keys_of(objects: &Bound<'_, PyAny>) -> PyResult<Vec<Key>> {
    let keys = objects.try_iter()?.take(MAX_KEYS + 1).map(|key| key_of(&key?)).collect::<PyResult<Vec<_>>>()?;
    if keys.len() > MAX_KEYS {
        return Err(error::value(format_args!("more keys than one call takes: expected at most {MAX_KEYS}")));
    }
    Ok(keys)
}

fn bytes_of(py: Python<'_>, value: &Value) -> Py<PyAny> {
    PyBytes::new(py, value).into_any().unbind()
}

/// A result that no operation of this kind has.
#[cold]
fn unexpected(result: impl std::fmt::Debug) -> PyErr {
    error::named("Corrupt", format_args!("the group's answer is {result:?}, which is none to this call"))
}
