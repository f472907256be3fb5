//! `corecast man`: manual pages, from the same definitions that parse the command line.

use clap::CommandFactory;
use clap_mangen::Man;

use crate::command_line::CommandLine;
use crate::failure::Failure;
use crate::output::Output;

/// Options of `man`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The subcommand to write the page of [default: corecast itself].
    command: Option<String>,
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let mut program = CommandLine::command();
    // Gives every subcommand its full name and the options that all share.
    program.build();
    let page = match &arguments.command {
        None => Man::new(program),
        Some(name) => Man::new(subcommand(&program, name)?),
    };
    let mut text = Vec::new();
    page.render(&mut text).map_err(Failure::environment)?;
    output.bytes(&text)
}

fn subcommand(program: &clap::Command, name: &str) -> Result<clap::Command, Failure> {
    program.find_subcommand(name).cloned().ok_or_else(|| {
        let known = program.get_subcommands().map(clap::Command::get_name);
        let known: Vec<&str> = known.filter(|&name| name != "help").collect();
        Failure::input(format!("'{name}' is no subcommand; expected one of {}", known.join(", ")))
    })
}
