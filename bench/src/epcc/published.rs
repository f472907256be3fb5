//! Figures that the authors of Smelt have published of EPCC's benchmarks, with libgomp rebuilt on their barriers.

use crate::published::PublishedFigure;

const SMELT: &str = "Kaestle and others, Smelt, OSDI 2016";
const IVY_BRIDGE: &str = "2 x 10 Ivy Bridge";

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
    let ratio = |(construct, figure, [libgomp, smelt]): (&str, _, [f64; 2])| {
        let ratio = libgomp / smelt;
        let here = here(construct);
        PublishedFigure { figure, machine: IVY_BRIDGE, least: ratio, most: ratio, source: SMELT, here }
    };
    CONSTRUCTS.into_iter().map(ratio).collect()
}
