//! How a store is kept: what `kv serve` is told, and tells each of its replicas.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use crate::failure::Failure;
use crate::{bytes_arg, number_arg, printable};

/// The options.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct StoreOptions {
    /// Keep N replicas, each in a process of its own.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = number_arg::within::<usize>(1..=1023))]
    pub(super) replicas: usize,
    /// Where the acceptor is, which accepts the leader's proposals: in another process, or in the leader's.
    #[arg(long, value_enum, default_value_t)]
    pub(super) placement: PlacementArg,
    /// Keep snapshots and a log in this folder, from which the store is restored when no process of it is left.
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
    /// When the log is written through to the disk.
    #[arg(long, value_enum, requires = "data", default_value_t)]
    pub(super) fsync: FsyncArg,
    /// Set aside BYTES in each process for values that were not applied everywhere; an operation may have as many, and at most
    /// 16 MiB and some.
    #[arg(long, value_name = "BYTES", default_value = "80Mi", value_parser = bytes_arg::within(64 << 10..=1 << 30))]
    pub(super) bulk: usize,
    /// Serve at most N clients at once in each process.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = number_arg::within::<usize>(1..=100_000))]
    pub(super) max_clients: usize,
}

/// Where the acceptor is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum PlacementArg {
    /// Leader and acceptor are different processes.
    Separate,
    /// The leader accepts its own proposals, two messages less for each.
    #[default]
    Fused,
}

/// When the log is on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum FsyncArg {
    /// Before an operation is acknowledged.
    Always,
    /// Every second: a power cut loses up to a second.
    #[default]
    Everysec,
    /// When the system writes it.
    Never,
}

impl StoreOptions {
    /// Checks what the reader of the command line cannot know.
    pub(super) fn check(&self) -> Result<(), Failure> {
        match &self.data {
            Some(data) if data.exists() && !data.is_dir() => Err(Failure::input(format!(
                "--data {}: it is there and is not a folder",
                printable::line(&data.to_string_lossy())
            ))),
            _ => Ok(()),
        }
    }

    /// Makes the folder of the files, so that a wrong one is named before any process is started.
    pub(super) fn make_data_folder(&self) -> Result<(), Failure> {
        let Some(data) = &self.data else { return Ok(()) };
        fs::create_dir_all(data).map_err(|error| {
            let data = data.to_string_lossy();
            Failure::input(format!("--data {}: the folder cannot be made: {error}", printable::line(&data)))
        })
    }

    /// The same as words of a command line.
    pub(super) fn words(&self) -> Vec<OsString> {
        let value_of = |value: &dyn ToString| OsString::from(value.to_string());
        let name_of = |value: Option<clap::builder::PossibleValue>| {
            OsString::from(value.expect("no value is hidden").get_name().to_owned())
        };
        let mut words: Vec<OsString> = vec!["--replicas".into(), value_of(&self.replicas)];
        words.extend(["--placement".into(), name_of(clap::ValueEnum::to_possible_value(&self.placement))]);
        if let Some(data) = &self.data {
            words.extend(["--data".into(), data.into(), "--fsync".into()]);
            words.push(name_of(clap::ValueEnum::to_possible_value(&self.fsync)));
        }
        words.extend(["--bulk".into(), value_of(&self.bulk)]);
        words.extend(["--max-clients".into(), value_of(&self.max_clients)]);
        words
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        options: StoreOptions,
    }

    #[test]
    fn the_words_say_the_same() {
        for line in [
            vec!["serve"],
            vec!["serve", "--replicas", "5", "--placement", "separate", "--data", "d", "--fsync", "always"],
        ] {
            let options = Line::try_parse_from(line).expect("valid").options;
            let words = [vec!["replica".into()], options.words()].concat();
            let again = Line::try_parse_from(words).expect("valid").options;
            assert_eq!(format!("{again:?}"), format!("{options:?}"));
        }
    }
}
