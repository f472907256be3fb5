//! `--html FILE`: writes an HTML page about the result of a benchmark.

use std::ffi::OsString;
use std::path::PathBuf;

use corecast::machine::{measure, write_atomically};
use serde::Serialize;

use crate::tell::tell;
use corecast_cli::failure::{Failure, NotWritten};
use corecast_cli::output::Output;
use corecast_cli::target_folder;

/// The name of the file in errors.
const WHAT: &str = "the page";

/// Where the page goes.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct HtmlArg {
    /// Also write a page about the result to this file, with its pictures.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl HtmlArg {
    /// Checks before the run that the folder of the file exists.
    pub(crate) fn check(&self) -> Result<(), NotWritten> {
        self.html.iter().try_for_each(|path| target_folder::check(WHAT, path))
    }

    /// Prints a result as `text` or as JSON, and writes the `page` about it if the user asked for one. `page` gets the result,
    /// the time, the version, and the command that repeats the run.
    pub(crate) fn tell<R: Serialize>(
        &self,
        output: &Output,
        (result, seed): (&R, u64),
        text: impl FnOnce(&R) -> String,
        page: impl FnOnce(&R, &str, &str, &str) -> String,
    ) -> Result<(), Failure> {
        tell(output, result, text)?;
        self.write(seed, output, |now, command| page(result, now, env!("CARGO_PKG_VERSION"), command))
    }

    /// Writes the page, if one is wanted, and tells where. `page` makes it from the time now and from the command that makes
    /// the same again, with `seed`.
    pub(crate) fn write(
        &self,
        seed: u64,
        output: &Output,
        page: impl FnOnce(&str, &str) -> String,
    ) -> Result<(), Failure> {
        let Some(path) = &self.html else { return Ok(()) };
        let page = page(&measure::date::now(), &command(std::env::args_os().skip(1), seed));
        let written = write_atomically(path, page.as_bytes());
        written.map_err(|error| NotWritten { what: WHAT, path: path.clone(), error })?;
        if output.is_json() { Ok(()) } else { output.text(&format!("page written to {}\n", path.display())) }
    }
}

/// The command line as a shell reads it, with the seed if that was drawn. Bytes that are not UTF-8 are replaced.
fn command(arguments: impl Iterator<Item = OsString>, seed: u64) -> String {
    let words = arguments.map(|word| quoted(word.to_string_lossy().into_owned()));
    let words: Vec<String> = words.collect();
    let is_own_command = words.iter().any(|word| ["cc", "sim"].contains(&word.as_str()));
    let program = if is_own_command { "corecast" } else { "corecast bench" };
    let mut words: Vec<String> = [program.to_owned()].into_iter().chain(words).collect();
    if !words.iter().any(|word| word == "--seed" || word.starts_with("--seed=")) {
        words.extend(["--seed".to_owned(), seed.to_string()]);
    }
    words.join(" ")
}

/// A word, in quotes if a shell would find more in it.
fn quoted(word: String) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=+,./:@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word;
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_what_was_called_with_the_seed() {
        let of = |words: &[&str]| command(words.iter().map(OsString::from), 7);
        assert_eq!(of(&["collectives", "--n", "2,3"]), "corecast bench collectives --n 2,3 --seed 7");
        assert_eq!(of(&["cc", "--seed", "4"]), "corecast cc --seed 4");
        assert_eq!(of(&["--seed=4", "core:2 pu:1", "it's"]), r"corecast bench --seed=4 'core:2 pu:1' 'it'\''s'");
    }
}
