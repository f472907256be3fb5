//! The barrier of the crate `hurdles`: central and sense-reversing, with the back-off of an old parking_lot.
//!
//! Off by default: it brings seventeen crates of its own.

use std::sync::Arc;

use super::{Contender, Setting, Unfit};
use crate::harness::{Abort, Body};

pub(super) struct Hurdles;

impl Contender for Hurdles {
    fn name(&self) -> String {
        "hurdles".to_owned()
    }

    fn about(&self) -> String {
        "crate hurdles: central sense-reversing barrier, polls a little, then yields after every look".to_owned()
    }

    fn build(&self, setting: &Setting<'_>, _abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        bodies(setting.participants())
    }
}

#[cfg(feature = "hurdles")]
use enabled::bodies;

#[cfg(feature = "hurdles")]
mod enabled {
    use crate::contender::Unfit;
    use crate::contender::bodies::{BarrierEnd, barrier_bodies};
    use crate::failure::Failure;
    use crate::harness::Body;

    struct End(::hurdles::Barrier);

    /// Never `Err`: a build without the crate has a reason in its place.
    pub(super) fn bodies(members: usize) -> Result<Vec<Box<dyn Body>>, Unfit> {
        let first = ::hurdles::Barrier::new(members);
        Ok(barrier_bodies((0..members).map(|_| End(first.clone())).collect()))
    }

    impl BarrierEnd for End {
        #[inline]
        fn wait(&mut self) -> Result<(), Failure> {
            self.0.wait();
            Ok(())
        }
    }
}

#[cfg(not(feature = "hurdles"))]
fn bodies(_members: usize) -> Result<Vec<Box<dyn Body>>, Unfit> {
    let rebuild = "`cargo build --release -p corecast-cli --features hurdles`";
    Err(Unfit(format!("built without feature hurdles: {rebuild}")))
}
