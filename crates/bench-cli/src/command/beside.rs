//! Busy processes beside a benchmark.

use clap::builder::TypedValueParser;
use corecast_bench::{ForeignLoad, MAX_HOGS};
use corecast_cli::failure::Failure;
use corecast_cli::machine_args::Model;
use corecast_cli::own_program;
use corecast_race::Options;

use super::busy::MEMBER;

/// The option that all of them have.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Beside {
    /// Run beside this number of busy processes; only the demands of such runs are judged then.
    #[arg(long, value_name = "N", default_value = "0", value_parser = processes())]
    pub(super) busy: usize,
}

fn processes() -> impl TypedValueParser<Value = usize> {
    clap::value_parser!(u64).range(0..=MAX_HOGS as u64).map(|count| count as usize)
}

impl Beside {
    /// Starts them for `options`, which have their number. They work until what is returned is dropped.
    pub(super) fn start(model: &Model, options: &Options) -> Result<ForeignLoad, Failure> {
        let arguments = MEMBER.map(str::to_owned).to_vec();
        Ok(ForeignLoad::start(&model.machine, options, own_program::path()?, arguments)?)
    }
}
