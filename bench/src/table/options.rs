//! The options of `bench table`, with the paper's as their defaults.

use std::path::PathBuf;
use std::time::Duration;

use super::batched;
use crate::counts::or_usual;
use corecast_race::options::Options;

/// The best share of servers in the paper.
const EVERY: usize = 3;
/// The most operations of a batch.
pub const MAX_BATCH: usize = batched::MOST;

/// The options of the benchmark.
#[derive(Clone, Debug, Default)]
pub struct TableOptions {
    /// CPUs, contenders, the program that processes run, how channels wait, pace, seed, and how to stop it. The rest is not
    /// looked at.
    pub options: Options,
    /// The numbers of threads; by default 1, 2, 4, .. up to the number of CPUs, and four times that number; only 1, 2 and the
    /// number of CPUs if quick.
    pub threads: Vec<usize>,
    /// The numbers of buckets; 12 and 512 by default.
    pub buckets: Vec<usize>,
    /// The mean numbers of elements in a bucket; 12 and 48 by default.
    pub means: Vec<usize>,
    /// One of each of these numbers of participants is a server, where there are servers; every third by default, as in the
    /// paper.
    pub every: Vec<usize>,
    /// How many operations the client of a batch has under way, up to [`MAX_BATCH`]; that many by default.
    pub batch: Option<usize>,
    /// Whether locks are raced over nodes that do not begin on a line, too, as the original's might not.
    pub misaligned: bool,
    /// A program that runs the paper's, which is raced then: it is called with the name of a lock, the numbers of threads and of
    /// buckets, the mean number of elements of one and the time in milliseconds, and prints millions of tries in a second last.
    pub original: Option<PathBuf>,
    /// The exponent of Zipf's law, by which keys are drawn then; uniformly by default, as in the paper.
    pub zipf: Option<f64>,
    /// Whether threads run where the system puts them, and not on CPUs of their own.
    pub unpinned: bool,
    /// Whether a put writes its 64 bytes; it leaves them untouched by default, as in the paper.
    pub writes_payload: bool,
    /// Whether critical sections end without the full fence of the paper's, of every contender.
    pub without_fence: bool,
    /// How long a block is; a second by default, as in the paper, 5 ms if quick.
    pub block: Option<Duration>,
}

impl TableOptions {
    pub(super) fn every(&self) -> Vec<usize> {
        or_usual(&self.every, || vec![EVERY])
    }

    /// From the paper's experiment, but for its sizes and servers.
    pub(super) fn departs(&self) -> bool {
        self.zipf.is_some() || self.unpinned || self.writes_payload || self.without_fence
    }

    #[track_caller]
    pub(super) fn checked(&self) -> &Options {
        let counts = self.threads.iter().chain(&self.buckets).chain(&self.means);
        assert!(counts.min() != Some(&0), "a table has threads, buckets and elements");
        assert!(self.every.iter().all(|&every| every > 1), "not all participants are servers");
        assert!(
            self.batch.is_none_or(|batch| (1..=MAX_BATCH).contains(&batch)),
            "a batch has 1 to {MAX_BATCH} operations"
        );
        &self.options
    }
}
