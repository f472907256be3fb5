//! `corecast bench channels`: one sender, some receivers, every byte written and read, against what people use today.
//!
//! ZIMP's experiment (P. Aublin et al., ZIMP: Efficient Inter-core Communications on Manycore Machines, 2011), with its
//! seven contenders and today's. Every contender is checked for content, order and number before it is timed.
//!
//! - [`ChannelOptions`]: what to race; [`list`]: the contenders; [`member`]: what a process does that takes part;
//! - [`ChannelReport`] and its parts: what was found, with documented JSON; `gates`: what is asked of corecast's own;
//!   `published`: what ZIMP's authors found;
//! - `contender`: the contenders, one file each, over the ends in `ends`;
//! - [`Traffic`]: a stream, or the messages of a program;
//! - `script`, `node`: the programs and their nodes, which are threads (`program`) or processes (`node_process`); `proxy`: a
//!   participant that is a process, as the harness sees it;
//! - `bodies`, `entrant`, `race`, `campaign`: the loops around them, one contender, all of them in turns, and every row.
//!
//! ```
//! use corecast::machine;
//! use corecast_bench::channels::{self, ChannelOptions};
//! use corecast_race::Options;
//! let wanted = ChannelOptions {
//!     contenders: vec!["ump".into(), "rtrb".into()],
//!     sizes: vec![64],
//!     receivers: vec![1],
//!     ..ChannelOptions::default()
//! };
//! let options = Options { quick: true, ..Options::default() };
//! let report = channels::race(&machine::detect()?, &options, &wanted, &mut ())?;
//! for row in &report.groups[0].rows {
//!     let _line = format!("{}: {:?} messages/s", row.contender, row.messages_per_s);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bodies;
mod campaign;
mod contender;
mod ends;
mod entrant;
mod gates;
mod member;
mod memory;
mod node;
mod node_process;
mod options;
mod pattern;
mod program;
mod proxy;
mod published;
mod race;
mod report;
mod script;
mod traffic;
mod wire;

pub use campaign::race;
pub(crate) use contender::word_queues;
pub use contender::{Fan, ListedCarrier, Traits, list};
pub use corecast_race::place::Place;
pub use member::member;
pub use options::{ChannelOptions, MAX_BYTES, MAX_RECEIVERS, PAPER_PER_ROW, PER_ROW, RECEIVERS, SIZES, Seating};
pub(crate) use program::{fan, pair};
pub use report::{ChannelGroup, ChannelReport, ChannelRow, Latency};
pub use traffic::Traffic;
pub(crate) use wire::{WaitName, Wire};
