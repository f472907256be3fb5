//! The choice between threads and processes as the participants of a race.

use std::path::PathBuf;

/// Whether participants are threads or processes, but for those that the harness itself has to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Threads of this process.
    #[default]
    Threads,
    /// Processes of their own, started with this program and these arguments. They must end in a call of
    /// [`collective_member`](crate::collective_member) for members of collectives, of `corecast_bench::channels::member` for
    /// receivers of channels, of `corecast_bench::table_member` for servers and clients of a table.
    Processes {
        /// The program.
        program: PathBuf,
        /// The program's arguments.
        arguments: Vec<String>,
    },
}

impl Place {
    /// `threads` or `processes`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Processes { .. } => "processes",
        }
    }
}
