//! The experiments of TM2C that can be repeated: the sizes of what was published.

use std::fmt;
use std::str::FromStr;

use super::workload::TmWorkload;

/// An experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TmPreset {
    /// The bank, without checks and with 90 %.
    Bank,
    /// The bank with one client that only sums all accounts, under every manager.
    ReadAll,
    /// The sorted list, plain and elastic.
    List,
    /// The hash table.
    Table,
}

impl TmPreset {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Bank, Self::ReadAll, Self::List, Self::Table];

    /// The name, which [`from_str`](Self::from_str) knows.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bank => "bank",
            Self::ReadAll => "read-all",
            Self::List => "list",
            Self::Table => "table",
        }
    }

    pub(super) fn workload(self) -> TmWorkload {
        match self {
            Self::Bank | Self::ReadAll => TmWorkload::Bank,
            Self::List => TmWorkload::List,
            Self::Table => TmWorkload::Table,
        }
    }

    /// Its numbers of participants: those of the published curves.
    pub(super) fn participants(self) -> Vec<usize> {
        vec![6, 12, 18, 24, 30, 36, 48]
    }

    pub(super) fn checks_percent(self) -> Vec<u32> {
        if self == Self::Bank { vec![0, 90] } else { vec![0] }
    }

    pub(super) fn readers(self) -> Vec<usize> {
        if self == Self::ReadAll { vec![1] } else { vec![0] }
    }
}

impl fmt::Display for TmPreset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No experiment has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no preset '{0}'; there are bank, read-all, list, table")]
pub struct NoTmPreset(String);

impl FromStr for TmPreset {
    type Err = NoTmPreset;

    fn from_str(name: &str) -> Result<Self, NoTmPreset> {
        Self::ALL.into_iter().find(|preset| preset.name() == name).ok_or_else(|| NoTmPreset(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_known_by_their_names() {
        for preset in TmPreset::ALL {
            assert_eq!(preset.to_string().parse(), Ok(preset));
        }
        assert!("scc".parse::<TmPreset>().is_err_and(|error| error.to_string().contains("'scc'")));
    }
}
