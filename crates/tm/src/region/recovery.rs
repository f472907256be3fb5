//! Participants that died: their locks become stale, and what they were storing is completed.
//!
//! A participant among processes writes the values that it is about to store into its log before it persists. The one that finds
//! its death, under the region's exclusion so that it happens once, looks at its status: an attempt that runs is aborted, and
//! one that persists is completed from the log, whose variables are still locked. After that the status says that the attempt
//! has ended, and the rule takes every lock of it for stale. In the shared form, where another process may take the place, its
//! locks are also given back before: they would be taken for the successor's, which has the same number. Only where the log
//! could not hold all values is the instance poisoned; so it is when a server dies, as the locks die with it.

use corecast_base::region::{Liveness, ParticipantId};
use corecast_base::wait::Spinner;

use crate::crash_point;
use crate::error::{OpenError, RunError};
use crate::log::Log;
use crate::region::memory::Memory;
use crate::seat::GONE;
use crate::slot::Slot;
use crate::status::{ClientId, State, Why};
use crate::wide_slot::WideSlot;

impl Memory {
    /// Makes this process the one that has the participant.
    pub(crate) fn claim(&self, id: usize) -> Result<(), OpenError> {
        self.region.check_fork()?;
        let (seat, me) = (self.seat(id), self.region.me().to_word());
        for _ in 0..2 {
            if seat.try_take(me) {
                return Ok(());
            }
            // That one may have died.
            self.settle_dead();
        }
        Err(OpenError::Taken(id))
    }

    /// The participant is given up by its owner, which runs no attempt.
    pub(crate) fn leave(&self, id: usize) {
        self.seat(id).leave(0);
    }

    /// The participant is given up by its owner, and nobody can take its place.
    pub(crate) fn retire(&self, id: usize) {
        self.seat(id).leave(GONE);
    }

    /// The log of a participant, in an instance among processes.
    #[inline]
    pub(crate) fn log(&self, client: ClientId) -> Log<'_> {
        let words = self.layout.log_words;
        let entries = self.config.log_entries as usize;
        Log::of(&self.logs[client.index() * words..][..1 + 2 * entries])
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

    /// Whether a participant has died whose place nobody can take any more.
    pub(crate) fn has_no_successor(&self, client: ClientId) -> bool {
        self.seat(client.index()).owner() == GONE
    }

    /// Whether values may be read without a lock. Commits that killed participants have left half done are completed before.
    pub(crate) fn check_readable(&self) -> Result<(), RunError> {
        self.check_usable()?;
        if self.is_among_processes() {
            let mut spinner = Spinner::new();
            while (0..self.config.participants).any(|id| self.has_half_commit(id)) {
                self.settle_dead();
                // Another one may be at it.
                spinner.pause_or_sleep();
            }
        }
        self.check_usable()
    }

    fn has_half_commit(&self, id: usize) -> bool {
        let (_, state) = self.status(ClientId(id as u16)).read();
        state == State::Persisting && self.is_gone(id)
    }

    fn is_gone(&self, id: usize) -> bool {
        let word = self.seat(id).owner();
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
            self.give_up_locks(client);
        }
        crash_point::here("settled");
        // With messages its channels have died, too.
        let next = if self.config.is_shared { 0 } else { GONE };
        self.seat(id).leave(next);
    }

    fn settle_attempt(&self, client: ClientId) {
        let status = self.status(client);
        match status.read() {
            (epoch, State::Running) => {
                // Nobody else ends it: an attacker that was faster has aborted it as well.
                let _aborted = status.try_abort(epoch, Why::Raw);
            }
            (epoch, State::Persisting) if self.complete(client, epoch) => status.commit(epoch),
            (_, State::Persisting) => self.poison(client),
            _ => {}
        }
    }

    /// Gives back the locks of a dead participant in the shared form, once its status says that its attempt has ended. It looks
    /// at all variables that were ever allocated, as nothing lists the locks of a participant but its own memory.
    fn give_up_locks(&self, client: ClientId) {
        if !self.config.is_shared {
            return;
        }
        let words = self.config.lock_words();
        for variable in 0..self.ever_allocated() {
            match &self.locks[variable * words..][..words] {
                [word] => Slot::of(word, client).give_up(),
                words => WideSlot::of(words, client).give_up(),
            }
            crash_point::here("clearing");
        }
    }

    /// Stores the values of a log; false if the log is not that of this epoch, or does not have all of them.
    fn complete(&self, client: ClientId, epoch: u64) -> bool {
        let Some(entries) = self.log(client).read(epoch) else { return false };
        for (index, value) in entries {
            // An index that a stranger wrote is left out.
            if index < self.config.variables.into() {
                self.store(index as u32, value);
                crash_point::here("completing");
            }
        }
        true
    }
}
