//! Races the collectives of a group against what people use today, on pinned threads or among processes, and holds the harness
//! that all benchmarks of corecast share.
//!
//! A library without output of its own: the programs `corecast` (its `tune`) and `corecast-bench` call it, and show what it
//! returns.
//!
//! - [`collectives`](fn@collectives), [`acknowledged`](fn@acknowledged): the races of groups; [`run`]: a race of any operation;
//! - [`contender`]: the contenders, one file each, and their registry; [`op`]: the operations that they perform;
//! - [`harness`]: threads, blocks, start windows, statistics; [`message`]: what operations carry;
//! - [`race`]: a contender, and all of them in turns;
//! - [`options`], [`place`], [`cancel`], [`progress`]: what to run, how to stop it, and how the caller hears of its progress;
//! - [`report`] and its parts: what was found, with documented JSON; [`gate`]: what is asked of corecast;
//! - [`error`], [`failure`], [`skip`]: why there is no report, why a contender did not finish, why a row has no figures;
//! - [`child`], [`dialogue`], [`confine`]: processes that take part, programs that are asked, and CPU time that is withheld;
//! - [`preload`]: where corecast's preload objects lie; [`launcher`]: how ranks of MPI programs are started, with one or without.
//!
//! **Method.** Every contender is checked before it is timed. The contenders of one operation run in turns, in blocks of a
//! millisecond or two, in an order drawn anew for each round, with a probe of a bare cache line beside every round: when the
//! machine changes its speed, it does so for all of them, and the report says so. [`Timing`] defines a sample; no sample is left
//! out, and medians, percentiles and spread are reported.
//!
//! ```
//! use std::time::Duration;
//! use corecast::machine;
//! use corecast_race::{Op, Options, collectives};
//! let budget = Some(Duration::from_millis(200));
//! let options = Options { ops: vec![Op::Barrier], quick: true, budget, ..Options::default() };
//! let report = collectives(&machine::detect()?, &options, &mut ())?;
//! for row in report.groups.iter().flat_map(|group| &group.rows) {
//!     let median_ns = row.summary.map(|summary| summary.median_ns);
//!     let _line = format!("{}: {median_ns:?} ns, {:?} times corecast", row.contender, row.ratio);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![allow(missing_debug_implementations, reason = "most types hold boxed participants, which have nothing to show")]

pub mod acknowledged;
pub mod cancel;
pub mod child;
pub mod collectives;
pub mod confine;
pub mod contender;
pub mod dialogue;
pub mod error;
pub mod failure;
pub mod gate;
pub mod harness;
pub mod launcher;
pub mod message;
pub mod op;
pub mod options;
pub mod place;
pub mod preload;
pub mod progress;
pub mod race;
pub mod report;
pub mod run;
pub mod skip;
#[cfg(test)]
mod this_machine;

pub use acknowledged::{AcknowledgedOptions, acknowledged};
pub use cancel::Cancel;
pub use collectives::collectives;
pub use contender::{Listed, collective_member, list};
pub use error::BenchError;
pub use failure::Failure;
pub use gate::{Gate, Verdict};
pub use harness::Summary;
pub use op::{Op, UnknownOp};
pub use options::{MAX_BYTES, Options};
pub use place::Place;
pub use progress::Progress;
pub use report::{Group, Report, Row, Timing};
