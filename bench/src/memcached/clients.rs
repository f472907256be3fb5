//! The clients of a server: closed loops, which ask again once they are answered, and open loops, whose requests have an
//! intended start each.
//!
//! A closed loop tells how many requests a server does in a second. Each thread goes round its connections, so that all of them
//! have requests under way. An open loop tells how long a request takes for a user: the time runs from the intended start, and a
//! request that waits for a free connection waits at the server's expense, so that a pause is seen by all that it delayed (G.
//! Tene, How NOT to Measure Latency, calls the opposite coordinated omission).

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use corecast::base::CpuId;
use corecast::machine::pin;
use fastrand::Rng;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::load::{MemcachedMix, Requests};
use super::protocol::Connection;
use corecast_race::failure::Failure;

/// Until all threads of clients run.
const START: Duration = Duration::from_millis(2);
/// How many times as long as a block an open loop may take, if the server does less than was intended.
const MOST_LATE: u32 = 3;

/// The clients of one block.
#[derive(Clone, Debug)]
pub(super) struct Clients<'a> {
    pub(super) socket: &'a Path,
    pub(super) mix: MemcachedMix,
    pub(super) threads: usize,
    /// Of each thread.
    pub(super) connections: usize,
    pub(super) pipeline: usize,
    /// The CPUs to which threads are bound in turn; none if empty.
    pub(super) cpus: &'a [CpuId],
    pub(super) time: Duration,
    pub(super) seed: u64,
}

/// The outcome of closed loops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Closed {
    pub(super) requests: usize,
    pub(super) seconds: f64,
}

impl Clients<'_> {
    /// Asks as fast as the server answers.
    pub(super) fn closed(&self) -> Result<Closed, Failure> {
        let start = Instant::now() + START;
        let each = self.all(|mut client| client.ask_again(start, start + self.time, self.pipeline))?;
        let requests = each.iter().map(|(requests, _)| requests).sum();
        let end = each.iter().map(|&(_, end)| end).max().expect("there is a thread");
        Ok(Closed { requests, seconds: end.saturating_duration_since(start).as_secs_f64() })
    }

    /// Asks at this rate, in requests a second, and returns how long each one took, in nanoseconds; `None` if the server
    /// does less.
    pub(super) fn open(&self, rate: f64) -> Result<Option<Vec<f64>>, Failure> {
        let start = Instant::now() + START;
        let every = Duration::from_secs_f64(self.threads as f64 / rate);
        let schedule = Schedule { start, every, until: start + self.time, limit: start + MOST_LATE * self.time };
        let each = self.all(|mut client| client.ask_when_due(schedule))?;
        let each: Option<Vec<Vec<f64>>> = each.into_iter().collect();
        Ok(each.map(|each| each.concat()))
    }

    fn all<R: Send>(&self, work: impl Fn(Client) -> Result<R, Failure> + Sync) -> Result<Vec<R>, Failure> {
        let work = &work;
        thread::scope(|scope| {
            let start = |thread: usize| scope.spawn(move || self.client(thread).and_then(work));
            let started: Vec<_> = (0..self.threads).map(start).collect();
            started.into_iter().map(|thread| thread.join().expect("clients return their errors")).collect()
        })
    }

    fn client(&self, thread: usize) -> Result<Client, Failure> {
        if !self.cpus.is_empty() {
            pin::pin(self.cpus[thread % self.cpus.len()]).map_err(Failure::refused)?.forever();
        }
        let connections = (0..self.connections).map(|_| Connection::open(self.socket)).collect::<Result<_, _>>()?;
        let random = Rng::with_seed(self.seed ^ (thread as u64) << 40);
        Ok(Client { connections, requests: Requests::new(self.mix, random) })
    }
}

/// The intended starts of one thread's requests.
#[derive(Clone, Copy, Debug)]
struct Schedule {
    start: Instant,
    every: Duration,
    until: Instant,
    /// At this time it gives up.
    limit: Instant,
}

/// One thread with its connections.
struct Client {
    connections: Vec<Connection>,
    requests: Requests,
}

impl Client {
    /// How many requests were answered, and when the last one was.
    fn ask_again(&mut self, start: Instant, until: Instant, pipeline: usize) -> Result<(usize, Instant), Failure> {
        let Self { connections, requests } = self;
        thread::sleep(start.saturating_duration_since(Instant::now()));
        for connection in &mut *connections {
            connection.ask(requests.take(pipeline))?;
        }
        let mut answered = 0;
        while Instant::now() < until {
            for connection in &mut *connections {
                answered += connection.hear()?;
                connection.ask(requests.take(pipeline))?;
            }
        }
        for connection in connections {
            answered += connection.hear()?;
        }
        Ok((answered, Instant::now()))
    }

    /// How long each request took from its intended start, in nanoseconds; `None` if it gave up.
    fn ask_when_due(&mut self, schedule: Schedule) -> Result<Option<Vec<f64>>, Failure> {
        let mut times_ns = Vec::with_capacity(1 << 16);
        let mut free: Vec<usize> = (0..self.connections.len()).collect();
        let mut due_of = vec![schedule.start; self.connections.len()];
        let mut due = schedule.start;
        while due < schedule.until || free.len() < self.connections.len() {
            let now = Instant::now();
            if now > schedule.limit {
                return Ok(None);
            }
            if due <= now && due < schedule.until {
                if let Some(at) = free.pop() {
                    self.connections[at].ask(self.requests.by_ref().take(1))?;
                    due_of[at] = due;
                    due += schedule.every;
                    continue;
                }
            }
            let is_waiting = !free.is_empty() && due < schedule.until;
            let patience = if is_waiting { due.saturating_duration_since(now) } else { Duration::from_secs(1) };
            for at in self.answered(&free, patience)? {
                self.connections[at].hear()?;
                times_ns.push(due_of[at].elapsed().as_nanos() as f64);
                free.push(at);
            }
        }
        Ok(Some(times_ns))
    }

    /// The connections at which an answer has come, of those that are not free; none if that takes too long.
    fn answered(&self, free: &[usize], patience: Duration) -> Result<Vec<usize>, Failure> {
        let asked: Vec<usize> = (0..self.connections.len()).filter(|at| !free.contains(at)).collect();
        let watch = |&at: &usize| PollFd::new(self.connections[at].stream(), PollFlags::IN);
        let mut watched: Vec<PollFd<'_>> = asked.iter().map(watch).collect();
        let patience = Timespec { tv_sec: patience.as_secs() as i64, tv_nsec: patience.subsec_nanos().into() };
        let heard = rustix::io::retry_on_intr(|| poll(&mut watched, Some(&patience)));
        heard.map_err(|error| Failure::refused(format!("cannot wait for memcached: {error}")))?;
        let has_come = |(_, watched): &(&usize, &PollFd<'_>)| !watched.revents().is_empty();
        Ok(asked.iter().zip(&watched).filter(has_come).map(|(&at, _)| at).collect())
    }
}
