//! A member of a group of processes.

use std::slice;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use corecast::collective::{Error, Member, Plain, Shrunk, Started};
use corecast::processes::Invitation;
use corecast::rendezvous::SocketDir;
use corecast::{Group as Plan, machine};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::borrowed::Borrowed;
use crate::error::{self, within};
use crate::number::{ForNumbers, for_numbers};
use crate::waiting::{Limit, detached};

/// The most members of a group.
const MOST: usize = 4096;

/// This process as a member of a group: the operations on bytes and arrays, from which `corecast.Group` makes all others.
#[pyclass(module = "corecast._corecast", frozen)]
pub(crate) struct Place {
    /// In a box, as the interpreter's memory is not aligned to lines.
    member: Mutex<Option<Box<Member>>>,
    pid: u32,
}

#[pymethods]
impl Place {
    /// The place that `corecast run` has given to this process.
    #[staticmethod]
    fn from_env(py: Python<'_>, timeout: f64) -> PyResult<Self> {
        let invitation = Invitation::from_env().map_err(error::join)?.ok_or_else(|| {
            error::named("NotFound", "this process is no member of a group: expected the variable CORECAST_FD, which `corecast run -n N -- python ...` sets")
        })?;
        Self::join(py, invitation, None, timeout)
    }

    /// The place `rank`, or the first free one, of the group of a name; the first to come founds it.
    #[staticmethod]
    fn by_name(
        py: Python<'_>,
        name: &str,
        size: usize,
        rank: Option<usize>,
        timeout: f64,
        pin: bool,
    ) -> PyResult<Self> {
        within("size", size, MOST)?;
        let machine = machine::detect().map_err(|error| error::named("Error", error))?;
        let founder = Plan::builder(&machine).members(size).pin(pin);
        let invitation =
            detached(py, || Invitation::by_name(&SocketDir::of_user(), name, &founder)).map_err(error::join)?;
        Self::join(py, invitation, rank, timeout)
    }

    #[getter]
    fn rank(&self) -> PyResult<usize> {
        Ok(self.enter()?.me().rank())
    }

    #[getter]
    fn size(&self) -> PyResult<usize> {
        Ok(self.enter()?.me().size())
    }

    fn barrier(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        let limit = Limit::of(timeout)?;
        finish(py, limit, self.enter()?.me().start().barrier())
    }

    /// Overwrites a writable buffer with that of the root, of the same length.
    fn broadcast(&self, py: Python<'_>, data: &Bound<'_, PyAny>, root: usize, timeout: Option<f64>) -> PyResult<()> {
        let limit = Limit::of(timeout)?;
        let data = Borrowed::writable(data)?;
        // SAFETY: the guide forbids other threads to use the memory until the call returns.
        let bytes = unsafe { values::<u8>(&data) }?;
        finish(py, limit, self.enter()?.me().start().broadcast_slice(root, bytes))
    }

    /// Combines arrays of numbers in place: at all members, or at the root, where the others' arrays are of no use afterwards.
    fn combine(
        &self,
        py: Python<'_>,
        array: &Bound<'_, PyAny>,
        op: &str,
        root: Option<usize>,
        timeout: Option<f64>,
    ) -> PyResult<()> {
        let limit = Limit::of(timeout)?;
        let array = Borrowed::writable(array)?;
        let mut entered = self.enter()?;
        for_numbers(&array, op, Combining { py, limit, me: entered.me(), array: &array, root })
    }

    /// The bytes of all members at the root, by rank; None at the others.
    fn gather<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        root: usize,
        timeout: Option<f64>,
    ) -> PyResult<Option<Vec<Bound<'py, PyBytes>>>> {
        let limit = Limit::of(timeout)?;
        let data = Borrowed::of(data)?;
        // SAFETY: the guide forbids other threads to use the memory until the call returns.
        let bytes = unsafe { data.bytes() };
        let all = finish(py, limit, self.enter()?.me().start().gather_slice(root, bytes))?;
        Ok(all.map(|all| all.iter().map(|bytes| PyBytes::new(py, bytes)).collect()))
    }

    /// Fills a writable buffer with this member's part of the root's bytes, which has as much for each.
    fn scatter(
        &self,
        py: Python<'_>,
        data: Option<&Bound<'_, PyAny>>,
        own: &Bound<'_, PyAny>,
        root: usize,
        timeout: Option<f64>,
    ) -> PyResult<()> {
        let limit = Limit::of(timeout)?;
        let data = data.map(Borrowed::of).transpose()?;
        let own = Borrowed::writable(own)?;
        // SAFETY: the guide forbids other threads to use the memory until the call returns.
        let own = unsafe { values::<u8>(&own) }?;
        // SAFETY: as above.
        let data = data.as_ref().map(|data| unsafe { data.bytes() });
        finish(py, limit, self.enter()?.me().start().scatter_slice(root, data, own))
    }

    /// A place in a group of the members that are left after one was lost, and the ranks of the others in this group.
    fn shrink(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<(Self, Vec<usize>)> {
        let limit = Limit::of(timeout)?;
        let mut entered = self.enter()?;
        let me = entered.me();
        loop {
            let Some(part) = limit.part() else { return Err(error::timeout()) };
            match detached(py, || me.shrink_timeout(part)) {
                Ok(Shrunk { me, gone, .. }) => return Ok((Self::of(me), gone)),
                Err(Error::Timeout { .. }) => py.check_signals()?,
                Err(error) => return Err(error::group(error)),
            }
        }
    }

    /// Leaves the group. Members that wait for this one get `MemberLost`.
    fn close(&self) -> PyResult<()> {
        let mut member = self.member.try_lock().map_err(|_| error::busy("group"))?;
        member.take();
        Ok(())
    }
}

impl Place {
    fn of(member: Member) -> Self {
        Self { member: Mutex::new(Some(Box::new(member))), pid: std::process::id() }
    }

    fn join(py: Python<'_>, invitation: Invitation, rank: Option<usize>, timeout: f64) -> PyResult<Self> {
        let timeout = Duration::try_from_secs_f64(timeout)
            .map_err(|_| error::value(format_args!("timeout is {timeout}: expected seconds from 0")))?;
        let invitation = invitation.timeout(timeout);
        let invitation = rank.into_iter().fold(invitation, Invitation::rank);
        detached(py, || invitation.join()).map(Self::of).map_err(error::join)
    }

    fn enter(&self) -> PyResult<Entered<'_>> {
        if self.pid != std::process::id() {
            return Err(error::forked("group"));
        }
        let member = self.member.try_lock().map_err(|_| error::busy("group"))?;
        if member.is_none() {
            return Err(error::closed("group"));
        }
        Ok(Entered(member))
    }
}

/// The right to use the member.
struct Entered<'a>(MutexGuard<'a, Option<Box<Member>>>);

impl Entered<'_> {
    fn me(&mut self) -> &mut Member {
        self.0.as_mut().expect("checked when it was entered")
    }
}

/// Combines the numbers of an array.
struct Combining<'a, 'py> {
    py: Python<'py>,
    limit: Limit,
    me: &'a mut Member,
    array: &'a Borrowed,
    root: Option<usize>,
}

impl ForNumbers for Combining<'_, '_> {
    type Output = ();

    fn with<T: Plain>(self, combine: impl Fn(T, T) -> T + Send + Copy + 'static) -> PyResult<()> {
        let Self { py, limit, me, array, root } = self;
        // SAFETY: the guide forbids other threads to use the memory until the call returns.
        let values = unsafe { values::<T>(array) }?;
        let begin = me.start();
        match root {
            Some(root) => finish(py, limit, begin.reduce_slice(root, values, combine)),
            None => finish(py, limit, begin.allreduce_slice(values, combine)),
        }
    }
}

/// The values in writable memory.
///
/// # Safety
/// Nobody else uses the memory meanwhile, and the items are of this size.
#[expect(clippy::mut_from_ref, reason = "the memory is that of an object of Python, not of the view")]
unsafe fn values<T: Plain>(array: &Borrowed) -> PyResult<&mut [T]> {
    if array.len() == 0 {
        return Ok(&mut []);
    }
    let start = array.start().cast::<T>();
    if !start.is_aligned() {
        return Err(error::value(
            "the array is not aligned to its numbers: expected one that numpy has made, or a copy",
        ));
    }
    // SAFETY: the view says that they are there and may be written, and the caller that nobody else uses them; any bytes are
    // plain values.
    Ok(unsafe { slice::from_raw_parts_mut(start, array.len() / size_of::<T>()) })
}

/// Waits for the end of an operation, with looks at signals. One that is cut off leaves the member nothing but to leave.
fn finish<T>(py: Python<'_>, limit: Limit, started: Result<Started<'_, T>, Error>) -> PyResult<T> {
    let mut started = started.map_err(error::group)?;
    let mut last = None;
    loop {
        let Some(part) = limit.part() else { return Err(last.map_or_else(error::timeout, error::group)) };
        match detached(py, || started.finish_timeout(part)) {
            Ok(result) => return Ok(result),
            Err(late @ Error::Timeout { .. }) => last = Some(late),
            Err(error) => return Err(error::group(error)),
        }
        py.check_signals()?;
    }
}
