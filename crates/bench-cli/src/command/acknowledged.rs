//! `corecast bench acknowledged`: acknowledged broadcasts of every kind, in bursts.

use corecast::collective::acknowledged::MAX_WINDOW;
use corecast::plan::diamond::MAX_NODES;
use corecast_race::{AcknowledgedOptions, Options, acknowledged};

use crate::html_arg::HtmlArg;
use corecast_cli::failure::Failure;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::race_text;

use super::race::{RaceArgs, show, write_page};

/// Options of `bench acknowledged`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    race: RaceArgs,
    /// The numbers of members [default: the number of CPUs, and four times that].
    #[arg(long, visible_alias = "n", value_name = "N", value_delimiter = ',')]
    members: Vec<usize>,
    /// To how many members one passes an event on [default: 2].
    #[arg(long, value_name = "K", value_delimiter = ',', value_parser = number_to(MAX_NODES))]
    arity: Vec<usize>,
    /// Events published before the root waits for all of them [default: 1,8,32,128].
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = number_to(MAX_WINDOW))]
    bursts: Vec<usize>,
    #[command(flatten)]
    html: HtmlArg,
}

/// Reads a number from 1 to `most`.
fn number_to(most: usize) -> impl Fn(&str) -> Result<usize, String> + Clone {
    move |text| {
        let number: usize = text.parse().map_err(|error| format!("{error}"))?;
        if (1..=most).contains(&number) { Ok(number) } else { Err(format!("{number} is not in 1..={most}")) }
    }
}

impl Arguments {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        self.html.check()?;
        let (model, options) = self.race.prepare(output)?;
        let options = Options { participants: self.members.clone(), ..options };
        let given = |given: &[usize], usual: Vec<usize>| if given.is_empty() { usual } else { given.to_vec() };
        let usual = AcknowledgedOptions::default();
        let what = AcknowledgedOptions {
            arities: given(&self.arity, usual.arities),
            bursts: given(&self.bursts, usual.bursts),
        };
        let report = acknowledged(&model.machine, &options, &what, &mut Meter::start(output))?;
        show(&report, output)?;
        write_page(&self.html, &report, output)?;
        race_text::own_failures(&report).check()
    }
}
