//! Histories that are linearizable by construction, and changes that may make them something else.

use corecast_replica::linearizability::{CounterOp, Model, Operation, RegisterAnswer, RegisterOp, Return};
use fastrand::Rng;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) clients: usize,
    pub(crate) operations: usize,
    /// The part of the operations whose client is killed.
    pub(crate) unanswered: f64,
    /// The part of the operations whose client is stopped for long.
    pub(crate) stopped: f64,
}

/// A history of a machine to which each operation happens at a moment between its call and its return.
pub(crate) fn history<M: Model>(
    model: &M,
    shape: Shape,
    seed: u64,
    mut op: impl FnMut(&mut Rng, u64) -> M::Op,
) -> Vec<Operation<M::Op, M::Answer>> {
    let rng = &mut Rng::with_seed(seed);
    let mut now = vec![0; shape.clients];
    let mut planned = Vec::new();
    for number in 0..shape.operations as u64 {
        let client = (0..shape.clients).min_by_key(|client| now[*client]).expect("at least one");
        let wait = if rng.f64() < shape.stopped { 20_000 } else { 20 };
        let call_ns = now[client] + rng.u64(0..10);
        let moment = call_ns + rng.u64(0..=wait);
        let at_ns = moment + rng.u64(0..=wait);
        now[client] = at_ns + 1;
        let is_answered = rng.f64() >= shape.unanswered;
        // Of the unanswered ones some never happen, and some late.
        let moment = match rng.u8(0..4) {
            _ if is_answered => Some(moment),
            0 | 1 => None,
            2 => Some(moment + rng.u64(0..500)),
            _ => Some(moment),
        };
        let operation = Operation { client: client as u64, op: op(rng, number), call_ns, returned: None };
        planned.push((moment, is_answered.then_some(at_ns), operation));
    }
    let mut order: Vec<usize> = (0..planned.len()).filter(|at| planned[*at].0.is_some()).collect();
    order.sort_by_key(|at| planned[*at].0);
    let mut state = model.initial();
    for at in order {
        let (_, at_ns, operation) = &mut planned[at];
        let (after, answer) = model.apply(&state, &operation.op);
        state = after;
        operation.returned = at_ns.map(|at_ns| Return { at_ns, answer });
    }
    planned.into_iter().map(|(_, _, operation)| operation).collect()
}

pub(crate) fn register_op(rng: &mut Rng, number: u64) -> RegisterOp {
    let old = [None, Some(1), Some(number.saturating_sub(rng.u64(1..4)))];
    match rng.u8(0..10) {
        0..4 => RegisterOp::Get,
        4..6 => RegisterOp::Set(number),
        6 => RegisterOp::Delete,
        7 | 8 => RegisterOp::CompareAndSet { old: old[rng.usize(0..3)], new: number },
        _ => RegisterOp::Increment,
    }
}

pub(crate) fn counter_op(rng: &mut Rng, _number: u64) -> CounterOp {
    if rng.bool() { CounterOp::Read } else { CounterOp::Add(rng.i64(-1..3)) }
}

/// Changes up to three things: an answer becomes that of another operation, an answer arrives earlier, a call comes later,
/// an answer is lost.
pub(crate) fn changed<O: Clone, A: Clone>(history: &mut [Operation<O, A>], seed: u64) {
    let rng = &mut Rng::with_seed(seed ^ 0x5eed);
    for _ in 0..rng.u8(0..4) {
        let other = history[rng.usize(0..history.len())].clone();
        let at = rng.usize(0..history.len());
        let operation = &mut history[at];
        let Some(returned) = &mut operation.returned else { continue };
        match (rng.u8(0..8), other.returned) {
            (0..4, Some(end)) => returned.answer = end.answer,
            (4 | 5, _) => returned.at_ns = rng.u64(operation.call_ns..=returned.at_ns),
            (6, _) => operation.call_ns = rng.u64(operation.call_ns..=returned.at_ns),
            _ => operation.returned = None,
        }
    }
}

/// Gives a read after position `from` the value that was overwritten before its call. Returns its position.
pub(crate) fn make_stale(history: &mut [Operation<RegisterOp, RegisterAnswer>], from: usize) -> usize {
    let old = history.iter().find_map(|operation| match (operation.op, &operation.returned) {
        (RegisterOp::Set(value), Some(_)) => Some(value),
        _ => None,
    });
    let is_read = |operation: &Operation<RegisterOp, RegisterAnswer>| {
        operation.op == RegisterOp::Get && operation.returned.is_some()
    };
    let at = (from..history.len()).find(|at| is_read(&history[*at])).expect("a read");
    let returned = history[at].returned.as_mut().expect("it was answered");
    returned.answer = RegisterAnswer::Value(old);
    at
}
