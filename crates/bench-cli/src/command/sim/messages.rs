//! `corecast sim messages`.

use corecast_sim::machine::Machine;
use corecast_sim::{Channel, pairs_by_distance};

use super::shared::Shared;
use crate::simulated::{MessageFigure, Program};
use corecast_cli::failure::Failure;
use corecast_cli::output::Output;

/// Messages before those that count, and again as many that do.
const MESSAGES: u64 = 1000;

/// Options of `sim messages`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Messages {
    #[command(flatten)]
    shared: Shared,
    /// The time or rate: of two CPUs at each distance, or of a server with clients, whose numbers are those of --cpus.
    #[arg(long, value_name = "FIGURE", value_enum, default_value = "one-way")]
    figure: MessageFigure,
    /// Take only these channels.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    channels: Vec<Channel>,
}

impl Messages {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let Self { figure, .. } = *self;
        let serves = |channel: &Channel| !figure.is_of_server() || SERVERS.contains(channel);
        if let Some(channel) = self.channels.iter().find(|channel| !serves(channel)) {
            let names: Vec<String> = SERVERS.iter().map(|channel| channel.name().to_owned()).collect();
            return Err(Failure::input(format!(
                "no server receives from {}: expected {}",
                channel.name(),
                names.join(", ")
            )));
        }
        let all = || Channel::ALL.iter().copied().filter(|channel| serves(channel)).collect();
        let channels: Vec<Channel> = if self.channels.is_empty() { all() } else { self.channels.clone() };
        let names: Vec<String> = channels.iter().map(|channel| channel.name().to_owned()).collect();
        let program = Program::Messages { figure, messages: self.shared.shortened(MESSAGES) };
        let machine = self.shared.load()?;
        let steps = self.steps(machine.1.machine())?;
        self.shared.run_steps(machine, &program, (&names, &steps), output)
    }

    /// The distances of the machine, or the numbers of clients.
    fn steps(&self, machine: &Machine) -> Result<Vec<usize>, Failure> {
        if !self.figure.is_of_server() {
            if !self.shared.cpus.is_empty() {
                return Err(Failure::input("--cpus are the clients of a server: give --figure server or answers"));
            }
            return Ok((0..pairs_by_distance(machine).len()).collect());
        }
        let most = machine.cpus() - 1;
        if let Some(clients) = self.shared.cpus.iter().find(|&&clients| clients > most) {
            let cpus = machine.cpus();
            return Err(Failure::input(format!(
                "--cpus {clients}: of {cpus} CPUs one is the server's, {most} are for clients"
            )));
        }
        if most == 0 {
            return Err(Failure::input("--figure server needs a machine with at least 2 CPUs, this one has 1"));
        }
        self.shared.threads(most)
    }
}

/// The channels that a server can wait for many of.
const SERVERS: [Channel; 2] = [Channel::Ump, Channel::UmpSlotClear];
