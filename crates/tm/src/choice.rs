//! The form that [`Form::Auto`](crate::Form::Auto) has chosen, and why.

use std::fmt;

use crate::config::Form;
use crate::prediction::Prediction;

/// Commits of both forms in a second, the medians of all rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) messages: f64,
    pub(crate) shared: f64,
}

impl Outcome {
    pub(crate) fn form(&self) -> Form {
        if self.messages > self.shared { Form::Messages } else { Form::Shared }
    }
}

/// A form, with the reason for it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Choice {
    /// The form: messages or shared.
    pub form: Form,
    /// The reason in words.
    pub why: String,
}

impl Choice {
    /// A race decides, and the model is told.
    pub(crate) fn new(prediction: Prediction, race: Outcome) -> Self {
        let Outcome { messages, shared } = race;
        let why = format!(
            "by a race of transfers: {:.0} commits in a millisecond by messages, {:.0} in shared memory; the model prefers {}: {}",
            messages / 1e3,
            shared / 1e3,
            prediction.form,
            prediction.why
        );
        Self { form: race.form(), why }
    }

    pub(crate) fn without_alternative() -> Self {
        Self { form: Form::Messages, why: "values at servers need servers".to_owned() }
    }

    pub(crate) fn without_servers() -> Self {
        Self { form: Form::Shared, why: "a single participant has no server to ask".to_owned() }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.form, self.why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prediction::Rates;

    #[test]
    fn a_race_decides_against_the_model() {
        let rates = Rates { apart: 1.0, together: 1.0 };
        let prediction =
            Prediction { form: Form::Messages, messages: rates, shared: rates, why: "of 2 participants".to_owned() };
        let raced = Choice::new(prediction, Outcome { messages: 1e6, shared: 5e6 });
        let expected = "shared, by a race of transfers: 1000 commits in a millisecond by messages, 5000 in shared memory; \
                        the model prefers messages: of 2 participants";
        assert_eq!(raced.to_string(), expected);
    }
}
