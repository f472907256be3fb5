//! How often the bytes of a long operation are written and read, counted by the operation's own codec.
//!
//! A codec is called where an operation becomes the bytes that the log refers to, and where a replica reads them again. The copy
//! from the client's buffer into its arena, and each replica's copy out of it, come on top: no codec sees them.

use std::io;

use corecast::base::sync::{AtomicU64, Ordering};
use corecast::base::wait::Wait;
use corecast::replica::{Index, Level, Node, Replicated, StateMachine, Wire};

use super::host::Setting;
use super::ours::config;
use super::series::Series;
use corecast_race::failure::Failure;

/// The bytes of an operation: too many for a line of the log.
const BYTES: usize = 1024;

/// Operations that were encoded and decoded in this process. A codec has no place of its own for them.
static ENCODED: AtomicU64 = AtomicU64::new(0);
static DECODED: AtomicU64 = AtomicU64::new(0);

/// Bytes whose codec counts.
struct Payload(Vec<u8>);

impl Wire for Payload {
    fn encode(&self, to: &mut Vec<u8>) {
        // ORDERING: Relaxed, a linearizable read at each node comes between this and the look at the count
        ENCODED.fetch_add(1, Ordering::Relaxed);
        to.extend_from_slice(&self.0);
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        // ORDERING: Relaxed, a linearizable read at each node comes between this and the look at the count
        DECODED.fetch_add(1, Ordering::Relaxed);
        Some(Self(bytes.to_vec()))
    }
}

/// The sum of all bytes.
#[derive(Debug, Default)]
struct Sum(u64);

impl StateMachine for Sum {
    type Op = Payload;
    type Out = u64;
    type Query = ();
    type Answer = u64;

    fn apply(&mut self, _at: Index, op: &Payload) -> u64 {
        self.0 += op.0.iter().map(|&byte| u64::from(byte)).sum::<u64>();
        self.0
    }

    fn query(&self, (): &()) -> u64 {
        self.0
    }

    fn digest(&self) -> u128 {
        self.0.into()
    }

    fn snapshot(&self, to: &mut dyn io::Write) -> io::Result<()> {
        to.write_all(&self.0.to_le_bytes())
    }

    fn restore(from: &mut dyn io::Read) -> io::Result<Self> {
        let mut bytes = [0; 8];
        from.read_exact(&mut bytes)?;
        Ok(Self(u64::from_le_bytes(bytes)))
    }
}

/// For each of this number of long operations, how often it was encoded and decoded by all nodes together.
pub(super) fn counted(series: &Series, replicas: usize, commands: u64, wait: Wait) -> Result<[f64; 2], Failure> {
    let setting = Setting { members: replicas, clients: 1, cpus: Vec::new(), wait };
    let mut nodes = vec![Replicated::create(&config(series, &setting), Sum::default()).map_err(Failure::refused)?];
    for _ in 1..replicas {
        let fd = nodes[0].share().map_err(Failure::while_doing("share a group"))?;
        nodes.push(Replicated::attach_fd(&config(series, &setting), fd).map_err(Failure::refused)?);
    }
    let mut session = nodes[replicas - 1].session().map_err(Failure::refused)?;
    let operation = Payload(vec![1; BYTES]);
    let before = counts(&nodes, 0)?;
    for _ in 0..commands {
        session.execute(&operation).map_err(Failure::refused)?;
    }
    let after = counts(&nodes, commands)?;
    Ok([0, 1].map(|of| (after[of] - before[of]) as f64 / commands as f64))
}

/// Both counts, once all nodes have applied this number of operations.
fn counts(nodes: &[Node<Sum>], commands: u64) -> Result<[u64; 2], Failure> {
    for node in nodes {
        let (sum, _) = node.read(Level::Linearizable, &()).map_err(Failure::refused)?;
        if sum != commands * BYTES as u64 {
            return Err(Failure::Wrong(format!("the sum is {sum} after {commands} operations")));
        }
    }
    // ORDERING: Relaxed, a linearizable read at each node comes between the counting and this
    Ok([&ENCODED, &DECODED].map(|count| count.load(Ordering::Relaxed)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replica::series::forms;

    #[test]
    fn bytes_are_written_once_and_read_once_by_each_replica() {
        // One after another: the counts are those of the process.
        for series in forms() {
            assert_eq!(counted(series, 3, 20, Wait::Adaptive), Ok([1.0, 3.0]), "{}", series.name);
        }
    }
}
