//! Measures what a command costs two nodes beside its messages: one thread drives both, so every line stays where it is.

use std::time::Duration;

use corecast_base::Clock;

use super::config::{Config, Placement};
use super::driver::Driver;
use super::inner::Inner;
use super::open::Replicated;
use crate::error::{ExecuteError, OpenError};
use crate::placement::{RUN, Work};
use crate::runtime::{Node, Session};
use crate::segment::Body;
use crate::{Index, StateMachine, Wire};

/// Commands of each kind.
const COMMANDS: usize = 2000;
/// Commands before those that count.
const WARM_UP: usize = 200;
/// Groups that are made until one keeps its roles.
const ATTEMPTS: usize = 5;

/// The reason why the work was not measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkError {
    /// There was no group.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The group could not be shared among two nodes.
    #[error("a group could not be shared: {0}")]
    Share(#[from] std::io::Error),
    /// A command did not get its result in the turns that it needs: the roles have moved, in each group that was made.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
}

impl Work {
    /// Measures it with this operation, in a group of two of its own. It takes some milliseconds of this thread, which should be
    /// bound to a CPU.
    ///
    /// # Errors
    /// [`WorkError`].
    ///
    /// # Panics
    /// If the operation has more than 32 bytes: it has to fit into a line of the log.
    pub fn measure<S: StateMachine>(config: &Config, state: impl Fn() -> S, op: &S::Op) -> Result<Self, WorkError> {
        let mut bytes = Vec::new();
        op.encode(&mut bytes);
        assert!(Body::inline(&bytes).is_some(), "an operation of {} bytes does not fit into a line", bytes.len());
        let mut measured = measure_once(config, state(), op);
        for _ in 1..ATTEMPTS {
            if measured.is_ok() {
                break;
            }
            measured = measure_once(config, state(), op);
        }
        measured
    }
}

fn measure_once<S: StateMachine>(config: &Config, state: S, op: &S::Op) -> Result<Work, WorkError> {
    let leader = Replicated::create(config, state)?;
    let other: Node<S> = Replicated::attach_fd(config, leader.share()?)?;
    let sessions = [leader.session()?, other.session()?];
    let is_fused = config.placement == Placement::Fused;
    let mut hands = Hands { inner: [leader.inner(), other.inner()], sessions, is_fused };
    let [order, accept, learn] = hands.times([LEADER, OTHER, LEADER], 1, op)?;
    let [forward, serve, finish, follow] = hands.times([OTHER, LEADER, OTHER, LEADER], 1, op)?;
    let [_, run, _] = hands.times([LEADER, OTHER, LEADER], RUN, op)?;
    let run_share = if accept > 0.0 { (run - accept) / (RUN - 1) as f64 / accept } else { 1.0 };
    Ok(Work { order, accept, learn, forward, serve, finish, follow, run_share: run_share.clamp(0.0, 1.0) })
}

const LEADER: usize = 0;
const OTHER: usize = 1;

/// The nodes that one thread drives, and a session at each.
struct Hands<'a, S: StateMachine> {
    inner: [&'a Inner<S>; 2],
    sessions: [Session<S>; 2],
    is_fused: bool,
}

impl<S: StateMachine> Hands<'_, S> {
    /// The median times of these turns, in nanoseconds: the first node's client asks `requests` times, and has its results in the
    /// end.
    fn times<const N: usize>(&mut self, turns: [usize; N], requests: usize, op: &S::Op) -> Result<[f64; N], WorkError> {
        let mut taken: [Vec<u64>; N] = std::array::from_fn(|_| Vec::with_capacity(COMMANDS));
        let mut looks = Vec::with_capacity(COMMANDS);
        for round in 0..WARM_UP + COMMANDS {
            let (times, look) = self.round(turns, requests, op)?;
            if round >= WARM_UP {
                taken.iter_mut().zip(times).for_each(|(all, time)| all.push(time));
                looks.push(look);
            }
        }
        // Each time has one look at the clock in it.
        let look = median(&mut looks);
        Ok(taken.map(|mut all| (median(&mut all) - look).max(0.0)))
    }

    fn round<const N: usize>(
        &mut self,
        turns: [usize; N],
        requests: usize,
        op: &S::Op,
    ) -> Result<([u64; N], u64), WorkError> {
        let clock = Clock::get();
        // Nobody else drives meanwhile: neither the threads of the nodes nor the sessions.
        let [mut first, mut second] = self.inner.map(|inner| inner.driver.lock());
        let drivers: [&mut Driver<S>; 2] = [&mut first, &mut second];
        let session = &mut self.sessions[turns[0]];
        let mut times = [0; N];
        let mut begin = clock.ticks_in_order();
        let mut rids = [0; RUN];
        // A leader that accepts its own proposals orders a lone request at once.
        let is_at_once = self.is_fused && turns[0] == LEADER && requests == 1;
        for rid in &mut rids[..requests] {
            *rid = match is_at_once {
                true => {
                    session.start_by(op, |command| drivers[LEADER].submit_for_caller(self.inner[LEADER], command))?
                }
                false => session.start(op)?,
            };
        }
        // The turn in which the client gets its results: the last of its node, or the first if that needs nobody else.
        let needs_other = !self.is_fused || turns[0] != LEADER;
        let last = turns.iter().rposition(|&turn| needs_other && turn == turns[0]).unwrap_or(0);
        for (at, &node) in turns.iter().enumerate() {
            if at > 0 || !is_at_once {
                drivers[node].turn(self.inner[node]);
            }
            if at == last {
                take(session, &rids[..requests])?;
            }
            let now = clock.ticks_in_order();
            times[at] = now.saturating_sub(begin);
            begin = now;
        }
        Ok((times, clock.ticks_in_order().saturating_sub(begin)))
    }
}

fn take<S: StateMachine>(session: &mut Session<S>, rids: &[u32]) -> Result<(), ExecuteError> {
    let all: Result<Vec<(S::Out, Index)>, _> =
        rids.iter().map(|&rid| session.wait_timeout(rid, Duration::ZERO)).collect();
    all.map(drop)
}

fn median(ticks: &mut [u64]) -> f64 {
    ticks.sort_unstable();
    Clock::get().ns(ticks[ticks.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Placement;
    use crate::kv::{Compact, CompactSet};

    #[test]
    fn every_part_of_a_command_is_measured() {
        let op = CompactSet { key: [1; 8], value: [2; 16] };
        for placement in [Placement::Separate, Placement::Fused] {
            let config = Config::default().slots(4).placement(placement);
            let work = Work::measure(&config, Compact::default, &op).expect("a group");
            let parts = [work.order, work.accept, work.forward, work.serve, work.finish];
            assert!(parts.iter().all(|&part| part > 0.0), "{work:?}");
            assert!((0.0..=1.0).contains(&work.run_share), "{work:?}");
        }
    }
}
