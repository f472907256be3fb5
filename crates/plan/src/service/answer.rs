//! Answers: a plan, the status of the service, the names that requests may use, or a refusal.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::version::VERSION;
use crate::effort::Effort;
use crate::operation::Operation;
use crate::planner;
use crate::shape::SHAPES;

/// The longest message of a refusal, in characters: it may quote what a client sent.
const MAX_MESSAGE_CHARS: usize = 1000;

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The kind of trouble, for programs.
    pub kind: RefusalKind,
    /// The fault and what was expected, for people.
    pub message: String,
}

/// The kind of a [`Refusal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RefusalKind {
    /// The line is not JSON.
    Json,
    /// The request is of another version of the protocol.
    Version,
    /// A field is missing, unknown, or invalid.
    Request,
    /// The machine model does not exist, or is invalid.
    Machine,
    /// The machine and the request are valid, but no such plan exists.
    Plan,
    /// The line is longer than [`MAX_LINE_BYTES`](super::MAX_LINE_BYTES); the connection is closed.
    TooLarge,
    /// The line has no end; the connection is closed.
    Truncated,
    /// No whole request came within the idle timeout; the connection is closed.
    Idle,
    /// The service has the largest number of clients; the connection is closed.
    Busy,
    /// The service has a bug that this request showed.
    Internal,
    /// A kind that this version does not know.
    #[serde(other)]
    Other,
}

impl Refusal {
    pub(super) fn new(kind: RefusalKind, message: impl Into<String>) -> Self {
        let message: String = message.into();
        let Some((end, _)) = message.char_indices().nth(MAX_MESSAGE_CHARS) else { return Self { kind, message } };
        Self { kind, message: format!("{}...", &message[..end]) }
    }
}

/// The status of a service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServiceStatus {
    /// The version of the program.
    pub version: String,
    /// The name of the machine it was started for.
    pub machine: String,
    /// That machine's CPUs.
    pub cpus: String,
    /// For how long it has been serving, in seconds.
    pub uptime_s: f64,
    /// Clients at the moment, the one that asks among them.
    pub clients: usize,
    /// Clients served at once, at most.
    pub max_clients: usize,
    /// Requests read so far, this one among them.
    pub requests: u64,
    /// Requests refused so far, including lines that were not requests.
    pub refused: u64,
    /// Plans answered from memory so far.
    pub cache_hits: u64,
    /// Plans kept in memory.
    pub cached_plans: usize,
}

/// The names that requests may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalogue {
    /// The operations.
    pub operations: Vec<String>,
    /// The efforts, least first.
    pub efforts: Vec<String>,
    /// The planners that search.
    pub planners: Vec<Named>,
    /// The tree shapes, which are planners too.
    pub shapes: Vec<String>,
}

/// A name with a line about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// The name.
    pub name: String,
    /// Its description.
    pub about: String,
}

impl Catalogue {
    /// Everything that this version knows.
    #[must_use]
    pub fn of_this_version() -> Self {
        let named = |(name, about): (&str, &str)| Named { name: name.to_owned(), about: about.to_owned() };
        Self {
            operations: Operation::ALL.map(|operation| operation.name().to_owned()).to_vec(),
            efforts: Effort::ALL.map(|effort| effort.name().to_owned()).to_vec(),
            planners: planner::planners().into_iter().map(named).collect(),
            shapes: SHAPES.iter().map(|shape| shape.name().to_owned()).collect(),
        }
    }
}

/// An answer, field by field; exactly one of `plan`, `status`, `list` and `error` is there.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Answer {
    #[serde(rename = "corecast-plan")]
    pub(super) version: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) plan: Option<Box<RawValue>>,
    /// With a plan: it was made for an earlier request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cached: Option<bool>,
    /// With a plan: the search was ended before its time, and this is the best found until then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stopped: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<ServiceStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) list: Option<Catalogue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Refusal>,
}

impl Answer {
    /// An answer with all fields empty.
    pub(super) fn new() -> Self {
        Self { version: VERSION, ..Self::default() }
    }

    /// The line of this answer, with its end.
    pub(super) fn line(&self) -> String {
        let mut line = serde_json::to_string(self).expect("an answer has only what JSON can say");
        line.push('\n');
        line
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        Self { error: Some(refusal), ..Self::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_quotes_only_so_much() {
        let refusal = Refusal::new(RefusalKind::Request, "ä".repeat(5000));
        assert_eq!(refusal.message.chars().count(), MAX_MESSAGE_CHARS + 3);
        let line = Answer::from(Refusal::new(RefusalKind::TooLarge, "much")).line();
        assert_eq!(line, "{\"corecast-plan\":1,\"error\":{\"kind\":\"too-large\",\"message\":\"much\"}}\n");
    }

    #[test]
    fn kinds_of_later_versions_are_understood_as_errors() {
        let refusal: Refusal = serde_json::from_str(r#"{"kind": "weather", "message": "rain"}"#).expect("an error");
        assert_eq!(refusal.kind, RefusalKind::Other);
    }
}
