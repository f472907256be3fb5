//! The form in which a group carries out an operation of some size: what is taken, what it should cost, and what a race found.

use corecast::collective::Choice;
use corecast::plan::{Operation, Plan};
use serde::Serialize;

use crate::race_json::RaceJson;
use crate::table;

/// The bytes that a message of one line carries.
const ONE_LINE: usize = 56;
/// The command that races and keeps the result.
const TUNE: &str = "corecast tune";

/// The form of one operation: an entry of `forms` of `explain --json`.
#[derive(Debug, Serialize)]
pub(crate) struct Form {
    op: &'static str,
    bytes: usize,
    form: String,
    about: String,
    /// For a message of one line.
    predicted: f64,
    /// The other forms that were to be had, and their predicted costs.
    others: Vec<OtherForm>,
    race: Option<RaceJson>,
    /// The race in words, or why there is none.
    race_text: String,
    /// The bytes up to which the race holds; `null` for those beyond all classes, and without a race.
    raced_up_to_bytes: Option<usize>,
}

/// A form that was not taken.
#[derive(Debug, Serialize)]
struct OtherForm {
    form: &'static str,
    predicted: f64,
}

impl Form {
    /// `None` for an operation that a group carries out in one way only.
    pub(crate) fn of(operation: Operation, bytes: usize, choice: &Choice) -> Option<Self> {
        match operation {
            Operation::Barrier => Some(Self::of_barrier(choice)),
            Operation::Broadcast => Some(Self::of_tree(&choice.broadcast, bytes, choice)),
            Operation::Reduce => Some(Self::of_tree(&choice.reduce, bytes, choice)),
            Operation::Allreduce => Some(Self::of_allreduce(bytes, choice)),
            Operation::TwoPhaseCommit => None,
        }
    }

    fn of_barrier(choice: &Choice) -> Self {
        let race = choice.races.as_ref().map(|races| &races.barrier);
        Self {
            op: Operation::Barrier.name(),
            bytes: 0,
            form: choice.barrier.name().to_owned(),
            about: choice.barrier.about().to_owned(),
            predicted: choice.predicted,
            others: Vec::new(),
            race: race.map(RaceJson::of),
            race_text: race.map_or_else(|| no_race(choice), ToString::to_string),
            raced_up_to_bytes: race.map(|_| 0),
        }
    }

    fn of_tree(plan: &Plan, bytes: usize, choice: &Choice) -> Self {
        let races = choice.races.as_ref();
        let race = races.and_then(|races| match plan.operation {
            Operation::Reduce => races.reduce.as_ref(),
            _ => races.broadcast.as_ref(),
        });
        let text = race.map(|race| format!("of 8 bytes, {race}"));
        Self {
            op: plan.operation.name(),
            bytes,
            form: format!("tree {}", plan.planner),
            about: format!("messages along a tree from CPU {}, longer ones in parts", plan.root()),
            predicted: plan.predicted,
            others: Vec::new(),
            race: race.map(RaceJson::of),
            race_text: text.unwrap_or_else(|| no_race(choice)),
            raced_up_to_bytes: race.map(|_| 8),
        }
    }

    fn of_allreduce(bytes: usize, choice: &Choice) -> Self {
        let (form, race) = (choice.allreduce(bytes), choice.allreduce_race(bytes));
        let costs = &choice.allreduce_predicted;
        let predicted = costs.iter().find(|(taken, _)| *taken == form).map_or(f64::NAN, |found| found.1);
        let others = costs.iter().filter(|(other, _)| *other != form && other.carries(bytes));
        Self {
            op: Operation::Allreduce.name(),
            bytes,
            form: form.name().to_owned(),
            about: form.about().to_owned(),
            predicted,
            others: others.map(|(other, predicted)| OtherForm { form: other.name(), predicted: *predicted }).collect(),
            race: race.map(RaceJson::of),
            race_text: race.map_or_else(|| no_race(choice), ToString::to_string),
            raced_up_to_bytes: race.and_then(|_| corecast::collective::SizeClass::of(bytes).most_bytes()),
        }
    }

    /// Some lines for people.
    pub(crate) fn text(&self, unit: impl std::fmt::Display) -> String {
        let Self { op, bytes, form, about, predicted, others, race_text, .. } = self;
        let size = if *bytes > 0 { format!(" of {bytes} bytes") } else { String::new() };
        let beyond = if *bytes > ONE_LINE { " for one line, as the model knows no longer messages" } else { "" };
        let cost = table::cost(*predicted);
        let other = |OtherForm { form, predicted }: &OtherForm| format!("; {form}: {}", table::cost(*predicted));
        let others: String = others.iter().map(other).collect();
        format!("{op}{size}: {form} ({about}), predicted {cost} {unit}{beyond}{others}\n  race: {race_text}\n")
    }
}

/// Why no race is known, and how to get one.
fn no_race(choice: &Choice) -> String {
    if choice.is_crowded {
        return "none, as members share CPUs".to_owned();
    }
    if choice.races.is_some() {
        return "none, as there is one way only for these members and this size".to_owned();
    }
    format!("none is kept for these members; `{TUNE}` races on this machine and keeps what it finds")
}
