//! `corecast bench setup`: how long it takes to put a group together.

use corecast_bench::{SetupReport, SetupRow, setup};
use corecast_race::Options;

use crate::columns::Format::Digits;
use crate::columns::{self, Column, count, figure};
use crate::tell::tell;
use corecast_cli::failure::Failure;
use corecast_cli::interrupt::Interrupt;
use corecast_cli::machine_args::MachineArgs;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::{gate_text, printable};

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
        tell(output, &report, describe)
    }
}

const ROWS: &[Column<SetupRow>] = &[
    Column::figure("members", "members", "", |row| count(row.members), Digits(0)),
    Column::figure("searched_ms", "plans searched for, ms", "", |row| figure(row.searched_ms), Digits(2)),
    Column::figure("kept_ms", "plans kept, ms", "", |row| figure(row.kept_ms), Digits(2)),
    Column::figure("kept_p99_ms", "p99", "ms", |row| figure(row.kept_p99_ms), Digits(2)),
];

fn describe(SetupReport { machine, rows, gates, .. }: &SetupReport) -> String {
    let machine = printable::line(machine);
    format!("putting a group together on {machine}\n{}\n{}", columns::plain(ROWS, rows), gate_text::describe(gates))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::agree_with_json;

    #[test]
    fn the_table_shows_what_json_has() {
        agree_with_json(
            ROWS,
            &SetupRow { members: 16, searched_ms: 9.5, kept_ms: 2.5, kept_p99_ms: 3.5 },
            "bench setup",
            "rows[]",
        );
    }
}
