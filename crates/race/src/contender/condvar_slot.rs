//! The textbook contender: one mutex around the state of an operation, one condition variable for all that wait.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::bodies::{AllreduceEnd, BroadcastEnd, ReduceEnd, allreduce_bodies, broadcast_bodies, reduce_bodies};
use super::{Contender, Setting, Unfit};
use crate::failure::Failure;
use crate::harness::{Abort, Body};
use crate::message::Message;
use crate::op::Op;

pub(super) struct CondvarSlot(pub(super) Op);

#[derive(Default)]
struct State {
    /// The operation whose value or sum stands in `message` or `result`.
    done: u64,
    message: Message,
    result: u64,
    /// The sum so far of the operation after `done`, and how many have contributed to it.
    sum: u64,
    arrived: usize,
    /// How many are still to take what operation `done` has to give.
    to_take: usize,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct End {
    rank: usize,
    root: usize,
    members: usize,
    operation: u64,
    shared: Arc<Shared>,
}

impl Contender for CondvarSlot {
    fn name(&self) -> String {
        "mutex+condvar".to_owned()
    }

    fn about(&self) -> String {
        "one mutex and one condition variable, sleeps at once".to_owned()
    }

    fn build(&self, setting: &Setting<'_>, _abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        if !setting.is_usual() {
            return Err(Unfit(format!("it carries {} bytes only", self.0.bytes())));
        }
        let (members, root) = (setting.participants(), setting.root);
        let shared: Arc<Shared> = Arc::default();
        let end = |rank| End { rank, root, members, operation: 0, shared: Arc::clone(&shared) };
        let ends = (0..members).map(end).collect();
        Ok(match self.0 {
            Op::Broadcast => broadcast_bodies(ends, root),
            Op::Reduce => reduce_bodies(ends, root),
            _ => allreduce_bodies(ends),
        })
    }
}

impl End {
    fn wait_while(&self, condition: impl FnMut(&mut State) -> bool) -> MutexGuard<'_, State> {
        let state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.shared.changed.wait_while(state, condition).unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds to the coming sum, once the one before has been taken by all who want it; the last contribution completes it
    /// for `takers`.
    fn contribute(&mut self, value: u64, takers: usize) {
        self.operation += 1;
        let before = self.operation - 1;
        let mut state = self.wait_while(|state| state.done != before || state.to_take > 0);
        state.sum = state.sum.wrapping_add(value);
        state.arrived += 1;
        if state.arrived == self.members {
            *state = State { done: self.operation, result: state.sum, to_take: takers, ..State::default() };
            self.shared.changed.notify_all();
        }
    }

    /// Waits for the operation at hand and takes what it gives; the last to take it makes way for the next.
    fn take<T>(&self, what: impl FnOnce(&State) -> T) -> T {
        let mut state = self.wait_while(|state| state.done != self.operation);
        state.to_take -= 1;
        if state.to_take == 0 {
            self.shared.changed.notify_all();
        }
        what(&state)
    }
}

impl BroadcastEnd for End {
    fn broadcast(&mut self, value: &mut Message) -> Result<(), Failure> {
        self.operation += 1;
        if self.rank == self.root {
            let mut state = self.wait_while(|state| state.to_take > 0);
            state.message = *value;
            state.done = self.operation;
            state.to_take = self.members - 1;
            self.shared.changed.notify_all();
        } else {
            *value = self.take(|state| state.message);
        }
        Ok(())
    }
}

impl ReduceEnd for End {
    fn reduce(&mut self, value: u64) -> Result<Option<u64>, Failure> {
        self.contribute(value, 1);
        Ok((self.rank == self.root).then(|| self.take(|state| state.result)))
    }
}

impl AllreduceEnd for End {
    fn allreduce(&mut self, value: u64) -> Result<u64, Failure> {
        self.contribute(value, self.members);
        Ok(self.take(|state| state.result))
    }
}
