//! Data behind the locks of the standard library and of other crates, each as its documentation says that it is fastest.

use std::cell::Cell;

use clhlock::raw::MutexNode as ClhNode;
use corecast::lock::Setup;
use mcslock::raw::MutexNode;
use parking_lot::MutexGuard;
use spin::mutex::TicketMutex;

use super::guarded::{Guarded, Line};

impl Guarded for std::sync::Mutex<Line> {
    fn new(_setup: &Setup) -> Self {
        Self::default()
    }

    #[inline(always)]
    fn with<R: Send>(&self, work: impl FnOnce(&mut Line) -> R + Send) -> R {
        work(&mut self.lock().expect("no work panics"))
    }
}

impl Guarded for parking_lot::Mutex<Line> {
    fn new(_setup: &Setup) -> Self {
        Self::default()
    }

    #[inline(always)]
    fn with<R: Send>(&self, work: impl FnOnce(&mut Line) -> R + Send) -> R {
        work(&mut self.lock())
    }
}

/// `parking_lot` whose holder hands the lock to the thread that has slept longest, if one sleeps.
pub(super) struct HandedOn(parking_lot::Mutex<Line>);

impl Guarded for HandedOn {
    fn new(_setup: &Setup) -> Self {
        Self(parking_lot::Mutex::default())
    }

    #[inline(always)]
    fn with<R: Send>(&self, work: impl FnOnce(&mut Line) -> R + Send) -> R {
        let mut line = self.0.lock();
        let result = work(&mut line);
        MutexGuard::unlock_fair(line);
        result
    }
}

impl Guarded for TicketMutex<Line> {
    const GIVES_WAY: bool = false;

    fn new(_setup: &Setup) -> Self {
        Self::default()
    }

    #[inline(always)]
    fn with<R: Send>(&self, work: impl FnOnce(&mut Line) -> R + Send) -> R {
        work(&mut self.lock())
    }
}

impl Guarded for mcslock::raw::spins::Mutex<Line> {
    const GIVES_WAY: bool = false;

    fn new(_setup: &Setup) -> Self {
        Self::new(Line::default())
    }

    #[inline(always)]
    fn with<R: Send>(&self, work: impl FnOnce(&mut Line) -> R + Send) -> R {
        self.lock_with_then(&mut MutexNode::new(), work)
    }
}

thread_local! {
    /// The node that this thread got at its last unlock: a new one would be allocated.
    static CLH_NODE: Cell<Option<ClhNode>> = const { Cell::new(None) };
}

impl Guarded for clhlock::raw::spins::Mutex<Line> {
    const GIVES_WAY: bool = false;

    fn new(_setup: &Setup) -> Self {
        Self::new(Line::default())
    }

    #[inline(always)]
    fn with<R: Send>(&self, work: impl FnOnce(&mut Line) -> R + Send) -> R {
        let mut line = self.lock_with(CLH_NODE.take().unwrap_or_default());
        let result = work(&mut line);
        CLH_NODE.set(Some(line.unlock()));
        result
    }
}
