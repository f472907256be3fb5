//! The table of single operations on a cache line.

use corecast_bench::CoherenceCell;

use super::Format::{Cost, Digits};
use super::{Column, Value, count, figure};

/// The columns of a table: what one operation costs, over all samples, in nanoseconds.
pub(crate) const CASES: &[Column<CoherenceCell>] = &[
    Column::words("case", "case", |cell| cell.case.as_str().into()),
    Column::optional(Column::figure("number", "number", "", |cell| figure(cell.number.map(f64::from)), Digits(0))),
    Column::optional(Column::figure("handed", "handed", "", |cell| figure(cell.handed), Digits(2))),
    Column::optional(Column::figure("sharers", "sharers", "", |cell| count(cell.sharers), Digits(0))),
    Column::figure("times/p50_ns", "p50", "", |cell| figure(cell.times.as_ref().map(|times| times.p50_ns)), Cost),
    Column::figure("times/p90_ns", "p90", "", |cell| figure(cell.times.as_ref().map(|times| times.p90_ns)), Cost),
    Column::figure("times/p99_ns", "p99", "", |cell| figure(cell.times.as_ref().map(|times| times.p99_ns)), Cost),
    Column::figure("times/max_ns", "max", "", |cell| figure(cell.times.as_ref().map(|times| times.max_ns)), Cost),
    Column::figure("times/mean_ns", "mean", "", |cell| figure(cell.times.as_ref().map(|times| times.mean_ns)), Cost),
    Column::optional(Column::figure("times/samples", "samples", "", samples, Digits(0))),
];

fn samples(cell: &CoherenceCell) -> Value {
    figure(cell.times.as_ref().map(|times| times.samples as f64))
}
