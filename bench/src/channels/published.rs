//! ZIMP's lead over what there was, as its authors published it, beside the same of `zimp` and of `mcast` here.

use super::report::ChannelGroup;
use super::traffic::Traffic;
use crate::published::PublishedFigure;

const SOURCE: &str = "Aublin et al., ZIMP, 2011";
/// The largest of the three machines of the study, on which 23 receivers have a CPU each.
const MACHINE: &str = "24 cores";

/// One rate over another in one group.
struct Lead {
    figure: &'static str,
    ours: &'static str,
    rival: &'static str,
    bytes: usize,
    receivers: usize,
    there: f64,
}

type Line = (&'static str, [&'static str; 2], [usize; 2], f64);

const fn lead((figure, [ours, rival], [bytes, receivers], there): Line) -> Lead {
    Lead { figure, ours, rival, bytes, receivers, there }
}

const STREAM: &[Lead] = &[
    lead(("ZIMP / TCP, 1 byte to 1; here zimp", ["zimp", "tcp"], [1, 1], 12.5)),
    lead(("ZIMP / TCP, 1 byte to 1; here mcast", ["mcast", "tcp"], [1, 1], 12.5)),
    lead(("ZIMP / TCP, 1 MB to 1; here zimp", ["zimp", "tcp"], [1_000_000, 1], 1.94)),
    lead(("ZIMP / TCP, 1 MB to 1; here mcast", ["mcast", "tcp"], [1_000_000, 1], 1.94)),
    lead(("ZIMP / TCP, 1 byte to 23; here zimp", ["zimp", "tcp"], [1, 23], 191.0)),
    lead(("ZIMP / TCP, 1 byte to 23; here mcast", ["mcast", "tcp"], [1, 23], 191.0)),
    lead(("ZIMP / TCP, 1 MB to 23; here zimp", ["zimp", "tcp"], [1_000_000, 23], 4.33)),
    lead(("ZIMP / TCP, 1 MB to 23; here mcast", ["mcast", "tcp"], [1_000_000, 23], 4.33)),
    lead(("ZIMP / Barrelfish, 64 bytes to 23; here zimp", ["zimp", "barrelfish-mp"], [64, 23], 6.15)),
    lead(("ZIMP / Barrelfish, 64 bytes to 23; here mcast", ["mcast", "barrelfish-mp"], [64, 23], 6.15)),
    lead(("ZIMP / Barrelfish, 1 MB to 23; here zimp", ["zimp", "barrelfish-mp"], [1_000_000, 23], 3.36)),
    lead(("ZIMP / Barrelfish, 1 MB to 23; here mcast", ["mcast", "barrelfish-mp"], [1_000_000, 23], 3.36)),
];

const PAXOS: &[Lead] = &[
    lead(("PaxosInside, ZIMP / Barrelfish, 1 byte; here ump+mcast", ["ump+mcast", "barrelfish-mp"], [1, 3], 1.13)),
    lead(("PaxosInside, ZIMP / Barrelfish, 10 kB; here ump+mcast", ["ump+mcast", "barrelfish-mp"], [10_000, 3], 5.73)),
    lead((
        "PaxosInside, ZIMP / Barrelfish, 1 MB; here ump+mcast",
        ["ump+mcast", "barrelfish-mp"],
        [1_000_000, 3],
        1.83,
    )),
];

/// As published, in time: 11.7, 55.6 and 40.5 % less.
const CHECKPOINT: &[Lead] = &[
    lead(("checkpoint, ZIMP / Barrelfish, 128 bytes; here ump+mcast", ["ump+mcast", "barrelfish-mp"], [128, 23], 1.13)),
    lead(("checkpoint, ZIMP / Barrelfish, 4 kB; here ump+mcast", ["ump+mcast", "barrelfish-mp"], [4_000, 23], 2.25)),
    lead((
        "checkpoint, ZIMP / Barrelfish, 1 MB; here ump+mcast",
        ["ump+mcast", "barrelfish-mp"],
        [1_000_000, 23],
        1.68,
    )),
];

/// The figures of this traffic. Rows with more participants than CPUs are set beside none.
pub(super) fn beside(traffic: Traffic, groups: &[ChannelGroup]) -> Vec<PublishedFigure> {
    let leads = match traffic {
        Traffic::Stream => STREAM,
        Traffic::Paxos => PAXOS,
        Traffic::Checkpoint => CHECKPOINT,
    };
    let figure = |lead: &Lead| PublishedFigure {
        figure: lead.figure,
        machine: MACHINE,
        least: lead.there,
        most: lead.there,
        source: SOURCE,
        here: lead.here(groups),
    };
    leads.iter().map(figure).collect()
}

impl Lead {
    fn here(&self, groups: &[ChannelGroup]) -> Option<f64> {
        let is_such = |group: &&ChannelGroup| (group.bytes, group.receivers) == (self.bytes, self.receivers);
        let group = groups.iter().filter(|group| !group.oversubscribed).find(is_such)?;
        let rate = |name| group.rows.iter().find(|row| row.contender == name)?.messages_per_s;
        Some(rate(self.ours)? / rate(self.rival)?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::gates::tests::group;
    use super::*;

    #[test]
    fn a_lead_stands_beside_its_like_and_not_beside_a_crowd() {
        let rates = [("mcast", 30.0), ("tcp", 2.0), ("zimp", 40.0)];
        let groups = [group(64, 1, &rates), group(1, 1, &rates)];
        let here: Vec<_> = beside(Traffic::Stream, &groups).into_iter().map(|figure| figure.here).collect();
        assert_eq!(here[..3], [Some(20.0), Some(15.0), None]);
        let crowded = [ChannelGroup { oversubscribed: true, ..group(1, 1, &rates) }];
        assert!(beside(Traffic::Stream, &crowded).iter().all(|figure| figure.here.is_none()));
        assert_eq!([Traffic::Paxos, Traffic::Checkpoint].map(|traffic| beside(traffic, &groups).len()), [3, 3]);
    }
}
