//! `corecast bench setup`: how long it takes to put a group together.

use corecast_bench::{SetupReport, setup};
use corecast_race::Options;

use corecast_cli::failure::Failure;
use corecast_cli::interrupt::Interrupt;
use corecast_cli::machine_args::MachineArgs;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::{gate_text, printable, table};

/// Options of `bench setup`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    machine: MachineArgs,
    /// The numbers of members [default: 2, 4, 8, .. and the number of CPUs].
    #[arg(long, visible_alias = "n", value_name = "N", value_delimiter = ',')]
    members: Vec<usize>,
    /// Fewer of each.
    #[arg(long)]
    quick: bool,
}

impl Arguments {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let model = self.machine.model(output)?;
        let cancel = Interrupt::watch()?.cancel();
        let options = Options { participants: self.members.clone(), quick: self.quick, cancel, ..Options::default() };
        let report = setup(&model.machine, &options, &mut Meter::start(output))?;
        if output.is_json() { output.json(&report) } else { output.text(&describe(&report)) }
    }
}

fn describe(SetupReport { machine, rows, gates, .. }: &SetupReport) -> String {
    let mut table = table::table(&[">members", ">plans searched for, ms", ">plans kept, ms", ">p99 ms"]);
    for row in rows {
        let times = [row.searched_ms, row.kept_ms, row.kept_p99_ms].map(|ms| format!("{ms:.2}"));
        table.add_row([row.members.to_string()].into_iter().chain(times).collect::<Vec<_>>());
    }
    let machine = printable::line(machine);
    format!("putting a group together on {machine}\n{}\n{}", table::text(&table), gate_text::describe(gates))
}
