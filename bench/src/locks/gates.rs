//! What is asked of corecast's locks, and whether it holds here.

use super::contenders::Contender;
use super::regret::CHOOSER;
use super::report::{LockCell, LockDistance, LockRow, PairRow, RegretRow};
use crate::gate::{Demand, Gate};

const ALONE: Demand = Demand {
    gate: "auto, lock and unlock alone, time / the fastest lock's of all",
    limit: 1.05,
    is_most: true,
    command: "corecast bench locks",
};
const MEAN: Demand = Demand {
    gate: "auto, regret over the grid, geometric mean",
    limit: 1.05,
    is_most: true,
    command: "corecast bench locks",
};
const WORST: Demand = Demand { gate: "auto, regret over the grid, the worst situation", limit: 2.0, ..MEAN };
const CROWDED: Demand = Demand {
    gate: "auto, 16 threads on fewer CPUs, one lock: acquisitions / those of the best other lock that sleeps",
    limit: 0.9,
    is_most: false,
    command: "corecast bench locks --threads 16 --locks 1",
};
const COLLAPSE: Demand = Demand {
    gate: "16 threads on fewer CPUs, one lock: acquisitions of the best lock that sleeps / of corecast's slowest lock",
    limit: 20.0,
    is_most: true,
    command: CROWDED.command,
};
/// Taking a lock that another CPU had last, in bare exchanges at that distance: which locks, and how many.
const HANDED: [(&[&str], f64); 3] = [(&["tas", "ttas", "auto"], 1.25), (&["ticket"], 1.5), (&["mcs", "clh"], 2.5)];
/// The situations over which regret is judged.
const GRID: (&[usize], &[usize]) = (&[1, 2, 4, 8, 16], &[1, 4, 16, 128, 512]);

/// All of them.
pub(super) fn judge(
    contenders: &[Contender],
    pairs: &[PairRow],
    distances: &[LockDistance],
    cells: &[LockCell],
    regrets: &[RegretRow],
) -> Vec<Gate> {
    let crowded = cells.iter().find(|cell| (cell.threads, cell.locks) == (16, 1) && cell.oversubscribed);
    let mut gates = vec![alone(pairs)];
    gates.extend(HANDED.iter().map(|&(names, limit)| handed(names, limit, distances)));
    gates.extend([MEAN, WORST].map(|demand| over_grid(demand, cells, regrets)));
    gates.push(crowded_chooser(contenders, crowded));
    gates.push(collapse(contenders, crowded));
    gates
}

fn alone(pairs: &[PairRow]) -> Gate {
    let of = |row: &PairRow| row.median_ns;
    let own = pairs.iter().find(|row| row.contender == CHOOSER).map(of);
    let others = pairs.iter().filter(|row| row.contender != CHOOSER).map(of).reduce(f64::min);
    ALONE.judge(own.zip(others).map(|(own, best)| own / best).ok_or_else(|| "auto and another lock".to_owned()))
}

/// The worst distance and lock count.
fn handed(names: &[&str], limit: f64, distances: &[LockDistance]) -> Gate {
    let ratios = distances.iter().filter(|distance| distance.cpus.len() > 1).flat_map(|distance| {
        let acquire = |name: &str| distance.rows.iter().find(|row| row.contender == name)?.acquire_p50_ns;
        let bare = acquire(&distance.rows[0].contender);
        names.iter().filter_map(move |name| Some(acquire(name)? / bare?))
    });
    let gate = format!("{}: taken from another CPU, time / a bare exchange there, the worst", names.join(", "));
    Gate::new(gate, limit, true, ratios.reduce(f64::max).ok_or_else(|| "2 CPUs and these locks".to_owned()))
}

fn over_grid(demand: Demand, cells: &[LockCell], regrets: &[RegretRow]) -> Gate {
    let is_there = |threads: usize, locks: usize| {
        let here = cells.iter().filter(|cell| (cell.threads, cell.locks) == (threads, locks));
        here.map(|cell| (cell.pinned, cell.hold_ns > 0)).collect::<std::collections::BTreeSet<_>>().len() == 4
    };
    let is_whole = GRID.0.iter().all(|&threads| GRID.1.iter().all(|&locks| is_there(threads, locks)));
    let row = regrets.iter().find(|row| row.contender == CHOOSER).filter(|_| is_whole && regrets.len() > 1);
    let found = row.map(|row| if demand.gate == MEAN.gate { row.mean } else { row.max });
    demand.judge(found.ok_or_else(|| format!("the whole grid and all locks, `{}`", demand.command)))
}

fn crowded_chooser(contenders: &[Contender], cell: Option<&LockCell>) -> Gate {
    let others = best(contenders, cell, |contender| contender.sleeps && contender.name != CHOOSER);
    let own = best(contenders, cell, |contender| contender.name == CHOOSER);
    let ratio = own.zip(others).map(|(own, best)| own / best);
    CROWDED.judge(ratio.ok_or_else(|| "16 threads on fewer CPUs, one lock, and the locks".to_owned()))
}

fn collapse(contenders: &[Contender], cell: Option<&LockCell>) -> Gate {
    let sleeping = best(contenders, cell, |contender| contender.sleeps);
    let slowest = mops(contenders, cell, |contender| contender.ours).reduce(f64::min);
    let ratio = sleeping.zip(slowest).map(|(best, slowest)| best / slowest);
    COLLAPSE.judge(ratio.ok_or_else(|| "16 threads on fewer CPUs, one lock, and the locks".to_owned()))
}

fn best(contenders: &[Contender], cell: Option<&LockCell>, is_wanted: fn(&Contender) -> bool) -> Option<f64> {
    mops(contenders, cell, is_wanted).reduce(f64::max)
}

fn mops<'a>(
    contenders: &'a [Contender],
    cell: Option<&'a LockCell>,
    is_wanted: fn(&Contender) -> bool,
) -> impl Iterator<Item = f64> + 'a {
    let wanted = move |row: &&LockRow| {
        contenders.iter().any(|contender| contender.name == row.contender && is_wanted(contender))
    };
    cell.into_iter().flat_map(|cell| &cell.rows).filter(wanted).filter_map(|row| row.mops)
}
