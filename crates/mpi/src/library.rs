//! The MPI library of this process: its functions and constants behind methods that return errors instead of codes.
//!
//! Methods that begin an operation on the caller's memory are unsafe: the library reads and writes there until [`Library::test`]
//! has said that the request is done, or for ever if nobody asks.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt;
use std::ptr;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use corecast_base::sync::{AtomicBool, Ordering};

use crate::abi::{Abi, Constants, Handle, Operation, SUCCESS, Scalar};
use crate::error::{MpiError, OpenError};
use crate::functions::{Functions, Status};
use crate::launcher::Launcher;
use crate::load::Loaded;

/// The longest text that a library of any interface writes.
const TEXT_BYTES: usize = 8192;

/// The time for which a wait of the set-up yields before it sleeps, and how long it sleeps.
const BUSY: Duration = Duration::from_millis(20);
const NAP: Duration = Duration::from_micros(500);
/// The time in which the library finishes its messages before the end. It is twice as long as the 10 ms with which none of 24
/// launches hung.
const LAST_MESSAGES: Duration = Duration::from_millis(20);

/// The error classes of Open MPI that tell of failed processes: failed, failed and pending, revoked.
const FAILURES: [c_int; 3] = [75, 76, REVOKED];
const REVOKED: c_int = 77;

/// A loaded library with the functions that are called.
pub(crate) struct Library {
    pub(crate) loaded: Loaded,
    pub(crate) constants: Constants,
    pub(crate) functions: Functions,
    /// True once a call was left behind on a thread of its own; written and read by those that call the library.
    left_call: AtomicBool,
}

/// An operation under way.
#[derive(Debug)]
pub(crate) struct Request(Handle);

impl Library {
    pub(crate) fn find(launcher: Option<Launcher>) -> Result<Self, OpenError> {
        let loaded = Loaded::find(launcher)?;
        let incomplete = |lacks: &CStr| OpenError::Incomplete {
            path: loaded.path.clone(),
            lacks: lacks.to_string_lossy().into_owned(),
        };
        let functions = Functions::find(&loaded).map_err(incomplete)?;
        let constants = Constants::of(&loaded)
            .ok_or_else(|| incomplete(c"a predefined handle, or is of no interface that is known"))?;
        Ok(Self { loaded, constants, functions, left_call: AtomicBool::new(false) })
    }

    /// Makes a call that nothing ends early on a thread of its own, and waits for it until the deadline; `None` if it was left
    /// behind then. No other thread may call the library after that: see [`has_left_call`](Self::has_left_call).
    pub(crate) fn call_apart<R: Send + 'static>(
        self: &Arc<Self>,
        deadline: Instant,
        call: impl FnOnce(&Self) -> R + Send + 'static,
    ) -> Result<Option<R>, MpiError> {
        let (sender, receiver) = mpsc::channel();
        let library = Arc::clone(self);
        let work = move || drop(sender.send(call(&library)));
        let spawned = thread::Builder::new().name("corecast-mpi-call".to_owned()).spawn(work);
        spawned.map_err(|error| MpiError::no_thread(&error))?;
        let found = receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok();
        if found.is_none() {
            // ORDERING: Relaxed, one thread at a time calls the library, and hands it over by other means
            self.left_call.store(true, Ordering::Relaxed);
        }
        Ok(found)
    }

    /// Makes such a call, on a thread of its own if there is a deadline.
    pub(crate) fn call_until<R: Send + 'static>(
        self: &Arc<Self>,
        deadline: Option<Instant>,
        name: &'static str,
        call: impl FnOnce(&Self) -> Result<R, MpiError> + Send + 'static,
    ) -> Result<R, MpiError> {
        let made = match deadline {
            Some(deadline) => self.call_apart(deadline, call)?,
            None => Some(call(self)),
        };
        made.ok_or_else(|| MpiError::left_behind(name))?
    }

    /// True if a thread is in a call that was left behind.
    pub(crate) fn has_left_call(&self) -> bool {
        // ORDERING: Relaxed, one thread at a time calls the library, and hands it over by other means
        self.left_call.load(Ordering::Relaxed)
    }

    /// The error behind a code.
    pub(crate) fn check(&self, call: &'static str, code: c_int) -> Result<(), MpiError> {
        if code == SUCCESS {
            return Ok(());
        }
        Err(self.error(call, code))
    }

    #[cold]
    fn error(&self, call: &'static str, code: c_int) -> MpiError {
        let mut class = code;
        // SAFETY: the library's own function, and a place for the answer.
        let _ = unsafe { (self.functions.error_class)(code, &mut class) };
        let text = text(|text, len| {
            // SAFETY: a place for the longest text and one for its length.
            unsafe { (self.functions.error_string)(code, text, len) }
        });
        let is_open_mpi = self.constants.abi == Abi::OpenMpi;
        let (is_failure, is_revoked) = (is_open_mpi && FAILURES.contains(&class), is_open_mpi && class == REVOKED);
        MpiError {
            call,
            class,
            text: text.unwrap_or_else(|| format!("code {code}")),
            is_failure,
            is_revoked,
            is_late: false,
            is_final: false,
        }
    }

    pub(crate) fn is_initialized(&self) -> bool {
        let mut flag = 0;
        // SAFETY: may be called at any time; a place for the answer.
        let _ = unsafe { (self.functions.initialized)(&mut flag) };
        flag != 0
    }

    pub(crate) fn is_finalized(&self) -> bool {
        let mut flag = 0;
        // SAFETY: may be called at any time; a place for the answer.
        let _ = unsafe { (self.functions.finalized)(&mut flag) };
        flag != 0
    }

    /// Initialises the library, and returns the level of threads that it provides.
    pub(crate) fn initialize(&self) -> Result<c_int, MpiError> {
        let mut provided = 0;
        let wanted = self.constants.thread_serialized;
        // SAFETY: the caller has asked is_initialized; null arguments are allowed, and there is a place for the answer.
        let code = unsafe { (self.functions.init_thread)(ptr::null_mut(), ptr::null_mut(), wanted, &mut provided) };
        self.check("MPI_Init_thread", code)?;
        Ok(provided)
    }

    /// The level of threads that the program has initialised it with.
    pub(crate) fn thread_level(&self) -> Result<c_int, MpiError> {
        let mut provided = 0;
        // SAFETY: the library is initialised, and there is a place for the answer.
        self.check("MPI_Query_thread", unsafe { (self.functions.query_thread)(&mut provided) })?;
        Ok(provided)
    }

    /// The library's words about itself, on one line.
    pub(crate) fn version(&self) -> String {
        let text = text(|text, len| {
            // SAFETY: may be called at any time; a place for the longest text and one for its length.
            unsafe { (self.functions.get_library_version)(text, len) }
        });
        let text = text.unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        line.split(", package").next().unwrap_or(line).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The version of the standard that it implements.
    pub(crate) fn standard(&self) -> (u32, u32) {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: may be called at any time; two places for the answer.
        let _ = unsafe { (self.functions.get_version)(&mut major, &mut minor) };
        (major as u32, minor as u32)
    }

    pub(crate) fn rank_and_size(&self, comm: Handle) -> Result<(usize, usize), MpiError> {
        let (mut rank, mut size): (c_int, c_int) = (0, 0);
        // SAFETY: a communicator of this library, and a place for the answer.
        self.check("MPI_Comm_rank", unsafe { (self.functions.comm_rank)(comm, &mut rank) })?;
        // SAFETY: the same.
        self.check("MPI_Comm_size", unsafe { (self.functions.comm_size)(comm, &mut size) })?;
        Ok((rank as usize, size as usize))
    }

    /// A communicator of the same processes, whose errors are returned. All of them have to call it; `None` if some have not
    /// before the deadline.
    pub(crate) fn duplicate(&self, comm: Handle, deadline: Instant) -> Result<Option<Handle>, MpiError> {
        self.duplicate_unless(comm, &mut || Instant::now() > deadline)
    }

    /// The same; `None` if `is_over` says that they are waited for no longer.
    pub(crate) fn duplicate_unless(
        &self,
        comm: Handle,
        is_over: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Handle>, MpiError> {
        // The library may write it as late as when the request is done, and it may never be.
        let made: &mut Handle = Box::leak(Box::new(0));
        let place = ptr::from_mut(made);
        let begun = self.begin("MPI_Comm_idup", |request| {
            // SAFETY: a communicator of this library, and a place for the answer, which stays.
            unsafe { (self.functions.comm_idup)(comm, place, request) }
        })?;
        if !self.finish_unless(begun, is_over)? {
            return Ok(None);
        }
        // SAFETY: leaked above, and nothing uses it any more.
        let made = *unsafe { Box::from_raw(place) };
        self.return_errors(made)?;
        Ok(Some(made))
    }

    /// The lowest value of all processes of a communicator, which all have to call it; `None` if `is_over` says that they are
    /// waited for no longer.
    pub(crate) fn lowest(
        &self,
        own: i64,
        comm: Handle,
        is_over: &mut dyn FnMut() -> bool,
    ) -> Result<Option<i64>, MpiError> {
        // Leaked if somebody is late: the library may still use them.
        let own: *mut i64 = Box::leak(Box::new(own));
        let lowest: *mut i64 = Box::leak(Box::new(i64::MAX));
        let (read, write) = (own.cast_const().cast::<c_void>(), lowest.cast::<c_void>());
        let (datatype, op) = (self.constants.scalar(Scalar::I64), self.constants.operation(Operation::Min));
        let request = self.begin("MPI_Iallreduce", |request| {
            // SAFETY: one value each, which stay until the request is done.
            unsafe { (self.functions.iallreduce)(read, write, 1, datatype, op, comm, request) }
        })?;
        if !self.finish_unless(request, is_over)? {
            return Ok(None);
        }
        // SAFETY: leaked above, and no request uses it any more.
        drop(unsafe { Box::from_raw(own) });
        // SAFETY: the same.
        Ok(Some(*unsafe { Box::from_raw(lowest) }))
    }

    /// Waits until all processes of a communicator have called this, those of the library if there is none, and lets it finish
    /// its messages. False if a process is lost; the others are told so, as they may wait for this one.
    pub(crate) fn meet_at_end(&self, comm: Option<Handle>) -> bool {
        let survives = self.survives_deaths().is_ok();
        let world = self.constants.comm_world;
        let has_lost = survives && comm.is_none() && !self.failed_ranks(world).is_empty();
        let comm = comm.unwrap_or(world);
        let met = if has_lost { None } else { Some(self.lowest(0, comm, &mut || false)) };
        if survives && met.is_none_or(|met| met.is_err_and(|error| error.is_failure)) {
            self.revoke(comm);
            return false;
        }
        // `MPI_Finalize` of MPICH 4 over UCX waits for answers of other processes, which do not answer any more once their own
        // part of it is done: it hung in half of all launches.
        let begin = Instant::now();
        while begin.elapsed() < LAST_MESSAGES {
            self.proceed();
            thread::sleep(NAP);
        }
        true
    }

    /// Waits until an operation is done; false if it is not before the deadline. Then its request stays with the library.
    pub(crate) fn finish(&self, request: Request, deadline: Instant) -> Result<bool, MpiError> {
        self.finish_unless(request, &mut || Instant::now() > deadline)
    }

    pub(crate) fn finish_unless(
        &self,
        mut request: Request,
        is_over: &mut dyn FnMut() -> bool,
    ) -> Result<bool, MpiError> {
        let begin = Instant::now();
        while self.test(&mut request)?.is_none() {
            if is_over() {
                return Ok(false);
            }
            // Only set-up and remaking wait here: after the usual time they leave the CPU to others.
            if begin.elapsed() < BUSY { thread::yield_now() } else { thread::sleep(NAP) }
        }
        Ok(true)
    }

    /// A communicator of those processes that call it with the same color, in the order of the keys.
    pub(crate) fn split(&self, comm: Handle, color: usize, key: usize) -> Result<Handle, MpiError> {
        let mut made: Handle = 0;
        // SAFETY: a communicator of this library, and a place for the answer.
        let code = unsafe { (self.functions.comm_split)(comm, color as c_int, key as c_int, &mut made) };
        self.check("MPI_Comm_split", code)?;
        self.return_errors(made)?;
        Ok(made)
    }

    pub(crate) fn return_errors(&self, comm: Handle) -> Result<(), MpiError> {
        // SAFETY: a communicator and an error handler of this library.
        let code = unsafe { (self.functions.comm_set_errhandler)(comm, self.constants.errors_return) };
        self.check("MPI_Comm_set_errhandler", code)
    }

    /// Frees a communicator; all of its processes have to.
    pub(crate) fn free(&self, mut comm: Handle) -> Result<(), MpiError> {
        // SAFETY: a communicator of this library that is not used again.
        self.check("MPI_Comm_free", unsafe { (self.functions.comm_free)(&mut comm) })
    }

    pub(crate) fn finalize(&self) -> Result<(), MpiError> {
        // SAFETY: this crate has initialised the library, and uses it no more.
        self.check("MPI_Finalize", unsafe { (self.functions.finalize)() })
    }

    /// Whether the operation is done; then its request is, and the result has the rank that a received message came from.
    pub(crate) fn test(&self, request: &mut Request) -> Result<Option<usize>, MpiError> {
        let (mut flag, mut status): (c_int, Status) = (0, [0; 16]);
        // SAFETY: a request of this library that is not freed, and places for the answers.
        let code = unsafe { (self.functions.test)(&mut request.0, &mut flag, &mut status) };
        self.check("MPI_Test", code)?;
        Ok((flag != 0).then(|| status[self.constants.status_source].max(0) as usize))
    }

    /// Lets the library proceed with messages of any kind, unless it was finalized.
    pub(crate) fn proceed(&self) {
        if self.is_finalized() || self.has_left_call() {
            return;
        }
        let (mut flag, mut status): (c_int, Status) = (0, [0; 16]);
        let Constants { any_source, any_tag, comm_self, .. } = self.constants;
        // SAFETY: a communicator of this library, and places for the answers. An error is found by operations.
        let _ = unsafe { (self.functions.iprobe)(any_source, any_tag, comm_self, &mut flag, &mut status) };
    }

    /// Takes a receive back that no message has come for.
    pub(crate) fn cancel(&self, mut request: Request) {
        // SAFETY: a request of this library for a receive that is not freed.
        let _ = unsafe { (self.functions.cancel)(&mut request.0) };
        // SAFETY: the same; the library lets go of it when the cancellation is done.
        let _ = unsafe { (self.functions.request_free)(&mut request.0) };
    }

    /// # Safety
    /// - The bytes stay readable until the request is done.
    pub(crate) unsafe fn send(&self, bytes: &[u8], to: usize, tag: c_int, comm: Handle) -> Result<Request, MpiError> {
        let (from, count, byte) = (bytes.as_ptr().cast::<c_void>(), bytes.len() as c_int, self.constants.byte);
        // SAFETY: the caller keeps the bytes.
        self.begin("MPI_Isend", |request| unsafe {
            (self.functions.isend)(from, count, byte, to as c_int, tag, comm, request)
        })
    }

    /// Receives from a rank, or from any if `from` is `None`.
    ///
    /// # Safety
    /// - The memory stays writable, and nothing reads it, until the request is done.
    pub(crate) unsafe fn receive(
        &self,
        into: &mut [u8],
        from: Option<usize>,
        tag: c_int,
        comm: Handle,
    ) -> Result<Request, MpiError> {
        let (into, count) = (into.as_mut_ptr().cast::<c_void>(), into.len() as c_int);
        let (from, byte) = (from.map_or(self.constants.any_source, |rank| rank as c_int), self.constants.byte);
        // SAFETY: the caller keeps the memory.
        self.begin("MPI_Irecv", |request| unsafe {
            (self.functions.irecv)(into, count, byte, from, tag, comm, request)
        })
    }

    /// Begins an operation; `start` is given the place for its request.
    pub(crate) fn begin(
        &self,
        call: &'static str,
        start: impl FnOnce(*mut Handle) -> c_int,
    ) -> Result<Request, MpiError> {
        let mut request: Handle = 0;
        self.check(call, start(&mut request))?;
        Ok(Request(request))
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library").field("path", &self.loaded.path).field("abi", &self.constants.abi).finish()
    }
}

/// The text that a function of the library writes; `None` if it returns an error.
fn text(write: impl FnOnce(*mut c_char, *mut c_int) -> c_int) -> Option<String> {
    let mut text = vec![0_u8; TEXT_BYTES];
    let mut len = 0;
    if write(text.as_mut_ptr().cast(), &mut len) != SUCCESS {
        return None;
    }
    let text = CStr::from_bytes_until_nul(&text).ok()?;
    Some(text.to_string_lossy().into_owned())
}
