//! `man` of every program: manual pages, from the definition that parses the command line.

use std::fs;
use std::path::{Path, PathBuf};

use clap_mangen::Man;

use crate::completions;
use crate::failure::{Failure, NotWritten};
use crate::output::Output;

/// Options of `man`.
#[derive(Clone, Debug, clap::Args)]
pub struct ManualArgs {
    /// The subcommand to write the page of [default: the program itself].
    command: Option<String>,
    /// Write the pages of all subcommands and the completion scripts of all shells into this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    all: Option<PathBuf>,
}

impl ManualArgs {
    /// Prints one page of a program with this command line, or writes all of them and its completions into the folder.
    ///
    /// # Errors
    /// There is no such subcommand, or what is asked for cannot be written.
    pub fn write(&self, program: clap::Command, output: &Output) -> Result<(), Failure> {
        let Some(folder) = &self.all else { return output.bytes(&page(program, self.command.as_deref())?) };
        write_pages(program.clone(), folder)?;
        Ok(completions::write_all(program, folder)?)
    }

    /// The folder that all pages go to.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.all.as_deref()
    }
}

/// The manual page of the program, or of one of its subcommands.
fn page(mut program: clap::Command, subcommand: Option<&str>) -> Result<Vec<u8>, Failure> {
    // Gives every subcommand its full name and the options that all share.
    program.build();
    let page = match subcommand {
        None => Man::new(program),
        Some(name) => Man::new(find(&program, name)?),
    };
    let mut text = Vec::new();
    page.render(&mut text).map_err(Failure::environment)?;
    Ok(text)
}

/// Writes the pages of the program and of all its subcommands into a folder, which is made if it is missing.
fn write_pages(program: clap::Command, folder: &Path) -> Result<(), NotWritten> {
    let written = fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(program, folder));
    written.map_err(|error| NotWritten { what: "the manual pages", path: folder.to_owned(), error })
}

/// The examples in the help of a command, each as a user types it.
#[must_use]
pub fn examples(command: &clap::Command) -> Vec<String> {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let lines = help.lines().filter(|line| line.starts_with("  corecast "));
    lines.map(|line| line.trim().to_owned()).collect()
}

fn find(program: &clap::Command, name: &str) -> Result<clap::Command, Failure> {
    program.find_subcommand(name).cloned().ok_or_else(|| {
        let shown = program.get_subcommands().filter(|subcommand| !subcommand.is_hide_set());
        let known: Vec<&str> = shown.map(clap::Command::get_name).filter(|&name| name != "help").collect();
        Failure::input(format!("'{name}' is no subcommand; expected one of {}", known.join(", ")))
    })
}
