//! The only way to standard output and standard error.
//!
//! Results go to standard output, whole and flushed; everything else (progress, remarks, errors) to standard error, where
//! it never mixes with JSON. A reader that goes away early is no error worth telling: see [`Failure::StdoutClosed`].

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use crate::failure::Failure;

/// Where a command's results and remarks go, and in which form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    /// Results are JSON for programs, not text for people.
    is_json: bool,
    /// Remarks and progress are not wanted.
    is_quiet: bool,
}

impl Output {
    pub(crate) fn new(is_json: bool, is_quiet: bool) -> Self {
        Self { is_json, is_quiet }
    }

    /// True if results are to be JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.is_json
    }

    /// True if remarks and progress are not wanted.
    pub(crate) fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Writes a result as text; a line break is added where the text does not end in one.
    pub(crate) fn text(&self, text: &str) -> Result<(), Failure> {
        let line_break = if text.ends_with('\n') { "" } else { "\n" };
        self.bytes(format!("{text}{line_break}").as_bytes())
    }

    /// Writes a result as one line of JSON.
    pub(crate) fn json(&self, result: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string(result).map_err(Failure::environment)?;
        self.text(&text)
    }

    /// Writes a result as it is.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::StdoutClosed,
            _ => Failure::environment(format!("cannot write to standard output: {error}")),
        })
    }

    /// Tells the user something beside the result.
    pub(crate) fn remark(&self, text: &str) {
        if !self.is_quiet {
            to_stderr(&format!("corecast: {text}\n"));
        }
    }
}

/// Tells why the program stops.
pub(crate) fn complain(failure: Failure) {
    let is_terminal = io::stderr().is_terminal();
    // Only the first hook counts, and nobody else sets one.
    let _ = miette::set_hook(Box::new(move |_| {
        Box::new(miette::MietteHandlerOpts::new().wrap_lines(is_terminal).break_words(false).build())
    }));
    to_stderr(&format!("{:?}", miette::Report::new(failure)));
}

/// A standard error that cannot be written to leaves nobody to tell.
fn to_stderr(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
