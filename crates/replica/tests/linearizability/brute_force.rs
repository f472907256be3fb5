//! Tries every order.

use corecast_replica::linearizability::{Model, Operation};

pub(crate) fn is_linearizable<M: Model>(model: &M, history: &[Operation<M::Op, M::Answer>]) -> bool {
    let left: Vec<usize> = (0..history.len()).collect();
    can_go_on(model, history, &model.initial(), &left)
}

fn can_go_on<M: Model>(model: &M, history: &[Operation<M::Op, M::Answer>], state: &M::State, left: &[usize]) -> bool {
    if left.iter().all(|at| history[*at].returned.is_none()) {
        return true;
    }
    left.iter().any(|&at| {
        let is_next = left
            .iter()
            .all(|other| history[*other].returned.as_ref().is_none_or(|end| end.at_ns >= history[at].call_ns));
        let (after, answer) = model.apply(state, &history[at].op);
        let gives_it = history[at].returned.as_ref().is_none_or(|end| end.answer == answer);
        let rest: Vec<usize> = left.iter().copied().filter(|other| *other != at).collect();
        is_next && gives_it && can_go_on(model, history, &after, &rest)
    })
}
