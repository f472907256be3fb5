//! A region, as a participant holds it.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;

use super::attachment::{Attachment, Source};
use super::directory::Entry;
use super::error::{AttachError, CreateError, Forked, Subject};
use super::fork::OwnFile;
use super::header::type_hash;
use super::mapping::ForkPolicy;
use super::named;
use super::observer::Observer;
use super::participant::{Participant, ParticipantId};
use super::places::PARKER_BYTES;
use super::plan::RegionPlan;
use super::region_dir::RegionDir;
use super::section::Section;
use super::{memfd, process, storage};
use crate::liveness::Liveness;
use crate::sync::Scope;
use crate::wait::{Affinity, CpuSharing, Parker, Parkers, ParticipantCount};

/// One mapping that holds many channels, and this participant's slot in it. A clone is the same participant; the slot is
/// given up when the last clone, [`Section`] and [`Place`](crate::Place) is gone.
#[derive(Clone)]
pub struct SharedRegion(Arc<Attachment>);

impl SharedRegion {
    /// A region for the threads of this process.
    ///
    /// # Errors
    /// [`CreateError`] if the plan is too large, or there is no memory.
    pub fn heap(plan: &RegionPlan) -> Result<Self, CreateError> {
        let mapping = storage::create_private(plan)?;
        let source = Source { what: "a region on the heap".to_owned(), file: None, has_own_file: false, link: None };
        Ok(Self(Arc::new(Attachment::begin(mapping, source)?)))
    }

    /// A region without a name, for processes that get its descriptor: by [`rendezvous`](crate::rendezvous), or with
    /// [`share`](Self::share).
    ///
    /// # Errors
    /// [`CreateError`] if the plan is too large, or there is no memory for all of it.
    pub fn memfd(plan: &RegionPlan) -> Result<Self, CreateError> {
        Ok(Self(Arc::new(memfd::create(plan)?)))
    }

    /// A region with a name in a directory. Its last participant removes the name.
    ///
    /// # Errors
    /// [`CreateError`]; `Exists` if a region of this name is in use.
    pub fn named(dir: &RegionDir, name: &str, plan: &RegionPlan) -> Result<Self, CreateError> {
        Ok(Self(Arc::new(named::create(dir, name, plan)?)))
    }

    /// Joins the region with this name.
    ///
    /// # Errors
    /// [`AttachError`] if there is none, it is not to be trusted, or all its slots are taken.
    pub fn open(dir: &RegionDir, name: &str) -> Result<Self, AttachError> {
        Ok(Self(Arc::new(named::attach(dir, name)?)))
    }

    /// Joins the region behind a descriptor of a memfd, inherited or received, which this user has made.
    ///
    /// # Errors
    /// [`AttachError`] if it is not a region, not to be trusted, or all its slots are taken.
    pub fn from_fd(fd: OwnedFd) -> Result<Self, AttachError> {
        Ok(Self(Arc::new(memfd::attach(&fd, "an inherited region", process::own_uid())?)))
    }

    /// Joins the region behind an inherited descriptor with this number. The descriptor is left as it is.
    ///
    /// # Errors
    /// [`AttachError`] as for [`from_fd`](Self::from_fd); also if there is no such descriptor, or no /proc.
    pub fn inherited(number: RawFd) -> Result<Self, AttachError> {
        let what = format!("the region of inherited descriptor {number}");
        let file = OwnFile::open(|| memfd::reopen(&number)).map_err(Subject(&what).refused("open"))?;
        Ok(Self(Arc::new(memfd::attach_file(file, true, &what, process::own_uid())?)))
    }

    /// Joins the region of `owner` in a file that another process sent. Only this process has the open file if
    /// `has_own_file`.
    pub(crate) fn from_received(
        file: OwnFile,
        has_own_file: bool,
        what: &str,
        owner: u32,
    ) -> Result<Self, AttachError> {
        Ok(Self(Arc::new(memfd::attach_file(file, has_own_file, what, owner)?)))
    }

    /// Looks at the region in a file that another process sent.
    pub(crate) fn observe_received(
        file: &OwnFile,
        has_own_file: bool,
        what: &str,
        owner: u32,
    ) -> Result<Observer, AttachError> {
        let copy = file.try_clone().map_err(Subject(what).refused("keep"))?;
        memfd::observe(copy, has_own_file, what, owner)
    }

    /// Looks at the region with this name without joining it.
    ///
    /// # Errors
    /// [`AttachError`] if there is none, or it is not to be trusted.
    pub fn observe(dir: &RegionDir, name: &str) -> Result<Observer, AttachError> {
        named::observe(dir, name)
    }

    /// A look at this region as from outside, through a file and a mapping of its own: for [`entries`](Self::entries) whose
    /// words tell more than their ends know.
    ///
    /// # Errors
    /// [`AttachError`] if the region is on the heap, or files cannot be opened anew (no /proc).
    pub fn observer(&self) -> Result<Observer, AttachError> {
        let subject = Subject(&self.0.what);
        let file = self.shared_file().and_then(|file| memfd::reopen(&file)).map_err(subject.refused("open anew"))?;
        Observer::begin(&self.0.what, file, true, self.0.mapping.len())
    }

    /// A descriptor for another process to [attach](Self::from_fd) to. Each process gets its own.
    ///
    /// # Errors
    /// [`io::Error`] if the region is on the heap, or files cannot be opened anew (no /proc).
    pub fn share(&self) -> io::Result<OwnedFd> {
        Ok(memfd::reopen(&self.shared_file()?)?.into())
    }

    /// The open file of this participant. A process that keeps it keeps this participant alive.
    pub(crate) fn shared_file(&self) -> io::Result<BorrowedFd<'_>> {
        self.check_fork().map_err(io::Error::other)?;
        Ok(self.0.file().ok_or(io::ErrorKind::Unsupported)?.as_fd())
    }

    /// Checks that it can be handed to other processes; the error is the reason why not.
    pub(crate) fn check_shareable(&self) -> Result<(), &'static str> {
        match self.shared_file() {
            Err(_) if self.is_copy() => Err("this process is a forked child of the one that attached"),
            Err(_) => Err("it is on the heap, expected a memfd"),
            Ok(_) if self.0.file().is_some_and(memfd::is_sealed) => Ok(()),
            Ok(_) => Err("it has a name already, expected a memfd"),
        }
    }

    /// True in a forked child of the process that attached, also where that inherited the memory.
    #[must_use]
    pub fn is_copy(&self) -> bool {
        self.0.mapping.is_copy()
    }

    /// The channel with this name.
    #[must_use]
    pub fn entry(&self, name: &str) -> Option<Entry> {
        self.entries().iter().find(|entry| entry.name == name).cloned()
    }

    /// All channels, in the order of their declaration.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.0.layout.entries
    }

    /// The bytes of a channel.
    ///
    /// # Panics
    /// If the entry is not one of this region.
    #[must_use]
    #[track_caller]
    pub fn section(&self, entry: &Entry) -> Section {
        assert!(self.entries().contains(entry), "the entry of a section must be one of the same region");
        Section::within(Arc::clone(&self.0), entry.offset as usize, entry.bytes as usize)
    }

    /// Checks that the region holds the channels of the plan and no others.
    ///
    /// # Errors
    /// [`AttachError::Type`] if it does not.
    pub fn expect_plan(&self, plan: &RegionPlan) -> Result<(), AttachError> {
        let holds = type_hash(&plan.channels) == self.0.layout.type_hash;
        let names = |entries: &mut dyn Iterator<Item = &str>| entries.collect::<Vec<_>>().join(", ");
        Subject(&self.0.what).expect(holds, AttachError::Type, || {
            let found = names(&mut self.entries().iter().map(|entry| entry.name.as_str()));
            let expected = names(&mut plan.channels.iter().map(|channel| channel.name.as_str()));
            format!("found {found}; expected {expected}, of the planned kinds, configurations and sizes")
        })
    }

    /// A number that tells this region from others.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.0.layout.generation
    }

    /// The id of this participant.
    #[must_use]
    pub fn me(&self) -> ParticipantId {
        self.0.me
    }

    /// All participants that have not left, among them dead ones that no participant has noted yet.
    ///
    /// # Errors
    /// [`Forked`] in a forked child.
    pub fn participants(&self) -> Result<Vec<Participant>, Forked> {
        self.check_fork()?;
        let table = self.0.table();
        Ok(table.present().map(|who| table.describe(who, Some(self.me()))).collect())
    }

    /// The participant in the slot with this number, dead or alive; `None` if there is none, and in a forked child.
    #[must_use]
    pub fn participant_at(&self, index: u32) -> Option<ParticipantId> {
        self.check_fork().ok()?;
        self.0.table().present_at(index)
    }

    /// Whether a participant is alive: a system call unless it has said goodbye. In a forked child, which cannot know,
    /// every participant is dead: ask [`check_fork`](Self::check_fork) first.
    #[must_use]
    pub fn liveness(&self, who: ParticipantId) -> Liveness {
        if self.check_fork().is_err() {
            return Liveness::Dead;
        }
        self.0.table().liveness(who, Some(self.me()))
    }

    /// True if the process of a participant is stopped, by SIGSTOP or a debugger, as `/proc` tells: a hint, never evidence of
    /// death. False of one that has left, and where the number that a process has for itself is not the one it has here. Reads
    /// a file: a few microseconds.
    #[must_use]
    #[cold]
    pub fn is_stopped(&self, who: ParticipantId) -> bool {
        if self.check_fork().is_err() || self.participant_at(who.index) != Some(who) {
            return false;
        }
        let Participant { pid, start_time, .. } = self.0.table().describe(who, Some(self.me()));
        process::is_stopped(pid, start_time)
    }

    /// Tells the others that this participant may run on the CPUs of this thread, and no longer on those of the thread that
    /// joined. Take it when another thread waits for the others than the one that attached, or the thread was bound since.
    ///
    /// # Errors
    /// [`Forked`] in a forked child.
    pub fn renew_affinity(&self) -> Result<(), Forked> {
        self.check_fork()?;
        self.0.table().renew_affinity(self.me());
        Ok(())
    }

    /// True if a participant that has not left said, when it joined or since, that it may run on these CPUs only.
    #[must_use]
    pub fn is_confined(&self, who: ParticipantId, cpus: &Affinity) -> bool {
        self.check_fork().is_ok() && {
            let table = self.0.table();
            table.present().any(|present| present == who) && table.affinity(who).is_within(cpus)
        }
    }

    /// True if this participant's death can be proven to others. False only where /proc is missing and its descriptor is
    /// shared: then it looks alive to others until it leaves.
    #[must_use]
    pub fn has_evidence(&self) -> bool {
        self.0.has_own_file()
    }

    /// Calls `settle` for each participant whose death is not noted yet, then takes note of it. No other thread of any
    /// process does so at the same time. If this process dies in between, the next one repeats it, so `settle` must be able
    /// to find its work half done. Returns false if another thread is at it.
    ///
    /// # Errors
    /// [`Forked`] in a forked child.
    pub fn reap(&self, mut settle: impl FnMut(ParticipantId)) -> Result<bool, Forked> {
        let done = self.try_exclusively(|| {
            let table = self.0.table();
            for who in table.present().filter(|&who| self.liveness(who) == Liveness::Dead) {
                settle(who);
                table.mark_dead(who);
            }
        })?;
        Ok(done.is_some())
    }

    /// Runs `f` while no other thread of any process is inside this or [`reap`](Self::reap) of the same region; `None` if
    /// one is: look again later. For the repair of what a dead participant left; a participant that is stopped inside keeps
    /// all others out.
    ///
    /// # Errors
    /// [`Forked`] in a forked child.
    pub fn try_exclusively<R>(&self, f: impl FnOnce() -> R) -> Result<Option<R>, Forked> {
        self.check_fork()?;
        // A lock that cannot even be asked for counts as held by another.
        Ok(self.0.try_exclusively(f).unwrap_or(None))
    }

    /// # Errors
    /// [`Forked`] in a forked child of the process that attached. Costs one relaxed load.
    #[inline(always)]
    pub fn check_fork(&self) -> Result<(), Forked> {
        self.0.mapping.check_fork()
    }

    /// Decides whether children that are forked from now on have the memory.
    ///
    /// # Errors
    /// [`io::Error`] if the system refuses.
    pub fn set_fork_policy(&self, policy: ForkPolicy) -> io::Result<()> {
        self.check_fork().map_err(io::Error::other)?;
        self.0.set_fork_policy(policy)
    }

    /// The scope of the wake words in this region.
    #[must_use]
    pub fn wake_scope(&self) -> Scope {
        if self.0.file().is_some() { Scope::Machine } else { Scope::Process }
    }

    /// The sharing of CPUs among the participants, by the CPUs that each told of last: when it joined, or by
    /// [`renew_affinity`](Self::renew_affinity) since. For a region of this process alone: `ends` threads of this process.
    #[must_use]
    pub fn cpu_sharing(&self, ends: usize) -> CpuSharing {
        if self.0.file().is_some() { CpuSharing::of(Arc::new(self.clone())) } else { CpuSharing::unpinned(ends) }
    }

    /// The parkers of all participants, by slot number.
    ///
    /// # Panics
    /// In a forked child.
    #[must_use]
    pub fn parkers(&self) -> Parkers {
        let count = self.0.layout.participants as usize;
        let table = Section::within(Arc::clone(&self.0), self.0.layout.places.parkers, count * PARKER_BYTES);
        table.slice(0, count).expect("validated, aligned to 128, and not asked for in a forked child")
    }

    /// The parker of this participant.
    ///
    /// # Panics
    /// In a forked child.
    #[must_use]
    pub fn parker(&self) -> Parker {
        Parker::within(self.parkers(), self.me().index).expect("a participant has a parker")
    }

    /// Promises that every process which maps this region writable follows the protocols, so that plain references into it
    /// may be given out.
    ///
    /// # Safety
    /// - Every process that maps the region writable, now or later, runs code that writes there only what the channels'
    ///   protocols let it write, when they let it.
    #[must_use]
    pub unsafe fn assume_honest(&self) -> Honest<'_> {
        Honest { region: self.clone(), _promise: PhantomData }
    }
}

/// The promise that a region's participants follow its protocols: see [`SharedRegion::assume_honest`].
#[derive(Debug, Clone)]
pub struct Honest<'a> {
    region: SharedRegion,
    _promise: PhantomData<&'a SharedRegion>,
}

impl Honest<'_> {
    /// The region that the promise is about.
    #[must_use]
    pub fn region(&self) -> &SharedRegion {
        &self.region
    }
}

impl ParticipantCount for SharedRegion {
    fn confined_to(&self, cpus: &Affinity) -> usize {
        // This thread may be another one than that which the participant has told of.
        let others = || {
            let table = self.0.table();
            table.present().filter(|&who| who != self.me() && table.affinity(who).is_within(cpus)).count()
        };
        1 + if self.check_fork().is_ok() { others() } else { 0 }
    }
}

impl fmt::Debug for SharedRegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedRegion({}, participant {})", self.0.what, self.me().index)
    }
}
