//! `corecast bench`: races against the alternatives, and load tests. One file per kind.

mod acknowledged;
mod atomics;
mod busy;
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
use corecast_bench::Options;

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::machine_args::{MachineArgs, Model};
use crate::output::Output;
use crate::plan_threads;

/// Options of `bench`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    kind: Kind,
}

/// What to run.
#[derive(Clone, Debug, clap::Subcommand)]
enum Kind {
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

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    match &arguments.kind {
        Kind::Collectives(arguments) => arguments.run(output),
        Kind::CollectiveMember => race::member(),
        Kind::Acknowledged(arguments) => arguments.run(output),
        Kind::Ump(arguments) => arguments.run(output),
        Kind::Select(arguments) => arguments.run(output),
        Kind::Channels(arguments) => arguments.run(output),
        Kind::ChannelMember => channels::member(),
        Kind::Stream(arguments) => arguments.run(output),
        Kind::Idle(arguments) => arguments.run(output),
        Kind::Locks(arguments) => arguments.run(output),
        Kind::Atomics(arguments) => arguments.run(output),
        Kind::Messages(arguments) => arguments.run(output),
        Kind::Table(arguments) => arguments.run(output),
        Kind::TableMember => table::member(),
        Kind::Busy(arguments) => arguments.run(output),
        Kind::BusyMember => busy::member(),
        Kind::Deaths(arguments) => arguments.run(output),
        Kind::Setup(arguments) => arguments.run(output),
        Kind::Victim(arguments) => arguments.run(),
        Kind::Planner(arguments) => arguments.run(output),
    }
}

impl Shared {
    /// The machine to run on, and the options that all kinds share. From here on Ctrl-C is caught.
    fn prepare(&self, output: &Output) -> Result<(Model, Options), Failure> {
        plan_threads::start()?;
        let model = self.machine.model(output)?;
        let cpus = Some(model.machine.cpu_set());
        let options = Options { cpus, wait: self.wait, cancel: Interrupt::watch()?.cancel(), ..Options::default() };
        Ok((model, options))
    }
}
