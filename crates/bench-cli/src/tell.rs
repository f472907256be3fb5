//! Prints results as text or as JSON, as the user asked.

use corecast_cli::failure::Failure;
use corecast_cli::output::Output;
use serde::Serialize;

/// Prints a result, as text or as JSON.
pub(crate) fn tell<R: Serialize + ?Sized>(
    output: &Output,
    result: &R,
    text: impl FnOnce(&R) -> String,
) -> Result<(), Failure> {
    if output.is_json() { output.json(&result) } else { output.text(&text(result)) }
}
