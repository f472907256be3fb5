//! The facts that a process tells all others before the first operation, and what must not differ among them.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use corecast_base::{CpuId, CpuSet, small_file};
use corecast_machine::pin;

use crate::error::OpenError;

/// Marks the facts, and shows the byte order.
const MAGIC: u64 = u64::from_be_bytes(*b"corecast");
/// The version of the messages between leaders. It changes when a message does.
const PROTOCOL: u32 = 3;
const VERSION_BYTES: usize = 16;
const HOST_BYTES: usize = 64;
const LIBRARY_BYTES: usize = 64;
/// A bit for each CPU, as many as a mask of the system has.
const CPU_BYTES: usize = 128;

/// The place of the CPUs in a message, behind numbers and texts.
const CPUS_AT: usize = 32 + VERSION_BYTES + HOST_BYTES + LIBRARY_BYTES;

/// The facts of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeFacts {
    pub(crate) host: String,
    pub(crate) version: String,
    pub(crate) library: String,
    /// A number for the running system and the place where its processes meet: processes with the same one may share memory.
    pub(crate) home: u64,
    /// A random number. That of rank 0 is in the names of what this program makes.
    pub(crate) token: u64,
    /// The CPUs on which this process may run.
    pub(crate) cpus: CpuSet,
}

impl NodeFacts {
    /// The length of facts as a message.
    pub(crate) const BYTES: usize = CPUS_AT + CPU_BYTES;

    /// Those of this process.
    pub(crate) fn own(library: &str, home: u64) -> Self {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        // A system that does not tell binds nobody.
        let cpus = pin::affinity().unwrap_or_default();
        Self { host: host_name(), version, library: library.to_owned(), home, token: random(), cpus }
    }

    /// The facts as a message, numbers in this machine's byte order.
    pub(crate) fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&MAGIC.to_ne_bytes());
        bytes[8..12].copy_from_slice(&PROTOCOL.to_ne_bytes());
        bytes[16..24].copy_from_slice(&self.home.to_ne_bytes());
        bytes[24..32].copy_from_slice(&self.token.to_ne_bytes());
        let texts = [(&self.version, VERSION_BYTES), (&self.host, HOST_BYTES), (&self.library, LIBRARY_BYTES)];
        let mut at = 32;
        for (text, most) in texts {
            // Texts end with a 0 unless they fill their place.
            let len = text.len().min(most);
            bytes[at..at + len].copy_from_slice(&text.as_bytes()[..len]);
            at += most;
        }
        for cpu in self.cpus.iter().map(|cpu| cpu.get() as usize).filter(|&cpu| cpu < 8 * CPU_BYTES) {
            bytes[CPUS_AT + cpu / 8] |= 1 << (cpu % 8);
        }
        bytes
    }

    /// The facts of a message by the process of a rank. `first` has those of rank 0, if they were read before.
    fn from_bytes(bytes: &[u8], rank: usize, first: Option<&Self>) -> Result<Self, OpenError> {
        let number = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        let text = |at: usize, most: usize| {
            let text = &bytes[at..at + most];
            let end = text.iter().position(|&byte| byte == 0).unwrap_or(most);
            String::from_utf8_lossy(&text[..end]).into_owned()
        };
        let host = text(32 + VERSION_BYTES, HOST_BYTES);
        let magic = number(0);
        if magic == MAGIC.swap_bytes() {
            let first = first.map_or_else(|| "this node".to_owned(), |first| named(0, &first.host));
            return Err(OpenError::OtherByteOrder { first, other: named(rank, &host) });
        }
        if magic != MAGIC {
            return Err(OpenError::Foreign { other: format!("rank {rank}") });
        }
        let mut version = text(32, VERSION_BYTES);
        let protocol = u32::from_ne_bytes(bytes[8..12].try_into().expect("4 bytes"));
        if protocol != PROTOCOL {
            version = format!("{version} with protocol {protocol}");
        }
        let library = text(32 + VERSION_BYTES + HOST_BYTES, LIBRARY_BYTES);
        let is_set = |&cpu: &usize| bytes[CPUS_AT + cpu / 8] >> (cpu % 8) & 1 == 1;
        let cpus = (0..8 * CPU_BYTES).filter(is_set).map(|cpu| CpuId::new(cpu as u32)).collect();
        Ok(Self { host, version, library, home: number(16), token: number(24), cpus })
    }

    /// The facts of all processes from their messages, one after the other, if nothing differs that must be equal.
    pub(crate) fn all_from_bytes(bytes: &[u8]) -> Result<Vec<Self>, OpenError> {
        let mut all: Vec<Self> = Vec::with_capacity(bytes.len() / Self::BYTES);
        for (rank, bytes) in bytes.chunks_exact(Self::BYTES).enumerate() {
            let facts = Self::from_bytes(bytes, rank, all.first())?;
            if let Some(first) = all.first() {
                first.agree_with(&facts, rank)?;
            }
            all.push(facts);
        }
        Ok(all)
    }

    fn agree_with(&self, other: &Self, rank: usize) -> Result<(), OpenError> {
        let names = || (named(0, &self.host), named(rank, &other.host));
        if self.version != other.version {
            let (first, other_name) = names();
            let (first_version, other_version) = (self.version.clone(), other.version.clone());
            return Err(OpenError::OtherVersion { first, first_version, other: other_name, other_version });
        }
        if self.library != other.library {
            let (first, other_name) = names();
            let (first_library, other_library) = (self.library.clone(), other.library.clone());
            return Err(OpenError::OtherLibrary { first, first_library, other: other_name, other_library });
        }
        Ok(())
    }
}

fn random() -> u64 {
    // std seeds each state from the system's random numbers.
    RandomState::new().build_hasher().finish()
}

/// A process for people.
pub(crate) fn named(rank: usize, host: &str) -> String {
    format!("rank {rank} on {host}")
}

/// The name of this host, as its processes see it.
pub(crate) fn host_name() -> String {
    let text = small_file::read("/proc/sys/kernel/hostname".as_ref(), 1024).unwrap_or_default();
    let name = text.trim();
    if name.is_empty() { "an unnamed host".to_owned() } else { name.to_owned() }
}

/// The network interfaces of this host, for people.
pub(crate) fn interfaces() -> String {
    let text = small_file::read("/proc/self/net/dev".as_ref(), 1 << 20).unwrap_or_default();
    let names: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once(':')?.0.trim())).collect();
    if names.is_empty() { "unknown".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(host: &str) -> NodeFacts {
        NodeFacts { host: host.to_owned(), ..NodeFacts::own("Open MPI v4.1.4", 7) }
    }

    fn all(of: &[NodeFacts]) -> Result<Vec<NodeFacts>, String> {
        let bytes: Vec<u8> = of.iter().flat_map(NodeFacts::to_bytes).collect();
        NodeFacts::all_from_bytes(&bytes).map_err(|error| error.to_string())
    }

    #[test]
    fn facts_come_back() {
        let cpus = [0, 7, 8, 1023].map(CpuId::new).into_iter().collect();
        let long = NodeFacts { cpus, ..facts(&"h".repeat(HOST_BYTES)) };
        let of = [facts("h1"), long, facts("h3")];
        assert_eq!(all(&of), Ok(of.to_vec()));
    }

    #[test]
    fn an_other_version_is_named_with_both_nodes() {
        let other = NodeFacts { version: "0.0.9".to_owned(), ..facts("h2") };
        let told = all(&[facts("h1"), facts("h1"), other]).expect_err("versions differ");
        let own = env!("CARGO_PKG_VERSION");
        let expected = format!(
            "rank 0 on h1 runs corecast {own}, and rank 2 on h2 runs 0.0.9: start the same version on all nodes"
        );
        assert_eq!(told, expected);
    }

    #[test]
    fn an_other_protocol_byte_order_or_library_is_refused() {
        let mut bytes: Vec<u8> = [facts("h1"), facts("h2")].iter().flat_map(NodeFacts::to_bytes).collect();
        bytes[NodeFacts::BYTES..NodeFacts::BYTES + 8].reverse();
        let told = NodeFacts::all_from_bytes(&bytes).expect_err("byte orders differ").to_string();
        assert!(told.starts_with("rank 0 on h1 and rank 1 on h2 have different byte orders"), "{told}");
        bytes[NodeFacts::BYTES..NodeFacts::BYTES + 8].fill(3);
        let told = NodeFacts::all_from_bytes(&bytes).expect_err("no facts").to_string();
        assert!(told.starts_with("rank 1 has sent no facts of corecast"), "{told}");
        bytes[NodeFacts::BYTES..NodeFacts::BYTES + 8].copy_from_slice(&MAGIC.to_ne_bytes());
        bytes[NodeFacts::BYTES + 8] ^= 2;
        let told = NodeFacts::all_from_bytes(&bytes).expect_err("protocols differ").to_string();
        assert!(told.contains("with protocol"), "{told}");
        let other = NodeFacts { library: "MPICH 4.0.2".to_owned(), ..facts("h2") };
        let told = all(&[facts("h1"), other]).expect_err("libraries differ");
        assert!(told.contains("Open MPI v4.1.4, and rank 1 on h2 uses MPICH 4.0.2"), "{told}");
    }

    #[test]
    fn this_host_has_a_name_and_interfaces() {
        assert!(!host_name().is_empty());
        assert!(!interfaces().is_empty());
    }
}
