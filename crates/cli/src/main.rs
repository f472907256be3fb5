//! The program `corecast`; its library has all of it.

use std::process::ExitCode;

fn main() -> ExitCode {
    corecast_cli::run()
}
