//! The barrier by which the harness begins its blocks, raced like any other.

use std::sync::Arc;

use super::bodies::{BarrierEnd, barrier_bodies};
use super::{Contender, Setting, Unfit};
use crate::failure::Failure;
use crate::harness::{Abort, Body, Rendezvous};

pub(super) struct RendezvousBarrier;

struct End {
    barrier: Arc<Rendezvous>,
    abort: Arc<Abort>,
}

impl Contender for RendezvousBarrier {
    fn name(&self) -> String {
        "central".to_owned()
    }

    fn about(&self) -> String {
        "central barrier, a counter and a polled line; yields after 50 us, at once if oversubscribed".to_owned()
    }

    fn build(&self, setting: &Setting<'_>, abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        let members = setting.participants();
        let barrier = Arc::new(Rendezvous::new(members, setting.patience()));
        let end = |_| End { barrier: Arc::clone(&barrier), abort: Arc::clone(abort) };
        Ok(barrier_bodies((0..members).map(end).collect()))
    }
}

impl BarrierEnd for End {
    #[inline]
    fn wait(&mut self) -> Result<(), Failure> {
        self.barrier.meet(&self.abort)
    }
}
