//! Participants that died: their locks become stale, and what they were storing is completed.
//!
//! A participant among processes writes the values that it is about to store into its log before it persists. The one that finds
//! its death, under the region's exclusion so that it happens once, looks at its status: an attempt that runs is aborted, and
//! one that persists is completed from the log, whose variables are still locked. After that the status says that the attempt
//! has ended, and the rule takes every lock of it for stale. Only where the log could not hold all values is the instance
//! poisoned; so it is when a server dies, as the locks die with it.

use corecast_base::region::{Liveness, ParticipantId};
use corecast_base::sync::Ordering;

use crate::error::OpenError;
use crate::region::memory::Memory;
use crate::status::{ClientId, State};

/// The lower bits of a log's first word are the count of its entries, the upper ones those of the epoch.
const COUNT_BITS: u32 = 24;
const TOO_MANY: u64 = (1 << COUNT_BITS) - 1;
/// The claim of a participant that died and cannot have a successor.
const GONE: u64 = u64::MAX;

impl Memory {
    /// Makes this process the one that has the participant.
    pub(crate) fn claim(&self, id: usize) -> Result<(), OpenError> {
        self.region.check_fork()?;
        let (claim, me) = (self.claim_word(id), self.region.me().to_word());
        for _ in 0..2 {
            // ORDERING: AcqRel, pairs with the Release in leave: what the last owner left is visible [claim]
            if claim.compare_exchange(0, me, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                return Ok(());
            }
            // ORDERING: Relaxed where it failed, above: another one has it, or died
            self.settle_dead();
        }
        Err(OpenError::Taken(id))
    }

    /// The participant is given up by its owner, which runs no attempt.
    pub(crate) fn leave(&self, id: usize) {
        // ORDERING: Release, pairs with the AcqRel in claim [claim]
        self.claim_word(id).store(0, Ordering::Release);
    }

    /// Writes down what an attempt is about to store, for its owner before it persists.
    pub(crate) fn write_log(&self, client: ClientId, epoch: u64, writes: impl ExactSizeIterator<Item = (u32, u64)>) {
        let words = self.layout.log_words;
        let log = &self.logs[client.index() * words..][..words];
        let fits = writes.len() <= self.config.log_entries as usize;
        let count = if fits { writes.len() as u64 } else { TOO_MANY };
        // ORDERING: Relaxed, as all of the log: released by the change of the status to PERSISTING
        log[0].store(epoch << COUNT_BITS | count, Ordering::Relaxed);
        if !fits {
            return;
        }
        for (entry, (index, value)) in log[1..].chunks_exact(2).zip(writes) {
            // ORDERING: Relaxed, as above
            entry[0].store(index.into(), Ordering::Relaxed);
            // ORDERING: Relaxed, as above
            entry[1].store(value, Ordering::Relaxed);
        }
    }

    /// Looks for participants whose process has ended, and ends their attempts. A system call for each participant.
    #[cold]
    pub(crate) fn settle_dead(&self) {
        if !self.is_among_processes() {
            return;
        }
        let gone: Vec<usize> = (0..self.config.participants).filter(|&id| self.is_gone(id)).collect();
        if gone.is_empty() {
            return;
        }
        // Another one may be at it, and will be done soon.
        let _done = self.region.try_exclusively(|| gone.into_iter().for_each(|id| self.settle(id)));
    }

    fn is_gone(&self, id: usize) -> bool {
        // ORDERING: Relaxed, a name; what its process has written is found by the kernel's evidence of its death
        let word = self.claim_word(id).load(Ordering::Relaxed);
        let owner = ParticipantId::from_word(word).filter(|_| word != GONE);
        owner.is_some_and(|owner| self.region.liveness(owner) != Liveness::Alive)
    }

    /// Ends what a dead participant was doing, under the exclusion.
    fn settle(&self, id: usize) {
        // It may have been settled, and its number taken, since it was looked at.
        if !self.is_gone(id) {
            return;
        }
        let client = ClientId(id as u16);
        if self.config.server_number(id).is_some() {
            if !self.is_stopped() {
                self.poison(client);
            }
        } else {
            self.settle_attempt(client);
        }
        // With messages its channels have died, too.
        let next = if self.config.is_shared { 0 } else { GONE };
        // ORDERING: Release, pairs with the AcqRel in claim [claim]
        self.claim_word(id).store(next, Ordering::Release);
    }

    fn settle_attempt(&self, client: ClientId) {
        let status = self.status(client);
        match status.read() {
            (epoch, State::Running) => {
                // Nobody else ends it: an attacker that was faster has aborted it as well.
                let _aborted = status.try_abort(epoch, crate::status::Why::Raw);
            }
            (epoch, State::Persisting) if self.complete(client, epoch) => status.commit(epoch),
            (_, State::Persisting) => self.poison(client),
            _ => {}
        }
    }

    /// Stores the values of a log; false if the log is not that of this epoch, or does not have all of them.
    fn complete(&self, client: ClientId, epoch: u64) -> bool {
        let words = self.layout.log_words;
        let log = &self.logs[client.index() * words..][..words];
        // ORDERING: Relaxed, as all of the log: acquired with the status
        let first = log[0].load(Ordering::Relaxed);
        let count = first & TOO_MANY;
        let is_whole = first >> COUNT_BITS == epoch & (u64::MAX >> COUNT_BITS);
        if !is_whole || count > self.config.log_entries.into() {
            return false;
        }
        for entry in log[1..].chunks_exact(2).take(count as usize) {
            // ORDERING: Relaxed, as above
            let index = entry[0].load(Ordering::Relaxed);
            // ORDERING: Relaxed, as above
            let value = entry[1].load(Ordering::Relaxed);
            // What a stranger wrote there is left out.
            if index < self.config.variables.into() {
                self.store(index as u32, value);
            }
        }
        true
    }
}
