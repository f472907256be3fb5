//! SSYNC's figure 12: Memcached 1.4.15 with other locks, its load generator on another host. Read ratios, not heights.

use super::load::MemcachedMix;
use super::report::{MemcachedCell, MemcachedRow};
use crate::published::{Published, PublishedFigure, beside};
use crate::stats::most;

/// The name of the experiment.
pub const MEMCACHED_PRESET: &str = "ssync-memcached";
/// Its locks, and memcached as it is.
pub(super) const CONTENDERS: [&str; 5] = ["none", "pthread", "tas", "ticket", "mcs"];
pub(super) const MIXES: [MemcachedMix; 2] = [MemcachedMix::Get, MemcachedMix::Set];
/// Its server had up to 18 threads, each with a core.
const THREADS: [usize; 6] = [1, 2, 4, 6, 10, 18];

/// Its numbers of threads for which there are CPUs.
pub(super) fn threads(cpus: usize) -> Vec<usize> {
    THREADS.into_iter().filter(|&threads| threads <= cpus.max(1)).collect()
}

const RULES: &[Published<[MemcachedCell]>] = &[
    Published {
        figure: "memcached, set: the best of ticket, MCS and TAS / the mutex",
        machine: "three of Opteron, Xeon, Niagara 2, TILE-Gx36",
        there: [1.29, 1.50],
        here: best_of_mutex,
    },
    speed_up("Opteron, 8 dies of 6", 3.9),
    speed_up("Xeon, 8 sockets of 10", 6.0),
    speed_up("Niagara 2", 6.03),
    speed_up("TILE-Gx36", 5.9),
];

const fn speed_up(machine: &'static str, times: f64) -> Published<[MemcachedCell]> {
    Published {
        figure: "memcached, set: most requests in a second / those of one server thread",
        machine,
        there: [times, times],
        here: best_speed_up,
    }
}

/// With what was found here.
pub(super) fn figures(cells: &[MemcachedCell]) -> Vec<PublishedFigure> {
    beside(RULES, cells)
}

/// The cells of sets, in which each of the server's threads has a CPU.
fn seated(cells: &[MemcachedCell]) -> impl Iterator<Item = &MemcachedCell> {
    cells.iter().filter(|cell| cell.mix == "set" && !cell.oversubscribed)
}

fn best(cell: &MemcachedCell, is_meant: impl Fn(&MemcachedRow) -> bool) -> Option<f64> {
    most(cell.rows.iter().filter(|row| is_meant(row)).map(|row| row.rps))
}

fn best_of_mutex(cells: &[MemcachedCell]) -> Option<f64> {
    let cell = seated(cells).filter(|cell| cell.threads > 1).max_by_key(|cell| cell.threads)?;
    let locks = best(cell, |row| matches!(row.contender.as_str(), "ticket" | "mcs" | "tas"))?;
    Some(locks / best(cell, |row| row.contender == "pthread")?)
}

fn best_speed_up(cells: &[MemcachedCell]) -> Option<f64> {
    let one = best(seated(cells).find(|cell| cell.threads == 1)?, |_| true)?;
    let several = seated(cells).filter(|cell| cell.threads > 1).map(|cell| best(cell, |_| true));
    Some(most(several)? / one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stand_beside_those_of_the_most_threads_with_a_cpu() {
        let row = |contender: &str, rps| MemcachedRow {
            contender: contender.to_owned(),
            rps: Some(rps),
            ..MemcachedRow::default()
        };
        let cell = |threads, rows| MemcachedCell { threads, mix: "set", rows, ..MemcachedCell::default() };
        let cells = [
            cell(1, vec![row("pthread", 10.0), row("mcs", 8.0)]),
            cell(2, vec![row("pthread", 12.0), row("mcs", 18.0), row("clh", 20.0)]),
        ];
        let here: Vec<Option<f64>> = figures(&cells).iter().map(|figure| figure.here).collect();
        assert_eq!(here, [Some(1.5), Some(2.0), Some(2.0), Some(2.0), Some(2.0)]);
        assert_eq!(figures(&cells[..1])[0].here, None);
        assert_eq!([threads(1), threads(8)], [vec![1], vec![1, 2, 4, 6]]);
    }
}
