//! The reasons why a contender did not finish its operation. It concerns that contender only: the others go on.

/// An error inside a contender, or on the way to run it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// Another participant failed, and this one gave up waiting for it. Never the reason that is reported.
    #[error("given up because another participant failed")]
    Aborted,
    /// The operation returned, and what it had to do was not done.
    #[error("wrong result: {0}")]
    Wrong(String),
    /// The operation itself returned an error.
    #[error("{0}")]
    Refused(String),
    /// A participant panicked.
    #[error("member {rank} panicked: {message}")]
    Panicked {
        /// The participant.
        rank: usize,
        /// The message of the panic.
        message: String,
    },
    /// Participants were still busy when the time allowed was over.
    #[error("members {missing:?} did not finish within {limit_ms} ms")]
    Hung {
        /// The participants that did not finish.
        missing: Vec<usize>,
        /// The time allowed.
        limit_ms: u128,
    },
    /// A process that took part ended before it was told to.
    #[error("{0}")]
    Ended(String),
    /// The participants could not be started.
    #[error("{0}")]
    NoCrew(String),
}

impl Failure {
    /// The contender's own error, in its words.
    pub fn refused(error: impl std::fmt::Display) -> Self {
        Self::Refused(error.to_string())
    }

    /// A failure that names the action and the system's error.
    pub fn while_doing(what: &str) -> impl Fn(std::io::Error) -> Self + '_ {
        move |error| Self::Refused(format!("cannot {what}: {error}"))
    }

    /// True if something broke that had begun; false for an error that may say no more than that it cannot begin.
    pub fn is_breakdown(&self) -> bool {
        matches!(self, Self::Wrong(_) | Self::Panicked { .. } | Self::Hung { .. } | Self::Ended(_))
    }

    /// The same, and whose a wrong result is.
    pub fn named(self, name: &str) -> Self {
        match self {
            Self::Wrong(words) => Self::Wrong(format!("{name}: {words}")),
            other => other,
        }
    }
}
