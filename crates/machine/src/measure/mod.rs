//! Measuring what messages between the CPUs of this machine cost.
//!
//! [`measure()`], which has an example, does it all: the clock and the costs of one CPU (`gauge`, `single_costs`),
//! whether clocks agree (`clock_check`), how many pairs may be measured at once (`disturbance`), all pairs
//! (`campaign`), what more than two cost (`curves`: bursts in `fan`, a line with many `readers`, a contended
//! `fetch_add`), and the [`Machine`](crate::Machine) made of them (`findings`). The reason for each way of
//! measuring is in `docs/design/measurement.md`, trap by trap.
//!
//! Below that: `tournament` schedules the pairs, `crew` are the pinned threads, `visit` is the work of two of them
//! together, built from `bounce` (a bare line), `stream` (send) and `chain` (receive); `pairs` keeps what was found,
//! `reference` notices that the machine changed. `meeting` makes threads wait for each other and `halt` ends them;
//! `stats` are medians.

mod bounce;
mod campaign;
mod chain;
mod clock_check;
mod crew;
mod curves;
pub mod date;
mod disturbance;
mod error;
mod fan;
mod fetch_add;
mod findings;
mod gauge;
mod halt;
mod machine;
mod meeting;
mod options;
mod pairs;
mod progress;
mod readers;
mod reference;
mod single_costs;
mod stats;
mod stream;
mod tournament;
mod visit;

pub use error::MeasureError;
pub use machine::measure;
pub use options::Options;
pub use progress::{Progress, Silent, Step};
