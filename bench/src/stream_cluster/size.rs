//! How much is clustered: PARSEC's input sizes, and nothing at all.

/// An input size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamClusterSize {
    /// So small that it proves nothing but that programs run.
    Tiny,
    /// 4096 points of 32 dimensions.
    Simsmall,
    /// 16384 points of 128 dimensions.
    Simlarge,
    /// A million points of 128 dimensions, in chunks of 200 000.
    Native,
    /// No points: threads meet at a barrier again and again.
    Rounds,
}

impl StreamClusterSize {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Tiny, Self::Simsmall, Self::Simlarge, Self::Native, Self::Rounds];

    /// The name in options and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tiny => "tiny",
            Self::Simsmall => "simsmall",
            Self::Simlarge => "simlarge",
            Self::Native => "native",
            Self::Rounds => "rounds",
        }
    }

    /// The least and the most medians, dimensions, points, points of a chunk, medians that are kept; none without points.
    pub(super) const fn numbers(self) -> Option<[u32; 6]> {
        Some(match self {
            Self::Rounds => return None,
            Self::Tiny => [3, 10, 3, 200, 100, 100],
            Self::Simsmall => [10, 20, 32, 4096, 4096, 1000],
            Self::Simlarge => [10, 20, 128, 16_384, 16_384, 1000],
            Self::Native => [10, 20, 128, 1_000_000, 200_000, 5000],
        })
    }
}
