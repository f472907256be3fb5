//! Model files: a [`Machine`](crate::Machine) as JSON, schema `corecast-machine/1`.
//!
//! The reader is strict: it returns a machine whose parts fit together, or names the faulty field,
//! with the expected form. The size is checked before anything is read, so a mistaken path costs nothing. Fields that
//! this version does not know are kept and written again. The writer replaces a file in one step or not at all. The
//! schema is documented for other programs in `docs/model-file.md`.
//!
//! ```
//! use corecast_machine::{Machine, Topology, Cpu, model_file};
//! # use corecast_base::CpuId;
//! let cpus = vec![Cpu::flat(CpuId::new(0)), Cpu::flat(CpuId::new(1))];
//! let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("model.json");
//! model_file::write(&machine, &file)?;
//! assert_eq!(model_file::read(&file)?, machine);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod read;
mod rows;
mod write;

use std::io;
use std::path::PathBuf;

use crate::bounded_file::BoundedReadError;
use crate::cost_matrix::CostMatrixError;
use crate::machine_error::MachineError;

pub use read::{parse, read};
pub use write::{render, write};

/// The schema that this version reads and writes.
pub const SCHEMA: &str = "corecast-machine/1";

/// The largest file that is read or written, in bytes: room for every matrix of 1024 CPUs.
pub const MAX_LEN_BYTES: u64 = 64 << 20;

/// The fields of a model file that this version knows; others are kept as they are.
const KNOWN_FIELDS: [&str; 24] = [
    "schema",
    "name",
    "unit",
    "cpus",
    "send",
    "receive",
    "provenance",
    "bounce",
    "send_spread",
    "receive_spread",
    "wake_ns",
    "yield_ns",
    "pause_ns",
    "fan_out",
    "fan_in",
    "readers",
    "fetch_add",
    "lock_hand_over_ns",
    "coherence",
    "races",
    "fingerprint",
    "measured_at",
    "notes",
    "warnings",
];

/// Why a text is not a machine model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// It ends in the middle.
    #[error("the JSON ends too early, the file looks truncated ({0})")]
    Truncated(serde_json::Error),
    /// It is not JSON.
    #[error("this is not JSON, expected a machine model of schema {SCHEMA} ({0})")]
    NotJson(serde_json::Error),
    /// It is JSON about something else.
    #[error("this JSON is not a machine model: expected an object with \"schema\": \"{SCHEMA}\", found {found}")]
    Foreign {
        /// The value that was found instead.
        found: String,
    },
    /// A field is missing or of the wrong kind.
    #[error("does not follow schema {SCHEMA}: {0}")]
    Field(serde_json::Error),
    /// A cost is invalid.
    #[error("`{field}`: {cause}")]
    Costs {
        /// The matrix.
        field: &'static str,
        /// The fault in it.
        cause: CostMatrixError,
    },
    /// The parts do not fit together.
    #[error("{0}")]
    Machine(MachineError),
    /// The text is larger than [`MAX_LEN_BYTES`].
    #[error("{len_bytes} bytes are too much for a machine model, at most {MAX_LEN_BYTES} are accepted")]
    TooLarge {
        /// Its length.
        len_bytes: usize,
    },
    /// The file is not read.
    #[error("{0}, expected a machine model of schema {SCHEMA}")]
    NotRead(BoundedReadError),
    /// The file is not written.
    #[error("{0}")]
    NotWritten(io::Error),
}

/// Why a model file cannot be read or written: which file, and what is wrong.
#[derive(Debug, thiserror::Error)]
#[error("machine model {}: {problem}", path.display())]
pub struct ModelFileError {
    /// The file.
    pub path: PathBuf,
    /// The fault in it.
    pub problem: ModelError,
}
