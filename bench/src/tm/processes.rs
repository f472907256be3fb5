//! The bank of corecast's transactional memory with participants that are processes: each is this program again, as `member`
//! has it, and the threads of the session only tell them what to do.

use std::sync::Arc;
use std::time::Duration;

use corecast::base::CpuId;
use corecast::tm::Tm;

use super::bank::accounts;
use super::host::{Block, Player, Seat, Session, Setting, check_readers};
use super::member::{Assignment, Duty};
use super::session::warm_up;
use super::tally::Tally;
use super::variant::Variant;
use super::workload::{BankWork, Work};
use corecast_race::child::Child;
use corecast_race::failure::Failure;
use corecast_race::harness::Abort;
use corecast_race::place::Place;

/// A memory of this variant, whose participants are processes.
pub(super) fn with(variant: Variant, setting: &Setting<'_>, session: Session<'_>) -> Result<(), Failure> {
    let Work::Bank(work) = setting.work else {
        return Err(Failure::Refused("its processes have the bank only".to_owned()));
    };
    let tm = variant.open_among_processes(setting)?;
    check_readers(setting, tm.participants() - tm.servers())?;
    for account in accounts() {
        tm.new_var(account).map_err(Failure::refused)?;
    }
    let mut servers = Vec::new();
    let mut seats = Vec::new();
    for id in 0..tm.participants() {
        let child = start(&tm, setting, work, id, seats.len())?;
        if tm.is_server(id) {
            servers.push(child);
        } else {
            let player = Box::new(Remote { child, time: setting.time });
            seats.push(Seat { player, cpu: None });
        }
    }
    // All are killed with their handles, servers after clients.
    session(seats)
}

/// Starts the process of a participant, and waits until it has joined.
fn start(tm: &Tm, setting: &Setting<'_>, work: BankWork, id: usize, rank: usize) -> Result<Child, Failure> {
    let Place::Processes { program, arguments } = setting.place else {
        return Err(Failure::NoCrew("no program was named that processes could run".to_owned()));
    };
    let cpu = (!setting.cpus.is_empty()).then(|| setting.cpus[id % setting.cpus.len()].get());
    let clients = tm.participants() - tm.servers();
    let assignment = Assignment::new(work, (id, rank, clients), cpu.map(CpuId::new), setting.seed);
    let fd = tm.share().map_err(Failure::while_doing("share memory with a process"))?;
    let who = format!("the process of participant {id}");
    let mut child = Child::start(who, (program, arguments), &assignment, &[fd], &Arc::new(Abort::default()))?;
    child.await_ready()?;
    Ok(child)
}

/// A client that is a process.
struct Remote {
    child: Child,
    /// How long it plays.
    time: Duration,
}

impl Player for Remote {
    fn record(&mut self, _block: &Block<'_>) -> Result<Vec<i64>, Failure> {
        self.child.tell(&Duty::Record, &[])?;
        self.child.await_told()
    }

    fn verify(&mut self, _recorded: &[Vec<i64>]) -> Result<(), Failure> {
        self.child.tell(&Duty::Verify, &[])?;
        self.child.await_ready()
    }

    /// It looks at a clock of its own rather than at the flag of this block, and warms up itself right before: between two
    /// messages to it the servers fall asleep.
    fn play(&mut self, block: &Block<'_>) -> Result<Tally, Failure> {
        if block.is_warm_up {
            return Ok(Tally::default());
        }
        self.child.tell(&Duty::Play { warm_up: warm_up(self.time), time: self.time }, &[])?;
        self.child.await_told()
    }
}
