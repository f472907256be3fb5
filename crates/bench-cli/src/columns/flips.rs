//! The table of locks while the work of the threads alternates.

use corecast_bench::FlipRow;

use super::Format::Digits;
use super::{Column, figure};

/// The columns of a table: what each of the two phases gets, and how soon it settles.
pub(crate) const COLUMNS: &[Column<FlipRow>] = &[
    Column::words("contender", "lock", |row| row.contender.as_str().into()),
    Column::figure("mops/0", "M/s, first", "", |row| figure(row.mops[0]), Digits(3)),
    Column::figure("mops/1", "second", "", |row| figure(row.mops[1]), Digits(3)),
    Column::figure("settled_ms/0", "settled, ms, first", "", |row| figure(row.settled_ms[0]), Digits(0)),
    Column::figure("settled_ms/1", "second", "", |row| figure(row.settled_ms[1]), Digits(0)),
];
