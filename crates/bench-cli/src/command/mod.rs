//! `corecast bench`: races against the alternatives, and load tests. One file per kind.

mod acknowledged;
mod atomics;
mod beside;
mod busy;
mod cc;
mod channels;
mod coherence;
mod deaths;
mod epcc;
mod idle;
mod locks;
mod memcached;
mod messages;
mod mpi;
mod nodes;
mod planner;
mod race;
mod replica;
mod replica_race;
mod setup;
mod sim;
mod stream;
mod stream_cluster;
mod table;
mod tm;

use clap::CommandFactory;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use corecast::Wait;
use corecast_race::Options;

use crate::CommandLine;
use crate::tell::tell;
use corecast_cli::benchmarks::Contender;
use corecast_cli::completions::CompletionsArgs;
use corecast_cli::failure::Failure;
use corecast_cli::interrupt::Interrupt;
use corecast_cli::machine_args::{MachineArgs, Model};
use corecast_cli::manual::ManualArgs;
use corecast_cli::output::Output;

/// The options of the benchmark.
#[derive(Clone, Debug, clap::Subcommand)]
pub(crate) enum Benchmark {
    /// Race barriers, broadcasts and reductions.
    #[command(
        after_help = "Examples:\n  corecast bench collectives --quick\n  corecast bench collectives --op barrier --processes --html race.html"
    )]
    Collectives(race::Collectives),
    /// Race broadcasts whose root waits until all have processed them: rings and trees, one event and bursts.
    #[command(after_help = "Example:\n  corecast bench acknowledged --quick")]
    Acknowledged(acknowledged::Arguments),
    /// Race message channels between two CPUs: one message, and a stream.
    #[command(after_help = "Example:\n  corecast bench ump --quick")]
    Ump(race::Ump),
    /// Race a stream through one of 64 channels that one receiver looks at, and count turns with all of them busy.
    #[command(after_help = "Example:\n  corecast bench select --quick")]
    Select(race::Select),
    /// Race every channel from one sender to many receivers, at many lengths of messages.
    #[command(
        after_help = "Examples:\n  corecast bench channels --quick --sizes 8,64 --receivers 1\n  corecast bench channels --sizes 1,64,4k,1M --html channels.html"
    )]
    Channels(channels::Arguments),
    /// Send very many checked messages through a channel; none may be torn, lost or out of order.
    #[command(after_help = "Example:\n  corecast bench stream --quick")]
    Stream(stream::Arguments),
    /// Find out how much CPU time members and receivers burn that wait for one that is late.
    #[command(after_help = "Example:\n  corecast bench idle --quick")]
    Idle(idle::Arguments),
    /// Race locks: one thread alone, and many over one lock or several.
    #[command(after_help = "Example:\n  corecast bench locks --quick --contenders auto,mcs,std --threads 2")]
    Locks(locks::Arguments),
    /// Stress one word with each atomic operation, by many threads at once.
    #[command(after_help = "Example:\n  corecast bench atomics --quick --threads 1,2")]
    Atomics(atomics::Arguments),
    /// Race channels between pairs, and servers that receive from their clients.
    #[command(after_help = "Example:\n  corecast bench messages --quick --pairs 1")]
    Messages(messages::Arguments),
    /// Race MPI libraries with and without corecast's preload object before them.
    #[command(
        after_help = "Examples:\n  corecast bench mpi --quick --n 2,4\n  corecast bench mpi --quick --osu-dir mpi4py-4.1.2/demo --imb $I_MPI_ROOT/bin/IMB-MPI1"
    )]
    Mpi(mpi::Arguments),
    /// Race groups over several hosts with plain MPI, check their operations, or kill what takes part in them.
    #[command(
        after_help = "Examples:\n  corecast bench nodes --hosts 2 --members 1,2,4 --quick\n  corecast bench nodes --hosts 4 --kill member --runs 20\n  corecast bench nodes --hosts 3 --kill leader --shape ranks --runs 20"
    )]
    Nodes(nodes::Arguments),
    /// Race hash tables: one lock for each bucket, servers that are sent messages, and the maps people use today.
    #[command(after_help = "Example:\n  corecast bench table --quick --threads 2")]
    Table(table::Arguments),
    /// Race transactional memory, by messages and in shared memory, with locks and other memories.
    #[command(
        after_help = "Examples:\n  corecast bench tm --quick --html tm.html\n  corecast bench tm --workloads bank --participants 2,6 --every 2,3 --managers fair-cm,none\n  corecast bench tm --preset read-all"
    )]
    Tm(tm::Arguments),
    /// Find out how corecast and its rivals wait while other programs want the CPUs, too.
    #[command(after_help = "Example:\n  corecast bench busy --quick --op barrier --hogs 0,1")]
    Busy(busy::Arguments),
    /// Kill processes at each end of each channel, and find out how long the other end waits for the news.
    #[command(after_help = "Example:\n  corecast bench deaths --quick")]
    Deaths(deaths::Arguments),
    /// Find out what OpenMP constructs cost with corecast's preload object, and without it.
    #[command(after_help = "Example:\n  corecast bench epcc --quick --threads 2,4")]
    Epcc(epcc::Arguments),
    /// Race replicated state with stores that people use today, and find out what happens when replicas die.
    #[command(
        after_help = "Examples:\n  corecast bench replica --quick --html replica.html\n  corecast bench replica --preset ycsb --rate 50000\n  corecast bench replica --crash --seconds 60 --seed 7"
    )]
    Replica(replica::Arguments),
    /// Race corecast's locks, preloaded under memcached, with the locks that it has.
    #[command(after_help = "Example:\n  corecast bench memcached --quick --threads 2 --contenders none,pthread,auto")]
    Memcached(memcached::Arguments),
    /// Cluster a stream of points, which waits at barriers, with corecast's barrier preloaded and without.
    #[command(
        name = "streamcluster",
        after_help = "Examples:\n  corecast bench streamcluster --quick\n  corecast bench streamcluster --size native --threads 16"
    )]
    StreamCluster(stream_cluster::Arguments),
    #[command(flatten)]
    Process(Process),
    /// Find out how long it takes to put a group together, on any machine model.
    #[command(after_help = "Example:\n  corecast bench setup --quick --n 2,8")]
    Setup(setup::Arguments),
    /// Measure what single operations on a cache line cost, by the state that the line is in and by where it is.
    #[command(after_help = "Example:\n  corecast cc --quick --cases cas-modified,7")]
    Cc(cc::Arguments),
    /// Add what single accesses to cache lines cost, by state and distance, to the model of this machine, for `corecast sim`.
    #[command(hide = true, after_help = "Example:\n  corecast measure coherence --quick --out machine.json")]
    Coherence(coherence::Arguments),
    /// Run corecast's own code on a simulated machine with many CPUs.
    #[command(after_help = "Example:\n  corecast sim locks --machine opteron-4x12 --cpus 1,6,12,24,48 --quick")]
    Sim(sim::Arguments),
    /// Plan with every shape, planner and effort on subsets of many machine models: costs, gaps and times.
    #[command(after_help = "Example:\n  corecast bench planner --machines machines --sizes 4,8 --table gaps.md")]
    Planner(planner::Arguments),
    /// The contenders of all benchmarks, which `corecast list contenders` asks for.
    #[command(hide = true)]
    Contenders,
    /// Print a completion script for a shell.
    #[command(after_help = "Example:\n  corecast bench completions bash")]
    Completions(CompletionsArgs),
    /// Print a manual page.
    #[command(after_help = "Examples:\n  corecast bench man locks\n  corecast bench man --all manual")]
    Man(ManualArgs),
}

/// A process that a benchmark starts.
#[derive(Clone, Debug, clap::Subcommand)]
pub(crate) enum Process {
    /// A member of `collectives --processes`.
    #[command(hide = true)]
    CollectiveMember,
    /// A receiver of `channels --processes`.
    #[command(hide = true)]
    ChannelMember,
    /// A process of a launch of `nodes`.
    #[command(hide = true)]
    NodesMember(nodes::MemberArguments),
    /// A server or a client of `table` that is a process.
    #[command(hide = true)]
    TableMember,
    /// A server or an application of `tm` that is a process.
    #[command(hide = true)]
    TmMember,
    /// A contender or a foreign process of `busy`.
    #[command(hide = true)]
    BusyMember,
    /// A process that `deaths` kills.
    #[command(hide = true)]
    Victim(deaths::Victim),
    /// A process that takes part in `replica`.
    #[command(hide = true)]
    ReplicaMember,
    /// A node of `replica --crash`.
    #[command(hide = true)]
    ReplicaNode(replica::NodeArguments),
}

/// The options that all benchmarks share.
#[derive(Clone, Debug, clap::Args)]
struct Shared {
    #[command(flatten)]
    machine: MachineArgs,
    /// How corecast's contenders wait.
    #[arg(long, value_name = "POLICY", default_value = Wait::Adaptive.name(), value_parser = wait_parser())]
    wait: Wait,
}

fn wait_parser() -> impl TypedValueParser<Value = Wait> {
    PossibleValuesParser::new(Wait::ALL.map(Wait::name)).try_map(|name| name.parse::<Wait>())
}

/// A number from 1 to `most`.
fn count(most: u64) -> impl TypedValueParser<Value = usize> {
    clap::value_parser!(u64).range(1..=most).map(|count| count as usize)
}

impl Benchmark {
    /// Runs it.
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        match self {
            Self::Collectives(arguments) => arguments.run(output),
            Self::Acknowledged(arguments) => arguments.run(output),
            Self::Ump(arguments) => arguments.run(output),
            Self::Select(arguments) => arguments.run(output),
            Self::Channels(arguments) => arguments.run(output),
            Self::Stream(arguments) => arguments.run(output),
            Self::Idle(arguments) => arguments.run(output),
            Self::Locks(arguments) => arguments.run(output),
            Self::Atomics(arguments) => arguments.run(output),
            Self::Messages(arguments) => arguments.run(output),
            Self::Mpi(arguments) => arguments.run(output),
            Self::Nodes(arguments) => arguments.run(output),
            Self::Table(arguments) => arguments.run(output),
            Self::Tm(arguments) => arguments.run(output),
            Self::Busy(arguments) => arguments.run(output),
            Self::Deaths(arguments) => arguments.run(output),
            Self::Replica(arguments) => arguments.run(output),
            Self::Memcached(arguments) => arguments.run(output),
            Self::StreamCluster(arguments) => arguments.run(output),
            Self::Setup(arguments) => arguments.run(output),
            Self::Epcc(arguments) => arguments.run(output),
            Self::Process(process) => process.run(),
            Self::Cc(arguments) => cc::run(arguments, output),
            Self::Coherence(arguments) => arguments.run(output),
            Self::Sim(arguments) => sim::run(arguments, output),
            Self::Planner(arguments) => arguments.run(output),
            Self::Contenders => contenders(output),
            Self::Completions(arguments) => arguments.print(CommandLine::command(), output),
            Self::Man(arguments) => arguments.write(CommandLine::command(), output),
        }
    }
}

impl Process {
    /// Does its part.
    fn run(&self) -> Result<(), Failure> {
        match self {
            Self::CollectiveMember => race::member(),
            Self::ChannelMember => channels::member(),
            Self::NodesMember(arguments) => arguments.run(),
            Self::TableMember => table::member(),
            Self::TmMember => tm::member(),
            Self::BusyMember => busy::member(),
            Self::Victim(arguments) => arguments.run(),
            Self::ReplicaMember => replica_race::member(),
            Self::ReplicaNode(arguments) => arguments.run(),
        }
    }
}

/// Prints a line or an object for each contender.
fn contenders(output: &Output) -> Result<(), Failure> {
    let listed: Vec<Contender> = corecast_bench::list().into_iter().map(Contender::from).collect();
    let line = |Contender { op, name, about }: &Contender| format!("{op} {name} {about}\n");
    tell(output, &listed[..], |listed| listed.iter().map(line).collect())
}

impl Shared {
    /// Of a benchmark whose contenders wait as they are made to.
    fn of_machine(machine: &MachineArgs) -> Self {
        Self { machine: machine.clone(), wait: Wait::Adaptive }
    }

    /// The machine to run on, and the options that all kinds share. From here on Ctrl-C is caught.
    fn prepare(&self, output: &Output) -> Result<(Model, Options), Failure> {
        self.prepare_with(output, Interrupt::watch)
    }

    /// The same for a run that tells what it has when it is stopped.
    fn prepare_for_best(&self, output: &Output) -> Result<(Model, Options), Failure> {
        self.prepare_with(output, Interrupt::watch_for_best)
    }

    fn prepare_with(
        &self,
        output: &Output,
        watch: fn() -> Result<Interrupt, Failure>,
    ) -> Result<(Model, Options), Failure> {
        let model = self.machine.model(output)?;
        let cpus = Some(model.machine.cpu_set());
        let options =
            Options { cpus, wait: self.wait, cancel: watch()?.cancel(), commit: commit(), ..Options::default() };
        Ok((model, options))
    }
}

/// The commit that this program was built from, where the build script found one.
fn commit() -> Option<String> {
    option_env!("CORECAST_COMMIT").map(str::to_owned)
}
