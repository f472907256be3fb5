//! One attachment to a region: the mapping, the participant slot, and the lock that proves that the participant lives.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::error::{AttachError, Subject};
use super::fork::OwnFile;
use super::header::{CLOSED, HEADER_WORDS, READY, STATE_AT};
use super::link::Link;
use super::lock;
use super::mapping::{ForkPolicy, Mapping};
use super::participant::{ParticipantId, Table};
use super::validate::{Header, Layout, check_state};
use crate::liveness::Liveness;
use crate::sync::{Ordering, spin_hint};

/// The time limit for a region's lock, which a holder keeps for microseconds unless it is stopped.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);
/// The pause between two tries.
const LOCK_PAUSE: Duration = Duration::from_micros(200);

/// A participant of a region.
#[derive(Debug)]
pub(super) struct Attachment {
    pub(super) mapping: Mapping,
    pub(super) layout: Layout,
    pub(super) me: ParticipantId,
    /// The name of the region in errors.
    pub(super) what: String,
    /// The name in the file system, which the last participant removes.
    link: Option<Link>,
    /// `None` for a region of this process alone.
    file: Option<OwnFile>,
    /// False if the file is shared with another participant, so that a lock on it would prove nothing.
    has_own_file: bool,
    /// Held with the region's lock, which does not tell the threads of this attachment apart.
    reaping: Mutex<()>,
}

/// The origin of a mapping.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) what: String,
    pub(super) file: Option<OwnFile>,
    pub(super) has_own_file: bool,
    pub(super) link: Option<Link>,
}

/// Reads and checks header and directory, each word once.
pub(super) fn read_layout(what: Subject<'_>, mapping: &Mapping) -> Result<Layout, AttachError> {
    let state = state(mapping);
    let header = Header::check(what, mapping.copy(0, HEADER_WORDS), mapping.len() as u64)?;
    check_state(what, state)?;
    let (at, words) = header.directory();
    header.with_directory(what, &mapping.copy(at, words))
}

fn state(mapping: &Mapping) -> u32 {
    // ORDERING: Acquire, pairs with the Release in set_state [region-state]
    mapping.half_word(STATE_AT).load(Ordering::Acquire)
}

fn set_state(mapping: &Mapping, state: u32) {
    // ORDERING: Release, pairs with the Acquire in state [region-state]
    mapping.half_word(STATE_AT).store(state, Ordering::Release);
}

/// Writes the words of a new region, and marks it ready.
pub(super) fn publish(mapping: &Mapping, header: &[u64], directory_at: usize, directory: &[u64]) {
    mapping.write(0, header);
    mapping.write(directory_at, directory);
    set_state(mapping, READY);
}

impl Attachment {
    /// Validates the region and joins it.
    pub(super) fn begin(mapping: Mapping, source: Source) -> Result<Self, AttachError> {
        let Source { what, file, has_own_file, link } = source;
        let subject = Subject(&what);
        let layout = read_layout(subject, &mapping)?;
        let table = Table { mapping: &mapping, count: layout.participants, file: file.as_deref(), has_own_file };
        let me = {
            let _held = RegionLock::wait(subject, file.as_deref())?;
            // The last participant may have left since.
            check_state(subject, state(&mapping))?;
            table.join().map_err(subject.refused("take a slot in"))?
        };
        let all_taken =
            || AttachError::Busy(subject.doubt(format!("all {} participant slots are taken", layout.participants)));
        let me = me.ok_or_else(all_taken)?;
        Ok(Self { me, mapping, layout, what, link, file, has_own_file, reaping: Mutex::new(()) })
    }

    pub(super) fn table(&self) -> Table<'_> {
        let (count, has_own_file) = (self.layout.participants, self.has_own_file);
        Table { mapping: &self.mapping, count, file: self.file.as_deref(), has_own_file }
    }

    /// Gives the region its name, if it has one to get.
    pub(super) fn publish_name(&self) -> Result<(), Errno> {
        match (&self.link, self.file()) {
            (Some(link), Some(file)) => link.give_to(file),
            _ => Ok(()),
        }
    }

    pub(super) fn file(&self) -> Option<&File> {
        self.file.as_deref()
    }

    pub(super) fn has_own_file(&self) -> bool {
        self.has_own_file
    }

    /// Runs `f` while no other thread of any process does the same; `None` if one does.
    pub(super) fn try_exclusively<R>(&self, f: impl FnOnce() -> R) -> io::Result<Option<R>> {
        let Some(_mutex) = self.try_mutex() else { return Ok(None) };
        let Some(_held) = RegionLock::try_take(self.file())? else { return Ok(None) };
        Ok(Some(f()))
    }

    fn try_mutex(&self) -> Option<MutexGuard<'_, ()>> {
        match self.reaping.try_lock() {
            Ok(guard) => Some(guard),
            // A panic of the last holder leaves nothing half done that the next one would not repeat.
            Err(std::sync::TryLockError::Poisoned(poisoned)) => Some(PoisonError::into_inner(poisoned)),
            Err(std::sync::TryLockError::WouldBlock) => None,
        }
    }

    pub(super) fn set_fork_policy(&self, policy: ForkPolicy) -> io::Result<()> {
        self.mapping.set_fork_policy(policy)?;
        if let Some(file) = &self.file {
            file.set_inherited(policy == ForkPolicy::Inherit);
        }
        Ok(())
    }

    /// Says goodbye; the last participant closes the region and removes its name.
    fn end(&self) {
        self.table().leave(self.me);
        let (Some(link), Some(file)) = (&self.link, self.file()) else { return };
        // No process can join meanwhile. Where the lock cannot be had, gc does the rest.
        let Ok(_held) = RegionLock::wait(Subject(&self.what), Some(file)) else { return };
        let table = self.table();
        if table.present().all(|who| table.liveness(who, None) != Liveness::Alive) {
            set_state(&self.mapping, CLOSED);
            link.remove(file);
        }
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        if !self.mapping.is_copy() {
            self.end();
        }
    }
}

/// The lock that excludes all other processes. It is on the byte of the region's state.
#[derive(Debug)]
pub(super) struct RegionLock<'a>(Option<&'a File>);

impl<'a> RegionLock<'a> {
    /// Takes the lock if it is free. A region without a file belongs to this process alone and has no lock.
    pub(super) fn try_take(file: Option<&'a File>) -> io::Result<Option<Self>> {
        let is_ours = file.map_or(Ok(true), |file| lock::try_lock(file, STATE_AT as u64))?;
        Ok(is_ours.then_some(Self(file)))
    }

    fn wait(what: Subject<'_>, file: Option<&'a File>) -> Result<Self, AttachError> {
        let begin = Instant::now();
        loop {
            if let Some(lock) = Self::try_take(file).map_err(what.refused("lock"))? {
                return Ok(lock);
            }
            if begin.elapsed() > LOCK_PATIENCE {
                let why = format!("another process holds its lock for more than {} s", LOCK_PATIENCE.as_secs());
                return Err(AttachError::Busy(what.doubt(why)));
            }
            spin_hint();
            std::thread::sleep(LOCK_PAUSE);
        }
    }
}

impl Drop for RegionLock<'_> {
    fn drop(&mut self) {
        if let Some(file) = self.0 {
            // Freeing a lock that we hold cannot fail; if it does, the kernel frees it at the end of the attachment.
            let _ = lock::unlock(file, STATE_AT as u64);
        }
    }
}

/// Closes a region without participants, with its lock held, for processes that have opened it already.
pub(super) fn close(file: &File) {
    // If it fails, a process that has it open joins a region without a name: a nuisance, as no other process comes.
    let _ = file.write_all_at(&CLOSED.to_le_bytes(), STATE_AT as u64);
}
