//! `corecast bench replica`: replicated state.
//!
//! - [`crash`](fn@crash), [`crash_node`]: nodes that are killed, stopped and started again while clients work.

mod crash;

pub use crash::{CrashEpisode, CrashFault, CrashOptions, CrashReport, CrashRow, crash, crash_node};
