//! The results of a run, as values and as JSON. The field names are documented in docs/json/bench.md and stay.
//!
//! All times are nanoseconds per operation. `ratio` is the row's median divided by the median of the group's reference,
//! corecast's own choice: above 1 the contender is slower than corecast, below 1 it is faster.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::gate::Gate;
use crate::harness::Summary;
use crate::op::Op;

/// The outcome of a race, such as `corecast bench collectives`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The machine's name.
    pub machine: String,
    /// The commit that the program was built from; `null` if it was not built in a git checkout.
    pub commit: Option<String>,
    /// From this all orders were drawn.
    pub seed: u64,
    /// True for fewer and shorter blocks.
    pub quick: bool,
    /// How corecast's contenders waited.
    pub wait: String,
    /// The kind of participants: `threads` or `processes`.
    pub place: &'static str,
    /// The median over all probes of one bare line transfer; `null` with one CPU.
    pub raw_line_ns: Option<f64>,
    /// How often the bare line changed its cost for longer than one probe: then the groups are of two machines.
    pub placement_changes: u32,
    /// Warnings that the reader should know before believing the numbers.
    pub warnings: Vec<String>,
    /// One entry for each operation and number of participants.
    pub groups: Vec<Group>,
    /// The demands on corecast, and whether they are met here.
    pub gates: Vec<Gate>,
}

/// All contenders of one operation among the same participants, interleaved.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// The operation.
    pub op: Op,
    /// The events of one operation, where it is a burst of them; `null` for others.
    pub burst: Option<usize>,
    /// The number of participants.
    pub participants: usize,
    /// The length in bytes of what every participant brings, or gets.
    pub bytes: usize,
    /// The CPU of each participant, by rank.
    pub cpus: Vec<u32>,
    /// True if participants share CPUs, or the container grants less CPU time than they could use.
    pub oversubscribed: bool,
    /// The interval that was timed.
    pub timing: Timing,
    /// The rank that a rooted operation starts from or ends at; `null` for others.
    pub root: Option<usize>,
    /// The median of this group's probes of one bare line transfer between ranks 0 and 1; `null` with one CPU.
    pub raw_line_ns: Option<f64>,
    /// The probes before each round and after the last.
    pub raw_line_probes_ns: Vec<f64>,
    /// As in the report, within this group.
    pub placement_changes: u32,
    /// The rounds that count for nobody, as the bare line changed its cost in them or cost something else in most.
    pub rounds_left_out: usize,
    /// The contender to which ratios refer.
    pub reference: String,
    /// One entry for each contender.
    pub rows: Vec<Row>,
}

impl Group {
    /// True if the operation carries what it carries unless another length is asked for.
    #[must_use]
    pub fn is_usual(&self) -> bool {
        self.op.is_usual(self.bytes)
    }
}

/// One contender in one group.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its name.
    pub contender: String,
    /// True for what corecast offers.
    pub ours: bool,
    /// Its times; `None` if it was skipped. In JSON the summary's fields are the row's, and then `null`.
    #[serde(flatten, serialize_with = "summary_or_nulls")]
    pub summary: Option<Summary>,
    /// Median CPU time of all participants together per operation; `null` for start windows, where everybody polls.
    pub cpu_ns: Option<f64>,
    /// Windows not counted because some participant began late.
    pub discarded: usize,
    /// Its median divided by the reference's; `null` if one of them has none.
    pub ratio: Option<f64>,
    /// Why it was not timed; `null` if it was.
    pub skipped: Option<String>,
    /// True if it took part and broke down: a time-out, a wrong result, a panic, an error of its own. False if it was timed, or
    /// could not take part.
    pub failed: bool,
}

/// Writes the fields of a summary into the row that has it, or `null` for each.
///
/// # Errors
/// Those of the serializer.
pub fn summary_or_nulls<S: Serializer>(summary: &Option<Summary>, serializer: S) -> Result<S::Ok, S::Error> {
    let mut fields = serializer.serialize_struct("Summary", 7)?;
    fields.serialize_field("median_ns", &summary.map(|summary| summary.median_ns))?;
    fields.serialize_field("p10_ns", &summary.map(|summary| summary.p10_ns))?;
    fields.serialize_field("p90_ns", &summary.map(|summary| summary.p90_ns))?;
    fields.serialize_field("p99_ns", &summary.map(|summary| summary.p99_ns))?;
    fields.serialize_field("min_ns", &summary.map(|summary| summary.min_ns))?;
    fields.serialize_field("mad_ns", &summary.map(|summary| summary.mad_ns))?;
    fields.serialize_field("samples", &summary.map_or(0, |summary| summary.samples))?;
    fields.end()
}

/// The interval that was timed; each sample comes from one block, or from one window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Timing {
    /// Operations back to back, divided by their number: for operations that keep the participants in step. A one-way
    /// message is half of a round trip.
    Batches,
    /// Single operations: all participants begin at a time agreed upon, and the operation ends with the last of them.
    /// For rooted operations, where a plain loop would only show how fast the root can start one after the other.
    Windows,
    /// By the root's clock alone: from its beginning until one of the others, which is done, has told the root so by writing a
    /// line, which is **included**; of an operation that ends at the root from the line by which it lets one of the others begin.
    /// The samples are those of the member that is slowest by the median.
    LeafEcho,
    /// Operations with a barrier of the harness after each, which is **included**: for rooted operations where
    /// participants cannot all begin at one time, or the CPUs' clocks do not agree.
    Separated,
}

/// A row of a table of contenders: which one it is about, and what became of it.
pub trait ContenderRow {
    /// The contender's name.
    fn contender(&self) -> &str;
    /// True for what corecast offers.
    fn is_ours(&self) -> bool;
    /// Why it has no figures; `None` if it has.
    fn skipped(&self) -> Option<&str>;
    /// True if it took part and broke down.
    fn is_failed(&self) -> bool;
}

/// Implements [`ContenderRow`] for rows with the fields `contender`, `ours`, `skipped` and `failed`.
#[macro_export]
macro_rules! contender_rows {
    ($($row:ty),+ $(,)?) => {$(
        impl $crate::report::ContenderRow for $row {
            fn contender(&self) -> &str {
                self.contender.as_ref()
            }

            fn is_ours(&self) -> bool {
                self.ours
            }

            fn skipped(&self) -> Option<&str> {
                self.skipped.as_deref()
            }

            fn is_failed(&self) -> bool {
                self.failed
            }
        }
    )+};
}

contender_rows!(Row);
