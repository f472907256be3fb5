//! The waiting policies a user can choose from.

use std::fmt;
use std::str::FromStr;

/// How a participant waits for another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Wait {
    /// Spin for 50 us, or for less where that has not paid, then sleep. Where participants share CPUs, yield a few times
    /// instead of spinning, but not while foreign threads make yields slow.
    #[default]
    Adaptive,
    /// Spin for ever. The fastest where each participant has a CPU of its own, and ruinous where participants share CPUs.
    Spin,
    /// Give up the CPU after every look, never sleep. Uses all idle CPU time.
    Yield,
    /// Sleep at once. The thriftiest, and slow: a wake-up costs 10 to 40 us.
    Park,
}

impl Wait {
    /// All policies, in the order of their documentation.
    pub const ALL: [Self; 4] = [Self::Adaptive, Self::Spin, Self::Yield, Self::Park];

    /// The policy's name as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Adaptive => "adaptive",
            Self::Spin => "spin",
            Self::Yield => "yield",
            Self::Park => "park",
        }
    }

    /// True if a thread that waits in this way may go to sleep, so that a publisher must wake it.
    #[must_use]
    pub fn sleeps(self) -> bool {
        matches!(self, Self::Adaptive | Self::Park)
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that names no [`Wait`] policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown wait policy '{0}': expected adaptive, spin, yield or park")]
pub struct UnknownWait(String);

impl FromStr for Wait {
    type Err = UnknownWait;

    fn from_str(name: &str) -> Result<Self, UnknownWait> {
        Self::ALL.into_iter().find(|wait| wait.name() == name).ok_or_else(|| UnknownWait(name.to_owned()))
    }
}
