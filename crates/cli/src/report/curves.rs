//! Times against the number of members, and against the length of what is carried, where a race has several of them.
//!
//! A curve leads through the medians of one contender. The steps of the lower axis are those that were raced, evenly
//! spaced; the other axis is logarithmic. Shown are the contenders of the headline of the last step's chart: every rival,
//! and of corecast's variants its own choice, the fastest and the slowest.

use corecast_race::{Group, Op, Report};
use maud::{Markup, html};

use super::line_chart::{Line, LineChart};
use super::number::time;
use super::ranking::headline;

/// Fewer steps are no curve.
const FEWEST_STEPS: usize = 3;

/// The groups of one operation that differ in one thing.
struct Curves<'a> {
    title: String,
    /// The name of the steps.
    steps: &'static str,
    groups: Vec<(usize, &'a Group)>,
}

/// All curves that a race allows.
pub(super) fn of_report(report: &Report) -> Markup {
    let curves = curves(report);
    html! {
        @if !curves.is_empty() {
            h3 { "Curves" }
            p {
                "Medians of the race's charts, joined: a picture for each operation that was raced with several numbers "
                "of members or several lengths. The numbers are in the tables below."
            }
            @for curves in &curves {
                (curves.figure())
            }
        }
    }
}

/// Every set of groups that differ in the number of members alone, and then in the length alone.
fn curves(report: &Report) -> Vec<Curves<'_>> {
    let groups = || report.groups.iter();
    let mut all = Vec::new();
    for group in groups() {
        let same = |other: &&Group| other.op == group.op && other.burst == group.burst;
        let by_members: Vec<_> = groups().filter(same).filter(|other| other.bytes == group.bytes).collect();
        let by_bytes: Vec<_> = groups().filter(same).filter(|other| other.participants == group.participants).collect();
        all.extend(Curves::of(group, &by_members, "members", &|group| group.participants, &carried(group)));
        let among = format!(" among {} members", group.participants);
        all.extend(Curves::of(group, &by_bytes, "bytes", &|group| group.bytes, &among));
    }
    all
}

fn carried(group: &Group) -> String {
    match group.burst {
        Some(burst) => format!(", bursts of {burst}"),
        None if group.op == Op::Barrier => String::new(),
        None => format!(" of {}", bytes(group.bytes)),
    }
}

/// A number of bytes as people write it.
fn bytes(bytes: usize) -> String {
    match bytes {
        _ if bytes >= 1 << 20 && bytes % (1 << 20) == 0 => format!("{} MiB", bytes >> 20),
        _ if bytes >= 1 << 10 && bytes % (1 << 10) == 0 => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} B"),
    }
}

impl<'a> Curves<'a> {
    /// `None` unless `first` is the first of enough steps, so that each set is told once.
    fn of(
        first: &Group,
        same: &[&'a Group],
        steps: &'static str,
        step: &dyn Fn(&Group) -> usize,
        what: &str,
    ) -> Option<Self> {
        let mut groups: Vec<_> = same.iter().map(|group| (step(group), *group)).collect();
        let is_first = groups.first().is_some_and(|(_, group)| std::ptr::eq(*group, first));
        groups.sort_by_key(|(step, _)| *step);
        groups.dedup_by_key(|(step, _)| *step);
        let title = format!("{}{what}: time against {steps}", first.op.name().replace('_', "-"));
        (is_first && groups.len() >= FEWEST_STEPS).then_some(Self { title, steps, groups })
    }

    /// Nothing if no contender was timed.
    fn figure(&self) -> Markup {
        let Some((_, last)) = self.groups.last() else { return html! {} };
        let shown = headline(last);
        let lines = shown.iter().map(|entrant| Line {
            name: entrant.name.to_owned(),
            is_ours: entrant.is_ours,
            values: self.groups.iter().map(|(_, group)| median_ns(group, entrant.name)).collect(),
        });
        let lines = lines.collect();
        let chart = LineChart {
            title: &self.title,
            description: &self.description(),
            steps: self.groups.iter().map(|(step, group)| self.step_text(*step, group)).collect(),
            note: self.note(),
            lines,
            write: time,
        };
        chart.figure()
    }

    fn description(&self) -> String {
        let steps: Vec<String> = self.groups.iter().map(|(step, _)| step.to_string()).collect();
        format!("A curve for each contender over {} {}, times logarithmic.", steps.join(", "), self.steps)
    }

    fn step_text(&self, step: usize, group: &Group) -> String {
        let text = if self.steps == "bytes" { bytes(step) } else { step.to_string() };
        format!("{text}{}", if group.oversubscribed { "*" } else { "" })
    }

    fn note(&self) -> String {
        let shared = self.groups.iter().any(|(_, group)| group.oversubscribed);
        format!("{}{}", self.steps, if shared { "; *: members share CPU time" } else { "" })
    }
}

fn median_ns(group: &Group, contender: &str) -> Option<f64> {
    Some(group.rows.iter().find(|row| row.contender == contender)?.summary?.median_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn every_set_of_enough_steps_is_a_picture_once() {
        let report = example::race(&[(2, 2), (4, 4), (8, 4)]);
        let titles: Vec<String> = curves(&report).iter().map(|curves| curves.title.clone()).collect();
        let against = |what: &str| format!("{what}: time against members");
        assert_eq!(titles, ["barrier", "broadcast of 56 B", "reduce of 8 B"].map(against));
        assert!(curves(&example::race(&[(2, 2), (4, 4)])).is_empty(), "two steps are no curve");

        let mut report = example::race(&[(2, 2), (3, 2), (4, 2)]);
        report.groups.retain(|group| group.op == Op::Broadcast);
        for (group, bytes) in report.groups.iter_mut().zip([4096, 0, 1 << 20]) {
            (group.bytes, group.participants) = (bytes, 2);
        }
        let found = curves(&report);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].title, "broadcast among 2 members: time against bytes");
        assert_eq!(found[0].groups.iter().map(|(step, _)| *step).collect::<Vec<_>>(), [0, 4096, 1 << 20]);
    }

    #[test]
    fn a_picture_says_who_and_what_and_needs_nobody_to_be_everywhere() {
        let mut report = example::race(&[(2, 2), (4, 4), (8, 4)]);
        report.groups[0].rows.retain(|row| row.contender != "pthread_barrier");
        report.machine = "<script>".to_owned();
        let page = of_report(&report).into_string();
        for words in ["pthread_barrier", "corecast", "8*", "members share CPU time", "broadcast of 56 B"] {
            assert!(page.contains(words), "{words}");
        }
        assert!(!page.contains("NaN"));
        report.groups.iter_mut().flat_map(|group| &mut group.rows).for_each(|row| row.summary = None);
        assert!(!of_report(&report).into_string().contains("<svg"), "nobody was timed");
    }
}
