//! `corecast kv watch`: a value as it changes.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use super::entry::{Entry, key_parser, value_of};
use super::store_arg::StoreArg;
use crate::failure::Failure;
use crate::kv::client::{Client, ClientError};
use crate::output::Output;
use crate::{interrupt, number_arg};

/// Options of `kv watch`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    store: StoreArg,
    /// The key.
    #[arg(value_parser = key_parser())]
    key: OsString,
    /// Look every TIME, such as 500ms or 2s; values that come and go between two looks are not seen.
    #[arg(long, value_name = "TIME", default_value = "200ms", value_parser = every)]
    every: Duration,
    /// End when N values have been printed.
    #[arg(long, value_name = "N", value_parser = number_arg::within::<u64>(1..=u64::MAX))]
    count: Option<u64>,
}

fn every(text: &str) -> Result<Duration, String> {
    let millis = match (text.strip_suffix("ms"), text.strip_suffix('s')) {
        (Some(millis), _) => millis.parse().ok(),
        (None, Some(seconds)) => seconds.parse::<u64>().ok().and_then(|seconds| seconds.checked_mul(1000)),
        (None, None) => None,
    };
    let millis = millis.filter(|millis| (1..=3_600_000).contains(millis));
    millis.map(Duration::from_millis).ok_or_else(|| format!("'{text}' is no time from 1ms to 3600s"))
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let (stop, stopped) = mpsc::channel();
    interrupt::on_first(move || {
        // Nobody listens any more when the last value has been printed.
        let _ = stop.send(());
    })?;
    let mut client = arguments.store.connect()?;
    let mut last = None;
    let mut left = arguments.count.unwrap_or(u64::MAX);
    while left > 0 {
        let value = arguments.look(&mut client)?;
        if last.as_ref() != Some(&value) {
            arguments.print(value.as_deref(), output)?;
            last = Some(value);
            left -= 1;
        }
        if left > 0 && stopped.recv_timeout(arguments.every) != Err(RecvTimeoutError::Timeout) {
            return Ok(());
        }
    }
    Ok(())
}

impl Arguments {
    /// The value now. A server that ended meanwhile is asked for another connection, once.
    fn look(&self, client: &mut Client) -> Result<Option<Vec<u8>>, Failure> {
        let request: [&[u8]; 2] = [b"GET", self.key.as_bytes()];
        let reply = match client.ask(&request) {
            Err(ClientError::Io(_)) => {
                *client = self.store.connect()?;
                client.ask(&request)
            }
            reply => reply,
        };
        Ok(value_of(reply?)?)
    }

    fn print(&self, value: Option<&[u8]>, output: &Output) -> Result<(), Failure> {
        if output.is_json() {
            return output.json(&Entry::new(self.key.as_bytes(), value));
        }
        match value {
            Some(value) => output.text(&String::from_utf8_lossy(value)),
            None => output.text("(no value)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        assert_eq!([every("5ms"), every("2s")], [5, 2000].map(|millis| Ok(Duration::from_millis(millis))));
        for text in ["", "5", "0ms", "-1s", "3601s", "99999999999999999999s", "ms"] {
            assert!(every(text).is_err(), "{text}");
        }
    }
}
