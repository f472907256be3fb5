//! Figures that the authors of Smelt have published of collectives over MPI: how long Open MPI's take, as a multiple of Smelt's.

use corecast_race::Op;

use crate::published::PublishedFigure;

/// The name of the experiment.
pub const MPI_PRESET: &str = "smelt-mpi";
/// Its operations, of eight bytes.
pub(super) const OPS: [Op; 3] = [Op::Barrier, Op::Broadcast, Op::Reduce];
pub(super) const BYTES: usize = 8;

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
    // Of these ranges the design notes tell; that of each machine is not known here.
    let ratio = |(op, figure, [library, smelt]): (Op, _, [f64; 2])| {
        let ratio = library / smelt;
        PublishedFigure { figure, machine: IVY_BRIDGE, least: ratio, most: ratio, source: SMELT, here: here(op) }
    };
    let rooted = PublishedFigure {
        figure: "broadcast and reduction, Open MPI / Smelt, the least and the most; here the lesser, without / with",
        machine: "the paper's",
        least: 1.6,
        most: 2.6,
        source: SMELT,
        here: here(Op::Broadcast).zip(here(Op::Reduce)).map(|(broadcast, reduce)| broadcast.min(reduce)),
    };
    OPERATIONS.into_iter().map(ratio).chain([rooted]).collect()
}
