//! Structures of transactional memory are linearizable: what several participants saw of single operations has an order in which
//! a structure without concurrency gives the same answers.

use std::collections::VecDeque;

use corecast::base::{Clock, CpuId};
use corecast::machine::{Cpu, Machine, Topology};
use corecast::replica::linearizability::{
    Model, Operation, Register, RegisterAnswer, RegisterOp, Return, USUAL_LIMIT, Verdict, check, split_by_key,
};
use corecast::tm::structures::{HashTable, Queue, Search, SkipListMap, SortedList};
use corecast::tm::{Abort, Form, Manager, Participant, Tm, Tx, Values, Writes};

const KEYS: u64 = 4;
const ROUNDS: u64 = 200;

fn now_ns() -> u64 {
    let clock = Clock::get();
    clock.ns(clock.ticks()) as u64
}

/// The ways to hold locks and values, and when writes are claimed.
#[derive(Debug, Clone, Copy)]
struct Kind {
    form: Form,
    values: Values,
    writes: Writes,
    /// Whether the memory is one for processes: writes are logged, and the locks of buckets survive their holders.
    is_for_processes: bool,
}

const MESSAGES: Kind =
    Kind { form: Form::Messages, values: Values::InMemory, writes: Writes::Lazy, is_for_processes: false };
const SHARED: Kind = Kind { form: Form::Shared, ..MESSAGES };
const KINDS: [Kind; 8] = [
    MESSAGES,
    SHARED,
    Kind { writes: Writes::Eager, ..MESSAGES },
    Kind { writes: Writes::Eager, ..SHARED },
    Kind { values: Values::AtServers, ..MESSAGES },
    Kind { values: Values::AtServers, writes: Writes::Eager, ..MESSAGES },
    Kind { is_for_processes: true, ..MESSAGES },
    Kind { is_for_processes: true, ..SHARED },
];

/// Three applications, and a server in the form of messages.
fn tm(kind: Kind, manager: Manager) -> Tm {
    let Kind { form, values, writes, is_for_processes } = kind;
    let cpus = [0, 1].map(|id| Cpu::flat(CpuId::new(id))).to_vec();
    let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
    let builder = Tm::builder(&machine).participants(4).servers_every(4).form(form).manager(manager);
    let builder = builder.values(values).writes(writes);
    if is_for_processes { builder.create() } else { builder.build() }.expect("memory")
}

/// Runs one operation as a transaction, and notes when and how it was answered.
fn noted<O, A>(
    participant: &mut Participant,
    op: O,
    run: impl Fn(&mut Tx<'_>, &O) -> Result<A, Abort>,
) -> Operation<O, A> {
    let (client, call_ns) = (u64::from(participant.id().0), now_ns());
    let answer = participant.run(|tx| run(tx, &op)).expect("nobody dies");
    Operation { client, op, call_ns, returned: Some(Return { at_ns: now_ns(), answer }) }
}

#[track_caller]
fn is_linearizable<M: Model>(model: &M, history: &[Operation<M::Op, M::Answer>], name: &str) {
    match check(model, history, USUAL_LIMIT) {
        Verdict::Linearizable => {}
        Verdict::Violated(violation) => {
            let mut text = String::new();
            violation.explain(history, &mut text).expect("a string takes all");
            panic!("{name}: {text}");
        }
        Verdict::Undecided(_) => panic!("{name}: too many operations at one time"),
    }
}

/// The operations of a map from keys to values, where an insertion leaves the old value.
fn map_history(
    tm: &Tm,
    apply: impl Fn(&mut Tx<'_>, u64, &RegisterOp) -> Result<RegisterAnswer, Abort> + Sync,
    name: &str,
) {
    let histories = tm.run_threads(|mut participant| {
        let me = u64::from(participant.id().0);
        let mut random = fastrand::Rng::with_seed(me);
        let mut history = Vec::new();
        for round in 0..ROUNDS {
            let key = random.u64(..KEYS);
            let op = match random.u8(..4) {
                0 | 1 => RegisterOp::Get,
                2 => RegisterOp::CompareAndSet { old: None, new: me << 32 | round },
                _ => RegisterOp::Delete,
            };
            history.push((key, noted(&mut participant, op, |tx, op| apply(tx, key, op))));
        }
        history
    });
    for (key, history) in split_by_key(histories.expect("threads").into_iter().flatten()) {
        is_linearizable(&Register, &history, &format!("{name}, key {key}"));
    }
}

#[test]
fn lists_are_linearizable() {
    for kind in KINDS {
        for search in Search::ALL {
            for manager in [Manager::FairCm, Manager::None] {
                let tm = tm(kind, manager);
                let list = SortedList::new(&tm, search).expect("room");
                let apply = |tx: &mut Tx<'_>, key, op: &RegisterOp| match *op {
                    RegisterOp::CompareAndSet { new, .. } => list.insert(tx, key, new).map(RegisterAnswer::Was),
                    RegisterOp::Delete => Ok(RegisterAnswer::Was(list.remove(tx, key)?.is_some())),
                    _ => list.get(tx, key).map(RegisterAnswer::Value),
                };
                map_history(&tm, apply, &format!("{kind:?} {} {manager}", search.name()));
            }
        }
    }
}

#[test]
fn tables_are_linearizable() {
    for kind in KINDS {
        for search in Search::ALL {
            let tm = tm(kind, Manager::Wholly);
            let table = HashTable::new(&tm, 2, search).expect("room");
            let apply = |tx: &mut Tx<'_>, key, op: &RegisterOp| match *op {
                RegisterOp::CompareAndSet { new, .. } => table.insert(tx, key, new).map(RegisterAnswer::Was),
                RegisterOp::Delete => Ok(RegisterAnswer::Was(table.remove(tx, key)?.is_some())),
                _ => table.get(tx, key).map(RegisterAnswer::Value),
            };
            map_history(&tm, apply, &format!("{kind:?} {}", search.name()));
        }
    }
}

#[test]
fn maps_are_linearizable() {
    for kind in KINDS {
        let tm = tm(kind, Manager::OffsetGreedy);
        let map = SkipListMap::new(&tm).expect("room");
        let apply = |tx: &mut Tx<'_>, key, op: &RegisterOp| match *op {
            RegisterOp::CompareAndSet { new, .. } => {
                let is_new = map.get(tx, key)?.is_none();
                if is_new {
                    map.insert(tx, key, new)?;
                }
                Ok(RegisterAnswer::Was(is_new))
            }
            RegisterOp::Delete => Ok(RegisterAnswer::Was(map.remove(tx, key)?.is_some())),
            _ => map.get(tx, key).map(RegisterAnswer::Value),
        };
        map_history(&tm, apply, &format!("{kind:?}"));
    }
}

/// A queue without concurrency.
struct Fifo;

#[derive(Debug, Clone, Copy, PartialEq)]
enum FifoOp {
    Push(u64),
    Pop,
}

impl Model for Fifo {
    type State = VecDeque<u64>;
    type Op = FifoOp;
    type Answer = Option<u64>;

    fn initial(&self) -> VecDeque<u64> {
        VecDeque::new()
    }

    fn apply(&self, state: &VecDeque<u64>, op: &FifoOp) -> (VecDeque<u64>, Option<u64>) {
        let mut state = state.clone();
        let answer = match *op {
            FifoOp::Push(value) => {
                state.push_back(value);
                None
            }
            FifoOp::Pop => state.pop_front(),
        };
        (state, answer)
    }

    fn is_read(&self, op: &FifoOp, answer: &Option<u64>) -> bool {
        *op == FifoOp::Pop && answer.is_none()
    }
}

#[test]
fn queues_are_linearizable() {
    for kind in KINDS {
        let tm = tm(kind, Manager::FairCm);
        let queue = Queue::new(&tm).expect("room");
        let histories = tm.run_threads(|mut participant| {
            let me = u64::from(participant.id().0);
            let mut random = fastrand::Rng::with_seed(me);
            let ops = (0..ROUNDS).map(|round| if random.bool() { FifoOp::Push(me << 32 | round) } else { FifoOp::Pop });
            let run = |tx: &mut Tx<'_>, op: &FifoOp| match *op {
                FifoOp::Push(value) => queue.push(tx, value).map(|()| None),
                FifoOp::Pop => queue.pop(tx),
            };
            ops.map(|op| noted(&mut participant, op, run)).collect::<Vec<_>>()
        });
        let history: Vec<_> = histories.expect("threads").into_iter().flatten().collect();
        is_linearizable(&Fifo, &history, &format!("{kind:?}"));
    }
}
