//! The demands on corecast's channels: ratios between the rows of one race, and those that other commands judge.

use super::report::{ChannelGroup, ChannelRow};
use super::traffic::Traffic;
use crate::channel_demands::{
    ALL_BUSY, IDLE, LEFT, ONE_BUSY, ONE_WAY_LINES, ONE_WAY_RTRB, STREAM_RTRB, TOLD, WORDS_RTRB,
};
use corecast_race::gate::{Demand, Gate};

/// A demand.
#[derive(Clone)]
enum Rule {
    /// One contender's rate over another's in one group is at least so much.
    Rate { ours: &'static str, rival: &'static str, bytes: usize, receivers: usize, least: f64 },
    /// Faster than each of these in every group without oversubscription.
    Faster { ours: &'static str, rivals: &'static [&'static str] },
    /// The sender's time for a message to the most receivers that fit the CPUs is at most `most` times its time
    /// for one receiver. Needs this many CPUs.
    SenderCost { ours: &'static str, bytes: usize, most: f64, cpus: usize },
    /// One contender's rate over another's with four participants for each CPU is at least `least`.
    Crowded { ours: &'static str, rival: &'static str, bytes: usize, least: f64 },
    /// The gain of a program by unicasts over `ump` and multicasts over `mcast`.
    Program { traffic: Traffic, bytes: usize, receivers: usize, least: f64 },
    /// Judged by something else.
    Elsewhere(&'static Demand),
}

const KERNEL_PATHS: &[&str] = &["unix-seqpacket", "unix-stream", "udp", "pipe", "sysv-queue", "posix-queue"];

const RULES: &[Rule] = &[
    Rule::Rate { ours: "mcast", rival: "ump", bytes: 64, receivers: 1, least: 0.8 },
    Rule::Rate { ours: "mcast", rival: "ump", bytes: 512, receivers: 1, least: 0.8 },
    Rule::Rate { ours: "mcast", rival: "zimp", bytes: 64, receivers: 1, least: 3.0 },
    Rule::SenderCost { ours: "mcast", bytes: 64, most: 1.5, cpus: 9 },
    Rule::Rate { ours: "mcast", rival: "iceoryx2", bytes: 64, receivers: 8, least: 5.0 },
    Rule::Rate { ours: "mcast", rival: "barrelfish-mp", bytes: 64, receivers: 23, least: 6.15 },
    Rule::Rate { ours: "mcast", rival: "barrelfish-mp", bytes: 1_000_000, receivers: 23, least: 3.36 },
    Rule::Rate { ours: "mcast", rival: "tcp", bytes: 1, receivers: 1, least: 12.5 },
    Rule::Rate { ours: "mcast", rival: "tcp", bytes: 1, receivers: 23, least: 191.0 },
    Rule::Rate { ours: "mcast", rival: "tcp", bytes: 1_000_000, receivers: 1, least: 1.94 },
    Rule::Rate { ours: "mcast", rival: "tcp", bytes: 1_000_000, receivers: 23, least: 4.33 },
    Rule::Faster { ours: "mcast", rivals: KERNEL_PATHS },
    Rule::Faster { ours: "ump", rivals: KERNEL_PATHS },
    Rule::Rate { ours: "mcast", rival: "mcast-copy", bytes: 1_000_000, receivers: 1, least: 1.7 },
    Rule::Crowded { ours: "ump", rival: "crossbeam-channel", bytes: 64, least: 0.5 },
    Rule::Crowded { ours: "mcast", rival: "crossbeam-channel", bytes: 64, least: 0.5 },
    Rule::Elsewhere(&ONE_WAY_LINES),
    Rule::Elsewhere(&ONE_WAY_RTRB),
    Rule::Elsewhere(&STREAM_RTRB),
    Rule::Elsewhere(&WORDS_RTRB),
    Rule::Elsewhere(&ONE_BUSY),
    Rule::Elsewhere(&ALL_BUSY),
    Rule::Elsewhere(&IDLE),
    Rule::Elsewhere(&TOLD),
    Rule::Elsewhere(&LEFT),
];

/// ZIMP's gain over Barrelfish's message passing in its authors' programs.
const PAXOS_RULES: &[Rule] = &[
    Rule::Program { traffic: Traffic::Paxos, bytes: 1, receivers: 3, least: 1.13 },
    Rule::Program { traffic: Traffic::Paxos, bytes: 10_000, receivers: 3, least: 5.73 },
    Rule::Program { traffic: Traffic::Paxos, bytes: 1_000_000, receivers: 3, least: 1.83 },
];

/// As published, in time: 11.7, 55.6 and 40.5 % less.
const CHECKPOINT_RULES: &[Rule] = &[
    Rule::Program { traffic: Traffic::Checkpoint, bytes: 128, receivers: 23, least: 1.0 / 0.883 },
    Rule::Program { traffic: Traffic::Checkpoint, bytes: 4_000, receivers: 23, least: 1.0 / 0.444 },
    Rule::Program { traffic: Traffic::Checkpoint, bytes: 1_000_000, receivers: 23, least: 1.0 / 0.595 },
];

/// Judges every demand on this traffic by what was raced on this many CPUs.
pub(super) fn judge(traffic: Traffic, groups: &[ChannelGroup], cpus: usize) -> Vec<Gate> {
    let rules = match traffic {
        Traffic::Stream => RULES,
        Traffic::Paxos => PAXOS_RULES,
        Traffic::Checkpoint => CHECKPOINT_RULES,
    };
    rules.iter().map(|rule| rule.judge(groups, cpus)).collect()
}

impl Rule {
    fn judge(&self, groups: &[ChannelGroup], cpus: usize) -> Gate {
        let (gate, limit, is_most) = self.words();
        Gate::new(gate, limit, is_most, self.measure(groups, cpus))
    }

    fn words(&self) -> (String, f64, bool) {
        match *self {
            Self::Rate { ours, rival, bytes, receivers, least } => {
                (format!("{ours} / {rival}, rate of {bytes} bytes to {receivers}"), least, false)
            }
            Self::Faster { ours, rivals } => {
                (format!("{ours} / the fastest of {}, the worst row", rivals.join(", ")), 1.0, false)
            }
            Self::SenderCost { ours, bytes, most, .. } => {
                (format!("{ours}, sender's time for {bytes} bytes to all CPUs but its own / to one"), most, true)
            }
            Self::Crowded { ours, rival, bytes, least } => {
                (format!("{ours} / {rival}, rate of {bytes} bytes with four participants per CPU"), least, false)
            }
            Self::Program { traffic, bytes, receivers, least } => {
                (format!("ump+mcast / barrelfish-mp, {} of {bytes} bytes to {receivers}", traffic.name()), least, false)
            }
            Self::Elsewhere(demand) => (demand.gate.to_owned(), demand.limit, demand.is_most),
        }
    }

    /// The ratio, or what it would take.
    fn measure(&self, groups: &[ChannelGroup], cpus: usize) -> Result<f64, String> {
        match *self {
            Self::Rate { ours, rival, bytes, receivers, .. } => {
                let group = fitting(groups, bytes, receivers, cpus)?;
                Ok(rate(group, ours)? / rate(group, rival)?)
            }
            Self::Faster { ours, rivals } => slowest_lead(groups, ours, rivals),
            Self::SenderCost { ours, bytes, cpus: needed, .. } => {
                if cpus < needed {
                    return Err(format!("{needed} CPUs"));
                }
                let one = sender_ns(fitting(groups, bytes, 1, cpus)?, ours)?;
                // Held against itself, the group of one receiver would always hold.
                let fits = |group: &&ChannelGroup| group.bytes == bytes && (2..cpus).contains(&group.receivers);
                let widest = groups.iter().filter(fits).max_by_key(|group| group.receivers);
                Ok(sender_ns(widest.ok_or("more receivers")?, ours)? / one)
            }
            Self::Crowded { ours, rival, bytes, .. } => {
                let receivers = 4 * cpus - 1;
                let group = find(groups, bytes, receivers)?;
                Ok(rate(group, ours)? / rate(group, rival)?)
            }
            Self::Program { traffic, bytes, receivers, .. } => {
                let participants = traffic.participants(receivers);
                if participants > cpus {
                    return Err(format!("{participants} CPUs"));
                }
                let group = find(groups, bytes, receivers)?;
                Ok(rate(group, "ump+mcast")? / rate(group, "barrelfish-mp")?)
            }
            Self::Elsewhere(demand) => Err(demand.needs()),
        }
    }
}

fn find(groups: &[ChannelGroup], bytes: usize, receivers: usize) -> Result<&ChannelGroup, String> {
    let group = groups.iter().find(|group| group.bytes == bytes && group.receivers == receivers);
    group.ok_or_else(|| format!("--sizes {bytes} --receivers {receivers}"))
}

/// A group that is held against others: every participant has a CPU.
fn fitting(groups: &[ChannelGroup], bytes: usize, receivers: usize, cpus: usize) -> Result<&ChannelGroup, String> {
    if receivers >= cpus {
        return Err(format!("{} CPUs", receivers + 1));
    }
    find(groups, bytes, receivers)
}

fn row<'a>(group: &'a ChannelGroup, name: &str) -> Result<&'a ChannelRow, String> {
    let row = group.rows.iter().find(|row| row.contender == name);
    let row = row.ok_or_else(|| format!("contender {name}"))?;
    row.skipped.as_ref().map_or(Ok(row), |reason| Err(format!("contender {name}: {reason}")))
}

fn rate(group: &ChannelGroup, name: &str) -> Result<f64, String> {
    row(group, name)?.messages_per_s.ok_or_else(|| format!("contender {name}"))
}

fn sender_ns(group: &ChannelGroup, name: &str) -> Result<f64, String> {
    row(group, name)?.sender_ns.ok_or_else(|| format!("contender {name}"))
}

/// The smallest lead over the fastest rival, over all groups in which every participant has a CPU.
fn slowest_lead(groups: &[ChannelGroup], ours: &str, rivals: &[&str]) -> Result<f64, String> {
    let mut slowest: Option<f64> = None;
    for group in groups.iter().filter(|group| !group.oversubscribed) {
        let own = rate(group, ours)?;
        let rates = rivals.iter().filter_map(|rival| rate(group, rival).ok());
        let lead = rates.map(|rival| own / rival).min_by(f64::total_cmp);
        slowest = [slowest, lead].into_iter().flatten().min_by(f64::total_cmp);
    }
    slowest.ok_or_else(|| format!("one of {}", rivals.join(", ")))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::channels::contender::Fan;
    use corecast_race::gate::Verdict;

    pub(in super::super) fn group(bytes: usize, receivers: usize, rates: &[(&'static str, f64)]) -> ChannelGroup {
        let row = |&(contender, rate): &(&'static str, f64)| ChannelRow {
            contender,
            ours: false,
            fan: Fan::Unicast,
            lossless: true,
            summary: None,
            messages_per_s: Some(rate),
            deliveries_per_s: None,
            sender_ns: Some(1e9 / rate),
            latency: None,
            cpu_s_per_million: None,
            lost_share: None,
            ratio: None,
            skipped: (rate == 0.0).then(|| "not here".to_owned()),
            failed: false,
        };
        ChannelGroup {
            bytes,
            receivers,
            cpus: Vec::new(),
            oversubscribed: false,
            depth: 64,
            raw_line_ns: None,
            placement_changes: 0,
            reference: None,
            rows: rates.iter().map(row).collect(),
        }
    }

    const RATE: Rule = Rule::Rate { ours: "a", rival: "b", bytes: 64, receivers: 1, least: 3.0 };

    fn judge(rule: &Rule, groups: &[ChannelGroup], cpus: usize) -> (Verdict, Option<f64>, Option<String>) {
        let gate = rule.judge(groups, cpus);
        (gate.verdict, gate.measured, gate.needs)
    }

    #[test]
    fn a_ratio_holds_is_missed_or_is_not_judged() {
        let rates = |a, b| [group(64, 1, &[("a", a), ("b", b)])];
        assert_eq!(judge(&RATE, &rates(9.0, 3.0), 2), (Verdict::Holds, Some(3.0), None));
        assert_eq!(judge(&RATE, &rates(8.0, 4.0), 2), (Verdict::Missed, Some(2.0), None));
        let unjudged = |needs: &str| (Verdict::NotJudged, None, Some(needs.to_owned()));
        assert_eq!(judge(&RATE, &rates(9.0, 3.0), 1), unjudged("2 CPUs"));
        assert_eq!(judge(&RATE, &[], 2), unjudged("--sizes 64 --receivers 1"));
        assert_eq!(judge(&RATE, &rates(9.0, 0.0), 2), unjudged("contender b: not here"));
    }

    #[test]
    fn the_worst_row_counts_and_the_fastest_rival() {
        let rule = Rule::Faster { ours: "a", rivals: &["b", "c"] };
        let groups = [group(64, 1, &[("a", 9.0), ("b", 3.0), ("c", 1.0)]), group(1, 1, &[("a", 8.0), ("c", 4.0)])];
        assert_eq!(judge(&rule, &groups, 2), (Verdict::Holds, Some(2.0), None));
    }

    #[test]
    fn the_sender_pays_for_receivers() {
        let rule = Rule::SenderCost { ours: "a", bytes: 64, most: 1.5, cpus: 4 };
        let groups = [group(64, 1, &[("a", 4.0)]), group(64, 3, &[("a", 2.0)]), group(64, 8, &[("a", 1.0)])];
        assert_eq!(judge(&rule, &groups, 4), (Verdict::Missed, Some(2.0), None));
        assert_eq!(judge(&rule, &groups, 2).2.as_deref(), Some("4 CPUs"));
        let itself = judge(&rule, &groups[..1], 4);
        assert_eq!((itself.0, itself.2.as_deref()), (Verdict::NotJudged, Some("more receivers")));
    }

    #[test]
    fn every_rule_has_words_of_its_own() {
        let rules = [RULES, PAXOS_RULES, CHECKPOINT_RULES].concat();
        let words: std::collections::HashSet<String> = rules.iter().map(|rule| rule.words().0).collect();
        assert_eq!(words.len(), rules.len());
    }
}
