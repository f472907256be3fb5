//! `corecast sim`: corecast's own code on a simulated machine. One file per program.

mod atomics;
mod barriers;
mod check;
mod collectives;
mod compare;
mod disturbances;
mod fit;
mod locks;
mod messages;
mod replica;
mod shared;
mod table;
mod tm;
mod trace;

use corecast_cli::failure::Failure;
use corecast_cli::output::Output;

use crate::simulated::{FitPoint, Point};

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
    /// with virtual time: compare locks by it, and count the lines that move; its times are no measurement. With --quick the time
    /// before acquisitions count is too short for auto, which judges windows of 400 us.
    #[command(
        after_help = "Examples:\n  corecast sim locks --machine opteron-4x12 --cpus 1,6,12,24,48 --quick\n  corecast sim locks --what-if interconnect=0.5 --locks mcs,ticket --json\n  corecast sim locks --cpus 4,8,16 --fill spread"
    )]
    Locks(locks::Locks),
    /// Let members of a group meet at a barrier, each on a CPU of its own.
    ///
    /// Members enter within half a microsecond; the figure is the median time from the last entry to the last exit.
    #[command(
        after_help = "Examples:\n  corecast sim barriers --machine xeon-8x10 --cpus 10,80 --quick\n  corecast sim barriers --barriers dissemination,auto --json"
    )]
    Barriers(barriers::Barriers),
    /// Measure this machine beside a simulation of it: locks, barriers, messages and atomic operations of two threads.
    #[command(after_help = "Example:\n  corecast sim compare --quick --what locks,barriers")]
    Compare(compare::Compare),
    /// Let members of a group call an operation along the tree that the group plans, and along every static shape.
    ///
    /// The results are checked. The figure is the median time of an operation that starts when all members are there.
    #[command(
        after_help = "Examples:\n  corecast sim collectives --op allreduce --cpus 48 --quick\n  corecast sim collectives --op broadcast --trees planned,binary,fibonacci --machine xeon-8x10"
    )]
    Collectives(collectives::Collectives),
    /// Send messages through a channel between two CPUs at each distance, or from clients to a server.
    ///
    /// Distances are numbered from 0, the nearest, by the costs of the machine: --explain lists them.
    #[command(
        after_help = "Examples:\n  corecast sim messages --figure round-trip --machine xeon-8x10\n  corecast sim messages --figure server --cpus 1,9,20 --channels ump"
    )]
    Messages(messages::Messages),
    /// Let replicas agree on the order of their clients' commands, and learn along a planned tree, static ones or none.
    ///
    /// Nodes send each other messages, as with the library's nodes that share no state. They are spread over the machine, one on
    /// a CPU; --cpus are their numbers. Computing takes no time but --own-ns, so figures are those of messages. Each run checks
    /// that all replicas have applied the same commands in the same order, each once.
    #[command(
        after_help = "Examples:\n  corecast sim replica --cpus 8,28,48 --learning planned,sequential,binary --quick\n  corecast sim replica --machine xeon-8x10 --figure median --clients 4"
    )]
    Replica(replica::Replica),
    /// Let threads work on a hash table as in SSYNC's experiment, with a lock on each bucket or with servers that own the
    /// buckets.
    #[command(
        after_help = "Examples:\n  corecast sim table --buckets 512 --cpus 1,6,18,36 --quick\n  corecast sim table --locks messages,mcs,auto --mean 48 --cpus 36"
    )]
    Table(table::Table),
    /// Let applications move money between the accounts of a bank, by transactions in each form and with each manager.
    ///
    /// Participants sit where the memory places them on the first CPUs. Every sum of all accounts is checked, and one is taken in
    /// the end. The figure leaves out sums of all accounts.
    #[command(
        after_help = "Examples:\n  corecast sim tm --cpus 6,48 --contenders messages-fair-cm,shared-fair-cm --quick\n  corecast sim tm --readers 1 --machine xeon-8x10 --cpus 80"
    )]
    Tm(tm::Tm),
    /// Let threads call an atomic operation on one word, or on several.
    #[command(after_help = "Example:\n  corecast sim atomics --cpus 1,6,48 --operations fai,cas")]
    Atomics(atomics::Atomics),
    /// Check locks, channels and collectives where threads are stopped at any access, or killed there.
    ///
    /// Threads exclude each other, messages and results are right, and all threads come to their ends: a wake-up that is lost is
    /// a deadlock. A failure names the seed that repeats it.
    #[command(
        after_help = "Examples:\n  corecast sim check --seeds 10000 --locks mcs,auto\n  corecast sim check --kills --channels ump,ff --collectives allreduce --seeds 10"
    )]
    Check(check::Check),
    /// Trace some microseconds of a program: the lines that move, and what each thread does.
    ///
    /// The trace has each request for a line, with the CPU that it comes from, and each wait of a thread; hits are not in it. It
    /// is printed event by event, or drawn as a picture.
    #[command(after_help = "Example:\n  corecast sim trace locks --lock mcs --cpus 8 --us 3 --svg mcs.svg")]
    Trace(trace::Trace),
    /// Search the parameters of contention that bring a simulation nearest to contended lines as they were measured.
    ///
    /// The model file has these rows from `corecast measure coherence`. Rows of CPUs in two packages or more are needed: others
    /// do not depend on kappa, nor on service where no directory answers. A parameter that the rows do not decide stays as it is.
    #[command(after_help = "Example:\n  corecast sim fit --machine mine.json --out fitted.json")]
    Fit(fit::Fit),
    /// Play one point of a sweep, as the sweep's own process.
    #[command(hide = true)]
    Point {
        /// The point, as JSON.
        point: String,
    },
    /// Play the rows of a fit with one set of parameters, as its own process.
    #[command(hide = true)]
    FitPoint {
        /// The set, as JSON.
        point: String,
    },
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    match &arguments.program {
        Simulated::Locks(locks) => locks.run(output),
        Simulated::Barriers(barriers) => barriers.run(output),
        Simulated::Compare(compare) => compare.run(output),
        Simulated::Collectives(collectives) => collectives.run(output),
        Simulated::Messages(messages) => messages.run(output),
        Simulated::Replica(replica) => replica.run(output),
        Simulated::Table(table) => table.run(output),
        Simulated::Tm(tm) => tm.run(output),
        Simulated::Check(check) => check.run(output),
        Simulated::Atomics(atomics) => atomics.run(output),
        Simulated::Trace(trace) => trace.run(output),
        Simulated::Fit(fit) => fit.run(output),
        Simulated::Point { point } => {
            let point: Point = serde_json::from_str(point).map_err(Failure::input)?;
            output.json(&point.play()?)
        }
        Simulated::FitPoint { point } => {
            let point: FitPoint = serde_json::from_str(point).map_err(Failure::input)?;
            output.json(&point.play()?)
        }
    }
}
