//! A replica whose state machine has panicked: it leaves, or, if all others did so at the same command, the group stops.

use super::driver::Driver;
use super::inner::Inner;
use crate::runtime::End;
use crate::segment::NodeState;
use crate::{Index, StateMachine};

impl<S: StateMachine> Driver<S> {
    /// The state machine panicked at this command: this replica applies no more, and says so.
    pub(super) fn panicked(&mut self, inner: &Inner<S>, index: Index) {
        self.panicked_at = Some(index);
        self.show_state(NodeState::Left);
        self.shm.peers.wake_others(self.shm.me);
        self.judge_panic(inner);
    }

    /// Ends this node once it is clear whether another replica has got past the command.
    pub(super) fn judge_panic(&mut self, inner: &Inner<S>) {
        let Some(index) = self.panicked_at else { return };
        let (mut survives, mut is_undecided) = (false, false);
        for node in self.core.members().iter().filter(|&node| node != self.shm.me) {
            let Some(segment) = self.shm.segment(node) else { continue };
            let has_stopped = segment.state() == Some(NodeState::Left) && segment.applied() == index;
            survives |= segment.applied() > index;
            is_undecided |= !has_stopped && !self.shm.peers.is_dead(node);
        }
        if survives {
            inner.ending.set(End::Expelled);
        } else if !is_undecided {
            inner.control.poison(index);
            inner.ending.set(End::Poisoned(index));
            self.shm.peers.wake_others(self.shm.me);
        } else if let Some(index) = inner.control.poisoned() {
            inner.ending.set(End::Poisoned(index));
        }
    }
}
