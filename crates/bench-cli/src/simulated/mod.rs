//! Simulated machines: which one (`described`) and what is known of it (`explained`), the program that runs on it (`program`,
//! `kills`), its points, each in a process of its own (`point`, `play`, `sweep`), and how the outcome is shown (`row`, `outcome`,
//! `columns`, `page`); `compare` puts it (`counterpart`) beside what is measured (`at_hand`). Every figure says that it is
//! simulated. `fit` searches the parameters of a machine by its contended lines.

mod at_hand;
mod columns;
mod compare;
mod counterpart;
mod described;
pub(crate) mod explained;
mod fit;
mod kills;
mod outcome;
mod page;
mod play;
mod point;
mod program;
mod row;
mod sweep;
mod trace;

pub(crate) use self::columns::describe;
pub(crate) use self::compare::{Asked, Compared, ComparedRow, Comparison, compare};
pub(crate) use self::described::{Described, Fill, Loaded, PRESETS};
pub(crate) use self::explained::parameter_rows;
pub(crate) use self::fit::{FitPoint, MeasuredRow, Searched, search};
pub(crate) use self::kills::Kills;
pub(crate) use self::outcome::Outcome;
pub(crate) use self::page::render;
pub(crate) use self::play::{AUTO, MESSAGE_SERVER, MESSAGES, PLANNED, in_windows};
pub(crate) use self::point::{Played, Point};
pub(crate) use self::program::{Figure, MessageFigure, Program, ReplicaFigure};
pub(crate) use self::row::{Row, rows};
pub(crate) use self::sweep::{InProcess, sweep};
pub(crate) use self::trace::{
    TraceOptions, TraceOutcome, events as trace_events, picture as trace_picture, summary as trace_summary,
};
