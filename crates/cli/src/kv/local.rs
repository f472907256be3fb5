//! A store in this process alone, for tests of the server: what it does without any agreement.

use std::cell::RefCell;
use std::rc::Rc;

use corecast::replica::kv::{Answer, Op, Out, Query, Store};
use corecast::replica::{Batch, Batched, StateMachine};

use super::deadline::Deadline;
use super::replica::{Replica, Session, Standing, Trouble};

/// The store, and the number of batches applied.
#[derive(Debug, Default, Clone)]
pub(crate) struct Local(Rc<RefCell<State>>);

#[derive(Debug, Default)]
struct State {
    store: Batched<Store>,
    applied: u64,
}

/// Operations are applied as they are started; their results wait here.
#[derive(Debug)]
pub(crate) struct LocalSession {
    local: Local,
    started: u32,
    results: std::collections::VecDeque<(u32, Batch<Out>)>,
}

impl Replica for Local {
    type Session = LocalSession;

    fn session(&self, _: &Deadline) -> Result<LocalSession, Trouble> {
        Ok(LocalSession { local: self.clone(), started: 0, results: Default::default() })
    }

    fn read(&self, query: &Query, _: &Deadline) -> Result<Answer, Trouble> {
        Ok(self.0.borrow().store.query(query))
    }

    fn standing(&self) -> Standing {
        Standing { is_leader: true, ended: None }
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![("applied", self.0.borrow().applied.to_string())]
    }
}

impl Session for LocalSession {
    const OUTSTANDING: usize = 16;

    fn start(&mut self, ops: &Batch<Op>, _: &Deadline) -> Result<u32, Trouble> {
        let state = &mut *self.local.0.borrow_mut();
        let out = state.store.apply(state.applied, ops);
        state.applied += 1;
        self.started += 1;
        self.results.push_back((self.started, out));
        assert!(self.results.len() <= Self::OUTSTANDING, "the server keeps to the limit");
        Ok(self.started)
    }

    fn wait(&mut self, number: u32, _: &Deadline) -> Result<Batch<Out>, Trouble> {
        match self.results.pop_front() {
            Some((first, out)) if first == number => Ok(out),
            _ => Err(Trouble(format!("no operation {number}"))),
        }
    }
}
