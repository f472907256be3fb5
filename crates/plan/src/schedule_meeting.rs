//! Schedules of the kinds of [`crate::Scheme`] in which members meet otherwise than in a tree.

use crate::operation::Direction;
use crate::problem::Problem;
use crate::schedule::{Schedule, Transfer};
use crate::simulate;
use crate::tree::Tree;

impl Schedule {
    /// The messages of a dissemination among the members in `order`, each of which is ready at its time in `ready`, which
    /// is by rank. See [`simulate::dissemination`].
    pub(crate) fn exchange(problem: &Problem, order: &[usize], ready: &[f64]) -> Self {
        let n = order.len();
        let mut arrivals = ready.to_vec();
        let mut transfers = Vec::new();
        let distances = std::iter::successors(Some(1), |distance| Some(2 * distance));
        for distance in distances.take_while(|&distance| distance < n) {
            let before = arrivals.clone();
            let sent = |from: usize, to: usize| before[from] + problem.send(from, to);
            for i in 0..n {
                let [from, to, next] = [i, i + distance, i + 2 * distance].map(|place| order[place % n]);
                let receive_start = sent(from, to).max(sent(to, next));
                let receive_end = receive_start + problem.receive(from, to);
                arrivals[to] = receive_end;
                let (send_start, send_end) = (before[from], sent(from, to));
                transfers.push(Transfer { from, to, send_start, send_end, receive_start, receive_end });
            }
        }
        let start = order.iter().map(|&member| ready[member]).fold(f64::INFINITY, f64::min);
        let end = order.iter().map(|&member| arrivals[member]).fold(start, f64::max);
        Self { direction: None, start, end, arrivals, transfers }
    }

    /// The messages of all groups to their leaders, which all members begin at 0: the groups are the subtrees below the
    /// leaders.
    pub(crate) fn gather(problem: &Problem, tree: &Tree, leaders: &[usize]) -> Self {
        let mut arrivals = vec![0.0; tree.len()];
        let mut transfers = Vec::new();
        for &to in tree.top_down().iter().rev() {
            let mut now: f64 = 0.0;
            for (ready, from) in simulate::in_order_of_arrival(problem, tree, to, &arrivals) {
                if leaders.contains(&from) {
                    continue;
                }
                let receive_start = now.max(ready);
                now = receive_start + problem.occupancy(from, to);
                let send_start = arrivals[from];
                let send_end = send_start + problem.send(from, to);
                transfers.push(Transfer { from, to, send_start, send_end, receive_start, receive_end: now });
            }
            arrivals[to] = now;
        }
        let end = arrivals.iter().copied().fold(0.0, f64::max);
        Self { direction: Some(Direction::Up), start: 0.0, end, arrivals, transfers }
    }

    /// The messages of leaders, each ready at its time in `ready`, to their groups.
    pub(crate) fn spread(problem: &Problem, tree: &Tree, leaders: &[usize], ready: &[f64]) -> Self {
        let mut arrivals = ready.to_vec();
        let mut transfers = Vec::new();
        for &from in tree.top_down() {
            let mut now = arrivals[from];
            let group = tree.children(from).iter().filter(|child| !leaders.contains(child));
            for (nth, &to) in group.enumerate() {
                let send_end = now + problem.nth_send(from, to, nth);
                arrivals[to] = send_end + problem.receive(from, to);
                let (receive_start, receive_end) = (send_end, arrivals[to]);
                transfers.push(Transfer { from, to, send_start: now, send_end, receive_start, receive_end });
                now = send_end;
            }
        }
        let start = leaders.iter().map(|&leader| ready[leader]).fold(f64::INFINITY, f64::min);
        let end = arrivals.iter().copied().fold(start, f64::max);
        Self { direction: Some(Direction::Down), start, end, arrivals, transfers }
    }

    /// One store by `root` to a line that all other members read, until the last of them has seen it at `end`.
    pub(crate) fn release(members: usize, root: usize, start: f64, end: f64) -> Self {
        let others = (0..members).filter(|&member| member != root);
        let stored = Transfer {
            from: root,
            to: root,
            send_start: start,
            send_end: start,
            receive_start: start,
            receive_end: end,
        };
        let read = |to| Transfer { to, ..stored };
        let mut arrivals = vec![end; members];
        arrivals[root] = start;
        Self { direction: Some(Direction::Down), start, end, arrivals, transfers: others.map(read).collect() }
    }

    /// A step of this many members that is not made of messages.
    pub(crate) fn messageless(members: usize, end: f64) -> Self {
        Self { direction: None, start: 0.0, end, arrivals: vec![end; members], transfers: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Operation;
    use crate::plan::Plan;
    use crate::planner::planners;
    use crate::request::Request;
    use corecast_base::CpuId;
    use corecast_machine::{Cpu, Machine, Topology};

    #[test]
    fn every_scheme_ends_when_its_plan_says() {
        let cpus = (0..12).map(|id| Cpu { numa: Some(id / 4), ..Cpu::flat(CpuId::new(id)) }).collect();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let problem = Problem::of_machine(&machine).expect("CPUs");
        let made = |name: &&'static str| Request::new(Operation::Barrier).planner(name).plan(&problem).ok();
        let names: Vec<&str> = planners().into_iter().map(|(name, _)| name).collect();
        let plans: Vec<Plan> = names.iter().filter_map(made).collect();
        let schemes: Vec<&str> = plans.iter().map(|plan| plan.scheme.name()).collect();
        for scheme in ["trees", "leaders", "dissemination"] {
            assert!(schemes.contains(&scheme), "{scheme} is not among {schemes:?}");
        }
        for plan in plans {
            let phases = Schedule::of_plan(&problem, &plan);
            let end = phases.last().expect("a barrier has phases").end;
            assert!((end - plan.predicted).abs() <= 1e-9 * end, "{}: {end}, not {}", plan.planner, plan.predicted);
            for transfer in phases.iter().flat_map(|phase| &phase.transfers) {
                assert!(transfer.send_end <= transfer.receive_start && transfer.receive_start < transfer.receive_end);
            }
        }
    }
}
