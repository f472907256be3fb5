//! Figures that the authors of Smelt have published of EPCC's benchmarks, with libgomp rebuilt on their barriers.
//!
//! The paper's table 2 and the measurements that came with its sources are of different runs: a barrier is 1.68 and 1.69 times
//! as fast in the first, and 1.14 times in the second. Both are shown, each by its name.

use crate::published::PublishedFigure;

/// The name of the experiment.
pub const EPCC_PRESET: &str = "smelt-epcc";

const TABLE: &str = "Kaestle and others, Smelt, OSDI 2016, table 2";
const TABLE_MACHINES: &str = "two machines of the paper";
const DATA: &str = "Kaestle and others, measurements published with Smelt's sources, epcc.csv";
const IVY_BRIDGE: &str = "2 x 10 Ivy Bridge";

/// Ratios of the paper's table: a construct, its name as a ratio, and the least and the most of two machines. Of some constructs
/// only the lesser is known here.
const OF_TABLE: [(&str, &str, [f64; 2]); 5] = [
    ("BARRIER", "BARRIER, libgomp / Smelt", [1.68, 1.69]),
    ("PARALLEL", "PARALLEL, libgomp / Smelt", [1.45, 1.57]),
    ("FOR", "FOR, libgomp / Smelt, the lesser of two", [1.67, 1.67]),
    ("SINGLE", "SINGLE, libgomp / Smelt, the lesser of two", [1.44, 1.44]),
    ("COPYPRIVATE", "COPYPRIVATE, libgomp / Smelt, the lesser of two", [2.25, 2.25]),
];

/// One construct: its name, its name as a ratio, and microseconds with libgomp and with Smelt, of 20 threads.
const CONSTRUCTS: [(&str, &str, [f64; 2]); 6] = [
    ("BARRIER", "BARRIER, libgomp / Smelt, 20 threads", [3.216_895, 2.812_502]),
    ("FOR", "FOR, libgomp / Smelt, 20 threads", [3.333_078, 2.766_288]),
    ("SINGLE", "SINGLE, libgomp / Smelt, 20 threads", [5.266_159, 3.951_447]),
    ("COPYPRIVATE", "COPYPRIVATE, libgomp / Smelt, 20 threads", [18.123_748, 9.528_338]),
    ("PARALLEL", "PARALLEL, libgomp / Smelt, 20 threads", [12.411_242, 10.508_186]),
    ("REDUCTION", "REDUCTION, libgomp / Smelt, 20 threads", [12.827_638, 11.340_026]),
];

/// Published ratios, beside those that `here` found with about as many threads.
pub(super) fn figures(here: impl Fn(&str) -> Option<f64>) -> Vec<PublishedFigure> {
    let of_table = |&(construct, figure, [least, most]): &(&str, &'static str, [f64; 2])| PublishedFigure {
        figure,
        machine: TABLE_MACHINES,
        least,
        most,
        source: TABLE,
        here: here(construct),
    };
    let of_data = |&(construct, figure, [libgomp, smelt]): &(&str, &'static str, [f64; 2])| {
        let ratio = libgomp / smelt;
        PublishedFigure { figure, machine: IVY_BRIDGE, least: ratio, most: ratio, source: DATA, here: here(construct) }
    };
    OF_TABLE.iter().map(of_table).chain(CONSTRUCTS.iter().map(of_data)).collect()
}
