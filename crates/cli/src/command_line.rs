//! The command line: one definition from which parsing, help, completions and manual pages come.

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use crate::command::{Command, tune};
use crate::printable;

/// Measures what messages between the CPUs of this machine cost, plans collectives for them, and races the plans.
///
/// Without a subcommand it does what `corecast tune` does: discover, measure, plan, race, and write a report.
#[derive(Debug, Parser)]
#[command(name = "corecast", version, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done, 1 trouble of the environment, 2 bad input, 130 interrupted.\n\nExamples:\n  corecast --quick\n  corecast plan --op barrier --compare"
)]
pub(crate) struct CommandLine {
    /// Print results as JSON with documented fields.
    #[arg(long, global = true, help_heading = "Output")]
    pub json: bool,
    /// Print results and errors only, neither progress nor remarks.
    #[arg(long, short, global = true, help_heading = "Output")]
    pub quiet: bool,
    #[command(flatten)]
    tune: tune::Arguments,
    #[command(subcommand)]
    command: Option<Command>,
}

impl CommandLine {
    /// The command line of the user.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let line: Self = parse()?;
        if line.command.is_some() && line.tune != tune::Arguments::default() {
            let message = "options before a subcommand belong to `tune` and would be ignored: write them after it";
            return Err(Self::command().error(ErrorKind::ArgumentConflict, message));
        }
        Ok(line)
    }

    /// The subcommand; without one it is `tune`.
    pub(crate) fn into_command(self) -> Command {
        self.command.unwrap_or(Command::Tune(self.tune))
    }
}

/// Reads the command line of a program.
///
/// # Errors
/// The error in it, or the help or the version that the user asked for.
pub fn parse<C: Parser>() -> Result<C, clap::Error> {
    C::try_parse().map_err(harmless::<C>)
}

/// The same about a command line without what a terminal obeys: an error quotes what was given.
fn harmless<C: Parser>(error: clap::Error) -> clap::Error {
    let given: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let shown: Vec<String> = given.iter().map(|word| printable::line(word).into_owned()).collect();
    if shown == given {
        return error;
    }
    C::try_parse_from(shown).err().unwrap_or(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manual;

    #[test]
    fn the_definition_is_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn the_program_and_every_subcommand_have_an_example_that_parses() {
        let program = CommandLine::command();
        for command in program.get_subcommands().chain([&program]) {
            let examples = manual::examples(command);
            assert!(!examples.is_empty(), "{}", command.get_name());
            for example in examples {
                let parsed = CommandLine::try_parse_from(example.split_whitespace());
                assert!(parsed.is_ok(), "{example}: {:?}", parsed.err());
            }
        }
    }

    #[test]
    fn no_subcommand_is_tune_with_its_options() {
        let line = CommandLine::try_parse_from(["corecast", "--quick", "--json"]).expect("valid");
        assert!(line.json);
        let Command::Tune(arguments) = line.into_command() else { panic!("not tune") };
        let named = CommandLine::try_parse_from(["corecast", "tune", "--quick"]).expect("valid").into_command();
        assert!(matches!(named, Command::Tune(named) if named == arguments));
    }
}
