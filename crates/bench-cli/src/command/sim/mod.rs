//! `corecast sim`: corecast's own code on a simulated machine. One file per program.

mod barriers;
mod compare;
mod locks;
mod shared;

use corecast_cli::failure::Failure;
use corecast_cli::output::Output;

use crate::simulated::Point;

/// Options of `sim`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    program: Simulated,
}

/// The programs.
#[derive(Clone, Debug, clap::Subcommand)]
enum Simulated {
    /// Let threads compete for a lock, each on a CPU of its own.
    ///
    /// The locks are those of corecast, built from the same sources. Their accesses to memory go to a model of cache coherence
    /// with virtual time: compare locks by it, and count the lines that move; its times are no measurement.
    #[command(
        after_help = "Examples:\n  corecast sim locks --machine opteron-4x12 --cpus 1,6,12,24,48 --quick\n  corecast sim locks --what-if interconnect=0.5 --locks mcs,ticket --json"
    )]
    Locks(locks::Locks),
    /// Let members of a group meet at a barrier, each on a CPU of its own.
    ///
    /// Members enter within half a microsecond; the figure is the median time from the last entry to the last exit.
    #[command(
        after_help = "Examples:\n  corecast sim barriers --machine xeon-8x10 --cpus 10,80 --quick\n  corecast sim barriers --barriers dissemination,auto --json"
    )]
    Barriers(barriers::Barriers),
    /// Measure this machine beside a simulation of it: locks and barriers of two threads.
    #[command(after_help = "Example:\n  corecast sim compare --quick --what locks,barriers")]
    Compare(compare::Compare),
    /// Play one point of a sweep, as the sweep's own process.
    #[command(hide = true)]
    Point {
        /// The point, as JSON.
        point: String,
    },
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    match &arguments.program {
        Simulated::Locks(locks) => locks.run(output),
        Simulated::Barriers(barriers) => barriers.run(output),
        Simulated::Compare(compare) => compare.run(output),
        Simulated::Point { point } => {
            let point: Point = serde_json::from_str(point).map_err(Failure::input)?;
            output.json(&point.play()?)
        }
    }
}
