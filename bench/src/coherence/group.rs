//! Participants: a thread bound to each CPU, which meet over lines of their own.

use std::thread;

use corecast::base::{Clock, CpuId};
use corecast::machine::pin;

use corecast_race::cancel::Cancel;
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Patience, Rendezvous};

/// The participants.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// By rank.
    pub(crate) cpus: Vec<CpuId>,
    /// By which the user may stop it.
    pub(crate) cancel: Cancel,
}

/// Where the participants of one case meet.
#[derive(Debug)]
pub(crate) struct Meeting<'a> {
    point: Rendezvous,
    abort: Abort,
    cancel: &'a Cancel,
}

impl Meeting<'_> {
    /// Waits for all. The earlier writes of each are in its cache, and seen by all afterwards.
    #[inline]
    pub(crate) fn meet(&self) -> Result<(), Failure> {
        self.point.meet(&self.abort)
    }

    /// As [`meet`](Self::meet); tells all the same tick, at which the last of them was here.
    pub(crate) fn meet_at(&self) -> Result<u64, Failure> {
        self.point.meet_with(&self.abort, || Clock::get().ticks())
    }

    /// Goes on, or gives up if the user wants that or another participant has failed.
    #[inline]
    pub(crate) fn go_on(&self) -> Result<(), Failure> {
        self.heed_user();
        self.abort.check()
    }

    /// Stops all if the user wants that.
    pub(crate) fn heed_user(&self) {
        if self.cancel.is_cancelled() {
            self.abort.raise();
        }
    }
}

impl Group {
    /// Lets every participant do `part`, which is told its rank, and returns what each of them did. If one fails the others
    /// are stopped, and its failure is returned; [`Failure::Aborted`] means the user.
    pub(crate) fn run<R: Send>(
        &self,
        part: &(dyn Fn(usize, &Meeting<'_>) -> Result<R, Failure> + Sync),
    ) -> Result<Vec<R>, Failure> {
        let mut distinct = self.cpus.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let patience = Patience::new(distinct.len() < self.cpus.len());
        let meeting = Meeting {
            point: Rendezvous::new(self.cpus.len(), patience),
            abort: Abort::default(),
            cancel: &self.cancel,
        };
        let run = |rank: usize| {
            let done = pin::pin(self.cpus[rank]).map_err(Failure::refused).and_then(|_pinned| part(rank, &meeting));
            if done.is_err() {
                meeting.abort.raise();
            }
            done
        };
        let results: Vec<Result<R, Failure>> = thread::scope(|scope| {
            let run = &run;
            let spawn = |rank| thread::Builder::new().spawn_scoped(scope, move || run(rank));
            let spawn = |rank| spawn(rank).map_err(Failure::while_doing("start a thread"));
            // Threads that were started wait for the others; they must not where one could not be started.
            let spawn = |rank| spawn(rank).inspect_err(|_| meeting.abort.raise());
            let threads: Vec<_> = (0..self.cpus.len()).map(spawn).collect();
            let join = |thread: thread::ScopedJoinHandle<'_, _>| thread.join().expect("no participant panics");
            threads.into_iter().map(|thread| thread.and_then(join)).collect()
        });
        let is_cause = |result: &&Result<R, Failure>| !matches!(result, Ok(_) | Err(Failure::Aborted));
        if let Some(Err(cause)) = results.iter().find(is_cause) {
            return Err(cause.clone());
        }
        results.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(cpus: &[u32]) -> Group {
        Group { cpus: cpus.iter().map(|&cpu| CpuId::new(cpu)).collect(), cancel: Cancel::new() }
    }

    #[test]
    fn one_that_fails_is_named_and_the_others_go_on() {
        let here = pin::affinity().expect("own mask").as_slice()[0].get();
        let done = group(&[here, here, here]).run(&|rank, meeting| {
            meeting.meet()?;
            if rank == 1 {
                return Err(Failure::Wrong("lost a value".to_owned()));
            }
            meeting.meet()
        });
        assert_eq!(done, Err(Failure::Wrong("lost a value".to_owned())));
        let absent = group(&[here, 1023]).run(&|_, meeting| meeting.meet());
        assert!(matches!(absent, Err(Failure::Refused(_))), "{absent:?}");
    }

    #[test]
    fn the_user_stops_all() {
        let here = pin::affinity().expect("own mask").as_slice()[0].get();
        let group = group(&[here, here]);
        group.cancel.cancel();
        let done = group.run(&|_, meeting| -> Result<(), Failure> {
            loop {
                meeting.heed_user();
                meeting.meet()?;
            }
        });
        assert_eq!(done, Err(Failure::Aborted));
    }
}
