//! The other end's participant, by the word that names it.

use std::time::Duration;

use corecast_base::region::{Liveness, ParticipantId, SharedRegion};
use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{CacheLine, Clock, Place};

use crate::open::OpenChannelError;

/// The shortest time between two questions to the kernel.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// The participant at the other end.
#[derive(Debug)]
pub(crate) struct Peer {
    region: SharedRegion,
    /// Written by the other end when it is opened.
    word: Place<CacheLine<AtomicU64>>,
    /// The last participant that was found gone; 0 for none.
    gone: u64,
    /// The time of the next question, in ticks.
    next_look: u64,
}

impl Peer {
    pub(crate) fn new(region: &SharedRegion, word: Place<CacheLine<AtomicU64>>) -> Self {
        Self { region: region.clone(), word, gone: 0, next_look: 0 }
    }

    /// True in a forked child, which does not have the memory.
    #[inline(always)]
    pub(crate) fn is_forked(&self) -> bool {
        self.region.check_fork().is_err()
    }

    /// True if the channel is in this region.
    pub(crate) fn is_in(&self, region: &SharedRegion) -> bool {
        self.region.generation() == region.generation()
    }

    /// True if a participant was at the other end and is gone for sure. Its earlier actions are visible. The channel knows
    /// whether it said goodbye.
    pub(crate) fn is_dead(&mut self) -> bool {
        // ORDERING: Acquire, pairs with the AcqRel in claim: the end is as its owner found it [end]
        let word = self.word.load(Ordering::Acquire);
        if word == 0 || word == self.gone {
            return word != 0;
        }
        let clock = Clock::get();
        let now = clock.ticks();
        if now < self.next_look {
            return false;
        }
        self.next_look = now + clock.ticks_in(LOOK_EVERY);
        // No end writes a word that names no participant.
        let is_dead = ParticipantId::from_word(word).is_none_or(|who| self.region.liveness(who) != Liveness::Alive);
        if is_dead {
            self.gone = word;
        }
        is_dead
    }
}

/// The way an end was claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// No participant had it before.
    First,
    /// The participant that had it is gone.
    Succession,
}

/// Makes this participant the owner of an end, if the end is free or its last owner is gone.
///
/// # Errors
/// [`OpenChannelError::Taken`].
pub(crate) fn claim(
    region: &SharedRegion,
    word: &AtomicU64,
    name: &str,
    end: &'static str,
) -> Result<Claim, OpenChannelError> {
    loop {
        // ORDERING: Acquire, pairs with the AcqRel below: the claim of the last owner is visible [end]
        let seen = word.load(Ordering::Acquire);
        let owner = ParticipantId::from_word(seen);
        if let Some(by) = owner.filter(|&by| region.liveness(by) == Liveness::Alive) {
            return Err(OpenChannelError::Taken { name: name.to_owned(), end, by });
        }
        // ORDERING: AcqRel, pairs with the Acquires above and in is_dead; Relaxed on failure, it is looked at anew [end]
        let swapped = word.compare_exchange(seen, region.me().to_word(), Ordering::AcqRel, Ordering::Relaxed);
        if swapped.is_ok() {
            return Ok(if seen == 0 { Claim::First } else { Claim::Succession });
        }
    }
}
