//! The subcommands, one file each: its options, and what it does.
//!
//! To add one: a file with `Arguments` and `run`, and its lines in [`Command`]. Help, completions and the manual page
//! follow from those.

mod bench;
mod completions;
mod explain;
mod gc;
mod list;
mod man;
mod measure;
mod plan;
mod run;
mod serve;
mod top;
mod topo;
pub(crate) mod tune;

use crate::failure::Failure;
use crate::output::Output;

/// What to do.
#[derive(Debug, clap::Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one, made once")]
pub(crate) enum Command {
    /// Discover, measure or load the cached model, plan, race, and write a report.
    Tune(tune::Arguments),
    /// Print the CPUs that may be used and what they share.
    Topo(topo::Arguments),
    /// Measure what messages between CPUs cost, and keep the model.
    Measure(measure::Arguments),
    /// Plan the tree for one operation.
    Plan(plan::Arguments),
    /// Say what would be used for each operation, what it was chosen from, and why.
    Explain(explain::Arguments),
    /// Answer plan requests of other programs over a local socket.
    Serve(serve::Arguments),
    /// Start a program several times, as the members of a group.
    Run(run::Arguments),
    /// Race corecast against the alternatives, or run its load tests.
    Bench(bench::Arguments),
    /// Measure what single operations on a cache line cost, by the state that the line is in and by where it is.
    Cc(bench::Arguments),
    /// Show the shared regions of this user, who is in them, and how far the ends of their channels are.
    Top(top::Arguments),
    /// Remove what dead programs left of shared regions.
    Gc(gc::Arguments),
    /// List what can be named in options.
    List(list::Arguments),
    /// Print a completion script for a shell.
    Completions(completions::Arguments),
    /// Print a manual page.
    Man(man::Arguments),
}

impl Command {
    /// Does it.
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        match self {
            Self::Tune(arguments) => tune::run(arguments, output),
            Self::Topo(arguments) => topo::run(arguments, output),
            Self::Measure(arguments) => measure::run(arguments, output),
            Self::Plan(arguments) => plan::run(arguments, output),
            Self::Explain(arguments) => explain::run(arguments, output),
            Self::Serve(arguments) => serve::run(arguments, output),
            Self::Run(arguments) => run::run(arguments, output),
            Self::Bench(arguments) => bench::run(None, arguments, output),
            Self::Cc(arguments) => bench::run(Some("cc"), arguments, output),
            Self::Top(arguments) => top::run(arguments, output),
            Self::Gc(arguments) => gc::run(arguments, output),
            Self::List(arguments) => list::run(arguments, output),
            Self::Completions(arguments) => completions::run(arguments, output),
            Self::Man(arguments) => man::run(arguments, output),
        }
    }
}
