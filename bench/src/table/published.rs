//! SSYNC's figures of this experiment on its machines, to be shown beside those found here.
//!
//! From the files in the history of LPD-EPFL/CLHT (March 2013), which agree with figure 11 of the paper: David, Guerraoui,
//! Trigonakis, Everything you always wanted to know about synchronization but were afraid to ask, SOSP 2013. Each is the
//! arithmetic mean of 10 runs of a second, with the best lock of each situation. They are of other machines, of 2010 to
//! 2012: shapes may be compared, heights may not.

use serde::Serialize;

/// The throughput of the best lock.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Millions of tries in a second.
    pub mops: f64,
    /// The lock.
    pub lock: &'static str,
}

/// One table on one machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Published {
    /// The machine.
    pub machine: &'static str,
    /// Buckets of the table.
    pub buckets: usize,
    /// Elements of a bucket, on average.
    pub mean: usize,
    /// One thread.
    pub one_thread: Point,
    /// One thread for each core of a socket (Niagara, Tilera: 8).
    pub one_socket: Point,
    /// 18 threads.
    pub threads_18: Point,
    /// 36 threads.
    pub threads_36: Point,
    /// Message passing among 36 threads; `null` where it was the hardware's and no number was published.
    pub messages_36: Option<f64>,
}

/// A machine, buckets, mean; the best lock of 1, of a socket's, of 18 and of 36 threads; messages among 36.
type Line = (&'static str, usize, usize, [(f64, &'static str); 4], Option<f64>);

const fn published((machine, buckets, mean, best, messages_36): Line) -> Published {
    const fn point((mops, lock): (f64, &'static str)) -> Point {
        Point { mops, lock }
    }
    Published {
        machine,
        buckets,
        mean,
        one_thread: point(best[0]),
        one_socket: point(best[1]),
        threads_18: point(best[2]),
        threads_36: point(best[3]),
        messages_36,
    }
}

const OPTERON: &str = "Opteron, 8 dies of 6";
const XEON: &str = "Xeon, 8 sockets of 10";
const NIAGARA: &str = "Niagara 2";
const TILERA: &str = "TILE-Gx36";

/// All that there is.
#[rustfmt::skip]
pub(super) const PUBLISHED: &[Published] = &[
    published((OPTERON, 12, 12, [(7.76, "ticket"), (15.74, "tas"), (13.49, "clh"), (12.77, "clh")], Some(19.60))),
    published((OPTERON, 12, 48, [(4.96, "ticket"), (11.47, "tas"), (11.01, "clh"), (10.37, "clh")], Some(13.47))),
    published((OPTERON, 512, 12, [(6.56, "ticket"), (21.57, "ticket"), (35.02, "tas"), (34.43, "clh")], Some(19.68))),
    published((OPTERON, 512, 48, [(4.06, "ticket"), (14.99, "ticket"), (24.83, "ticket"), (37.77, "ticket")], Some(13.54))),
    published((XEON, 12, 12, [(11.56, "tas"), (23.26, "clh"), (7.86, "clh"), (4.87, "clh")], Some(18.05))),
    published((XEON, 12, 48, [(8.37, "tas"), (17.96, "clh"), (7.38, "clh"), (5.31, "array")], Some(16.94))),
    published((XEON, 512, 12, [(9.82, "ticket"), (66.64, "tas"), (69.45, "tas"), (95.71, "hticket")], Some(17.87))),
    published((XEON, 512, 48, [(5.88, "tas"), (44.20, "tas"), (53.07, "tas"), (79.50, "tas")], Some(16.64))),
    published((NIAGARA, 12, 12, [(1.72, "ticket"), (10.85, "ticket"), (16.15, "ticket"), (17.34, "ticket")], Some(7.13))),
    published((NIAGARA, 512, 48, [(0.75, "ticket"), (6.05, "ticket"), (11.89, "ticket"), (19.31, "ticket")], Some(3.65))),
    published((TILERA, 12, 12, [(1.94, "tas"), (10.59, "tas"), (14.71, "ticket"), (12.41, "ticket")], None)),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages over the best lock at 36 threads, as the same source has it.
    #[test]
    fn the_ratios_are_those_that_were_published() {
        let ratio = |published: &Published| Some(published.messages_36? / published.threads_36.mops);
        let found: Vec<f64> = PUBLISHED.iter().filter_map(ratio).collect();
        for (found, expected) in found.iter().zip([1.54, 1.30, 0.57, 0.36, 3.71, 3.19, 0.19, 0.21, 0.41, 0.19]) {
            assert!((found - expected).abs() < 0.011, "{found} {expected}");
        }
        assert_eq!(found.len(), 10);
    }
}
