//! A client of the plan service, with deadlines, that checks every answer.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use corecast_machine::ModelError;

use super::answer::{Answer, Catalogue, Refusal, ServiceStatus};
use super::line::{LineError, Lines, MAX_LINE_BYTES, Patience};
use super::protocol::{PlanRequest, query};
use super::readiness::deadline;
use super::served_plan::{ServedPlan, Unfit};
use super::socket;
use crate::plan::Plan;
use crate::problem::Problem;

/// A connection to a plan service.
#[derive(Debug)]
pub struct Client {
    path: PathBuf,
    lines: Lines,
    timeout: Duration,
}

/// Reasons why a service gives no answer that can be used. The caller then plans in process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// No service listens there, or it is not open to this user.
    #[error("cannot connect to the plan service at {}: {error}", path.display())]
    NotConnected {
        /// The socket.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The connection broke.
    #[error("the plan service at {} went away", path.display())]
    Gone {
        /// The socket.
        path: PathBuf,
    },
    /// It took too long.
    #[error("the plan service at {} did not answer within {timeout:?}", path.display())]
    TimedOut {
        /// The socket.
        path: PathBuf,
        /// How long it had.
        timeout: Duration,
    },
    /// The request is longer than a service reads: its machine model is too large.
    #[error("the request is {len_bytes} bytes long, and services read at most {MAX_LINE_BYTES}")]
    TooLarge {
        /// Its length.
        len_bytes: usize,
    },
    /// The machine cannot be sent.
    #[error("the machine cannot be sent to a plan service: {0}")]
    Model(#[from] ModelError),
    /// The service's reply is not an answer.
    #[error("the plan service at {} sent an answer that is not understood: {words}", path.display())]
    NoAnswer {
        /// The socket.
        path: PathBuf,
        /// The fault in it.
        words: String,
    },
    /// It refuses the request.
    #[error("the plan service refuses: {0}")]
    Refused(#[from] Refusal),
    /// Its plan does not fit the request.
    #[error("the plan of the plan service does not fit the request: {0}")]
    Unfit(#[from] Unfit),
}

impl Client {
    /// Connects to the service that listens at `path`; each answer may take as long as `timeout`.
    ///
    /// # Errors
    ///
    /// If no service listens there, this user may not connect, or too many others are waiting.
    pub fn connect(path: &Path, timeout: Duration) -> Result<Self, ServiceError> {
        let connected = socket::connect(path).and_then(Lines::over);
        let lines = connected.map_err(|error| ServiceError::NotConnected { path: path.to_owned(), error })?;
        Ok(Self { path: path.to_owned(), lines, timeout })
    }

    /// A plan over the members of `problem`: machine, CPUs and terms of `problem` must be those that the request names.
    ///
    /// # Errors
    ///
    /// If the service does not answer in time, refuses, or sends a plan that does not fit this request and these costs.
    pub fn plan(&mut self, request: &PlanRequest, problem: &Problem) -> Result<Plan, ServiceError> {
        Ok(self.ask(request)?.check(request, problem)?)
    }

    /// The plan of the service, unchecked.
    ///
    /// # Errors
    ///
    /// If the service does not answer in time, or refuses.
    pub fn ask(&mut self, request: &PlanRequest) -> Result<ServedPlan, ServiceError> {
        let answer = self.exchange(request.line().map_err(ModelError::NotJson)?)?;
        let (is_cached, is_stopped) = (answer.cached.unwrap_or(false), answer.stopped.unwrap_or(false));
        let json = answer.plan.ok_or_else(|| self.no_answer("there is no plan in it"))?;
        Ok(ServedPlan { json, is_cached, is_stopped })
    }

    /// The status of the service.
    ///
    /// # Errors
    ///
    /// As [`Client::ask`].
    pub fn status(&mut self) -> Result<ServiceStatus, ServiceError> {
        let answer = self.exchange(query("status"))?;
        answer.status.ok_or_else(|| self.no_answer("there is no status in it"))
    }

    /// The names that requests may use.
    ///
    /// # Errors
    ///
    /// As [`Client::ask`].
    pub fn list(&mut self) -> Result<Catalogue, ServiceError> {
        let answer = self.exchange(query("list"))?;
        answer.list.ok_or_else(|| self.no_answer("there is no list in it"))
    }

    fn exchange(&mut self, mut line: String) -> Result<Answer, ServiceError> {
        if line.len() > MAX_LINE_BYTES {
            return Err(ServiceError::TooLarge { len_bytes: line.len() });
        }
        line.push('\n');
        let patience = Patience { until: deadline(self.timeout), stopper: None };
        let sent = self.lines.send(&line, patience);
        if let Err(LineError::TimedOut) = sent {
            return Err(self.failed(LineError::TimedOut));
        }
        // A service that refuses a client says so and closes, perhaps before it has read the whole request.
        let answer = self.lines.next(patience).map_err(|error| self.failed(error))?;
        let answer = answer.ok_or_else(|| ServiceError::Gone { path: self.path.clone() })?;
        let answer: Answer = serde_json::from_slice(&answer).map_err(|error| self.no_answer(&error.to_string()))?;
        match answer.error {
            Some(refusal) => Err(refusal.into()),
            None => Ok(answer),
        }
    }

    fn failed(&self, error: LineError) -> ServiceError {
        let path = self.path.clone();
        match error {
            LineError::TimedOut => ServiceError::TimedOut { path, timeout: self.timeout },
            LineError::TooLong => self.no_answer("its answer has no end"),
            LineError::Truncated | LineError::Stopped | LineError::Gone => ServiceError::Gone { path },
        }
    }

    fn no_answer(&self, words: &str) -> ServiceError {
        ServiceError::NoAnswer { path: self.path.clone(), words: words.to_owned() }
    }
}
