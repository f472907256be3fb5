//! The traits of every contender: a memory in which participants work, and the part of one client of it.

use std::sync::Arc;
use std::time::Duration;

use corecast::base::CpuId;
use corecast::base::sync::AtomicU64;
use corecast::base::wait::Wait;
use corecast::machine::Machine;

use super::tally::Tally;
use super::workload::Work;
use corecast_race::failure::Failure;
use corecast_race::place::Place;

/// The situation in which a memory is used.
#[derive(Clone)]
pub(super) struct Setting<'a> {
    pub(super) work: Work,
    /// Clients and servers together.
    pub(super) participants: usize,
    /// One of this number of participants is a server, where there are servers.
    pub(super) every: usize,
    pub(super) machine: &'a Machine,
    /// The CPUs that participants are bound to.
    pub(super) cpus: &'a [CpuId],
    /// How channels wait.
    pub(super) wait: Wait,
    /// The program that participants run which are processes.
    pub(super) place: &'a Place,
    /// How long a block lasts.
    pub(super) time: Duration,
    pub(super) seed: u64,
    /// The text of the map-reduce.
    pub(super) text: Arc<Vec<u8>>,
}

/// When a client stops.
pub(super) struct Block<'a> {
    /// 1 when the block is over.
    pub(super) over: &'a AtomicU64,
    /// True before the block that is timed.
    pub(super) is_warm_up: bool,
    /// The client's number, from 0.
    pub(super) rank: usize,
    /// The number of clients.
    pub(super) clients: usize,
}

/// The part of one client.
pub(super) trait Player: Send {
    /// Makes the memory ready, where that takes a client. Called once, of the first client, before all begin.
    ///
    /// # Errors
    /// A failure of the memory.
    fn fill(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Some operations, and what they changed, for [`verify`](Self::verify).
    ///
    /// # Errors
    /// A failure of the memory, or a wrong result.
    fn record(&mut self, block: &Block<'_>) -> Result<Vec<i64>, Failure>;

    /// Whether the memory holds what all clients have recorded. Called while nobody else uses it.
    ///
    /// # Errors
    /// The difference.
    fn verify(&mut self, recorded: &[Vec<i64>]) -> Result<(), Failure>;

    /// The workload until the block is over. The only loop that is compiled for each memory, as a call through a trait object for
    /// each transaction would be timed with it.
    ///
    /// # Errors
    /// A failure of the memory, or a wrong result.
    fn play(&mut self, block: &Block<'_>) -> Result<Tally, Failure>;
}

/// A client and the CPU that it is bound to.
pub(super) struct Seat<'a> {
    pub(super) player: Box<dyn Player + 'a>,
    pub(super) cpu: Option<CpuId>,
}

/// The work of the clients of a memory.
pub(super) type Session<'w> = &'w mut dyn for<'a> FnMut(Vec<Seat<'a>>) -> Result<(), Failure>;

/// Makes a memory with its servers, lets clients work, and ends it. The memory says what it has no servers for.
pub(super) type With = Box<dyn Fn(&Setting<'_>, Session<'_>) -> Result<(), Failure>>;

/// Seats of this number of clients, on the setting's CPUs in turn.
pub(super) fn seats<'a, P: Player + 'a>(
    setting: &Setting<'_>,
    clients: usize,
    player: impl Fn(usize) -> P,
) -> Vec<Seat<'a>> {
    let cpu = |rank: usize| setting.cpus.get(rank % setting.cpus.len().max(1)).copied();
    (0..clients).map(|rank| Seat { player: Box::new(player(rank)), cpu: cpu(rank) }).collect()
}

/// How many clients sum all accounts, where there are so few that somebody has to transfer.
///
/// # Errors
/// If nobody would transfer.
pub(super) fn check_readers(setting: &Setting<'_>, clients: usize) -> Result<(), Failure> {
    match setting.work.bank() {
        Some(bank) if bank.readers >= clients => Err(Failure::Refused(format!(
            "of {clients} clients {} only read, so that none transfers",
            bank.readers.min(clients)
        ))),
        _ => Ok(()),
    }
}
