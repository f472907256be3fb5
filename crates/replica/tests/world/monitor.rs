//! The invariants that no node can see alone.

use std::collections::BTreeMap;

use corecast_replica::{Command, Index, Op, SessionId};

use super::{Body, Process};

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Monitor {
    /// The commands that any node has applied, dead ones included.
    decided: BTreeMap<Index, Command<Body>>,
    shown: Index,
    /// Where each request was run.
    runs: BTreeMap<(SessionId, u32), Index>,
    /// The hash of each prefix.
    prefixes: BTreeMap<Index, u128>,
    violation: Option<String>,
}

impl Monitor {
    /// I1.
    pub(crate) fn applies(&mut self, at: usize, index: Index, command: &Command<Body>) {
        let decided = self.decided.entry(index).or_insert(*command);
        if *decided != *command {
            self.violation = Some(format!("I1: process {at} applies {command:?} at {index}, another {decided:?}"));
        }
        self.shown = self.shown.max(index + 1);
    }

    /// I10.
    pub(crate) fn runs(&mut self, index: Index, command: &Command<Body>) {
        let at = *self.runs.entry((command.session, command.rid)).or_insert(index);
        if at != index {
            self.violation = Some(format!("I10: {command:?} is run at {index} and at {at}"));
        }
    }

    /// I11.
    pub(crate) fn check_prefix(&mut self, count: Index, prefix: u128) {
        if *self.prefixes.entry(count).or_insert(prefix) != prefix {
            self.violation = Some(format!("I11: replicas differ after {count} commands"));
        }
    }

    /// I8, for members by their own account that have not been put out.
    pub(crate) fn check_stable(&mut self, stable: Index, processes: &[Process]) {
        for process in processes.iter().filter(|process| process.node.applied_count() < stable) {
            let node = process.node.id();
            let is_out = |command: &Command<Body>| matches!(command.op, Op::Leave { node: left, .. } if left == node);
            if process.node.members().contains(node) && !self.decided.values().any(is_out) {
                self.violation = Some(format!("I8: stable is {stable}, and {node} is behind"));
            }
        }
    }

    /// The count of commands whose effect was seen.
    pub(crate) fn shown(&self) -> Index {
        self.shown
    }

    pub(crate) fn decided(&self) -> &BTreeMap<Index, Command<Body>> {
        &self.decided
    }

    pub(crate) fn violate(&mut self, text: String) {
        self.violation = Some(text);
    }

    pub(crate) fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }

    pub(crate) fn is_violated(&self) -> bool {
        self.violation.is_some()
    }
}
