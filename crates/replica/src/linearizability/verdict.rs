//! The result of a check.

use std::fmt::{self, Debug, Write};

use super::history::Operation;

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// There is an order.
    Linearizable,
    /// There is none.
    Violated(Violation),
    /// The limit was reached first. The search got as far as this.
    Undecided(Violation),
}

/// How far a search got. Operations are given by their positions in the history.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Violation {
    /// The longest order that was found: of all operations in it, unanswered ones among them, each gave its answer.
    pub order: Vec<usize>,
    /// The state after these, for people.
    pub state: String,
    /// The operations one of which has to be next, and none of which gives its answer in that state.
    pub stuck: Vec<usize>,
}

impl Verdict {
    /// Whether there is an order.
    #[must_use]
    pub fn is_linearizable(&self) -> bool {
        matches!(self, Self::Linearizable)
    }
}

impl Violation {
    /// For people: the last operations of the order, and those that cannot be next.
    ///
    /// # Errors
    /// Those of writing to `to`; none for a `String`.
    ///
    /// # Panics
    /// If the history is not the one that was checked, and is shorter.
    pub fn explain<O: Debug, A: Debug>(&self, history: &[Operation<O, A>], to: &mut impl Write) -> fmt::Result {
        /// The end of the order is where the trouble is.
        const SHOWN: usize = 20;
        let shown = self.order.len().saturating_sub(SHOWN);
        writeln!(to, "{} operations in order; the last of them:", self.order.len())?;
        self.order[shown..].iter().try_for_each(|at| line(&history[*at], to))?;
        writeln!(to, "then, in state {}, none of these:", self.state)?;
        self.stuck.iter().try_for_each(|at| line(&history[*at], to))
    }
}

fn line<O: Debug, A: Debug>(operation: &Operation<O, A>, to: &mut impl Write) -> fmt::Result {
    let Operation { client, op, call_ns, returned } = operation;
    match returned {
        Some(returned) => {
            writeln!(to, "  {call_ns}..{} client {client}: {op:?} -> {:?}", returned.at_ns, returned.answer)
        }
        None => writeln!(to, "  {call_ns}.. client {client}: {op:?}, unanswered"),
    }
}
