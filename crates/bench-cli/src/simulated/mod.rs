//! Simulated machines: which one (`described`), the program that runs on it (`program`), its points, each in a process of its
//! own (`point`, `sweep`), and how the outcome is shown (`row`, `outcome`, `columns`, `page`); `compare`: beside what is measured. Every figure says that it is
//! simulated.

mod columns;
mod compare;
mod described;
mod outcome;
mod page;
mod point;
mod program;
mod row;
mod sweep;

pub(crate) use self::columns::describe;
pub(crate) use self::compare::{Compared, ComparedRow, Comparison, compare};
pub(crate) use self::described::{Described, PRESETS};
pub(crate) use self::outcome::Outcome;
pub(crate) use self::page::render;
pub(crate) use self::point::{Played, Point};
pub(crate) use self::program::{AUTO, Figure, Program};
pub(crate) use self::row::{Row, rows};
pub(crate) use self::sweep::sweep;
