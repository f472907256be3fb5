//! The errors that end a whole run without a report. The error of one contender only stands in that contender's row instead.

use corecast::base::{CpuId, CpuSet};
use corecast::machine::pin::PinError;

use crate::failure::Failure;
use crate::op::Op;

/// Why there is no report.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The caller stopped the run.
    #[error("the benchmark was interrupted")]
    Cancelled,
    /// There is no CPU to run on.
    #[error("no CPU to run on: the set is empty")]
    NoCpus,
    /// A CPU asked for is not in the model, or this process may not use it.
    #[error("CPU {cpu} cannot be used here: the machine model and this process share CPUs {usable}")]
    Cpu {
        /// The CPU.
        cpu: CpuId,
        /// Those that can be used.
        usable: CpuSet,
    },
    /// The number of participants makes no group.
    #[error("a group has 2 to {most} participants, not {participants}")]
    Participants {
        /// The number asked for.
        participants: usize,
        /// The most there can be.
        most: usize,
    },
    /// The operation is none of a group.
    #[error("'{0}' is no collective operation")]
    NoCollective(Op),
    /// No contender has this name.
    #[error("no contender is called '{name}': there are {known}")]
    Contender {
        /// The name asked for.
        name: String,
        /// All names.
        known: String,
    },
    /// No case of the coherence benchmark has this name or number.
    #[error("no case is called '{name}': expected a number from 0 to 33 or one of {known}")]
    Case {
        /// The name asked for.
        name: String,
        /// All names.
        known: String,
    },
    /// Looking at the clock takes now this long and now that long, so that nothing short can be timed.
    #[error(
        "the timer of CPU {cpu} is unsteady: nine tenths of its looks take up to {spread:.1} times what the fastest tenth \
         takes, at most {most} times was expected"
    )]
    UnsteadyTimer {
        /// The CPU.
        cpu: CpuId,
        /// How many times as long.
        spread: f64,
        /// How many times as long would do.
        most: f64,
    },
    /// No operation carries that number of bytes.
    #[error("an operation carries whole words of 8 bytes, up to {most} bytes, not {bytes}")]
    Size {
        /// The length asked for.
        bytes: usize,
        /// The longest there can be.
        most: usize,
    },
    /// No message has this length.
    #[error("a message has 1 to {most} bytes, not {bytes}")]
    Length {
        /// The length asked for.
        bytes: usize,
        /// The longest there can be.
        most: usize,
    },
    /// The number of receivers makes no channel.
    #[error("a channel has 1 to {most} receivers, not {receivers}")]
    Receivers {
        /// The number asked for.
        receivers: usize,
        /// The most there can be.
        most: usize,
    },
    /// A member sends closures to others, and there are none.
    #[error("combine and delegate have nothing to run: closures are sent by 2 threads or more")]
    TooFewForClosures,
    /// A program or a folder that the caller names is missing, or is another one than it should be.
    #[error("{0}")]
    Program(String),
    /// A participant could not be started on its CPU.
    #[error(transparent)]
    Pin(#[from] PinError),
    /// The one thing that was to be measured failed.
    #[error("the measurement failed: {0}")]
    Failed(Failure),
}

impl From<Failure> for BenchError {
    /// Nobody but the user gives up a measurement that has no rivals.
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Aborted => Self::Cancelled,
            failure => Self::Failed(failure),
        }
    }
}
