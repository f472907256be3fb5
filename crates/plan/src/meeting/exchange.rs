//! Searches the best order of members for a dissemination.
//!
//! In round r each member sends to the one 2^r places further on, so the order decides which pairs talk, and in which
//! round. Several walks start from several orders: two members change places or one moves to another place, and a
//! change that makes the exchange more expensive is kept with a probability that falls as the walk goes on. One
//! evaluation takes n log n steps; the work is counted in those, so that the same seed gives the same order everywhere.
//!
//! Source: D. Hensgen, R. Finkel, U. Manber, Two Algorithms for Barrier Synchronization, 1988 (the exchange); S.
//! Kirkpatrick, C. D. Gelatt, M. P. Vecchi, Optimization by simulated annealing, 1983 (the search).

use fastrand::Rng;

use crate::effort::Effort;
use crate::parallel;
use crate::problem::Problem;
use crate::search::cooling::{exponential, temperature};
use crate::settings::Settings;

/// The first temperature, as a part of the cost, and how often it is halved.
const HOT: f64 = 0.03;
const HALVINGS: f64 = 6.0;
/// How many walks share the tries. A single walk sometimes gets stuck.
const WALKS: usize = 4;
/// Orders between two checks whether to stop.
const BETWEEN_QUESTIONS: u64 = 64;

/// An exchange among some members, each of which arrives and goes on at its own time.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    members: Vec<usize>,
    /// `send[from * len + to]`, by place in `members`.
    send: Vec<f64>,
    receive: Vec<f64>,
    /// When each arrives.
    ready: Vec<f64>,
    /// The time that each member is busy afterwards.
    after: Vec<f64>,
}

/// An order, and what the exchange costs in it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Exchanged {
    pub(crate) order: Vec<usize>,
    pub(crate) cost: f64,
    /// Orders tried.
    pub(crate) iterations: u64,
}

impl Exchange {
    /// Among all members, which arrive at once and have nothing to do afterwards.
    pub(crate) fn of_all(problem: &Problem) -> Self {
        let idle = vec![0.0; problem.len()];
        Self::among(problem, (0..problem.len()).collect(), idle.clone(), idle)
    }

    /// Among `members`, each of which comes at `ready` and is busy for `after` when done.
    pub(crate) fn among(problem: &Problem, members: Vec<usize>, ready: Vec<f64>, after: Vec<f64>) -> Self {
        let dense = |cost: &dyn Fn(usize, usize) -> f64| {
            members.iter().flat_map(|&from| members.iter().map(move |&to| cost(from, to))).collect()
        };
        let send = dense(&|from, to| problem.send(from, to));
        let receive = dense(&|from, to| problem.receive(from, to));
        Self { members, send, receive, ready, after }
    }

    /// The best order that the effort finds, starting from `starts`, each of which names every member once.
    pub(crate) fn ordered(&self, starts: &[Vec<usize>], settings: &Settings<'_>) -> Exchanged {
        let place = |member: &usize| self.members.iter().position(|known| known == member).expect("one of the members");
        let starts: Vec<Vec<usize>> = starts.iter().map(|start| start.iter().map(place).collect()).collect();
        let tries = tries(self.members.len(), settings);
        let walk = |walk: usize| {
            let start = starts[walk % starts.len()].clone();
            let seed = settings.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ walk as u64;
            Walk::new(self, start).improve(tries / WALKS as u64, seed, settings)
        };
        let walks = starts.len().max(WALKS);
        let found: Vec<(f64, Vec<usize>, u64)> = parallel::map(walks, walk);
        let iterations = found.iter().map(|(.., made)| made).sum();
        let best = found.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).expect("there is an order to start from");
        let order = best.1.into_iter().map(|place| self.members[place]).collect();
        Exchanged { order, cost: best.0, iterations }
    }
}

/// The number of orders to try among this many members.
fn tries(members: usize, settings: &Settings<'_>) -> u64 {
    let (steps, tries) = match settings.effort {
        // Three members have two orders, fewer have one.
        _ if members < 3 => (0.0, 0.0),
        Effort::Quick => (50e3, 20.0),
        Effort::Normal => (4e6, 300.0),
        Effort::Patient | Effort::Exact => (200e6, 10e3),
    };
    let n = members as f64;
    // Few members have few orders: these do not need all the steps.
    (settings.share * f64::min(steps / (n * n.log2().ceil()), tries * n * n)) as u64
}

/// A walk from order to order.
struct Walk<'a> {
    exchange: &'a Exchange,
    order: Vec<usize>,
    ready: Vec<f64>,
    sent: Vec<f64>,
}

impl<'a> Walk<'a> {
    fn new(exchange: &'a Exchange, order: Vec<usize>) -> Self {
        let len = order.len();
        Self { exchange, order, ready: vec![0.0; len], sent: vec![0.0; len] }
    }

    /// The cost of the order; `None` if more than `most`.
    fn cost(&mut self, most: f64) -> Option<f64> {
        let Self { exchange, order, ready, sent } = self;
        let n = order.len();
        for (ready, &member) in ready.iter_mut().zip(&*order) {
            *ready = exchange.ready[member];
        }
        let mut distance = 1;
        while distance < n {
            let mut last: f64 = 0.0;
            for (i, &from) in order.iter().enumerate() {
                let further = i + distance;
                let to = order[if further < n { further } else { further - n }];
                sent[i] = ready[i] + exchange.send[from * n + to];
            }
            for (i, &to) in order.iter().enumerate() {
                let back = if i >= distance { i - distance } else { i + n - distance };
                ready[i] = sent[i].max(sent[back]) + exchange.receive[order[back] * n + to];
                last = last.max(ready[i]);
            }
            if last > most {
                return None;
            }
            distance *= 2;
        }
        let ends = order.iter().zip(&*ready).map(|(&member, ready)| ready + exchange.after[member]);
        Some(ends.fold(0.0, f64::max)).filter(|&cost| cost <= most)
    }

    /// The cost of the best order on a walk of at most `tries` tries, that order, and the tries made until it was
    /// stopped.
    fn improve(mut self, tries: u64, seed: u64, settings: &Settings<'_>) -> (f64, Vec<usize>, u64) {
        let mut rng = Rng::with_seed(seed);
        let mut now = self.cost(f64::INFINITY).expect("nothing costs more than that");
        let mut best = (now, self.order.clone());
        let mut made = 0;
        let start = now;
        let mut heat = 0.0;
        for tried in 0..tries {
            if tried % BETWEEN_QUESTIONS == 0 {
                if (settings.stop)() {
                    break;
                }
                heat = start * temperature(HOT, HALVINGS, tried as f64 / tries as f64);
            }
            made += 1;
            let change = Change::draw(self.order.len(), &mut rng);
            change.make(&mut self.order);
            match self.cost(now + heat * exponential(&mut rng)) {
                Some(cost) => now = cost,
                None => change.undo(&mut self.order),
            }
            if now < best.0 {
                best = (now, self.order.clone());
            }
        }
        (best.0, best.1, made)
    }
}

/// A change of an order.
#[derive(Clone, Copy, Debug)]
enum Change {
    Swap(usize, usize),
    /// The member at the first place goes to the second, those between move up.
    Move(usize, usize),
}

impl Change {
    fn draw(len: usize, rng: &mut Rng) -> Self {
        let from = rng.usize(0..len);
        let other = rng.usize(0..len - 1);
        let to = if other >= from { other + 1 } else { other };
        if rng.u32(0..4) > 0 { Self::Swap(from, to) } else { Self::Move(from, to) }
    }

    fn make(self, order: &mut [usize]) {
        match self {
            Self::Swap(from, to) => order.swap(from, to),
            Self::Move(from, to) if from < to => order[from..=to].rotate_left(1),
            Self::Move(from, to) => order[to..=from].rotate_right(1),
        }
    }

    fn undo(self, order: &mut [usize]) {
        match self {
            Self::Swap(from, to) => order.swap(from, to),
            Self::Move(from, to) => Self::Move(to, from).make(order),
        }
    }
}

/// Orders to start from: by rank, cluster after cluster, and one of each cluster in turn.
pub(crate) fn starts(members: usize, levels: &[Vec<u32>]) -> Vec<Vec<usize>> {
    let mut starts = vec![(0..members).collect::<Vec<_>>()];
    for clusters in levels {
        let mut by_cluster: Vec<usize> = (0..members).collect();
        by_cluster.sort_by_key(|&member| clusters[member]);
        let mut place_in_cluster = vec![0; members];
        let mut seen = vec![0; members];
        for (member, &cluster) in clusters.iter().enumerate() {
            place_in_cluster[member] = seen[cluster as usize];
            seen[cluster as usize] += 1;
        }
        let mut in_turn: Vec<usize> = (0..members).collect();
        in_turn.sort_by_key(|&member| (place_in_cluster[member], clusters[member]));
        starts.extend([by_cluster, in_turn]);
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate;
    use corecast_base::CpuId;
    use corecast_machine::{CostMatrix, Cpu, Machine, Topology};

    /// Members with costs from a fixed random sequence.
    fn problem(members: usize, seed: u64) -> Problem {
        let cpus = (0..members as u32).map(|id| Cpu::flat(CpuId::new(id))).collect();
        let mut machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let mut rng = Rng::with_seed(seed);
        let mut costs = || CostMatrix::from_fn(members, |i, j| if i == j { 0.0 } else { f64::from(rng.u32(1..50)) });
        (machine.send, machine.receive) = (costs().expect("costs"), costs().expect("costs"));
        Problem::of_machine(&machine).expect("CPUs")
    }

    /// Calls `then` with every order of `rest` behind `order`.
    fn every_order(order: &mut Vec<usize>, rest: &mut Vec<usize>, then: &mut dyn FnMut(&[usize])) {
        if rest.is_empty() {
            then(order);
        }
        for at in 0..rest.len() {
            order.push(rest.remove(at));
            every_order(order, rest, then);
            rest.insert(at, order.pop().expect("pushed above"));
        }
    }

    #[test]
    fn few_members_get_the_best_order_of_all() {
        for (members, seed) in (1..=5).flat_map(|members| (0..8).map(move |seed| (members, seed))) {
            let problem = problem(members, seed);
            let mut least = f64::INFINITY;
            every_order(&mut vec![], &mut (0..members).collect(), &mut |order| {
                least = least.min(simulate::dissemination(&problem, order));
            });
            let found = Exchange::of_all(&problem).ordered(&starts(members, &[]), &Settings::default());
            assert_eq!(found.cost, least, "{members} members, seed {seed}");
            assert_eq!(simulate::dissemination(&problem, &found.order), least);
        }
    }

    #[test]
    fn leaders_that_come_late_or_go_on_for_long_are_counted() {
        let problem = problem(6, 3);
        let (members, ready, after) = (vec![4, 1, 5], vec![10.0, 0.0, 70.0], vec![5.0, 90.0, 0.0]);
        let exchange = Exchange::among(&problem, members.clone(), ready.clone(), after.clone());
        let mut least = f64::INFINITY;
        every_order(&mut vec![], &mut vec![0, 1, 2], &mut |order| {
            let done = simulate::exchanged(
                &problem,
                &order.iter().map(|&place| members[place]).collect::<Vec<_>>(),
                order.iter().map(|&place| ready[place]).collect(),
            );
            let ends = order.iter().zip(done).map(|(&place, done)| done + after[place]);
            least = least.min(ends.fold(0.0, f64::max));
        });
        assert_eq!(exchange.ordered(&[members], &Settings::default()).cost, least);
    }

    #[test]
    fn more_tries_never_end_dearer_than_the_starts() {
        let problem = problem(11, 7);
        let levels = [(0..11).map(|member| member % 3).collect::<Vec<u32>>()];
        let starts = starts(11, &levels);
        assert_eq!(starts[1..], [vec![0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8], (0..11).collect::<Vec<usize>>()]);
        let found = Exchange::of_all(&problem).ordered(&starts, &Settings::default());
        for start in &starts {
            assert!(found.cost <= simulate::dissemination(&problem, start));
        }
        assert_eq!(found, Exchange::of_all(&problem).ordered(&starts, &Settings::default()), "the same seed");
    }

    #[test]
    fn changes_are_undone() {
        let mut rng = Rng::with_seed(1);
        let mut order: Vec<usize> = (0..9).collect();
        for _ in 0..100 {
            let change = Change::draw(9, &mut rng);
            change.make(&mut order);
            assert_ne!(order, (0..9).collect::<Vec<_>>());
            change.undo(&mut order);
            assert_eq!(order, (0..9).collect::<Vec<_>>());
        }
    }
}
