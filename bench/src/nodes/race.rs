//! Timed operations of our groups and of plain MPI, in launches that alternate.

use std::time::Duration;

use corecast_race::error::BenchError;

use super::library::Library;
use super::work::{Case, HostMembers, NodesOp, NodesShape, Task};
use super::{NodesRow, NodesSkipped, Run, Trouble};
use crate::stats::{Samples, median};

/// A launch that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(120);

/// The nanoseconds of each case in our group and in plain MPI, of two neighbouring launches.
type Pair = [Vec<f64>; 2];

/// The launches of a cell.
#[derive(Default)]
struct Cell {
    pairs: Vec<Pair>,
    /// The words of our launch that did not end well.
    wrong: Option<String>,
}

impl Run<'_> {
    /// The cases of a race.
    fn cases() -> Vec<Case> {
        let short = [NodesOp::Barrier, NodesOp::Broadcast, NodesOp::Allreduce].map(|op| Case { op, bytes: 8 });
        let long = [8 << 10, 256 << 10, 1 << 20].map(|bytes| Case { op: NodesOp::Allreduce, bytes });
        short.into_iter().chain(long).collect()
    }

    pub(super) fn race(
        &mut self,
        library: &Library,
        members: usize,
        step: &mut dyn FnMut(f64, &str),
    ) -> Result<(), BenchError> {
        let cases = Self::cases();
        let launches = self.settings.runs.unwrap_or(if self.options.quick { 2 } else { 10 });
        let mut cell = Cell::default();
        for launch in 0..launches {
            step(launch as f64 / launches as f64, &format!("launch {} of {launches}", launch + 1));
            match self.pair(library, members, &cases)? {
                Ok(pair) => cell.pairs.push(pair),
                // The library alone is no concern of ours, and launches after one that hung take minutes.
                Err((NodesShape::Plain, reason)) => {
                    let library = format!("{}, {members} members, plain, launch {}", library.name, launch + 1);
                    self.report.skipped.push(NodesSkipped { library, reason });
                    break;
                }
                Err((_, words)) => {
                    cell.wrong = Some(words);
                    break;
                }
            }
        }
        if !cell.pairs.is_empty() || cell.wrong.is_some() {
            let rows = cases.iter().enumerate().map(|(place, &case)| self.row(library, members, case, place, &cell));
            let rows: Vec<NodesRow> = rows.collect();
            self.report.rows.extend(rows);
        }
        Ok(())
    }

    /// A launch of each, in any order; or the one that did not end well, and its words.
    fn pair(
        &mut self,
        library: &Library,
        members: usize,
        cases: &[Case],
    ) -> Result<Result<Pair, (NodesShape, String)>, BenchError> {
        let shapes = [self.settings.shape, NodesShape::Plain];
        let is_plain_first = self.random.bool();
        let mut pair = Pair::default();
        for place in if is_plain_first { [1, 0] } else { [0, 1] } {
            match self.timed(library, members, shapes[place], cases)? {
                Ok(found) => pair[place] = found,
                Err(trouble) => return Ok(Err((shapes[place], trouble.words))),
            }
        }
        Ok(Ok(pair))
    }

    fn row(&self, library: &Library, members: usize, case: Case, place: usize, cell: &Cell) -> NodesRow {
        let Cell { pairs, wrong } = cell;
        let ratios = Samples::of(pairs.iter().map(|[ours, plain]| plain[place] / ours[place]));
        let of = |which: usize| median(&pairs.iter().map(|pair| pair[which][place] / 1e3).collect::<Vec<f64>>());
        NodesRow {
            library: library.name.clone(),
            hosts: self.settings.hosts,
            members,
            shape: self.settings.shape,
            op: case.op,
            bytes: if case.op == NodesOp::Barrier { 0 } else { case.bytes },
            launches: pairs.len(),
            wrong: wrong.clone(),
            ours_us: of(0),
            plain_us: of(1),
            ratio: median(ratios.all()),
            least_ratio: ratios.least(),
            most_ratio: ratios.most(),
        }
    }

    /// The nanoseconds of each case in one launch, or the reason why there are none.
    fn timed(
        &mut self,
        library: &Library,
        members: usize,
        shape: NodesShape,
        cases: &[Case],
    ) -> Result<Result<Vec<f64>, Trouble>, BenchError> {
        let budget_ms = if self.options.quick { 60 } else { 200 };
        let task = Task::Time { cases: cases.to_vec(), budget_ms };
        self.outcome(library, (self.settings.hosts, &HostMembers::even(members)), shape, task, LIMIT)
    }
}
