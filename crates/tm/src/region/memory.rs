//! The parts of an instance's memory as places, and the words that every participant reads.

use corecast_base::region::{Forked, RegionPlan, RegionPlanError, SharedRegion};
use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{CacheLine, CpuId, Place, PlaceSlice, prefetch_for_write};
use corecast_lock::shared::OwnedWord;

use crate::config::{Config, Values};
use crate::error::{OpenError, RunError};
use crate::region::layout::{Layout, POISON, STOP};
use crate::rule::{Claim, Statuses};
use crate::seat::Seat;
use crate::status::{ClientId, State, Status, Why};
use crate::stored::StoredWord;

/// The name of the section in the region's directory.
const ENTRY: &str = "tm";
/// The kind of the section.
const KIND: u32 = 7;

/// Words of a participant's line.
const STATUS: usize = 0;
const KEY: usize = 1;
const SEAT: usize = 2;
/// One more than the number of its CPU, or 0. Written by the process that makes the instance, before others join.
const CPU: usize = 3;

/// The memory of one instance, as one of its processes holds it.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) region: SharedRegion,
    pub(crate) config: Config,
    pub(super) layout: Layout,
    /// The mark of this instance in variables, never 0.
    instance: u32,
    pub(super) header: PlaceSlice<CacheLine<AtomicU64>>,
    lines: PlaceSlice<CacheLine<[AtomicU64; 4]>>,
    values: PlaceSlice<AtomicU64>,
    pub(super) free: PlaceSlice<AtomicU64>,
    /// Of the shared form: for each variable its word of locks, and of many participants the words of its readers.
    pub(crate) locks: PlaceSlice<AtomicU64>,
    pub(crate) bucket_locks: PlaceSlice<CacheLine<OwnedWord>>,
    pub(super) logs: PlaceSlice<AtomicU64>,
}

impl Memory {
    /// Declares the memory of an instance.
    pub(crate) fn declare(plan: RegionPlan, config: &Config) -> Result<RegionPlan, RegionPlanError> {
        plan.add(ENTRY, KIND, config.to_words(), Layout::new(config).bytes as u64)
    }

    /// The memory of the instance in this region.
    pub(crate) fn open(region: SharedRegion) -> Result<Self, OpenError> {
        let version = |why: &str| OpenError::Version(why.to_owned());
        let entry = region.entry(ENTRY).filter(|entry| entry.kind == KIND).ok_or_else(|| version("it holds none"))?;
        let config = Config::from_words(entry.config).ok_or_else(|| version("it is of another version"))?;
        let layout = Layout::new(&config);
        let section = region.section(&entry);
        let (participants, variables) = (config.participants, config.variables as usize);
        let buckets = if config.is_shared { config.buckets as usize } else { 0 };
        // 32 bits of a number that is unique among regions.
        let generation = region.generation();
        Ok(Self {
            config,
            layout,
            instance: (generation ^ (generation >> 32)) as u32 | 1,
            header: section.slice(0, layout.header_lines)?,
            lines: section.slice(layout.lines_at, participants)?,
            values: section.words(layout.values_at, variables)?,
            free: section.words(layout.free_at, variables)?,
            locks: section.words(layout.locks_at, layout.lock_words)?,
            bucket_locks: section.slice(layout.bucket_locks_at, buckets)?,
            logs: section.words(layout.logs_at, participants * layout.log_words)?,
            region,
        })
    }

    /// The mark of this instance in variables, never 0.
    #[inline]
    pub(crate) fn instance(&self) -> u32 {
        self.instance
    }

    /// Whether participants may be processes of their own, which may be killed.
    #[inline]
    pub(crate) fn is_among_processes(&self) -> bool {
        self.config.log_entries > 0
    }

    /// The line of a participant, for its owner.
    pub(crate) fn own_line(&self, client: ClientId) -> OwnLine {
        OwnLine(self.lines.place(client.index()).expect("every participant has a line"))
    }

    #[inline]
    pub(crate) fn status(&self, client: ClientId) -> Status<'_> {
        Status::of(&self.lines[client.index()][STATUS])
    }

    /// The word with the manager's key of a participant, for the shared form. Written by its owner before its status says that
    /// an attempt runs.
    fn key(&self, client: ClientId) -> &AtomicU64 {
        &self.lines[client.index()][KEY]
    }

    /// The attempt of a participant that holds locks in the shared form.
    pub(crate) fn claim_of(&self, client: ClientId) -> Option<Claim> {
        (client.index() < self.config.participants).then(|| {
            let (epoch, _) = self.get(client);
            // ORDERING: Relaxed, acquired with the status
            Claim { epoch, key: self.key(client).load(Ordering::Relaxed) }
        })
    }

    /// Writes down on which CPU each participant is to run, for the process that makes the instance.
    pub(crate) fn place(&self, cpus: &[Option<CpuId>]) {
        for (line, cpu) in self.lines.iter().zip(cpus) {
            // ORDERING: Relaxed, others join later, by way of a descriptor
            line[CPU].store(cpu.map_or(0, |cpu| u64::from(cpu.get()) + 1), Ordering::Relaxed);
        }
    }

    /// The CPU on which a participant is to run. A stranger may have written one that there is not.
    pub(crate) fn cpu(&self, id: usize) -> Option<CpuId> {
        // ORDERING: Relaxed, written before this process joined
        let word = self.lines.get(id)?[CPU].load(Ordering::Relaxed);
        word.checked_sub(1).and_then(|cpu| u32::try_from(cpu).ok()).map(CpuId::new)
    }

    /// The place of a participant, which a process takes.
    pub(super) fn seat(&self, id: usize) -> Seat<'_> {
        Seat::of(&self.lines[id][SEAT])
    }

    /// Checks that `words` words from a variable on are in the memory, and that it belongs here.
    #[inline]
    pub(crate) fn check(&self, index: u32, instance: u32, words: usize) -> Result<(), RunError> {
        let variables = self.config.variables;
        if instance != self.instance {
            return Err(RunError::Foreign { index });
        }
        if index as usize + words > variables as usize {
            return Err(RunError::Beyond { index, variables });
        }
        Ok(())
    }

    /// The value of a variable that was checked, for a holder of its read lock, who looks at its own status afterwards.
    #[inline]
    pub(crate) fn load(&self, index: u32) -> u64 {
        StoredWord::of(&self.values[index as usize]).load()
    }

    /// Asks for the line of a value that is about to be written here.
    #[inline]
    pub(crate) fn prepare(&self, index: u32) {
        if self.config.values == Values::InMemory {
            prefetch_for_write(&self.values[index as usize]);
        }
    }

    /// Stores a value, for the holder of the write lock of a variable that was checked.
    #[inline]
    pub(crate) fn store(&self, index: u32, value: u64) {
        StoredWord::of(&self.values[index as usize]).store(value);
    }

    /// Writes down that `by` died and left half done what nobody can complete.
    #[cold]
    pub(crate) fn poison(&self, by: ClientId) {
        // ORDERING: Relaxed, the word says everything; of several that poison, the first is named
        let _first = self.header[POISON].compare_exchange(
            0,
            u64::from(by.0) + 1,
            // ORDERING: Relaxed, as above
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
    }

    /// The participant that died in the middle of its work.
    #[inline]
    pub(crate) fn poisoned(&self) -> Option<ClientId> {
        // ORDERING: Relaxed, the word says everything
        let word = self.header[POISON].load(Ordering::Relaxed);
        word.checked_sub(1).map(|id| ClientId(id as u16))
    }

    /// Asks the servers to end.
    pub(crate) fn stop(&self) {
        // ORDERING: Relaxed, a wish that orders nothing
        self.header[STOP].store(1, Ordering::Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        // ORDERING: Relaxed, a wish that orders nothing
        self.header[STOP].load(Ordering::Relaxed) != 0
    }

    /// Whether a transaction may begin.
    #[inline]
    pub(crate) fn check_usable(&self) -> Result<(), RunError> {
        self.region.check_fork().map_err(|Forked| RunError::Forked(Forked))?;
        match self.poisoned() {
            None => Ok(()),
            Some(by) => Err(RunError::Poisoned { by }),
        }
    }
}

/// The line of a participant, as its owner holds it: no look into the memory's parts for each access.
#[derive(Debug)]
pub(crate) struct OwnLine(Place<CacheLine<[AtomicU64; 4]>>);

impl OwnLine {
    #[inline]
    pub(crate) fn status(&self) -> Status<'_> {
        Status::of(&self.0[STATUS])
    }

    /// Says how others are to weigh the attempt that is about to begin, in the shared form.
    #[inline]
    pub(crate) fn publish_key(&self, key: u64) {
        // ORDERING: Relaxed, released by the status that says that the attempt runs
        self.0[KEY].store(key, Ordering::Relaxed);
    }
}

impl Statuses for Memory {
    #[inline]
    fn get(&self, client: ClientId) -> (u64, State) {
        self.status(client).read()
    }

    #[inline]
    fn try_abort(&self, client: ClientId, epoch: u64, why: Why) -> bool {
        self.status(client).try_abort(epoch, why)
    }
}
