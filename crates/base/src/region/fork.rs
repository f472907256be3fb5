//! The descriptors that a forked child must not keep, because they prove that the parent lives.
//!
//! A lock on a file belongs to the open file, not to the process. So a child that keeps the descriptor keeps the lock, and
//! the parent would look alive after its death. Therefore every such descriptor is registered here, and a handler closes
//! them in each child, before the child runs anything else. Opening and registering is one step under a mutex that forks
//! take too, so that no fork can fall in between. (`exec` closes them as well; `posix_spawn` runs no handlers and needs
//! none.)

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::sync::OnceLock;

use crate::CacheLine;
use crate::sync::{AtomicU32, Ordering, UnsafeCell};

/// The number of forks between this process and its ancestor that first attached. Written in a child before it runs,
/// read with each access to a region, so it is on a line that nothing else writes.
static FORKS: CacheLine<AtomicU32> = CacheLine::new(AtomicU32::new(0));

static REGISTRY: Registry =
    Registry { mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER), descriptors: UnsafeCell::new(Vec::new()) };

/// A pthread mutex, because only that may be locked before a fork and unlocked on both sides after it.
struct Registry {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    /// Guarded by the mutex.
    descriptors: UnsafeCell<Vec<RawFd>>,
}

// SAFETY: the descriptors are reached with the mutex held only, and the mutex is made for sharing.
unsafe impl Sync for Registry {}

impl Registry {
    fn lock(&self) {
        // SAFETY: initialised, never moved or destroyed.
        let locked = self.mutex.with_mut(|mutex| unsafe { libc::pthread_mutex_lock(mutex) });
        assert_eq!(locked, 0, "a mutex of the default kind is locked by a thread that does not hold it");
    }

    /// For the thread that called [`lock`](Self::lock), or its copy in the child.
    fn unlock(&self) {
        // SAFETY: initialised, and locked by this thread or the thread that it is the copy of.
        self.mutex.with_mut(|mutex| unsafe { libc::pthread_mutex_unlock(mutex) });
    }

    fn with<R>(&self, f: impl FnOnce(&mut Vec<RawFd>) -> R) -> R {
        struct Unlock<'a>(&'a Registry);
        impl Drop for Unlock<'_> {
            fn drop(&mut self) {
                self.0.unlock();
            }
        }
        self.lock();
        let _unlock = Unlock(self);
        // SAFETY: the mutex is held, so nobody else has a reference.
        self.descriptors.with_mut(|descriptors| f(unsafe { &mut *descriptors }))
    }
}

extern "C" fn before_fork() {
    REGISTRY.lock();
}

extern "C" fn after_fork_in_parent() {
    REGISTRY.unlock();
}

/// Async-signal-safe, as the child of a process with several threads must be: it closes and stores, and allocates nothing.
extern "C" fn after_fork_in_child() {
    // ORDERING: Relaxed, the child has one thread
    FORKS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the mutex is held since before the fork, and this is the only thread.
    let descriptors = REGISTRY.descriptors.with_mut(|descriptors| unsafe { &mut *descriptors });
    for &descriptor in descriptors.iter() {
        // SAFETY: only its owner closes a registered descriptor, and the owner is in the parent or sees that it is a copy.
        unsafe { libc::close(descriptor) };
    }
    descriptors.clear();
    REGISTRY.unlock();
}

fn install() -> io::Result<()> {
    static INSTALLED: OnceLock<i32> = OnceLock::new();
    let status = *INSTALLED.get_or_init(|| {
        // SAFETY: the three functions live as long as the program and do what may be done around a fork.
        unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork_in_parent), Some(after_fork_in_child)) }
    });
    if status == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(status)) }
}

/// The process in which an object was made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Birth(u32);

impl Birth {
    /// # Errors
    /// If the fork handlers cannot be installed.
    pub(super) fn now() -> io::Result<Self> {
        install()?;
        // ORDERING: Relaxed, it changes in forked children only, before they run
        Ok(Self(FORKS.load(Ordering::Relaxed)))
    }

    /// True in a forked child of that process.
    #[inline(always)]
    pub(super) fn is_copy(self) -> bool {
        // ORDERING: Relaxed, it changes in forked children only, before they run
        FORKS.load(Ordering::Relaxed) != self.0
    }
}

/// An open file that forked children do not keep.
#[derive(Debug)]
pub(crate) struct OwnFile {
    file: ManuallyDrop<File>,
    birth: Birth,
}

impl OwnFile {
    /// Opens a file and registers it in one step.
    pub(crate) fn open(open: impl FnOnce() -> io::Result<File>) -> io::Result<Self> {
        let birth = Birth::now()?;
        let file = REGISTRY.with(|descriptors| {
            let file = open()?;
            descriptors.push(file.as_raw_fd());
            Ok::<_, io::Error>(file)
        })?;
        Ok(Self { file: ManuallyDrop::new(file), birth })
    }

    /// True in a forked child, where it is closed.
    pub(crate) fn is_copy(&self) -> bool {
        self.birth.is_copy()
    }

    /// Decides whether forked children keep it.
    pub(super) fn set_inherited(&self, is_inherited: bool) {
        let own = self.file.as_raw_fd();
        REGISTRY.with(|descriptors| {
            descriptors.retain(|&descriptor| descriptor != own);
            if !is_inherited {
                descriptors.push(own);
            }
        });
    }
}

impl Deref for OwnFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        if self.is_copy() {
            return; // Closed at the fork, or inherited and kept until the child ends.
        }
        let own = self.file.as_raw_fd();
        REGISTRY.with(|descriptors| {
            descriptors.retain(|&descriptor| descriptor != own);
            // SAFETY: still open, as only this drop closes it in this process, and it is not used again.
            drop(unsafe { File::from_raw_fd(own) });
        });
    }
}
