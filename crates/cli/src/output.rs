//! The only way to standard output and standard error.
//!
//! Control characters and the like are escaped here, see [`printable`]; completions and manual pages are written as they are.
//! Results go to standard output, whole and flushed; everything else (progress, remarks, errors) to standard error, where it
//! never mixes with JSON. A reader that goes away early is no error worth telling: see [`Failure::StdoutClosed`].

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use miette::Diagnostic;
use serde::Serialize;

use crate::failure::Failure;
use crate::printable;

/// Where a command's results and remarks go, and in which form.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    /// Results are JSON for programs, not text for people.
    is_json: bool,
    /// Remarks and progress are not wanted.
    is_quiet: bool,
}

impl Output {
    /// The options by which another program of corecast writes in the same form.
    pub fn options(&self) -> impl Iterator<Item = &'static str> {
        let options = [(self.is_json, "--json"), (self.is_quiet, "--quiet")];
        options.into_iter().filter_map(|(is_given, option)| is_given.then_some(option))
    }

    /// Results as JSON or as text; with remarks or without.
    pub fn new(is_json: bool, is_quiet: bool) -> Self {
        Self { is_json, is_quiet }
    }

    /// True if results are to be JSON.
    pub fn is_json(&self) -> bool {
        self.is_json
    }

    /// True if remarks and progress are not wanted.
    pub fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Writes a result as text; a line break is added where the text does not end in one.
    ///
    /// # Errors
    /// A `Failure` with its exit code: bad input, or trouble of the environment.
    pub fn text(&self, text: &str) -> Result<(), Failure> {
        let line_break = if text.ends_with('\n') { "" } else { "\n" };
        self.bytes(format!("{}{line_break}", printable::text(text)).as_bytes())
    }

    /// Writes a result as text with a picture between its parts, which may have colours. Nothing in the picture may come from
    /// outside.
    ///
    /// # Errors
    /// A `Failure` with its exit code: bad input, or trouble of the environment.
    pub fn text_around(&self, before: &str, picture: &str, behind: &str) -> Result<(), Failure> {
        self.bytes([&printable::text(before), picture, &printable::text(behind)].concat().as_bytes())
    }

    /// Writes a result as one line of JSON.
    ///
    /// # Errors
    /// A `Failure` with its exit code: bad input, or trouble of the environment.
    pub fn json(&self, result: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string(result);
        let text = text.map_err(|error| Failure::environment(format!("cannot write the result as JSON: {error}")))?;
        self.json_text(&text)
    }

    /// Writes a result that is JSON already.
    ///
    /// # Errors
    /// A `Failure` with its exit code: bad input, or trouble of the environment.
    pub fn json_text(&self, text: &str) -> Result<(), Failure> {
        self.bytes(format!("{}\n", printable::json(text.trim_end())).as_bytes())
    }

    /// Writes a result as it is.
    ///
    /// # Errors
    /// A `Failure` with its exit code: bad input, or trouble of the environment.
    pub fn bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(refused)
    }

    /// Tells the user something beside the result.
    pub fn remark(&self, text: &str) {
        if !self.is_quiet {
            to_stderr(&format!("corecast: {}\n", printable::text(text)));
        }
    }
}

/// Prints what was asked for instead of a command, such as help, or what is wrong with the command line; returns the exit code.
///
/// # Errors
/// A `Failure` with its exit code: bad input, or trouble of the environment.
pub fn usage(told: &clap::Error) -> Result<ExitCode, Failure> {
    let plain = told.render().to_string();
    let printed = match printable::text(&plain) {
        // With colours, where there is a terminal.
        Cow::Borrowed(_) => told.print(),
        Cow::Owned(shown) if told.use_stderr() => io::stderr().lock().write_all(shown.as_bytes()),
        Cow::Owned(shown) => io::stdout().lock().write_all(shown.as_bytes()),
    };
    if !told.use_stderr() {
        printed.and_then(|()| io::stdout().lock().flush()).map_err(refused)?;
    }
    Ok(ExitCode::from(u8::try_from(told.exit_code()).unwrap_or(2)))
}

/// Why a result could not be written.
fn refused(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::StdoutClosed,
        _ => Failure::environment(format!("cannot write to standard output: {error}")),
    }
}

/// A failure as it is shown.
#[derive(Debug)]
struct Shown(Failure);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable::text(&self.0.to_string()))
    }
}

impl Error for Shown {}

impl Diagnostic for Shown {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let help = self.0.help()?.to_string();
        Some(Box::new(printable::text(&help).into_owned()))
    }
}

/// Tells why the program stops.
pub fn complain(failure: Failure) {
    let is_terminal = io::stderr().is_terminal();
    // Only the first hook counts, and nobody else sets one.
    let _ = miette::set_hook(Box::new(move |_| {
        Box::new(miette::MietteHandlerOpts::new().wrap_lines(is_terminal).break_words(false).build())
    }));
    to_stderr(&format!("{:?}", miette::Report::new(Shown(failure))));
}

/// A standard error that cannot be written to leaves nobody to tell.
fn to_stderr(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
