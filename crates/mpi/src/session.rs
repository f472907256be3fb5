//! The library for as long as the process uses it: initialised by a thread of its own, which finalizes it as well.
//!
//! `MPI_Init` and `MPI_Finalize` wait for all processes, and nothing ends them early. On a thread of their own they can be waited
//! for with a limit; a process that was not initialised in time reports it, and one that is not finalized in time goes on.

use std::fmt;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{MpiError, OpenError};
use crate::launcher::Launcher;
use crate::library::Library;

/// The time for `MPI_Finalize` after all operations were completed, and after a fault.
const FINALIZE: Duration = Duration::from_secs(30);
const FINALIZE_AFTER_FAULT: Duration = Duration::from_secs(2);
/// The time for it when the process ends, whether or not something has failed.
const FINALIZE_AT_EXIT: Duration = Duration::from_secs(5);

/// The library, and who ends it.
pub(crate) struct Session {
    pub(crate) library: Arc<Library>,
    /// The thread that has initialised it; `None` if the program has, or it was ended.
    keeper: Mutex<Option<Keeper>>,
    level: i32,
    is_guest: bool,
}

/// The thread that has initialised the library and waits to finalize it.
struct Keeper {
    end: Sender<()>,
    ended: Receiver<Result<(), MpiError>>,
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
            return Ok(Some(Arc::new(Self { library, keeper: Mutex::new(None), level, is_guest: true })));
        }
        let Some((level, keeper)) = Keeper::start(&library, deadline)? else { return Ok(None) };
        let needed = library.constants.thread_serialized;
        if level < needed {
            return Err(OpenError::ThreadLevel { provided: level, needed });
        }
        Ok(Some(Arc::new(Self { library, keeper: Mutex::new(Some(keeper)), level, is_guest: false })))
    }

    /// True if only the thread that has initialised the library may call it.
    pub(crate) fn is_for_one_thread(&self) -> bool {
        self.level < self.library.constants.thread_serialized
    }

    /// True if the program has initialised the library, and will finalize it.
    pub(crate) fn is_guest(&self) -> bool {
        self.is_guest
    }

    /// Finalizes the library, if this crate has initialised it and has not ended it before.
    pub(crate) fn end(&self, is_clean: bool) {
        let keeper = self.take_keeper();
        keeper.into_iter().for_each(|keeper| keeper.end(if is_clean { FINALIZE } else { FINALIZE_AFTER_FAULT }));
    }

    /// Leaves it to the end of the process to finalize the library, if this crate has initialised it.
    pub(crate) fn end_at_exit(&self) {
        static HOOK: Once = Once::new();
        let Some(keeper) = self.take_keeper() else { return };
        AT_EXIT.lock().unwrap_or_else(PoisonError::into_inner).push(keeper);
        HOOK.call_once(|| {
            // SAFETY: the function stays, as code of this program; if it is not taken, the library is not finalized.
            let _ = unsafe { libc::atexit(end_all) };
        });
    }

    fn take_keeper(&self) -> Option<Keeper> {
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Keepers that wait for the end of the process.
static AT_EXIT: Mutex<Vec<Keeper>> = Mutex::new(Vec::new());

/// Called by the C library when the process ends.
extern "C" fn end_all() {
    let keepers = std::mem::take(&mut *AT_EXIT.lock().unwrap_or_else(PoisonError::into_inner));
    keepers.into_iter().for_each(|keeper| keeper.end(FINALIZE_AT_EXIT));
}

impl Keeper {
    /// Finalizes the library, and waits for that for a limited time.
    fn end(self, limit: Duration) {
        if self.end.send(()).is_ok() {
            // There is nobody to tell an error of finalizing, and nothing to do about one.
            let _ = self.ended.recv_timeout(limit);
        }
    }

    /// Initialises the library, and returns its level of threads; `None` if that was not done before the deadline.
    fn start(library: &Arc<Library>, deadline: Instant) -> Result<Option<(i32, Self)>, OpenError> {
        let (begun_sender, begun) = mpsc::channel();
        let (ended_sender, ended) = mpsc::channel();
        let (end, end_receiver) = mpsc::channel();
        let library = Arc::clone(library);
        let work = move || {
            let initialized = library.initialize();
            let is_initialized = initialized.is_ok();
            if begun_sender.send(initialized).is_err() || !is_initialized {
                return;
            }
            if end_receiver.recv().is_ok() {
                let _ = ended_sender.send(library.finalize());
            }
        };
        let spawned = thread::Builder::new().name("corecast-mpi".to_owned()).spawn(work);
        spawned.map_err(|error| OpenError::System {
            action: "start the thread that initialises MPI",
            reason: error.to_string(),
        })?;
        match begun.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(level) => Ok(Some((level?, Self { end, ended }))),
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
        self.end(false);
    }
}
