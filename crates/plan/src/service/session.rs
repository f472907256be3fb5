//! Serves one client: reads a line and answers it, until the client is done, hangs, or breaks a rule.

use std::os::unix::net::UnixStream;

use super::answer::{Answer, Refusal, RefusalKind};
use super::line::{LineError, Lines, MAX_LINE_BYTES, Patience};
use super::options::Options;
use super::plan_service::PlanService;
use super::protocol::parse_request;
use super::readiness::{Stopper, deadline};

/// A client that is served.
#[derive(Debug)]
pub(super) struct Session<'a> {
    lines: Lines,
    options: Options,
    stopper: &'a Stopper,
    service: &'a PlanService,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        stream: UnixStream,
        options: Options,
        stopper: &'a Stopper,
        service: &'a PlanService,
    ) -> std::io::Result<Self> {
        Ok(Self { lines: Lines::over(stream)?, options, stopper, service })
    }

    /// Serves the client until it is done. It may go away at any time, which is not an error.
    pub(super) fn serve(mut self) {
        while let Some((answer, is_last)) = self.next_answer() {
            if self.send(&answer).is_err() || is_last {
                return;
            }
        }
    }

    /// The answer to the next request, and whether the connection is closed after it; `None` if the client is gone.
    fn next_answer(&mut self) -> Option<(Answer, bool)> {
        let outcome = self.lines.next(self.patience());
        if matches!(outcome, Ok(None) | Err(LineError::Stopped | LineError::Gone)) {
            return None;
        }
        self.service.tally.count_request();
        let (answer, is_last) = match outcome {
            Ok(line) => (self.answer(line?), false),
            Err(error) => (Answer::from(refusal(&error, self.options)), true),
        };
        if answer.error.is_some() {
            self.service.tally.count_refusal();
        }
        Some((answer, is_last))
    }

    fn answer(&self, line: Vec<u8>) -> Answer {
        let question = parse_request(&line);
        drop(line);
        let is_gone = || self.stopper.is_raised_or_gone(self.lines.stream());
        question.map_or_else(Answer::from, |question| self.service.answer(question, &is_gone))
    }

    /// A reply that fits into the socket goes out even if the service ends; only waiting for the client ends with it.
    fn send(&mut self, answer: &Answer) -> Result<(), LineError> {
        self.lines.send(&answer.line(), self.patience())
    }

    fn patience(&self) -> Patience<'a> {
        Patience { until: deadline(self.options.idle_timeout), stopper: Some(self.stopper) }
    }
}

/// The reply to a client whose line is not a request.
fn refusal(error: &LineError, options: Options) -> Refusal {
    match error {
        LineError::TooLong => {
            let message = format!("the request is longer than {MAX_LINE_BYTES} bytes, the most that is read");
            Refusal::new(RefusalKind::TooLarge, message)
        }
        LineError::TimedOut => {
            let seconds = options.idle_timeout.as_secs_f64();
            Refusal::new(RefusalKind::Idle, format!("no whole request came within {seconds} s"))
        }
        _ => Refusal::new(
            RefusalKind::Truncated,
            "the request ends in the middle: a request is a line with its line break",
        ),
    }
}
