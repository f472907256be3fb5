//! The barrier of the standard library: a mutex and a condition variable.

use std::sync::Arc;

use super::bodies::{BarrierEnd, barrier_bodies};
use super::{Contender, Setting, Unfit};
use crate::failure::Failure;
use crate::harness::{Abort, Body};

pub(super) struct StdBarrier;

struct End(Arc<std::sync::Barrier>);

impl Contender for StdBarrier {
    fn name(&self) -> String {
        "std".to_owned()
    }

    fn about(&self) -> String {
        "std::sync::Barrier: mutex and condition variable, sleeps at once".to_owned()
    }

    fn build(&self, setting: &Setting<'_>, _abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        let members = setting.participants();
        let barrier = Arc::new(std::sync::Barrier::new(members));
        Ok(barrier_bodies((0..members).map(|_| End(Arc::clone(&barrier))).collect()))
    }
}

impl BarrierEnd for End {
    #[inline]
    fn wait(&mut self) -> Result<(), Failure> {
        self.0.wait();
        Ok(())
    }
}
