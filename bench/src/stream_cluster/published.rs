//! Smelt's figure 13: PARSEC's streamcluster, native input, on 2 sockets of 10 cores, in seconds, with other barriers. The
//! authors published the times; the ratios are ours.

use super::gates::ratio;
use super::report::StreamClusterCell;
use crate::published::PublishedFigure;

/// The name of the experiment.
pub const STREAM_CLUSTER_PRESET: &str = "smelt-streamcluster";
/// Its contenders: those whose barriers the figure has.
pub(super) const CONTENDERS: [&str; 6] = ["pthread", "shim", "condvar", "mcs", "parsec", "parsec-shim"];

/// All of the paper's runs, of which the design notes tell the least and the most.
const ALL_SOURCE: &str = "Kaestle et al., OSDI 2016";
const ALL_MACHINES: &str = "the paper's";
const ALL: [f64; 2] = [1.19, 1.90];

const SOURCE: &str = "Kaestle et al., OSDI 2016, figure 13";
const MACHINE: &str = "Xeon, 2 sockets of 10";

/// A figure, its seconds there over those of Smelt's barrier, and the contender here.
struct Lead {
    figure: &'static str,
    seconds: f64,
    smelt_seconds: f64,
    rival: &'static str,
}

const LEADS: [Lead; 6] = [
    lead("pthread / Smelt, memory placed by Shoal; here pthread / shim", [51.18, 44.67], "pthread"),
    lead("PARSEC's barrier / Smelt, placed by Shoal; here condvar / shim", [51.26, 44.67], "condvar"),
    lead("MCS / Smelt, placed by Shoal; here mcs / shim", [44.99, 44.67], "mcs"),
    lead("pthread / Smelt, not placed; here pthread / shim", [61.84, 48.34], "pthread"),
    lead("PARSEC's barrier / Smelt, not placed; here condvar / shim", [60.96, 48.34], "condvar"),
    lead("MCS / Smelt, not placed; here mcs / shim", [49.15, 48.34], "mcs"),
];

const fn lead(figure: &'static str, [seconds, smelt_seconds]: [f64; 2], rival: &'static str) -> Lead {
    Lead { figure, seconds, smelt_seconds, rival }
}

/// With what was found here with the most threads that have a CPU each.
pub(super) fn figures(cells: &[StreamClusterCell]) -> Vec<PublishedFigure> {
    let seated = cells.iter().filter(|cell| !cell.oversubscribed && cell.threads > 1);
    let most = seated.max_by_key(|cell| cell.threads);
    let here = |rival: &str| {
        let row = |name: &str| most?.rows.iter().find(|row| row.contender == name);
        ratio(row(rival)?, row("shim")?)
    };
    let figure = |lead: &Lead| {
        let there = lead.seconds / lead.smelt_seconds;
        let (least, most) = (there, there);
        PublishedFigure { figure: lead.figure, machine: MACHINE, least, most, source: SOURCE, here: here(lead.rival) }
    };
    let all = PublishedFigure {
        figure: "pthread / Smelt, the least and the most; here pthread / shim",
        machine: ALL_MACHINES,
        least: ALL[0],
        most: ALL[1],
        source: ALL_SOURCE,
        here: here("pthread"),
    };
    LEADS.iter().map(figure).chain([all]).collect()
}
