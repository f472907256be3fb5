//! How often the bytes of a long operation are written and read, counted by the operation's own codec.
//!
//! A codec is called where an operation becomes the bytes that the log refers to, and where a replica reads them again. No codec
//! sees the copy from the client's buffer into its node's arena, and each replica's copy out of it: the nodes count those. At the
//! end one node has all compare their states, and each counts the bytes of its answer.

use std::io;
use std::time::Duration;

use corecast::base::sync::{AtomicU64, Ordering};
use corecast::base::wait::Wait;
use corecast::replica::{Index, Level, Node, Replicated, StateMachine, Wire};

use super::host::Setting;
use super::ours::config;
use super::series::Series;
use corecast_race::failure::Failure;

/// The bytes of an operation: too many for a line of the log.
const BYTES: usize = 1024;
/// How long the comparison of states may take.
const CUT_LIMIT: Duration = Duration::from_secs(10);

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

/// The costs of a long operation, of all nodes together, and of a cut.
#[derive(Debug, PartialEq)]
pub(super) struct PayloadCosts {
    /// How often it was encoded and decoded.
    pub(super) encoded: f64,
    pub(super) decoded: f64,
    /// Bytes that were copied into and out of memory that all nodes read, for each byte of it.
    pub(super) copied_in: f64,
    pub(super) copied_out: f64,
    /// Bytes of each replica's answer at a cut.
    pub(super) cut_bytes: f64,
}

/// Counts over this number of long operations.
pub(super) fn counted(series: &Series, replicas: usize, commands: u64, wait: Wait) -> Result<PayloadCosts, Failure> {
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
    nodes[0].compare(CUT_LIMIT).map_err(Failure::refused)?;
    let answered: u64 = nodes.iter().map(|node| node.status().counters.cut_bytes).sum();
    let more = |of: usize| (after[of] - before[of]) as f64 / commands as f64;
    Ok(PayloadCosts {
        encoded: more(0),
        decoded: more(1),
        copied_in: more(2) / BYTES as f64,
        copied_out: more(3) / BYTES as f64,
        cut_bytes: answered as f64 / replicas as f64,
    })
}

/// The counts of the codec and of the bytes copied, once all nodes have applied this number of operations.
fn counts(nodes: &[Node<Sum>], commands: u64) -> Result<[u64; 4], Failure> {
    for node in nodes {
        let (sum, _) = node.read(Level::Linearizable, &()).map_err(Failure::refused)?;
        if sum != commands * BYTES as u64 {
            return Err(Failure::Wrong(format!("the sum is {sum} after {commands} operations")));
        }
    }
    // ORDERING: Relaxed, a linearizable read at each node comes between the counting and this
    let [encoded, decoded] = [&ENCODED, &DECODED].map(|count| count.load(Ordering::Relaxed));
    let counters = nodes.iter().map(|node| node.status().counters);
    let copied = counters.map(|counters| (counters.bulk_written, counters.bulk_read));
    let (written, read) = copied.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    Ok([encoded, decoded, written, read])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replica::series::forms;

    #[test]
    fn bytes_are_written_once_and_read_once_by_each_replica() {
        // One after another: the counts are those of the process.
        for series in forms() {
            let costs = counted(series, 3, 20, Wait::Adaptive);
            let expected =
                PayloadCosts { encoded: 1.0, decoded: 3.0, copied_in: 1.0, copied_out: 3.0, cut_bytes: 64.0 };
            assert_eq!(costs, Ok(expected), "{}", series.name);
        }
    }
}
