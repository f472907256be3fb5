//! The trace of a program: as JSON has it (`outcome`, from `events`), at a terminal (`text`), and as a picture (`picture` of
//! `cpu_rows`, `line_rows` and `tables`, placed by `layout`).

mod cpu_rows;
mod events;
mod layout;
mod line_rows;
mod outcome;
mod picture;
mod tables;
mod text;

pub(crate) use self::outcome::{TraceOptions, TraceOutcome};
pub(crate) use self::picture::picture;
pub(crate) use self::text::{events, summary};
