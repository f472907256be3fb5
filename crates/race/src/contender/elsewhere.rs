//! The body of a participant whose operations are performed outside the harness's threads: a whole block at once.
//!
//! A thread of the harness stands for it and sleeps meanwhile. The stamps of that thread are replaced by those of the place
//! where the block was performed, so the way there and back is not timed.

use crate::failure::Failure;
use crate::harness::{Body, Stamps, Task};

/// Where the blocks of a participant are performed.
pub(super) trait Performer: Send {
    /// Performs a whole block, and returns when it is done.
    fn perform(&mut self, task: Task) -> Result<(), Failure>;

    /// Replaces what a thread of the harness saw of the last block.
    fn amend(&self, timing: &mut Stamps);
}

/// A participant of which the harness has only somebody who asks.
pub(super) struct Elsewhere<P> {
    performer: P,
    /// The block that was announced and not yet done.
    due: Option<Task>,
}

impl<P: Performer> Elsewhere<P> {
    pub(super) fn new(performer: P) -> Self {
        Self { performer, due: None }
    }

    /// The whole of the block that was announced, at the first call of its operation; nothing at the calls that follow.
    fn take_part(&mut self) -> Result<(), Failure> {
        self.due.take().map_or(Ok(()), |task| self.performer.perform(task))
    }
}

impl<P: Performer> Body for Elsewhere<P> {
    fn ready(&mut self, task: Task) -> Result<(), Failure> {
        self.due = Some(task);
        Ok(())
    }

    fn run(&mut self, _iterations: u64) -> Result<(), Failure> {
        self.take_part()
    }

    fn check(&mut self, _rounds: u64) -> Result<(), Failure> {
        self.take_part()
    }

    fn performs_elsewhere(&self) -> bool {
        true
    }

    fn amend(&mut self, timing: &mut Stamps) {
        self.performer.amend(timing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts its blocks.
    struct Counting(u64);

    impl Performer for Counting {
        fn perform(&mut self, _task: Task) -> Result<(), Failure> {
            self.0 += 1;
            Ok(())
        }

        fn amend(&self, timing: &mut Stamps) {
            timing.end = self.0;
        }
    }

    #[test]
    fn a_block_is_performed_once_however_often_its_operation_is_called() {
        let mut body = Elsewhere::new(Counting(0));
        let mut timing = Stamps::default();
        for (block, calls) in [(1, 3), (2, 1)] {
            body.ready(Task::Batch { iterations: 7 }).expect("announced");
            for _ in 0..calls {
                body.run(7).and_then(|()| body.check(7)).expect("performed");
            }
            body.amend(&mut timing);
            assert_eq!(timing.end, block);
        }
    }
}
