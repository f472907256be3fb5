//! `corecast bench`: races against the alternatives, and load tests. One file per kind.

mod acknowledged;
mod atomics;
mod busy;
mod cc;
mod channels;
mod deaths;
mod idle;
mod locks;
mod messages;
mod planner;
mod race;
mod setup;
mod stream;
mod table;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use corecast::Wait;
use corecast_race::Options;

use corecast_cli::failure::Failure;
use corecast_cli::interrupt::Interrupt;
use corecast_cli::machine_args::{MachineArgs, Model};
use corecast_cli::output::Output;

/// What to run.
#[derive(Clone, Debug, clap::Subcommand)]
pub(crate) enum Benchmark {
    /// Race barriers, broadcasts and reductions.
    Collectives(race::Collectives),
    /// What a member of `collectives --processes` is started as.
    #[command(hide = true)]
    CollectiveMember,
    /// Race broadcasts whose root waits until all have processed them: rings and trees, one event and bursts.
    Acknowledged(acknowledged::Arguments),
    /// Race message channels between two CPUs: one message, and a stream.
    Ump(race::Ump),
    /// Race a stream through one of 64 channels that one receiver looks at, and count turns with all of them busy.
    Select(race::Select),
    /// Race every channel from one sender to many receivers, at many lengths of messages.
    Channels(channels::Arguments),
    /// What a receiver of `channels --processes` is started as.
    #[command(hide = true)]
    ChannelMember,
    /// Send very many checked messages through a channel; none may be torn, lost or out of order.
    Stream(stream::Arguments),
    /// Find out how much CPU time members and receivers burn that wait for one that is late.
    Idle(idle::Arguments),
    /// Race locks: one thread alone, and many over one lock or several.
    Locks(locks::Arguments),
    /// Stress one word with each atomic operation, by many threads at once.
    Atomics(atomics::Arguments),
    /// Race channels between pairs, and servers that receive from their clients.
    Messages(messages::Arguments),
    /// Race hash tables: one lock for each bucket, servers that are sent messages, and the maps people use today.
    Table(table::Arguments),
    /// What servers and clients of `table` are that are processes.
    #[command(hide = true)]
    TableMember,
    /// Find out how corecast and its rivals wait while other programs want the CPUs, too.
    Busy(busy::Arguments),
    /// What contenders and foreign processes of `busy` are.
    #[command(hide = true)]
    BusyMember,
    /// Kill processes at each end of each channel, and find out how long the other end waits for the news.
    Deaths(deaths::Arguments),
    /// What `deaths` kills.
    #[command(hide = true)]
    Victim(deaths::Victim),
    /// Find out how long it takes to put a group together, on any machine model.
    Setup(setup::Arguments),
    /// Measure what single operations on a cache line cost, by the state that the line is in and by where it is.
    Cc(cc::Arguments),
    /// Plan with every shape, planner and effort on subsets of many machine models: costs, gaps and times.
    Planner(planner::Arguments),
}

/// What all kinds share.
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
            Self::CollectiveMember => race::member(),
            Self::Acknowledged(arguments) => arguments.run(output),
            Self::Ump(arguments) => arguments.run(output),
            Self::Select(arguments) => arguments.run(output),
            Self::Channels(arguments) => arguments.run(output),
            Self::ChannelMember => channels::member(),
            Self::Stream(arguments) => arguments.run(output),
            Self::Idle(arguments) => arguments.run(output),
            Self::Locks(arguments) => arguments.run(output),
            Self::Atomics(arguments) => arguments.run(output),
            Self::Messages(arguments) => arguments.run(output),
            Self::Table(arguments) => arguments.run(output),
            Self::TableMember => table::member(),
            Self::Busy(arguments) => arguments.run(output),
            Self::BusyMember => busy::member(),
            Self::Deaths(arguments) => arguments.run(output),
            Self::Setup(arguments) => arguments.run(output),
            Self::Victim(arguments) => arguments.run(),
            Self::Cc(arguments) => cc::run(arguments, output),
            Self::Planner(arguments) => arguments.run(output),
        }
    }
}

impl Shared {
    /// The machine to run on, and the options that all kinds share. From here on Ctrl-C is caught.
    fn prepare(&self, output: &Output) -> Result<(Model, Options), Failure> {
        let model = self.machine.model(output)?;
        let cpus = Some(model.machine.cpu_set());
        let options = Options {
            cpus,
            wait: self.wait,
            cancel: Interrupt::watch()?.cancel(),
            commit: commit(),
            ..Options::default()
        };
        Ok((model, options))
    }
}

/// The commit that this program was built from, where the build script found one.
fn commit() -> Option<String> {
    option_env!("CORECAST_COMMIT").map(str::to_owned)
}
