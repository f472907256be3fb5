//! The tables of figures to compare with: those published of other machines, and bare lines.

use corecast_bench::{LineTransfer, PublishedFigure};

use super::Format::Digits;
use super::{Column, figure};

/// The columns of a table: what others have published, and the same as found here.
pub(crate) const PUBLISHED: &[Column<PublishedFigure>] = &[
    Column::words("figure", "figure", |row| row.figure.into()),
    Column::words("machine", "machine", |row| row.machine.into()),
    Column::figure("least", "least", "", |row| figure(row.least), Digits(2)),
    Column::figure("most", "most", "", |row| figure(row.most), Digits(2)),
    Column::figure("here", "here", "", |row| figure(row.here), Digits(2)),
    Column::words("source", "source", |row| row.source.into()),
];
/// The columns of a table: what a bare line costs at each distance.
pub(crate) const LINES: &[Column<LineTransfer>] = &[
    Column::words("distance", "distance", |row| row.distance.into()),
    Column::words("", "CPUs", |row| row.cpus.map(|cpu| cpu.to_string()).join(", ").into()),
    Column::figure("line_ns", "ns", "", |row| figure(row.line_ns), Digits(0)),
];
