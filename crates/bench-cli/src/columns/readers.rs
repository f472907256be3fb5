//! The tables of locks for readers and writers.

use corecast_bench::{ReaderPairRow, ReaderRow};

use super::Format::Digits;
use super::{Column, figure};

/// The columns of a table: what one thread alone takes.
pub(crate) const PAIR: &[Column<ReaderPairRow>] = &[
    Column::words("contender", "lock", |row| row.contender.as_str().into()),
    Column::figure("read_ns", "read", "ns", |row| figure(row.read_ns), Digits(1)),
    Column::figure("write_ns", "write", "ns", |row| figure(row.write_ns), Digits(1)),
];
/// The columns of a table: what many readers and writers get.
pub(crate) const CELL: &[Column<ReaderRow>] = &[
    Column::words("contender", "lock", |row| row.contender.as_str().into()),
    Column::figure("mops", "M/s", "", |row| figure(row.mops), Digits(3)),
    Column::figure("write_mops", "of them writes", "", |row| figure(row.write_mops), Digits(3)),
    Column::figure("jain", "Jain", "", |row| figure(row.jain), Digits(2)),
];
