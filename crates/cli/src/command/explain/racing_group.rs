//! Replicas that race: their nodes, each bound to a CPU, and a client at each of them.

use std::io::{self, Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use corecast::CpuId;
use corecast::machine::pin;
use corecast::replica::{Index, Level, Medium, Node, Session, StateMachine};

use crate::failure::Failure;

/// Writes of each client in the first block, which is not counted.
const TRIAL: u64 = 10;
/// The time that a block is meant to take.
const BLOCK: Duration = Duration::from_millis(30);
/// The most writes of a client in a block.
const MOST_WRITES: u64 = 10_000;
/// The longest time that a write may take.
const LIMIT: Duration = Duration::from_secs(20);

/// Members on their CPUs.
pub(super) struct RacingGroup<M: Medium> {
    cpus: Vec<CpuId>,
    nodes: Vec<Node<Sum, M>>,
    /// That of each node.
    sessions: Vec<Session<Sum, M>>,
    written: u64,
}

impl<M: Medium> RacingGroup<M> {
    /// Of nodes on these CPUs.
    pub(super) fn of(cpus: &[CpuId], nodes: Vec<Node<Sum, M>>) -> Result<Self, Failure> {
        let sessions = nodes.iter().map(Node::session).collect::<Result<_, _>>().map_err(Failure::environment)?;
        Ok(Self { cpus: cpus.to_vec(), nodes, sessions, written: 0 })
    }

    /// A block that is not counted; the number of writes of each client with which the next ones are long enough.
    pub(super) fn trial(&mut self) -> Result<u64, Failure> {
        let spent = self.block(TRIAL)?;
        let fit = BLOCK.as_nanos() as u64 / (spent as u64).max(1) / self.cpus.len() as u64;
        Ok(fit.clamp(TRIAL, MOST_WRITES))
    }

    /// Every member writes so often; the time of one write in ns, of all together.
    pub(super) fn block(&mut self, writes: u64) -> Result<f64, Failure> {
        let began = Instant::now();
        thread::scope(|scope| {
            let clients = self.sessions.iter_mut().zip(&self.cpus).map(|(session, &cpu)| {
                scope.spawn(move || {
                    pin::pin(cpu).map_err(Failure::environment)?.forever();
                    for _ in 0..writes {
                        session.execute_timeout(&1, LIMIT).map_err(Failure::environment)?;
                    }
                    Ok::<(), Failure>(())
                })
            });
            let clients: Vec<_> = clients.collect();
            clients.into_iter().try_for_each(|client| client.join().expect("a client does not panic"))
        })?;
        let all = writes * self.nodes.len() as u64;
        self.written += all;
        Ok(began.elapsed().as_nanos() as f64 / all as f64)
    }

    /// Every member has all that was written.
    pub(super) fn check(&self) -> Result<(), Failure> {
        for node in &self.nodes {
            let (sum, _) = node.read(Level::Linearizable, &()).map_err(Failure::environment)?;
            if sum != self.written {
                let why = format!("node {} has {sum} of {} writes: the race is void", node.id(), self.written);
                return Err(Failure::environment(why));
            }
        }
        Ok(())
    }
}

/// Runs `work` in a thread that is bound to this CPU, as are the threads that it starts.
pub(super) fn bound_to<T: Send>(cpu: CpuId, work: impl FnOnce() -> Result<T, Failure> + Send) -> Result<T, Failure> {
    thread::scope(|scope| {
        let bound = scope.spawn(move || {
            pin::pin(cpu).map_err(Failure::environment)?.forever();
            work()
        });
        bound.join().expect("making a node does not panic")
    })
}

/// A sum.
#[derive(Debug, Default)]
pub(super) struct Sum(u64);

impl StateMachine for Sum {
    type Op = u64;
    type Out = u64;
    type Query = ();
    type Answer = u64;

    fn apply(&mut self, _: Index, by: &u64) -> u64 {
        self.0 += by;
        self.0
    }

    fn query(&self, (): &()) -> u64 {
        self.0
    }

    fn digest(&self) -> u128 {
        self.0.into()
    }

    fn snapshot(&self, to: &mut dyn Write) -> io::Result<()> {
        to.write_all(&self.0.to_le_bytes())
    }

    fn restore(from: &mut dyn Read) -> io::Result<Self> {
        let mut bytes = [0; 8];
        from.read_exact(&mut bytes)?;
        Ok(Self(u64::from_le_bytes(bytes)))
    }
}
