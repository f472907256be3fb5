//! Figures that the authors of Smelt have published of collectives over MPI: how long Open MPI's take, as a multiple of Smelt's.

use corecast_race::Op;

use crate::published::PublishedFigure;

const SMELT: &str = "Kaestle and others, Smelt, OSDI 2016";
const IVY_BRIDGE: &str = "2 x 10 Ivy Bridge";

/// An operation, its name as a ratio, and thousands of cycles with Open MPI and with Smelt, of 20 ranks and of threads.
const OPERATIONS: [(Op, &str, [f64; 2]); 3] = [
    (Op::Barrier, "barrier, Open MPI / Smelt, 20 ranks; here without / with the object", [6.386, 1.928]),
    (Op::Broadcast, "broadcast, Open MPI / Smelt, 20 ranks; here of 8 bytes, without / with", [4.216, 1.435]),
    (Op::Reduce, "reduction, Open MPI / Smelt, 20 ranks; here of 8 bytes, without / with", [4.738, 1.318]),
];

/// Published ratios, beside those that `here` found with about as many ranks.
pub(super) fn figures(here: impl Fn(Op) -> Option<f64>) -> Vec<PublishedFigure> {
    let ratio = |(op, figure, [library, smelt]): (Op, _, [f64; 2])| {
        let ratio = library / smelt;
        PublishedFigure { figure, machine: IVY_BRIDGE, least: ratio, most: ratio, source: SMELT, here: here(op) }
    };
    OPERATIONS.into_iter().map(ratio).collect()
}
