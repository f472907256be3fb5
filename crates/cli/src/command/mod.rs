//! The subcommands, one file each with its options and its work.
//!
//! To add one: a file with `Arguments` and `run`, and its lines in [`Command`]. Help, completions and the manual page
//! follow from those.

mod bench;
mod explain;
mod gc;
mod kv;
mod list;
mod man;
mod measure;
mod mpi;
mod plan;
mod run;
mod serve;
mod shim;
mod top;
mod topo;
pub(crate) mod tune;

use crate::benchmarks;
use crate::completions::CompletionsArgs;
use crate::failure::Failure;
use crate::manual::ManualArgs;
use crate::output::Output;

/// The subcommand to run.
#[derive(Debug, clap::Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one, made once")]
pub(crate) enum Command {
    /// Discover, measure or load the cached model, plan, race, and write a report.
    #[command(after_help = "Examples:\n  corecast tune --quick\n  corecast tune --remeasure --report machine.html")]
    Tune(tune::Arguments),
    /// Print the CPUs that may be used and what they share.
    #[command(after_help = "Examples:\n  corecast topo\n  corecast topo --cpus 0-3 --json")]
    Topo(topo::Arguments),
    /// Measure what messages between CPUs cost, and keep the model.
    #[command(
        after_help = "Examples:\n  corecast measure --out machine.json\n  corecast measure locks --quick\n  corecast measure coherence --quick\n  corecast measure --cluster --out cluster.json"
    )]
    Measure(measure::Arguments),
    /// Plan the tree for one operation.
    #[command(
        after_help = "Examples:\n  corecast plan --op broadcast --compare\n  corecast plan --op barrier --effort exact --svg barrier.svg\n  corecast plan --cluster cluster.json --nodes 100000 --op allreduce --explain"
    )]
    Plan(plan::Arguments),
    /// Say what would be used for each operation, what it was chosen from, and why.
    #[command(
        after_help = "Examples:\n  corecast explain barrier\n  corecast explain broadcast --members 4 --race\n  corecast explain tm --members 24 --servers-every 3"
    )]
    Explain(explain::Arguments),
    /// Answer plan requests of other programs over a local socket.
    #[command(after_help = "Example:\n  corecast serve --socket plan.sock")]
    Serve(serve::Arguments),
    /// Serve a store from several processes, which programs reach as they reach Redis, and look into it.
    #[command(
        after_help = "Examples:\n  corecast kv serve accounts --resp accounts.sock\n  corecast kv get accounts alice"
    )]
    Kv(kv::Arguments),
    /// Start a program several times, as the members of a group; or once, with corecast under its locks and barriers.
    #[command(
        after_help = "Examples:\n  corecast run -n 2 -- ./program\n  corecast run --shim lock --lock mcs -- memcached -t 4"
    )]
    Run(run::Arguments),
    /// Say which MPI would carry messages between machines, whether it belongs to the launcher, and what it survives.
    #[command(
        after_help = "Examples:\n  corecast mpi\n  mpirun --map-by ppr:1:node corecast mpi\n  mpirun $(corecast mpi --launch-flags) corecast run -n 4 -- ./program"
    )]
    Mpi(mpi::Arguments),
    /// Look into what the preload objects of `run --shim` can do for a program.
    #[command(after_help = "Example:\n  corecast shim check memcached")]
    Shim(shim::Arguments),
    /// Race corecast against the alternatives, or run its load tests.
    #[command(after_help = format!("Example:\n  corecast bench locks --quick\n\n{}", benchmarks::summary()))]
    Bench(bench::Arguments),
    /// Measure what single operations on a cache line cost, by the state that the line is in and by where it is.
    #[command(after_help = "Example:\n  corecast cc --quick --cases cas-modified,7")]
    Cc(bench::Arguments),
    /// Run corecast's own code on a simulated machine with many CPUs.
    #[command(after_help = "Example:\n  corecast sim locks --machine opteron-4x12 --cpus 1,6,12,24,48 --quick")]
    Sim(bench::Arguments),
    /// Show the shared regions of this user, who is in them, and how far the ends of their channels are.
    #[command(after_help = "Examples:\n  corecast top\n  corecast top --once --json")]
    Top(top::Arguments),
    /// Remove what dead programs left of shared regions.
    #[command(after_help = "Example:\n  corecast gc")]
    Gc(gc::Arguments),
    /// List what can be named in options.
    #[command(after_help = "Examples:\n  corecast list barriers\n  corecast list contenders --json")]
    List(list::Arguments),
    /// Print a completion script for a shell.
    #[command(after_help = "Example:\n  corecast completions bash")]
    Completions(CompletionsArgs),
    /// Print a manual page.
    #[command(after_help = "Examples:\n  corecast man plan\n  corecast man --all manual")]
    Man(ManualArgs),
}

impl Command {
    /// Does it; `command_line` is the definition that manual pages and completions are made from.
    pub(crate) fn run(&self, command_line: clap::Command, output: &Output) -> Result<(), Failure> {
        match self {
            Self::Tune(arguments) => tune::run(arguments, output),
            Self::Topo(arguments) => topo::run(arguments, output),
            Self::Measure(arguments) => measure::run(arguments, output),
            Self::Plan(arguments) => plan::run(arguments, output),
            Self::Explain(arguments) => explain::run(arguments, output),
            Self::Serve(arguments) => serve::run(arguments, output),
            Self::Kv(arguments) => kv::run(arguments, output),
            Self::Run(arguments) => run::run(arguments, output),
            Self::Mpi(arguments) => mpi::run(arguments, output),
            Self::Shim(arguments) => shim::run(arguments, output),
            Self::Bench(arguments) => bench::run(None, arguments, output),
            Self::Cc(arguments) => bench::run(Some("cc"), arguments, output),
            Self::Sim(arguments) => bench::run(Some("sim"), arguments, output),
            Self::Top(arguments) => top::run(arguments, output),
            Self::Gc(arguments) => gc::run(arguments, output),
            Self::List(arguments) => list::run(arguments, output),
            Self::Completions(arguments) => arguments.print(command_line, output),
            Self::Man(arguments) => man::run(arguments, command_line, output),
        }
    }
}
