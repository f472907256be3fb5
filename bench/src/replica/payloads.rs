//! Requests of any size to a log that adds up their bytes, as ZIMP's experiment with PaxosInside.
//!
//! Every receiver looks at every byte: the state is the sum of all words, and differs if one is lost.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use corecast::base::Clock;
use corecast::replica::{Config, ExecuteError, Index, Level, Node, Replicated, Rid, Session, StateMachine, net};

use super::host::Setting;
use super::net::create;
use super::play::{Block, Tally};
use super::preset::Pace;
use super::series::{NetSeries, Series};
use corecast_race::failure::Failure;

/// The most requests without an answer: a session may have no more.
const OUTSTANDING: usize = 15;
/// How much longer than its time a block may take.
const LIMIT: Duration = Duration::from_secs(5);
/// How long a block may take that has a number of requests.
const LONGEST: Duration = Duration::from_secs(900);

/// When a block ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum Span {
    /// After this time.
    Time(Duration),
    /// After this number of requests.
    Requests(u64),
}

impl Span {
    /// The longest time that a block may take.
    fn limit(self) -> Duration {
        match self {
            Self::Time(time) => time + LIMIT,
            Self::Requests(_) => LONGEST,
        }
    }
}

/// The sum of all bytes, and a blob that is only carried around.
#[derive(Debug, Default)]
pub(super) struct Log {
    sum: u64,
    /// The contents of a checkpoint besides the sum.
    blob: Vec<u8>,
    /// The digest of the blob, which is found where the blob is written, as a state that is asked for its digest often keeps it.
    blob_digest: u64,
}

impl Log {
    /// A log to which nothing was added.
    pub(super) fn new(blob: Vec<u8>) -> Self {
        Self::of(0, blob)
    }

    fn of(sum: u64, blob: Vec<u8>) -> Self {
        // FNV-1a over words; the last one is filled with zeroes.
        let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        let mix = |digest: u64, chunk: &[u8]| (digest ^ word(chunk)).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
        let blob_digest = blob.chunks(8).fold(0xcbf2_9ce4_8422_2325 ^ blob.len() as u64, mix);
        Self { sum, blob, blob_digest }
    }
}

impl StateMachine for Log {
    type Op = Vec<u8>;
    type Out = u64;
    type Query = ();
    type Answer = u64;

    fn apply(&mut self, _at: Index, op: &Vec<u8>) -> u64 {
        self.sum = op.iter().fold(self.sum, |sum, &byte| sum.wrapping_add(u64::from(byte)));
        self.sum
    }

    fn query(&self, (): &()) -> u64 {
        self.sum
    }

    fn digest(&self) -> u128 {
        u128::from(self.blob_digest) << 64 | u128::from(self.sum)
    }

    fn snapshot(&self, to: &mut dyn io::Write) -> io::Result<()> {
        to.write_all(&self.sum.to_le_bytes())?;
        to.write_all(&(self.blob.len() as u64).to_le_bytes())?;
        to.write_all(&self.blob)
    }

    fn restore(from: &mut dyn io::Read) -> io::Result<Self> {
        let mut words = [[0; 8]; 2];
        for word in &mut words {
            from.read_exact(word)?;
        }
        let mut blob = vec![0; usize::try_from(u64::from_le_bytes(words[1])).map_err(io::Error::other)?];
        from.read_exact(&mut blob)?;
        Ok(Self::of(u64::from_le_bytes(words[0]), blob))
    }
}

/// A member of a group of logs.
pub(super) trait Member: Clone + Send + 'static {
    type Session: Requests;

    /// A client at this member.
    fn session(&self) -> Result<Self::Session, Failure>;

    /// The sum that no client has seen a later one of.
    fn sum(&self) -> Result<u64, Failure>;
}

/// A client that has several requests under way.
pub(super) trait Requests {
    #[allow(clippy::ptr_arg, reason = "an operation of these logs is a `Vec`")]
    fn start(&mut self, request: &Vec<u8>) -> Result<Rid, Failure>;

    fn wait(&mut self, rid: Rid) -> Result<(), Failure>;

    /// Waits for at most `limit`; true once there is an answer.
    fn has_answer(&mut self, rid: Rid, limit: Duration) -> Result<bool, Failure>;
}

macro_rules! member {
    ($node:ty, $session:ty) => {
        impl Member for $node {
            type Session = $session;

            fn session(&self) -> Result<Self::Session, Failure> {
                <$node>::session(self).map_err(Failure::refused)
            }

            fn sum(&self) -> Result<u64, Failure> {
                self.read(Level::Linearizable, &()).map(|(sum, _)| sum).map_err(Failure::refused)
            }
        }

        impl Requests for $session {
            fn start(&mut self, request: &Vec<u8>) -> Result<Rid, Failure> {
                <$session>::start(self, request).map_err(Failure::refused)
            }

            fn wait(&mut self, rid: Rid) -> Result<(), Failure> {
                <$session>::wait(self, rid).map(drop).map_err(Failure::refused)
            }

            fn has_answer(&mut self, rid: Rid, limit: Duration) -> Result<bool, Failure> {
                match <$session>::wait_timeout(self, rid, limit) {
                    Ok(_) => Ok(true),
                    Err(ExecuteError::Unknown { .. }) => Ok(false),
                    Err(error) => Err(Failure::refused(error)),
                }
            }
        }
    };
}

member!(Node<Log>, Session<Log>);
member!(net::Node<Log>, net::Session<Log>);

/// A group of logs.
pub(super) struct Logs<M = Node<Log>> {
    pub(super) nodes: Vec<M>,
    /// The sum that must be there.
    sum: u64,
}

impl Logs {
    pub(super) fn open(series: &Series, setting: &Setting, blob: usize) -> Result<Self, Failure> {
        let slots = (setting.members + 2).next_power_of_two();
        let config = Config::default().slots(slots).placement(series.placement).wait(setting.wait);
        // Twice as much as is under way: requests that lie there are forgotten with the next command only.
        let config = config.bulk_bytes(32 << 20);
        let state = Log::new(vec![7; blob]);
        let mut nodes = vec![Replicated::create(&config, state).map_err(Failure::refused)?];
        for _ in 1..setting.members {
            let fd = nodes[0].share().map_err(Failure::while_doing("share a group"))?;
            nodes.push(Replicated::attach_fd(&config, fd).map_err(Failure::refused)?);
        }
        Ok(Self { nodes, sum: 0 })
    }
}

impl Logs<net::Node<Log>> {
    /// A group over messages.
    pub(super) fn over_messages(series: &NetSeries, setting: &Setting) -> Result<Self, Failure> {
        let group = create(series, setting)?;
        let node = |slot| group.join(slot, Log::default()).map_err(Failure::refused);
        Ok(Self { nodes: (0..setting.members).map(node).collect::<Result<_, _>>()?, sum: 0 })
    }
}

impl<M: Member> Logs<M> {
    /// Requests of these bytes from the last node until the block ends, and then a look at all replicas.
    pub(super) fn block(&mut self, bytes: usize, pace: Pace, span: Span) -> Result<Block, Failure> {
        let client = self.nodes.last().expect("a group has a node").clone();
        let tally = within(span.limit(), move || {
            let (mut session, request) = (client.session()?, vec![1; bytes]);
            match pace {
                Pace::OneByOne => as_fast_as_can_be(&mut session, &request, 1, span),
                Pace::Outstanding => as_fast_as_can_be(&mut session, &request, OUTSTANDING, span),
                Pace::Rate(rate) => at_a_rate(&mut session, &request, rate, span),
            }
        })?;
        self.sum += tally.operations * bytes as u64;
        for node in &self.nodes {
            let sum = node.sum()?;
            if sum != self.sum {
                return Err(Failure::Wrong(format!("the sum is {sum}, and {} was sent", self.sum)));
            }
        }
        Ok(Block::of(&[tally]))
    }
}

/// Runs a client in a thread of its own, which is left behind if it does not come to its end in time: to begin a request that has
/// no room has no limit of its own.
fn within<R: Send + 'static>(
    limit: Duration,
    client: impl FnOnce() -> Result<R, Failure> + Send + 'static,
) -> Result<R, Failure> {
    let (done, result) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        // Nobody waits any more for a result that is late.
        let _ = done.send(client());
    });
    let hung = |_| Failure::Hung { missing: vec![0], limit_ms: limit.as_millis() };
    result.recv_timeout(limit).map_err(hung)?
}

/// Whether a block goes on after this number of requests.
fn goes_on(span: Span, begun: Instant, requests: u64) -> bool {
    match span {
        Span::Time(time) => begun.elapsed() < time,
        Span::Requests(number) => requests < number,
    }
}

fn as_fast_as_can_be(
    session: &mut impl Requests,
    request: &Vec<u8>,
    outstanding: usize,
    span: Span,
) -> Result<Tally, Failure> {
    let clock = Clock::get();
    let mut tally = Tally::begun();
    let (begun, mut sent) = (Instant::now(), 0);
    let mut started = VecDeque::new();
    loop {
        while started.len() < outstanding && goes_on(span, begun, sent) {
            started.push_back((session.start(request)?, clock.ticks()));
            sent += 1;
        }
        let Some((rid, begin)) = started.pop_front() else { return Ok(tally.end()) };
        session.wait(rid)?;
        tally.writes.add(clock.ticks().saturating_sub(begin));
        tally.operations += 1;
    }
}

/// An open loop: each request has an intended start, from which its time runs. One that finds 15 under way begins once one of
/// them is done, and is late by that.
fn at_a_rate(session: &mut impl Requests, request: &Vec<u8>, rate: f64, span: Span) -> Result<Tally, Failure> {
    let clock = Clock::get();
    let mut tally = Tally::begun();
    let (begun, mut sent) = (Instant::now(), 0);
    let intended = |number: u64| begun + Duration::from_secs_f64(number as f64 / rate);
    let mut started: VecDeque<(Rid, Instant)> = VecDeque::new();
    loop {
        let next = intended(sent);
        let early = next.saturating_duration_since(Instant::now());
        let is_over = match span {
            Span::Time(time) => next >= begun + time,
            Span::Requests(number) => sent >= number,
        };
        if !is_over && early.is_zero() && started.len() < OUTSTANDING {
            started.push_back((session.start(request)?, next));
            sent += 1;
            continue;
        }
        let Some(&(rid, start)) = started.front() else {
            if is_over {
                return Ok(tally.end());
            }
            rest(early);
            continue;
        };
        // One that is due may not begin, and the last ones are all that is left: then there is nothing else to do than to wait.
        let limit = if is_over || early.is_zero() { LIMIT } else { early };
        if session.has_answer(rid, limit)? {
            started.pop_front();
            tally.writes.add(clock.ticks_in(start.elapsed()));
            tally.operations += 1;
        }
    }
}

/// Sleeps, or gives way if the time is shorter than the system's sleep.
fn rest(time: Duration) {
    const SHORT: Duration = Duration::from_micros(100);
    if time > 2 * SHORT { std::thread::sleep(time - SHORT) } else { std::thread::yield_now() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replica::series::forms;
    use corecast::base::wait::Wait;

    #[test]
    fn a_block_has_the_requests_that_it_is_asked_for_at_every_pace() {
        let setting = Setting { members: 2, clients: 1, cpus: Vec::new(), wait: Wait::Adaptive };
        let mut logs = Logs::open(forms().next().expect("a form"), &setting, 0).expect("a group");
        for pace in [Pace::OneByOne, Pace::Outstanding, Pace::Rate(20_000.0)] {
            let block = logs.block(100, pace, Span::Requests(40)).expect("nothing is lost");
            assert_eq!((block.operations, block.writes.samples()), (40, 40), "{pace:?}");
        }
        // Each is sent at its time, however long those before took.
        let block =
            logs.block(100, Pace::Rate(1000.0), Span::Time(Duration::from_millis(20))).expect("nothing is lost");
        assert_eq!(block.operations, 20);
    }

    #[test]
    fn digests_tell_every_byte_of_a_state_and_survive_a_checkpoint() {
        let mut log = Log::new((0..1021).map(|at| at as u8).collect());
        log.apply(0, &vec![1, 2, 3]);
        for at in 0..log.blob.len() {
            let mut blob = log.blob.clone();
            blob[at] ^= 1 << (at % 8);
            assert_ne!(Log::of(log.sum, blob).digest(), log.digest(), "byte {at}");
        }
        assert_ne!(Log::of(log.sum + 1, log.blob.clone()).digest(), log.digest());
        let mut bytes = Vec::new();
        log.snapshot(&mut bytes).expect("there is room");
        assert_eq!(Log::restore(&mut &bytes[..]).expect("whole").digest(), log.digest());
    }
}
