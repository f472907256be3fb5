//! A small explicit-state checker: breadth first, so that the trace of what goes wrong is a shortest one.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// The failure where the end can no longer be reached.
pub(crate) const STUCK: &str = "the end can no longer be reached";

/// A protocol: a start, what may happen next, and what must not.
pub(crate) trait Model {
    /// Memory, and each thread's place in its program with the registers that still matter there.
    type State: Copy + Eq + Hash;

    fn start(&self) -> Self::State;

    /// Everything that may happen next, one shared access each. A thread that waits for a change adds nothing.
    fn steps(&self, state: &Self::State, steps: &mut Steps<Self::State>);

    /// True if everybody has done what they are there for.
    fn is_done(&self, state: &Self::State) -> bool;

    /// The failure of a state by itself.
    fn flaw(&self, _state: &Self::State) -> Option<&'static str> {
        None
    }
}

/// One step: its actor, its action, and the state after it.
#[derive(Debug)]
struct Step<S> {
    who: &'static str,
    what: &'static str,
    number: i8,
    next: Result<S, &'static str>,
    /// A death, say. It may happen but nobody may count on it: it is no way to the end.
    is_fault: bool,
}

/// The steps that may be taken from one state.
#[derive(Debug)]
pub(crate) struct Steps<S>(Vec<Step<S>>);

impl<S> Steps<S> {
    /// `who` does `what` to `number`.
    pub(crate) fn add(&mut self, who: &'static str, what: &'static str, number: i8, next: S) {
        self.0.push(Step { who, what, number, next: Ok(next), is_fault: false });
    }

    /// The same, where it may be that it must not be so.
    pub(crate) fn judge(&mut self, who: &'static str, what: &'static str, number: i8, next: Result<S, &'static str>) {
        self.0.push(Step { who, what, number, next, is_fault: false });
    }

    /// `who` suffers `what`.
    pub(crate) fn fault(&mut self, who: &'static str, what: &'static str, next: S) {
        self.0.push(Step { who, what, number: 0, next: Ok(next), is_fault: true });
    }
}

/// The result of an exploration.
#[derive(Debug)]
pub(crate) struct Explored {
    states: usize,
    broken: Option<Broken>,
}

#[derive(Debug)]
struct Broken {
    how: &'static str,
    trace: Vec<String>,
}

impl Explored {
    /// Nothing goes wrong anywhere, and there is something to go wrong.
    #[track_caller]
    pub(crate) fn holds(&self, name: &str) {
        if let Some(Broken { how, trace }) = &self.broken {
            panic!("{name}: {how}, after {} steps:\n{}", trace.len(), trace.join("\n"));
        }
        assert!(self.states > 20, "{name}: a model of {} states says nothing", self.states);
        tell(&format!("{name}: holds in all {} states", self.states));
    }

    /// It goes wrong in this way; returns after how many steps at the least.
    #[track_caller]
    pub(crate) fn breaks(&self, name: &str, way: &str) -> usize {
        let Some(Broken { how, trace }) = &self.broken else {
            panic!("{name}: {} states and nothing was found", self.states);
        };
        assert_eq!(*how, way, "{name}, after:\n{}", trace.join("\n"));
        let seen = self.states;
        tell(&format!("{name}: {how}, {} steps, found among {seen} states:\n{}", trace.len(), trace.join("\n")));
        trace.len()
    }
}

#[allow(clippy::print_stdout, reason = "counts and traces are what one runs this for")]
fn tell(line: &str) {
    println!("{line}");
}

/// Visits every state that can be reached, until something is wrong.
pub(crate) fn explore<M: Model>(model: &M) -> Explored {
    let mut graph = Graph::new(model.start());
    let mut steps = Steps(Vec::new());
    let mut at = 0;
    while at < graph.states.len() {
        let state = graph.states[at];
        if let Some(how) = model.flaw(&state) {
            return Explored {
                states: graph.states.len(),
                broken: Some(Broken { how, trace: graph.trace(model, at) }),
            };
        }
        model.steps(&state, &mut steps);
        for step in steps.0.drain(..) {
            match step.next {
                Ok(next) => graph.add(at, next, step.is_fault),
                Err(how) => {
                    let mut trace = graph.trace(model, at);
                    trace.push(words(step.who, step.what, step.number));
                    return Explored { states: graph.states.len(), broken: Some(Broken { how, trace }) };
                }
            }
        }
        at += 1;
    }
    let broken = graph.first_stuck(model).map(|at| Broken { how: STUCK, trace: graph.trace(model, at) });
    Explored { states: graph.states.len(), broken }
}

/// The states seen, in the order of their distance from the start.
struct Graph<S> {
    states: Vec<S>,
    numbers: HashMap<S, u32, BuildHasherDefault<Mixer>>,
    /// For each state, the one it was first reached from.
    from: Vec<u32>,
    /// The steps that are no faults, sorted as they were found.
    edges: Vec<(u32, u32)>,
}

impl<S: Copy + Eq + Hash> Graph<S> {
    fn new(start: S) -> Self {
        let mut numbers = HashMap::default();
        numbers.insert(start, 0);
        Self { states: vec![start], numbers, from: vec![0], edges: Vec::new() }
    }

    fn add(&mut self, from: usize, next: S, is_fault: bool) {
        let fresh = self.states.len() as u32;
        let number = match self.numbers.entry(next) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(free) => {
                free.insert(fresh);
                self.states.push(next);
                self.from.push(from as u32);
                fresh
            }
        };
        if !is_fault {
            self.edges.push((from as u32, number));
        }
    }

    /// The steps to a state, in words.
    fn trace<M: Model<State = S>>(&self, model: &M, mut at: usize) -> Vec<String> {
        let mut trace = Vec::new();
        let mut steps = Steps(Vec::new());
        while at != 0 {
            let from = self.from[at] as usize;
            model.steps(&self.states[from], &mut steps);
            let taken = steps.0.drain(..).find(|step| step.next == Ok(self.states[at]));
            let taken = taken.expect("the state was reached by a step from there");
            trace.push(words(taken.who, taken.what, taken.number));
            at = from;
        }
        trace.reverse();
        trace
    }

    /// The nearest state where threads that can no longer reach the end go round in circles, or rest.
    fn first_stuck<M: Model<State = S>>(&self, model: &M) -> Option<usize> {
        let forward = &self.edges;
        let mut backward: Vec<(u32, u32)> = forward.iter().map(|&(from, to)| (to, from)).collect();
        backward.sort_unstable();
        let mut reaches: Vec<bool> = self.states.iter().map(|state| model.is_done(state)).collect();
        let mut open: Vec<u32> = (0..self.states.len() as u32).filter(|&at| reaches[at as usize]).collect();
        while let Some(to) = open.pop() {
            for from in neighbours(&backward, to) {
                if !std::mem::replace(&mut reaches[from as usize], true) {
                    open.push(from);
                }
            }
        }
        let stuck: Vec<u32> = (0..self.states.len() as u32).filter(|&at| !reaches[at as usize]).collect();
        first_circle(&stuck, forward, &backward)
    }
}

/// Of states that only lead to each other, the first one in a part that is never left.
fn first_circle(stuck: &[u32], forward: &[(u32, u32)], backward: &[(u32, u32)]) -> Option<usize> {
    let mut is_left: HashMap<u32, bool> = HashMap::new();
    for &at in stuck.iter().rev() {
        if is_left.contains_key(&at) {
            continue;
        }
        let ahead = around(at, forward, |next| is_left.contains_key(&next));
        let leads_on = ahead.iter().any(|next| is_left.contains_key(next));
        if leads_on
            || around(at, backward, |before| !ahead.contains(&before)).intersection(&ahead).count() < ahead.len()
        {
            is_left.insert(at, true);
        } else {
            is_left.extend(ahead.into_iter().map(|inside| (inside, false)));
        }
    }
    stuck.iter().find(|at| !is_left[at]).map(|&at| at as usize)
}

/// The states that can be reached along `edges`, the first one included; not beyond the stops.
fn around(at: u32, edges: &[(u32, u32)], stops: impl Fn(u32) -> bool) -> HashSet<u32> {
    let mut seen = HashSet::from([at]);
    let mut open = vec![at];
    while let Some(at) = open.pop() {
        for next in neighbours(edges, at) {
            if seen.insert(next) && !stops(next) {
                open.push(next);
            }
        }
    }
    seen
}

/// Where edges that are sorted by their first end lead from there.
fn neighbours(edges: &[(u32, u32)], from: u32) -> impl Iterator<Item = u32> {
    let first = edges.partition_point(|edge| edge.0 < from);
    edges[first..].iter().take_while(move |edge| edge.0 == from).map(|edge| edge.1)
}

fn words(who: &str, what: &str, number: i8) -> String {
    format!("  {who} {}", what.replace("{}", &number.to_string()))
}

/// A multiplicative hash: states are many and small, nobody attacks them, and the order of visits does not depend on it.
#[derive(Default)]
struct Mixer(u64);

impl Mixer {
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, word: u8) {
        self.mix(word.into());
    }

    fn write_i8(&mut self, word: i8) {
        self.mix(word as u64);
    }

    fn write_usize(&mut self, word: usize) {
        self.mix(word as u64);
    }

    fn write_isize(&mut self, word: isize) {
        self.mix(word as u64);
    }
}

mod tests {
    use super::*;

    /// Counts to 3, by ones or by a jump that a fault allows; a trap lies at 7.
    struct Counter {
        trap: bool,
    }

    impl Model for Counter {
        type State = i8;

        fn start(&self) -> i8 {
            0
        }

        fn steps(&self, &state: &i8, steps: &mut Steps<i8>) {
            match state {
                0..3 => steps.add("counter", "counts {}", state, state + 1),
                7 => steps.fault("counter", "is freed", 3),
                _ => {}
            }
            if state == 1 && self.trap {
                steps.add("counter", "falls", 0, 7);
            }
            if state == 2 {
                let next = if self.trap { Ok(3) } else { Err("two is too many") };
                steps.judge("counter", "weighs {}", 2, next);
            }
        }

        fn is_done(&self, &state: &i8) -> bool {
            state == 3
        }
    }

    #[test]
    fn a_violation_comes_with_a_shortest_trace() {
        assert_eq!(explore(&Counter { trap: false }).breaks("counter", "two is too many"), 3);
    }

    #[test]
    fn a_state_that_only_a_fault_leaves_is_stuck() {
        assert_eq!(explore(&Counter { trap: true }).breaks("counter", STUCK), 2);
    }
}
