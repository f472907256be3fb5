//! The time at which each member reaches a step of a barrier, by the machine model: the part of predictions that families
//! share, and allreduces by clusters with them.
//!
//! The costs are those of pairs, as in `corecast_plan::simulate`: a store that others wait for costs a send, and reading it
//! a receive. Reads of one released line are counted one after the other, as sends are, for want of a better measure.

use corecast_plan::Problem;

/// The time of each member, by rank; 0 for all at first.
#[derive(Clone, Debug)]
pub(crate) struct Times<'a> {
    problem: &'a Problem,
    at: Vec<f64>,
}

impl<'a> Times<'a> {
    pub(crate) fn of(problem: &'a Problem) -> Self {
        Self { problem, at: vec![0.0; problem.len()] }
    }

    /// When the last one is done.
    pub(crate) fn last(&self) -> f64 {
        self.at.iter().copied().fold(0.0, f64::max)
    }

    /// The leader of each group, its first, hears from the others, group after group.
    pub(super) fn gather(&mut self, groups: &[Vec<usize>]) {
        for group in groups {
            self.at[group[0]] = self.heard(group[0], group[1..].iter().copied());
        }
    }

    /// The leader of each group releases the others, from the last group to the first.
    pub(crate) fn release(&mut self, groups: &[Vec<usize>]) {
        for group in groups.iter().rev() {
            let mut now = self.at[group[0]];
            for &member in &group[1..] {
                now += self.problem.send(group[0], member);
                self.at[member] = now + self.problem.receive(group[0], member);
            }
        }
    }

    /// One round in which each member hears from some.
    pub(super) fn round(&mut self, from: impl Iterator<Item = (usize, Vec<usize>)>) {
        let heard: Vec<(usize, f64)> = from.map(|(to, from)| (to, self.heard(to, from.into_iter()))).collect();
        heard.into_iter().for_each(|(member, at)| self.at[member] = at);
    }

    /// These members take turns at a word; the last to come tells the others.
    pub(super) fn take_turns(&mut self, members: &[usize]) {
        let mut order = members.to_vec();
        order.sort_by(|&a, &b| self.at[a].total_cmp(&self.at[b]));
        for pair in order.windows(2) {
            self.at[pair[1]] = self.heard(pair[1], std::iter::once(pair[0]));
        }
        order.reverse();
        self.release(&[order]);
    }

    /// These members take turns at a line, and all read it after the last of them has written. A line that changes hands
    /// costs half of a message, which starts with taking the line from its reader.
    pub(super) fn change_hands(&mut self, members: &[usize]) {
        let half = |from, to| (self.problem.send(from, to) + self.problem.receive(from, to)) / 2.0;
        let mut order = members.to_vec();
        order.sort_by(|&a, &b| self.at[a].total_cmp(&self.at[b]));
        for pair in order.windows(2) {
            self.at[pair[1]] = self.at[pair[1]].max(self.at[pair[0]]) + half(pair[0], pair[1]);
        }
        let Some((&last, others)) = order.split_last() else { return };
        let mut now = self.at[last];
        for &member in others {
            now += self.problem.send(last, member) / 2.0;
            self.at[member] = now + self.problem.receive(last, member) / 2.0;
        }
    }

    /// The time at which `to` has heard from these members, taking them as they come.
    fn heard(&self, to: usize, from: impl Iterator<Item = usize>) -> f64 {
        let problem = self.problem;
        let latency = |member| problem.receive(member, to) - problem.occupancy(member, to);
        let mut signals: Vec<(f64, usize)> =
            from.map(|member| (self.at[member] + problem.send(member, to) + latency(member), member)).collect();
        signals.sort_by(|a, b| a.0.total_cmp(&b.0));
        signals.iter().fold(self.at[to], |now, &(ready, member)| now.max(ready) + problem.occupancy(member, to))
    }
}
