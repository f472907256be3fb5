//! The unit of costs.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The unit of every cost of a [`Machine`](crate::Machine).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Cycles of the machine's clock.
    Cycles,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ns => "ns",
            Self::Cycles => "cycles",
        })
    }
}
