//! A node's leader: the engine's end, and how it waits there.
//!
//! A leader polls in bursts and gives up its CPU in between; it never sleeps, as no other node could wake it. Measured between
//! two hosts with four members each on two CPUs: a yield after every poll 297 us for an allreduce, bursts without a yield 39
//! us, but only while nobody else needs the CPUs.

use std::fmt;
use std::time::Duration;

use corecast_base::Clock;
use corecast_base::sync::{spin_hint, yield_now};

use super::engine::Engine;
use super::news::News;
use super::stop::Stop;
use super::{Fault, FaultWord};
use crate::core::nap_until;
use crate::member::Member as NearMember;
use crate::missing::Missing;

/// The time between two yields.
const BURST: Duration = Duration::from_micros(30);

/// One node's end of the engine, with its member that leads.
pub(super) struct Leader {
    pub(super) engine: Box<dyn Engine>,
    /// The number of times that the engine was remade.
    pub(super) epoch: u32,
    /// True once the others know, or have told, why the group of this epoch has failed.
    pub(super) has_told: bool,
}

impl Leader {
    pub(super) fn new(engine: Box<dyn Engine>) -> Self {
        Self { engine, epoch: 0, has_told: false }
    }

    /// Fails if another node has told that the group has failed.
    pub(super) fn listen(&mut self) -> Result<(), Stop> {
        match self.engine.listen()? {
            Some(word) => Err(Fault::Told(word).into()),
            None => Ok(()),
        }
    }

    /// Tells all other nodes why the group has failed, unless one has told this one.
    pub(super) fn tell(&mut self, word: FaultWord) {
        if !std::mem::replace(&mut self.has_told, true) {
            self.engine.tell(word);
        }
    }

    /// Polls until `poll` says that its work is done, this node's group fails, or the time is over. Members whose time is over
    /// learn that the leader waits for the node `awaited`.
    pub(super) fn wait(
        &mut self,
        near: &mut NearMember,
        news: &News,
        deadline: u64,
        awaited: Option<usize>,
        mut poll: impl FnMut(&mut dyn Engine) -> Result<bool, Stop>,
    ) -> Result<(), Stop> {
        if poll(&mut *self.engine)? {
            return Ok(());
        }
        let clock = Clock::get();
        let burst = clock.ticks_in(BURST);
        let mut is_noted = false;
        loop {
            let end = clock.ticks() + burst;
            while clock.ticks() < end {
                if poll(&mut *self.engine)? {
                    if is_noted {
                        news.await_node(None);
                    }
                    return Ok(());
                }
                spin_hint();
            }
            nap_until(deadline, Missing::default)?;
            near.ends_mut().core.look_around()?;
            if !is_noted {
                news.await_node(awaited);
                is_noted = true;
            }
            yield_now();
        }
    }
}

impl fmt::Debug for Leader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Leader({}, epoch {})", self.engine.facts(), self.epoch)
    }
}
