//! Servers and clients as those of `messages`, each a process of its own: the rings and the buffers lie in a region that they
//! share.
//!
//! - this file: the processes as the harness sees them;
//! - `member`: what each of them does;
//! - `memory`: what they share; `server`, `client`: the two ends of a request.
//!
//! A buffer is named by its number, which the receiver compares with how many there are. A process that is told that
//! another one died says so and ends, and then the rest are killed: so a block ends with a reason, whichever process dies.

mod client;
mod member;
mod memory;
mod server;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use corecast::base::Clock;
use corecast::base::region::SharedRegion;

use super::deal::{Deal, cpu_of};
use super::host::Setting;
use super::play::{Tally, Turn};
use corecast_race::child::Child;
use corecast_race::failure::Failure;
use corecast_race::harness::Abort;
use corecast_race::place::Place;
pub use member::table_member;
use member::{Assignment, Duty};
use memory::Memory;

/// How often is looked whether a client has failed.
const LOOK: Duration = Duration::from_millis(50);

/// The processes of one table.
struct Cast {
    memory: Memory,
    clients: Vec<Child>,
    /// Killed after the clients.
    _servers: Vec<Child>,
}

fn program<'a>(setting: &Setting<'a>) -> Result<(&'a PathBuf, &'a [String]), Failure> {
    match setting.place {
        Place::Processes { program, arguments } => Ok((program, arguments)),
        Place::Threads => Err(Failure::NoCrew("no program was named that processes could run".to_owned())),
    }
}

impl Cast {
    fn start(setting: &Setting<'_>) -> Result<Self, Failure> {
        let (program, arguments) = program(setting)?;
        if !Clock::get().is_counter() {
            return Err(Failure::Refused("processes have no clock in common".to_owned()));
        }
        let deal = Deal::new(setting);
        let region = SharedRegion::memfd(&memory::plan(setting, &deal)?).map_err(Failure::refused)?;
        let abort = Arc::new(setting.user.map_or_else(Abort::default, Abort::heeding));
        let start = |&participant: &usize| {
            let assignment = Assignment::new(setting, participant, cpu_of(setting, participant));
            let fd = region.share().map_err(Failure::while_doing("share memory with a process"))?;
            let who = format!("the process of participant {participant}");
            Child::start(who, (program, arguments), &assignment, &[fd], &abort)
        };
        let all = |participants: &[usize]| participants.iter().map(start).collect::<Result<Vec<_>, _>>();
        let (mut servers, mut clients) = (all(&deal.servers)?, all(&deal.clients)?);
        for child in servers.iter_mut().chain(&mut clients) {
            child.await_ready()?;
        }
        Ok(Self { memory: Memory::open(&region)?, clients, _servers: servers })
    }

    fn tell(&mut self, duty: Duty) -> Result<(), Failure> {
        self.clients.iter_mut().try_for_each(|client| client.tell(&duty, &[]))
    }

    fn do_all(&mut self, duty: Duty) -> Result<(), Failure> {
        self.tell(duty)?;
        self.clients.iter_mut().try_for_each(Child::await_ready)
    }
}

/// As [`check`](super::play::check).
pub(super) fn check(setting: &Setting<'_>) -> Result<(), Failure> {
    let mut cast = Cast::start(setting)?;
    cast.do_all(Duty::Record)?;
    let first = &mut cast.clients[0];
    first.tell(&Duty::Verify, &[])?;
    first.await_ready()
}

/// As [`turn`](super::play::turn).
pub(super) fn turn(setting: &Setting<'_>) -> Result<Turn, Failure> {
    let mut cast = Cast::start(setting)?;
    cast.do_all(Duty::Fill)?;
    cast.tell(Duty::Play)?;
    cast.memory.begin();
    let end = Instant::now() + setting.time;
    while Instant::now() < end && !cast.clients.iter().any(Child::has_news) {
        thread::sleep(end.saturating_duration_since(Instant::now()).min(LOOK));
    }
    cast.memory.end();
    let tallies: Result<Vec<Tally>, _> = cast.clients.iter_mut().map(Child::await_told).collect();
    Ok(Turn::of(&tallies?))
}
