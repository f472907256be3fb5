//! A node's leader: the engine's end, and how it waits there.
//!
//! A leader polls in bursts and gives up its CPU in between; it never sleeps, as no other node could wake it. Measured between
//! two hosts with four members each on two CPUs: a yield after every poll 297 us for an allreduce, bursts without a yield 39
//! us, but only while nobody else needs the CPUs.

use std::fmt;
use std::process;
use std::time::Duration;

use corecast_base::Clock;
use corecast_base::sync::yield_now;

use super::engine::Engine;
use super::exchange::Exchanges;
use super::news::News;
use super::stop::Stop;
use super::{Fault, FaultWord};
use crate::core::{NOW, nap_until};
use crate::member::Member as NearMember;
use crate::missing::Missing;

/// The time between two yields.
const BURST: Duration = Duration::from_micros(30);

/// The least time between two looks for words from other nodes at the beginning of operations. A look has the engine turn to
/// all its connections, a tenth of the time of a short operation between two hosts. A leader that waits looks as well.
const LOOK: Duration = Duration::from_micros(200);

/// The outcome of a poll of an operation between nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Polled {
    Done,
    /// It waits for a message of this node, if it is one node that it waits for.
    Awaits(Option<usize>),
}

/// One node's end of the engine, with its member that leads.
pub(super) struct Leader {
    pub(super) engine: Box<dyn Engine>,
    /// The number of times that the engine was remade.
    pub(super) epoch: u32,
    /// The state of the chunks between the nodes, which one operation hands to the next: `None` while one has it.
    pub(super) exchanges: Option<Box<Exchanges>>,
    /// True once the others know, or have told, why the group of this epoch has failed.
    pub(super) has_told: bool,
    /// When it last looked for words, in ticks.
    looked: u64,
    /// [`LOOK`] and [`BURST`], in ticks.
    look: u64,
    burst: u64,
    /// The process that leads. One that is forked from it has a copy, which speaks to nobody.
    process: u32,
}

impl Leader {
    pub(super) fn new(engine: Box<dyn Engine>) -> Self {
        let [look, burst] = [LOOK, BURST].map(|time| Clock::get().ticks_in(time));
        Self { engine, exchanges: None, epoch: 0, has_told: false, looked: 0, look, burst, process: process::id() }
    }

    fn is_copy(&self) -> bool {
        self.process != process::id()
    }

    /// Ends the node's part.
    pub(super) fn close(self, is_clean: bool) {
        if self.is_copy() {
            // Dropping the engine might use the connections of the parent as well.
            std::mem::forget(self);
        } else {
            self.engine.close(is_clean);
        }
    }

    /// Drops the engine, whose steps under way stay with the library; words that were told are on their way.
    pub(super) fn leave(self) {
        if self.is_copy() {
            std::mem::forget(self);
        }
    }

    /// Fails if another node has told that the group has failed, unless it has just looked for such words.
    pub(super) fn listen(&mut self) -> Result<(), Stop> {
        let now = Clock::get().ticks();
        if now.saturating_sub(self.looked) < self.look {
            return Ok(());
        }
        self.looked = now;
        match self.engine.listen()? {
            Some(word) => Err(Fault::Told(word).into()),
            None => Ok(()),
        }
    }

    /// Tells all other nodes why the group has failed, unless one has told this one.
    pub(super) fn tell(&mut self, word: FaultWord) {
        if !self.is_copy() && !std::mem::replace(&mut self.has_told, true) {
            self.engine.tell(word);
        }
    }

    /// Polls until `poll` says that its work is done, this node's group fails, or the time is over. Members whose time is over
    /// learn which node the leader waits for; so does the leader itself, until it waits again.
    pub(super) fn wait(
        &mut self,
        near: &mut NearMember,
        news: &News,
        deadline: u64,
        mut poll: impl FnMut(&mut dyn Engine) -> Result<Polled, Stop>,
    ) -> Result<(), Stop> {
        let clock = Clock::get();
        // Left there by a wait whose time was over.
        let rank = near.rank();
        let mut noted = news.awaited_by(rank);
        // A call that may not wait polls once.
        let mut end = if deadline == NOW { 0 } else { clock.ticks() + self.burst };
        loop {
            let awaited = match poll(&mut *self.engine) {
                Ok(Polled::Awaits(node)) => node,
                done => {
                    if noted.is_some() {
                        news.await_node(rank, None);
                    }
                    return done.map(drop);
                }
            };
            if clock.ticks() < end {
                continue;
            }
            if noted != awaited {
                news.await_node(rank, awaited);
                noted = awaited;
            }
            nap_until(deadline, Missing::default)?;
            near.ends_mut().core.look_around()?;
            yield_now();
            end = clock.ticks() + self.burst;
        }
    }
}

impl fmt::Debug for Leader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Leader({}, epoch {})", self.engine.facts(), self.epoch)
    }
}
