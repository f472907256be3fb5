//! Simulated machines: which one, what runs on it, and how its figures are shown. Every one of them says that it is simulated.

mod columns;
mod described;
mod point;
mod sweep;

pub(crate) use self::columns::describe;
pub(crate) use self::described::{Described, PRESETS};
pub(crate) use self::point::{Point, Row};
pub(crate) use self::sweep::sweep;
