//! The reasons for which the program stops early, and their exit codes.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done; or the reader of standard output has read enough |
//! | 1 | trouble of the environment: a full disk, a machine that cannot be measured |
//! | 2 | bad input: options, files, CPUs |
//! | 130 | Ctrl-C |
//! | any | that of the first program that `run` started and that ended badly; 128 and the signal if one killed it |

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use corecast::collective::BuildError;
use corecast::machine::measure::MeasureError;
use corecast::machine::source::DiscoverError;
use corecast::machine::{ModelError, ModelFileError};
use corecast::plan::{PlanError, ProblemError, TreeFileError, TreeTextError};
use corecast::processes::FoundError;
use corecast_race::BenchError;
use miette::Diagnostic;

use crate::cpus_arg::OutsideMachine;

/// The type of an error of any kind.
type Reason = Box<dyn Error + Send + Sync>;

/// Why the program stops early.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The user's input will not do; the error names it and what was expected.
    #[error("{error}")]
    Input {
        /// The error.
        error: Reason,
        /// Advice on a remedy.
        help: Option<String>,
    },
    /// The environment refuses.
    #[error("{error}")]
    Environment {
        /// The error.
        error: Reason,
        /// Advice on a remedy.
        help: Option<String>,
    },
    /// A program that was started ended badly.
    #[error("{words}")]
    Ended {
        /// Which one, and how.
        words: String,
        /// The exit code of this program too.
        code: u8,
    },
    /// The user pressed Ctrl-C.
    #[error("interrupted")]
    Interrupted,
    /// Nobody reads standard output any more, as in `corecast topo | head -1`.
    #[error("standard output is closed")]
    StdoutClosed,
}

/// A file that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {what} to {}: {error}", path.display())]
pub struct NotWritten {
    /// The name of the content.
    pub what: &'static str,
    /// Where to.
    pub path: PathBuf,
    /// Why not.
    pub error: io::Error,
}

impl Failure {
    /// Bad input.
    pub fn input(error: impl Into<Reason>) -> Self {
        Self::Input { error: error.into(), help: None }
    }

    /// Trouble of the environment.
    pub fn environment(error: impl Into<Reason>) -> Self {
        Self::Environment { error: error.into(), help: None }
    }

    /// A process that a benchmark started cannot go on.
    pub fn of_member(error: corecast_race::Failure) -> Self {
        Self::environment(format!("a process of a benchmark cannot go on: {error}"))
    }

    /// The same, with advice.
    pub fn with_help(mut self, advice: impl Into<String>) -> Self {
        if let Self::Input { help, .. } | Self::Environment { help, .. } = &mut self {
            *help = Some(advice.into());
        }
        self
    }

    /// The code that the process ends with.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::StdoutClosed => ExitCode::SUCCESS,
            Self::Environment { .. } => ExitCode::from(1),
            Self::Input { .. } => ExitCode::from(2),
            Self::Ended { code, .. } => ExitCode::from(*code),
            Self::Interrupted => ExitCode::from(130),
        }
    }

    /// True if there is something to tell the user; a reader who went away is told nothing.
    pub fn is_worth_telling(&self) -> bool {
        !matches!(self, Self::StdoutClosed)
    }
}

impl Diagnostic for Failure {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        match self {
            Self::Input { help, .. } | Self::Environment { help, .. } => {
                help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
            }
            Self::Ended { .. } | Self::Interrupted | Self::StdoutClosed => None,
        }
    }
}

impl From<DiscoverError> for Failure {
    /// The user's request is at fault, except where only the library behind can be blamed.
    fn from(error: DiscoverError) -> Self {
        match error {
            DiscoverError::HwlocLibrary { .. } | DiscoverError::NoSource => Self::environment(error),
            _ => Self::input(error),
        }
    }
}

impl From<ModelFileError> for Failure {
    fn from(error: ModelFileError) -> Self {
        match error.problem {
            ModelError::NotWritten(_) => Self::environment(error),
            _ => Self::input(error).with_help("`corecast measure --out FILE` writes a model of this machine"),
        }
    }
}

impl From<TreeFileError> for Failure {
    fn from(error: TreeFileError) -> Self {
        match error.problem {
            TreeTextError::NotWritten(_) => Self::environment(error),
            _ => Self::input(error),
        }
    }
}

impl From<MeasureError> for Failure {
    fn from(error: MeasureError) -> Self {
        match error {
            MeasureError::Cancelled => Self::Interrupted,
            MeasureError::NotUsable { .. } => Self::input(error),
            _ => Self::environment(error),
        }
    }
}

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Self {
        match error {
            BenchError::Cancelled => Self::Interrupted,
            BenchError::NoCpus
            | BenchError::Cpu { .. }
            | BenchError::Participants { .. }
            | BenchError::Contender { .. }
            | BenchError::Case { .. }
            | BenchError::Size { .. }
            | BenchError::TooFewForClosures
            | BenchError::Length { .. }
            | BenchError::Receivers { .. }
            | BenchError::Program(_)
            | BenchError::NoCollective(_) => Self::input(error),
            _ => Self::environment(error),
        }
    }
}

impl From<OutsideMachine> for Failure {
    fn from(error: OutsideMachine) -> Self {
        Self::input(error).with_help("`corecast topo` lists the CPUs")
    }
}

impl From<NotWritten> for Failure {
    fn from(error: NotWritten) -> Self {
        Self::environment(error)
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        Self::input(error)
    }
}

impl From<ProblemError> for Failure {
    fn from(error: ProblemError) -> Self {
        Self::input(error)
    }
}

impl From<FoundError> for Failure {
    fn from(error: FoundError) -> Self {
        match error {
            FoundError::Create(_) => Self::environment(error),
            _ => Self::input(error),
        }
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        Self::input(error)
    }
}
