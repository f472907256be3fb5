//! Races corecast's channels and collectives against what people use today, on pinned threads.
//!
//! A library without output of its own: the program's `bench` and `tune` call it, and show what it returns.
//!
//! - [`collectives`], [`acknowledged`](fn@acknowledged), [`ump`], [`select`](fn@select), [`stream`], [`idle`],
//!   [`busy`](fn@busy), [`deaths`](fn@deaths), [`setup`](fn@setup), [`locks`](fn@locks), [`table`](fn@table): the
//!   benchmarks; [`list`] names all contenders;
//! - [`atomics`](fn@atomics): what many threads get from one word; [`messages`](fn@messages): pairs, servers and clients;
//! - [`coherence`](fn@coherence): what single operations on a cache line cost; [`coherence_cases`] names its cases;
//! - [`collective_member`]: what a process does that is a member of a race of collectives;
//! - [`Options`], [`Place`], [`Cancel`], [`Progress`]: what to run, how to stop it, who hears how far it is;
//! - [`Report`] and its parts: what was found, with documented JSON; [`Gate`]: what is asked of corecast;
//! - [`study`](mod@study): the planner on many machine models, computed and not raced;
//! - [`contender`]: the contenders, one file each, and their registry;
//! - [`harness`]: threads, blocks, start windows, statistics.
//!
//! **Method.** Every contender is checked before it is timed. The contenders of one operation run in turns, in blocks of a
//! millisecond or two, in an order drawn anew for each round, with a probe of a bare cache line beside every round: a
//! machine that changes its mood does so for all of them, and is found out. What a sample is stands in
//! [`Timing`]; no sample is left out, and medians, percentiles and spread are reported.
//!
//! ```
//! use std::time::Duration;
//! use corecast::machine;
//! use corecast_bench::{Op, Options, collectives};
//! let budget = Some(Duration::from_millis(200));
//! let options = Options { ops: vec![Op::Barrier], quick: true, budget, ..Options::default() };
//! let report = collectives(&machine::detect()?, &options, &mut ())?;
//! for row in report.groups.iter().flat_map(|group| &group.rows) {
//!     let median_ns = row.summary.map(|summary| summary.median_ns);
//!     let _line = format!("{}: {median_ns:?} ns, {:?} times corecast", row.contender, row.ratio);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod atomics;
mod busy;
pub mod channels;
mod coherence;
mod contender;
mod counts;
mod deaths;
mod idle;
mod locks;
mod messages;
mod pair;
mod published;
mod report;
mod select;
mod setup;
mod stream;
pub mod study;
mod table;
#[cfg(test)]
#[path = "../../crates/race/src/this_machine.rs"]
mod this_machine;
mod transfer;

pub use atomics::{AtomicCell, AtomicOptions, AtomicReport, AtomicRow, atomics};
pub use busy::{
    BusyCell, BusyOperation, BusyOptions, BusyReport, BusyRow, MAX_HOGS, MAX_ROUNDS, Neighbour, busy, busy_member,
    busy_operations,
};
pub use coherence::{
    CoherenceCell, CoherenceGroup, CoherenceHome, CoherenceOptions, CoherenceReport, CoherenceTimes, ListedCase,
    Placement, TimerRow, coherence, coherence_cases,
};
pub use contender::list;
pub use deaths::{DeathOptions, DeathReport, DeathRow, deaths, victim};
pub use idle::idle;
pub use locks::{
    DistanceRow, FlipPhase, FlipRow, LockCell, LockDistance, LockFlips, LockOptions, LockReport, LockRow, PairRow,
    PublishedScaling, ReaderCell, ReaderPairRow, ReaderReport, ReaderRow, RegretRow, locks,
};
pub use messages::{
    MAX_PAIR_BYTES, MessageOptions, MessagePairRow, MessageReport, PairCell, Receive, ServerCell, ServerRow, Trip,
    messages,
};
pub use pair::ump;
pub use published::PublishedFigure;
pub use report::{IdleReport, IdleRow, StreamReport};
pub use select::{Fairness, SelectReport, select};
pub use setup::{SetupReport, SetupRow, setup};
pub use stream::{StreamOptions, stream};
pub use table::{Point, Published, TableCell, TableOptions, TableReport, TableRow, table, table_member};
pub use transfer::LineTransfer;
