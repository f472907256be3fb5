//! The library for as long as the process uses it: initialised by a thread of its own, which finalizes it as well.
//!
//! `MPI_Init` and `MPI_Finalize` wait for all processes, and nothing ends them early. On a thread of their own they can be waited
//! for with a limit; a process that was not initialised in time reports it. A process that ends well waits for the others to end,
//! however long they compute or write after their last operation: launchers end all processes when one leaves without a finished
//! `MPI_Finalize`. One that has found a fault waits for a short time, as the others may never come. So processes meet before they
//! finalize, and what waits without a limit is that meeting; `MPI_Finalize` itself has one, as it may hang.
//!
//! Where a library goes on after the death of a process, the processes that are left meet on a communicator of their own, for
//! a limited time, and leave without `MPI_Finalize`: that of Open MPI 5.0.11 did not return after a second death, in 5 of 5
//! launches.

use std::ffi::{c_int, c_void};
use std::fmt;
use std::io::{self, Write};
use std::ptr;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};
use std::{process, thread};

use corecast_base::crash_point;
use corecast_base::sync::{AtomicBool, Ordering};

use crate::abi::Handle;
use crate::error::{MpiError, OpenError};
use crate::launcher::Launcher;
use crate::library::Library;
use crate::time_variable::seconds_of;

/// The variable with the time for which a process that ends well waits for the others to end, in seconds. Without it the
/// process waits as long as they take; after the loss of a node, for 30 s.
pub const END_TIMEOUT_VARIABLE: &str = "CORECAST_MPI_END_TIMEOUT";
/// The time for `MPI_Finalize` once all processes have come.
const FINALIZE: Duration = Duration::from_secs(30);
/// The time for which the others are waited for after the loss of a process: one more may have died since.
const AFTER_LOSS: Duration = Duration::from_secs(30);
/// The times for both after a fault, and in a process that ends with an exit code other than 0.
const AFTER_FAULT: Duration = Duration::from_secs(2);

/// The library, and the thread that ends it.
pub(crate) struct Session {
    pub(crate) library: Arc<Library>,
    /// The thread that has initialised it; `None` if the program has, or it was ended.
    keeper: Mutex<Option<Keeper>>,
    level: i32,
    is_guest: bool,
    meeting: Arc<Mutex<Meeting>>,
}

/// The place where processes meet that end together with the program. Written by candidates, read at the end of the process.
#[derive(Clone, Copy, Debug, Default)]
struct Meeting {
    /// The communicator of all processes of the library if `None`.
    comm: Option<Handle>,
    /// True if processes are lost that the library goes on without.
    has_lost: bool,
}

/// How a process ends its part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    /// True if all operations were completed.
    pub(crate) is_clean: bool,
    /// True if processes are lost that the library goes on without.
    pub(crate) has_lost: bool,
    /// The communicator of the processes that are left, on which they meet; that of all processes if `None`.
    pub(crate) comm: Option<Handle>,
}

/// The thread that has initialised the library and waits to finalize it.
struct Keeper {
    library: Arc<Library>,
    meeting: Arc<Mutex<Meeting>>,
    /// The process of that thread. Processes that are forked from it have no such thread.
    process: u32,
    end: Sender<End>,
    /// Heard once all processes have come to the end.
    met: Receiver<()>,
    ended: Receiver<Result<(), MpiError>>,
    /// The limit that the environment sets for the end.
    limit: Option<Duration>,
}

impl Session {
    /// Loads the library, and initialises it if the program has not.
    pub(crate) fn open(launcher: Option<Launcher>, deadline: Instant) -> Result<Option<Arc<Self>>, OpenError> {
        let library = Arc::new(Library::find(launcher)?);
        if library.is_finalized() {
            return Err(OpenError::Finalized);
        }
        if library.is_initialized() {
            let level = library.thread_level()?;
            let (keeper, meeting) = (Mutex::new(None), Arc::default());
            return Ok(Some(Arc::new(Self { library, keeper, level, is_guest: true, meeting })));
        }
        crash_point::here("far-opening");
        let Some((level, keeper)) = Keeper::start(&library, deadline)? else { return Ok(None) };
        let needed = library.constants.thread_serialized;
        if level < needed {
            return Err(OpenError::ThreadLevel { provided: level, needed });
        }
        let meeting = Arc::clone(&keeper.meeting);
        Ok(Some(Arc::new(Self { library, keeper: Mutex::new(Some(keeper)), level, is_guest: false, meeting })))
    }

    /// True if only the thread that has initialised the library may call it.
    pub(crate) fn is_for_one_thread(&self) -> bool {
        self.level < self.library.constants.thread_serialized
    }

    /// True if the program has initialised the library, and will finalize it.
    pub(crate) fn is_guest(&self) -> bool {
        self.is_guest
    }

    /// True if [`end`](Self::end) is what finalizes the library.
    pub(crate) fn ends_library(&self) -> bool {
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Finalizes the library, if this crate has initialised it and has not ended it before.
    pub(crate) fn end(&self, end: End) {
        let keeper = self.take_keeper();
        if !end.is_clean && keeper.is_none() {
            // ORDERING: Relaxed, the end of the process, which reads it, is behind this in its own order
            HAS_FAILED.store(true, Ordering::Relaxed);
        }
        keeper.into_iter().for_each(|keeper| keeper.end(end));
    }

    /// Leaves it to the end of the process to finalize the library, if this crate has initialised it.
    pub(crate) fn end_at_exit(&self) {
        static HOOK: Once = Once::new();
        let Some(keeper) = self.take_keeper() else { return };
        AT_EXIT.lock().unwrap_or_else(PoisonError::into_inner).push(keeper);
        HOOK.call_once(call_at_exit);
    }

    /// Lets a process that ends with the program meet those of this communicator then, in the place of all of the library.
    /// `has_lost` says that there were more.
    pub(crate) fn meet_at_exit(&self, comm: Handle, has_lost: bool) {
        *self.meeting.lock().unwrap_or_else(PoisonError::into_inner) = Meeting { comm: Some(comm), has_lost };
    }

    fn take_keeper(&self) -> Option<Keeper> {
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Keepers that wait for the end of the process.
static AT_EXIT: Mutex<Vec<Keeper>> = Mutex::new(Vec::new());

/// True once a fault was found after keepers had begun to wait for the end of the process.
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

#[cfg(target_env = "gnu")]
unsafe extern "C" {
    /// As `atexit`, with the exit code.
    fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

#[cfg(target_env = "gnu")]
fn call_at_exit() {
    // SAFETY: the function stays, as code of this program; if it is not taken, the library is not finalized.
    let _ = unsafe { on_exit(end_all, ptr::null_mut()) };
}

/// Other C libraries do not tell the exit code: it counts as 0.
#[cfg(not(target_env = "gnu"))]
fn call_at_exit() {
    extern "C" fn end_well() {
        end_all(0, ptr::null_mut());
    }
    // SAFETY: the function stays, as code of this program; if it is not taken, the library is not finalized.
    let _ = unsafe { libc::atexit(end_well) };
}

/// Called by the C library when the process ends with this exit code.
extern "C" fn end_all(code: c_int, _argument: *mut c_void) {
    // ORDERING: Relaxed, stored by this process before it came to its end
    let is_clean = code == 0 && !HAS_FAILED.load(Ordering::Relaxed);
    let keepers = std::mem::take(&mut *AT_EXIT.lock().unwrap_or_else(PoisonError::into_inner));
    for keeper in keepers {
        // Without a meeting of their own, processes do not know of losses: their keepers look for some.
        let Meeting { comm, has_lost } = *keeper.meeting.lock().unwrap_or_else(PoisonError::into_inner);
        keeper.end(End { is_clean, has_lost, comm });
    }
}

impl Keeper {
    /// Waits for the other processes to end, after a clean end as long as it takes unless the environment sets a limit, and
    /// finalizes the library.
    fn end(self, end: End) {
        // No thread may call the library while another one is in a call that was left behind.
        let may_call = self.process == process::id() && !self.library.has_left_call();
        if !may_call || self.end.send(end).is_err() {
            return;
        }
        let (limit, finalize) = match end {
            End { is_clean: false, .. } => (Some(AFTER_FAULT), AFTER_FAULT),
            End { has_lost: true, .. } => (Some(self.limit.unwrap_or(AFTER_LOSS)), FINALIZE),
            End { .. } => (self.limit, FINALIZE),
        };
        // A thread that has ended is waited for no longer.
        let has_met = match limit {
            Some(limit) => self.met.recv_timeout(limit) != Err(RecvTimeoutError::Timeout),
            None => {
                let _ = self.met.recv();
                true
            }
        };
        // There is nobody to tell an error of finalizing, and nothing to do about one.
        let is_late = !has_met || matches!(self.ended.recv_timeout(finalize), Err(RecvTimeoutError::Timeout));
        if is_late && end.is_clean {
            let (limit, why) = match limit.filter(|_| !has_met) {
                Some(limit) => (limit, format!(" ({END_TIMEOUT_VARIABLE}), as other processes have not come")),
                None => (finalize, ", although all processes have come".to_owned()),
            };
            let seconds = limit.as_secs_f64();
            let told =
                format!("corecast: MPI_Finalize was not finished within {seconds} s{why}: this one ends without it\n");
            // A process that ends has nobody to tell that its standard error is closed.
            let _ = io::stderr().write_all(told.as_bytes());
        }
    }

    /// Initialises the library, and returns its level of threads; `None` if that was not done before the deadline.
    fn start(library: &Arc<Library>, deadline: Instant) -> Result<Option<(i32, Self)>, OpenError> {
        let limit = seconds_of(END_TIMEOUT_VARIABLE)?;
        let (begun_sender, begun) = mpsc::channel();
        let (met_sender, met) = mpsc::channel();
        let (ended_sender, ended) = mpsc::channel();
        let (end, end_receiver) = mpsc::channel();
        let (library, kept) = (Arc::clone(library), Arc::clone(library));
        let work = move || {
            let initialized = library.initialize();
            let is_initialized = initialized.is_ok();
            if begun_sender.send(initialized).is_err() || !is_initialized {
                return;
            }
            if let Ok(End { has_lost, comm, .. }) = end_receiver.recv() {
                let are_all_left = library.meet_at_end(comm) && !has_lost;
                // They may be waited for no longer.
                let _ = met_sender.send(());
                let _ = ended_sender.send(if are_all_left { library.finalize() } else { Ok(()) });
            }
        };
        let spawned = thread::Builder::new().name("corecast-mpi".to_owned()).spawn(work);
        spawned.map_err(|error| OpenError::System {
            action: "start the thread that initialises MPI",
            reason: error.to_string(),
        })?;
        match begun.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(level) => {
                let (process, meeting) = (process::id(), Arc::default());
                let keeper = Self { library: kept, meeting, process, end, met, ended, limit };
                Ok(Some((level?, keeper)))
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                Err(OpenError::System { action: "initialise MPI", reason: "its thread has ended".to_owned() })
            }
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("library", &self.library).field("level", &self.level).finish_non_exhaustive()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let keeper = self.take_keeper();
        keeper.into_iter().for_each(|keeper| keeper.end(End { is_clean: false, has_lost: false, comm: None }));
    }
}
