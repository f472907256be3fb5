//! Broadcasts of many members in one thread, which take steps in random order. The tests check that no member acknowledges
//! early, that no slot is overwritten, and that every event comes once, whole, and in order where there is an order.

use corecast_base::wait::{Wait, WakeWord};
use corecast_base::{Arena, CpuId};
use corecast_machine::{Cpu, Machine, Topology};
use corecast_plan::Problem;

use super::config::{AckConfig, AckOn, AckTuning, Edges, Variant};
use super::engine::{Incoming, Outgoing};
use super::route::Route;
use super::scheduler::Discipline;
use crate::membership::MemberTable;

const EVENTS: u64 = 60;

/// One broadcast and what is known of it.
struct Run {
    config: AckConfig,
    table: MemberTable,
    root: Outgoing<u64>,
    /// All members but the root, by rank from 1.
    others: Vec<Incoming<u64>>,
    /// For each of them, the events it has processed.
    processed: Vec<Vec<bool>>,
    published: u64,
    random: fastrand::Rng,
}

fn value(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Run {
    fn new(problem: &Problem, config: AckConfig, seed: u64) -> Self {
        let (arena, route) = (Arena::heap(), Route::new(&config, problem));
        let in_memory = "the heap has room";
        let root = Outgoing::lay_out(&mut arena.from_start(), 0, &config, &route).expect(in_memory);
        let other = |rank| Incoming::lay_out(&mut arena.from_start(), rank, &config, &route).expect(in_memory);
        let others: Vec<_> = (1..problem.len()).map(other).collect();
        let processed = vec![vec![false; EVENTS as usize + 1]; others.len()];
        let wake_word = |cell| WakeWord::of_threads(Wait::Spin, cell);
        let table = MemberTable::lay_out(&mut Arena::heap(), problem.len(), wake_word).expect(in_memory);
        let random = fastrand::Rng::with_seed(seed);
        Self { config, table, root, others, processed, published: 0, random }
    }

    fn keeps_order(&self) -> bool {
        self.config.tuning.edges != Edges::Tasks(Discipline::Lifo)
            || self.config.tuning.choice().0 == Variant::OrderedRing
    }

    fn acked(&mut self) -> u64 {
        self.root.acknowledged(&self.table).expect("nobody writes nonsense")
    }

    /// Runs until all are done.
    fn play(&mut self) {
        let mut acked = 0;
        let mut steps = 0;
        while acked <= EVENTS {
            match self.random.usize(0..=self.others.len()) {
                0 => acked = self.step_root(acked),
                other => self.step_other(other - 1),
            }
            steps += 1;
            assert!(steps < 4_000_000, "nothing goes on any more: {:?}", self.config);
        }
        // Events acknowledged on receipt may be left.
        while let Some(index) = self.processed.iter().position(|events| events[1..].contains(&false)) {
            self.step_other(index);
            steps += 1;
            assert!(steps < 4_000_000, "an event is missing: {:?}", self.config);
        }
        assert!(self.others.iter().all(Incoming::is_over), "all have passed on the end: {:?}", self.config);
    }

    fn step_root(&mut self, before: u64) -> u64 {
        let acked = self.acked();
        assert!(acked >= before && acked <= self.published, "{acked} after {before}");
        if self.config.tuning.ack_on == AckOn::Processed {
            for (index, events) in self.processed.iter().enumerate() {
                let early = (before + 1..=acked.min(EVENTS)).find(|&number| !events[number as usize]);
                assert_eq!(early, None, "acknowledged, and member {} has not processed it", index + 1);
            }
        }
        let room = self.config.window as u64 - (self.published - acked).min(self.config.window as u64);
        let count = self.random.u64(0..=room.min(EVENTS.saturating_sub(self.published)));
        let events: Vec<u64> = (self.published + 1..=self.published + count).map(value).collect();
        if !events.is_empty() {
            self.root.publish(self.published + 1, &events, &self.table);
            self.published += count;
        }
        if self.published == EVENTS && self.random.bool() {
            self.published += 1;
            self.root.end(self.published, &self.table);
        }
        acked
    }

    fn step_other(&mut self, index: usize) {
        let keeps_order = self.keeps_order();
        let Self { others, processed, table, random, .. } = self;
        let (other, events) = (&mut others[index], &mut processed[index]);
        for _ in 0..random.usize(0..5) {
            let Some(event) = other.take(table).expect("nobody writes nonsense") else { break };
            assert_eq!(event.value, value(event.number), "event {} was written over", event.number);
            let next = events.iter().skip(1).take_while(|&&done| done).count() as u64 + 1;
            assert!(!keeps_order || event.number == next, "{} in the place of {next}", event.number);
            assert!(!std::mem::replace(&mut events[event.number as usize], true), "twice");
            other.finish_given(table);
        }
        if random.bool() {
            other.pass_on(table);
        }
    }
}

fn play_all(edges: Edges, sizes: &[usize]) {
    let cpu = |id| Cpu::flat(CpuId::new(id));
    let mut seed = 0;
    for &members in sizes {
        let cpus = (0..members as u32).map(cpu).collect();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let problem = Problem::of_machine(&machine).expect("CPUs");
        for arity in 1..=4 {
            for (variant, companion) in [
                (Variant::Tree, false),
                (Variant::Ring, false),
                (Variant::Ring, true),
                (Variant::OrderedRing, members % 2 == 0),
            ] {
                for (window, ack_on) in [(1, AckOn::Processed), (5, AckOn::Received), (16, AckOn::Processed)] {
                    seed += 1;
                    let tuning = AckTuning { variant, edges, arity, ack_on, companion };
                    let config = AckConfig::new(0).window(window).tuning(tuning);
                    Run::new(&problem, config, seed).play();
                }
            }
        }
    }
}

const SIZES: [usize; 16] = [2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 17, 23, 31, 40, 47, 48];

#[test]
fn counters() {
    play_all(Edges::Counters, &SIZES);
}

#[test]
fn messages() {
    play_all(Edges::Messages, &SIZES);
}

#[test]
fn tasks() {
    play_all(Edges::Tasks(Discipline::Fifo), &SIZES[..12]);
    play_all(Edges::Tasks(Discipline::Lifo), &SIZES[..12]);
}
