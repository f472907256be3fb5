//! Manual pages and completion scripts, from the definition of a command line.

use std::fs;
use std::io;
use std::path::Path;

use clap::ValueEnum;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::failure::{Failure, NotWritten};

/// The manual page of the program, or of one of its subcommands.
///
/// # Errors
/// There is no subcommand of this name.
pub fn page(mut program: clap::Command, subcommand: Option<&str>) -> Result<Vec<u8>, Failure> {
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
///
/// # Errors
/// The folder or a page cannot be written.
pub fn write_pages(program: clap::Command, folder: &Path) -> Result<(), NotWritten> {
    let written = fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(program, folder));
    written.map_err(|error| not_written("the manual pages", folder, error))
}

/// Writes a completion script for every shell into a folder.
pub(crate) fn write_completions(mut program: clap::Command, folder: &Path) -> Result<(), NotWritten> {
    let name = program.get_name().to_owned();
    for &shell in Shell::value_variants() {
        let written = clap_complete::generate_to(shell, &mut program, &name, folder);
        written.map_err(|error| not_written("the completion scripts", folder, error))?;
    }
    Ok(())
}

/// The examples in the help of a command, each as a user types it.
#[must_use]
pub fn examples(command: &clap::Command) -> Vec<String> {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let lines = help.lines().filter(|line| line.starts_with("  corecast "));
    lines.map(|line| line.trim().to_owned()).collect()
}

fn not_written(what: &'static str, folder: &Path, error: io::Error) -> NotWritten {
    NotWritten { what, path: folder.to_owned(), error }
}

fn find(program: &clap::Command, name: &str) -> Result<clap::Command, Failure> {
    program.find_subcommand(name).cloned().ok_or_else(|| {
        let shown = program.get_subcommands().filter(|subcommand| !subcommand.is_hide_set());
        let known: Vec<&str> = shown.map(clap::Command::get_name).filter(|&name| name != "help").collect();
        Failure::input(format!("'{name}' is no subcommand; expected one of {}", known.join(", ")))
    })
}
