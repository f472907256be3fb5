//! Charts of throughput against the number of participants: curves for all situations that differ in
//! that alone.

use maud::{Markup, html};

use corecast_cli::report::line_chart::{Line, LineChart};
use corecast_cli::report::number::significant;

/// Fewer steps are no curve.
const FEWEST_STEPS: usize = 2;

/// One situation.
pub(super) struct Situation<'a> {
    /// All but the number of participants, in words.
    pub(super) words: String,
    pub(super) participants: usize,
    /// Whether there are more participants than CPUs.
    pub(super) is_oversubscribed: bool,
    pub(super) rates: Vec<Rate<'a>>,
}

/// The work that one contender got done.
pub(super) struct Rate<'a> {
    pub(super) contender: &'a str,
    pub(super) is_ours: bool,
    /// In a second, in the unit that the picture's title tells; `None` if it was skipped.
    pub(super) rate: Option<f64>,
}

/// A picture for each set of enough situations with the same words, in the order in which these come.
///
/// `what` is done, such as millions of messages, by `whom`.
pub(super) fn pictures((what, whom): (&str, &str), situations: &[Situation<'_>]) -> Markup {
    let mut words: Vec<&str> = situations.iter().map(|situation| situation.words.as_str()).collect();
    let mut seen = std::collections::BTreeSet::new();
    words.retain(|&words| seen.insert(words));
    html! {
        @for words in words {
            @let same = steps(situations.iter().filter(|situation| situation.words == words));
            (figure((what, whom), words, &same))
        }
    }
}

/// From few participants to many, each number once.
fn steps<'a, 'b>(same: impl Iterator<Item = &'a Situation<'b>>) -> Vec<&'a Situation<'b>>
where
    'b: 'a,
{
    let mut steps: Vec<_> = same.collect();
    steps.sort_by_key(|situation| situation.participants);
    steps.dedup_by_key(|situation| situation.participants);
    steps
}

fn figure((what, whom): (&str, &str), words: &str, situations: &[&Situation<'_>]) -> Markup {
    if situations.len() < FEWEST_STEPS {
        return html! {};
    }
    let rate = |situation: &Situation<'_>, name: &str| {
        situation.rates.iter().find(|rate| rate.contender == name).and_then(|rate| rate.rate)
    };
    let lines = situations[0].rates.iter().map(|first| Line {
        name: first.contender.to_owned(),
        is_ours: first.is_ours,
        values: situations.iter().map(|situation| rate(situation, first.contender)).collect(),
    });
    let mark = |situation: &&Situation<'_>| if situation.is_oversubscribed { "*" } else { "" };
    let steps = situations.iter().map(|situation| format!("{}{}", situation.participants, mark(situation))).collect();
    let is_any_shared = situations.iter().any(|situation| situation.is_oversubscribed);
    let title = format!("{words}: {what} in a second, against {whom}");
    let chart = LineChart {
        title: &title,
        description: "A curve for each contender, logarithmic.",
        steps,
        note: format!("{whom}{}", if is_any_shared { "; *: more participants than CPUs" } else { "" }),
        lines: lines.collect(),
        write: significant,
    };
    chart.figure()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn situation(words: &str, participants: usize, mops: Option<f64>) -> Situation<'static> {
        let rates = vec![Rate { contender: "tas", is_ours: true, rate: mops }];
        Situation { words: words.to_owned(), participants, is_oversubscribed: participants > 2, rates }
    }

    #[test]
    fn each_set_of_situations_is_a_picture_once() {
        let situations = [
            situation("1 lock", 1, Some(30.0)),
            situation("4 locks", 1, Some(30.0)),
            situation("1 lock", 16, Some(3.0)),
            situation("4 locks", 16, None),
            situation("9 locks", 1, Some(1.0)),
            situation("9 locks", 1, Some(2.0)),
        ];
        let page = pictures(("millions of acquisitions", "threads"), &situations).into_string();
        assert_eq!(page.matches("<svg").count(), 2, "one number of threads is no curve");
        let at = |words: &str| page.find(words).unwrap_or_else(|| panic!("{words} is not in {page}"));
        assert!(at("1 lock: millions of acquisitions") < at("4 locks: millions of acquisitions"));
        assert!(page.contains("16*") && page.contains("more participants than CPUs"));
    }
}
