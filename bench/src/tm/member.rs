//! The work of a process that is a participant of a bank: a server runs until its clients have left, and a client does the blocks
//! that it is given.

use std::io::Stdin;
use std::thread;
use std::time::Duration;

use corecast::base::sync::{AtomicU64, Ordering};
use corecast::base::{CacheLine, CpuId};
use corecast::machine::pin;
use corecast::tm::{Participant, Role, Tm};
use serde::{Deserialize, Serialize};

use super::bank::{ACCOUNTS, Account, Banker};
use super::host::{Block, Player};
use super::ours::Client;
use super::workload::BankWork;
use corecast_race::child::{Answer, attend, hear, say, tell};
use corecast_race::failure::Failure;

/// The first message to a process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Assignment {
    participant: usize,
    /// Its place among the clients, if it is one.
    rank: usize,
    clients: usize,
    cpu: Option<u32>,
    checks_percent: u32,
    readers: usize,
    scans_percent: u32,
    seed: u64,
}

impl Assignment {
    pub(super) fn new(
        work: BankWork,
        (participant, rank, clients): (usize, usize, usize),
        cpu: Option<CpuId>,
        seed: u64,
    ) -> Self {
        let BankWork { checks_percent, readers, scans_percent } = work;
        Self { participant, rank, clients, cpu: cpu.map(CpuId::get), checks_percent, readers, scans_percent, seed }
    }
}

/// The later messages to a client.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) enum Duty {
    /// The checks.
    Record,
    /// Look at the sum of all accounts.
    Verify,
    /// The experiment, for this time, after some of it that does not count.
    Play { warm_up: Duration, time: Duration },
}

/// The work of a process that is a participant of a transactional memory, as standard input tells. For the hidden subcommand of a
/// program that races them.
///
/// # Errors
/// Why the process cannot go on; its parent has been told.
pub fn tm_member() -> Result<(), Failure> {
    attend(serve)
}

fn serve(control: &Stdin) -> Result<(), Failure> {
    let Some((assignment, mut fds)) = hear::<Assignment>(control)? else { return Ok(()) };
    if let Some(cpu) = assignment.cpu {
        pin::pin(CpuId::new(cpu)).map_err(Failure::refused)?.forever();
    }
    let fd = fds.pop().ok_or_else(|| Failure::Refused("no memory came along".to_owned()))?;
    let tm = Tm::attach_fd(fd).map_err(Failure::refused)?;
    match tm.participant(assignment.participant).map_err(Failure::refused)? {
        Role::Server(server) => {
            say(control, &Answer::Ready)?;
            server.serve().map(drop).map_err(Failure::refused)
        }
        Role::Application(participant) => play(control, &assignment, &tm, participant),
        _ => Err(Failure::Refused("a participant is neither application nor server".to_owned())),
    }
}

fn play(control: &Stdin, assignment: &Assignment, tm: &Tm, participant: Participant) -> Result<(), Failure> {
    // The accounts are the first variables.
    let vars: Result<Vec<_>, _> = (0..ACCOUNTS as u32).map(|index| tm.var::<Account>(index)).collect();
    let vars = vars.map_err(Failure::refused)?;
    let &Assignment { rank, clients, checks_percent, readers, scans_percent, seed, .. } = assignment;
    let work = BankWork { checks_percent, readers, scans_percent };
    let mut banker = Banker::seeded(Client::at_bank(participant, &vars, work), work, seed, rank);
    say(control, &Answer::Ready)?;
    while let Some((duty, _)) = hear(control)? {
        let over = [(); 2].map(|()| CacheLine::new(AtomicU64::new(0)));
        let [warming, block] = [0, 1].map(|at| Block { over: &over[at], is_warm_up: at == 0, rank, clients });
        match duty {
            Duty::Record => tell(control, &banker.record(&block)?)?,
            Duty::Verify => {
                banker.verify(&[])?;
                say(control, &Answer::Ready)?;
            }
            Duty::Play { warm_up, time } => {
                let tally = thread::scope(|scope| {
                    scope.spawn(|| {
                        for (time, over) in [warm_up, time].into_iter().zip(&over) {
                            thread::sleep(time);
                            // ORDERING: Relaxed, the flag publishes nothing but itself
                            over.store(1, Ordering::Relaxed);
                        }
                    });
                    banker.play(&warming).and_then(|_| banker.play(&block))
                });
                tell(control, &tally?)?;
            }
        }
    }
    Ok(())
}
