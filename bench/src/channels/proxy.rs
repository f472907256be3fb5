//! Participants that are processes, as the harness sees them: each is this program again, a [`Child`].
//!
//! For the harness such a participant is a [`Body`] like any other: a [`Proxy`], whose thread sleeps while the process works.
//! The process says what it saw in its own ticks, which are everybody's where the clock is the CPU's counter. It is told of
//! a task, and has answered, before the participants meet to begin it, so that waking it up is not part of what is timed. The
//! one that sends the first message begins only when it is told that all have met.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use corecast::base::{Clock, CpuId};
use serde::{Deserialize, Serialize};

use super::contender::{Carrier, Seed};
use super::script::{Lane, Turn};
use super::wire::Wire;
use corecast_race::child::Child;
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Body, Stamps, Task};

/// The first message to a process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Assignment {
    pub(super) contender: String,
    pub(super) wire: Wire,
    pub(super) cpu: Option<u32>,
    pub(super) role: Role,
}

/// The part that a process takes.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Role {
    /// It receives a stream; the word of its seed.
    Receiver(u64),
    /// It is a node of a program: its turns, each with the channel.
    Node(Vec<(Turn, Lane)>),
}

/// The message by which a process that sends first learns that all participants have met.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Begin;

impl Role {
    /// Whether nothing happens before this participant sends.
    pub(super) fn is_first(&self) -> bool {
        matches!(self, Self::Node(turns) if matches!(turns.first(), Some((Turn::Send(_), _))))
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Receiver(_) => "receiver",
            Self::Node(_) => "node",
        }
    }
}

/// A participant in another process.
pub(super) struct Proxy {
    child: Child,
    carrier: &'static dyn Carrier,
    is_first: bool,
    /// The words of the seeds that the process has handed over: by them the system's remains are found.
    made: Vec<u64>,
    timing: Stamps,
}

impl Proxy {
    /// Starts the program and tells it its role, with descriptors. It is not ready yet.
    ///
    /// # Errors
    /// The process cannot be started.
    pub(super) fn start(
        (program, arguments): (&Path, &[String]),
        (carrier, wire): (&'static dyn Carrier, &Wire),
        cpu: Option<CpuId>,
        (role, fds): (Role, &[OwnedFd]),
        abort: &Arc<Abort>,
    ) -> Result<Self, Failure> {
        let (cpu, name, is_first) = (cpu.map(CpuId::get), role.name(), role.is_first());
        let who = cpu.map_or_else(|| format!("a {name}"), |cpu| format!("the {name} on CPU {cpu}"));
        let assignment = Assignment { contender: carrier.name().to_owned(), wire: *wire, cpu, role };
        let child = Child::start(who, (program, arguments), &assignment, fds, abort)?;
        Ok(Self { child, carrier, is_first, made: Vec::new(), timing: Stamps::default() })
    }

    /// The seed of the next receiver of a channel that the process makes.
    ///
    /// # Errors
    /// The process cannot make the channel, or has ended.
    pub(super) fn await_seed(&mut self) -> Result<Seed, Failure> {
        let (word, fds) = self.child.await_handed()?;
        self.made.push(word);
        Ok(Seed { fds, word })
    }

    /// Gives the process the seed of a channel from which it receives.
    ///
    /// # Errors
    /// The process has ended.
    pub(super) fn give(&mut self, seed: &Seed) -> Result<(), Failure> {
        self.child.tell(&seed.word, &seed.fds)
    }

    /// Waits until the process has all its ends.
    ///
    /// # Errors
    /// It cannot make one, or has ended.
    pub(super) fn await_ready(&mut self) -> Result<(), Failure> {
        self.child.await_ready()
    }

    fn perform(&mut self) -> Result<(), Failure> {
        if self.is_first {
            self.child.tell(&Begin, &[])?;
        }
        self.timing = self.child.await_done()?;
        Ok(())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.made.iter().for_each(|&word| self.carrier.clear_away(word));
    }
}

impl Body for Proxy {
    fn run(&mut self, _iterations: u64) -> Result<(), Failure> {
        self.perform()
    }

    fn check(&mut self, _rounds: u64) -> Result<(), Failure> {
        self.perform()
    }

    fn paced(&mut self, _begin: u64, _count: u64, _every: u64) -> Result<Vec<u64>, Failure> {
        self.perform()?;
        Ok(std::mem::take(&mut self.timing.marks))
    }

    fn ready(&mut self, task: Task) -> Result<(), Failure> {
        self.child.tell(&task, &[])?;
        self.child.await_ready()
    }

    fn amend(&mut self, timing: &mut Stamps) {
        timing.cpu = self.timing.cpu;
        timing.missed = self.timing.missed;
        if Clock::get().is_counter() {
            timing.end = self.timing.end;
            if self.is_first {
                timing.start = self.timing.start;
            }
        }
    }
}
