//! Requests of any size to a log that adds up their bytes, as ZIMP's experiment with PaxosInside.
//!
//! Every receiver looks at every byte: the state is the sum of all words, and differs if one is lost.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use corecast::base::Clock;
use corecast::replica::{Config, Index, Level, Node, Replicated, Rid, Session, StateMachine, net};

use super::host::Setting;
use super::net::create;
use super::play::{Block, Tally};
use super::series::{NetSeries, Series};
use corecast_race::failure::Failure;

/// Requests without an answer in an open loop: the most that a session may have.
const OUTSTANDING: usize = 15;
/// How much longer than its time a block may take.
const LIMIT: Duration = Duration::from_secs(5);

/// The sum of all bytes, and a blob that is only carried around.
#[derive(Debug, Default)]
pub(super) struct Log {
    sum: u64,
    /// The contents of a checkpoint besides the sum.
    pub(super) blob: Vec<u8>,
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
        self.sum.into()
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
        Ok(Self { sum: u64::from_le_bytes(words[0]), blob })
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
        let state = Log { sum: 0, blob: vec![7; blob] };
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
    /// Requests of these bytes from the last node until the time is over, and then a look at all replicas.
    pub(super) fn block(&mut self, bytes: usize, is_open: bool, time: Duration) -> Result<Block, Failure> {
        let client = self.nodes.last().expect("a group has a node").clone();
        let outstanding = if is_open { OUTSTANDING } else { 1 };
        let tally = within(time + LIMIT, move || {
            let mut session = client.session()?;
            requests(&mut session, &vec![1; bytes], outstanding, time)
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

fn requests(
    session: &mut impl Requests,
    request: &Vec<u8>,
    outstanding: usize,
    time: Duration,
) -> Result<Tally, Failure> {
    let clock = Clock::get();
    let mut tally = Tally::begun();
    let over = clock.ticks() + clock.ticks_in(time);
    let mut started = VecDeque::new();
    loop {
        let is_over = clock.ticks() >= over;
        while !is_over && started.len() < outstanding {
            started.push_back((session.start(request)?, clock.ticks()));
        }
        let Some((rid, begin)) = started.pop_front() else { return Ok(tally.end()) };
        session.wait(rid)?;
        tally.writes.add(clock.ticks().saturating_sub(begin));
        tally.operations += 1;
    }
}
