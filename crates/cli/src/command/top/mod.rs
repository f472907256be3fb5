//! `corecast top`: the regions of this user, their participants, and how far the ends of their channels are. It changes nothing.
//!
//! - `lookout`: looks, and keeps in touch with hosted regions between two looks;
//! - `seen`: what is seen, as JSON tells it; `rates`: what has moved between two looks; `text`: the same for people;
//! - `process`: names of processes.

mod lookout;
mod process;
mod rates;
mod seen;
mod text;

use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde::Serialize;

use crate::failure::Failure;
use crate::interrupt;
use crate::output::Output;
use crate::region_dirs::RegionDirs;
use lookout::{Look, Lookout};
use seen::RegionSeen;

/// Puts the next text where the last one was.
const CLEAR: &str = "\x1b[2J\x1b[H";

/// Options of `top`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    dirs: RegionDirs,
    /// Print one table and end, as where standard output is no terminal, or with --json.
    #[arg(long)]
    once: bool,
    /// Time between two looks, such as 500ms or 2s; rates are of that time.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    interval: Duration,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Table<'a> {
    /// Between the two looks that rates are of.
    interval_s: f64,
    regions: &'a [RegionSeen],
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    arguments.dirs.check()?;
    let mut lookout = Lookout::new(&arguments.dirs);
    if arguments.once || output.is_json() || !io::stdout().is_terminal() {
        return arguments.print_once(&mut lookout, output);
    }
    let (stop, stopped) = mpsc::channel();
    interrupt::on_first(move || {
        // Nobody listens any more when the table has ended.
        let _ = stop.send(());
    })?;
    arguments.refresh(&mut lookout, &stopped, output)
}

impl Arguments {
    fn print_once(&self, lookout: &mut Lookout, output: &Output) -> Result<(), Failure> {
        let mut look = self.look(lookout)?;
        if !look.regions.is_empty() {
            thread::sleep(self.interval);
            look = self.look(lookout)?.since(&look);
        }
        if output.is_json() {
            return output.json(&Table { interval_s: self.interval.as_secs_f64(), regions: &look.regions });
        }
        output.text(&self.describe(&look))
    }

    /// Until the user wants to stop.
    fn refresh(&self, lookout: &mut Lookout, stopped: &Receiver<()>, output: &Output) -> Result<(), Failure> {
        let mut look = self.look(lookout)?;
        loop {
            output.text(&format!("{CLEAR}{}", self.describe(&look)))?;
            match stopped.recv_timeout(self.interval) {
                Err(RecvTimeoutError::Timeout) => look = self.look(lookout)?.since(&look),
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    fn look(&self, lookout: &mut Lookout) -> Result<Look, Failure> {
        lookout.look().map_err(|error| self.dirs.unusable(error))
    }

    fn describe(&self, look: &Look) -> String {
        match &look.regions[..] {
            [] => format!("no regions in {}\n", self.dirs.describe()),
            regions => text::describe(regions),
        }
    }
}

/// Reads a time such as `500ms`, `2s` or `2`.
fn interval(text: &str) -> Result<Duration, String> {
    let (number, unit_ms) = match text.strip_suffix("ms") {
        Some(number) => (number, 1),
        None => (text.strip_suffix('s').unwrap_or(text), 1000),
    };
    let ms = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit_ms));
    let ms = ms.filter(|ms| (10..=3_600_000).contains(ms));
    ms.map(Duration::from_millis).ok_or_else(|| "expected 10ms to 3600s, such as 500ms or 2s".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_have_units_and_limits() {
        assert_eq!(["10ms", "2s", "3"].map(|text| interval(text).expect("good").as_millis()), [10, 2000, 3000]);
        for text in ["", "9ms", "0", "-1s", "1.5s", "s", "3601s", "99999999999999999999"] {
            assert!(interval(text).is_err(), "{text}");
        }
    }
}
