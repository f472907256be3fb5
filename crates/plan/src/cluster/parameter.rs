//! One figure of a cluster model, and where it comes from.

use std::fmt;

use serde_json::{Map, Value};

/// The origin of a [`Parameter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provenance {
    /// Measured on the cluster that the model describes.
    Measured,
    /// Read in a publication, which [`Parameter::source`] names.
    Published,
    /// Nobody measured it for this cluster.
    Assumed,
}

impl Provenance {
    /// Every provenance, the most reliable first.
    pub const ALL: [Self; 3] = [Self::Measured, Self::Published, Self::Assumed];

    /// The word in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Published => "published",
            Self::Assumed => "assumed",
        }
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A figure with its provenance. The field that holds it names the unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The figure: finite and not negative.
    pub value: f64,
    /// Where it comes from.
    pub provenance: Provenance,
    /// The publication, the date of the measurement or the reason of the assumption; never empty for a published figure.
    pub source: String,
    /// Fields of the file that this version does not know.
    pub other: Map<String, Value>,
}

impl Parameter {
    /// An assumed figure.
    #[must_use]
    pub fn assumed(value: f64) -> Self {
        Self { value, provenance: Provenance::Assumed, source: String::new(), other: Map::new() }
    }

    /// A figure of a publication.
    #[must_use]
    pub fn published(value: f64, source: &str) -> Self {
        Self { provenance: Provenance::Published, source: source.to_owned(), ..Self::assumed(value) }
    }

    /// A figure that was measured; `source` says when and how.
    #[must_use]
    pub fn measured(value: f64, source: &str) -> Self {
        Self { provenance: Provenance::Measured, source: source.to_owned(), ..Self::assumed(value) }
    }
}
