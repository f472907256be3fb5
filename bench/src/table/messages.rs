//! Servers that own the buckets, and clients that ask them over channels: corecast's `ump` rings, and `Select` at the servers.
//!
//! A request is one line, and so is the reply: key, bucket and the place of a buffer, which belongs to the end that has the line.
//! A client waits for each reply. For a get it lends a buffer, the server copies the 64 bytes into it, and the
//! client copies them once more.
//!
//! A server ends when all its clients are gone. The first client fills the table.
//!
//! `msg-server` is the same with a server that does nothing but look at its rings in turn: the bare round trip, with the same
//! clients and the same work, which says what `Select` costs.

use std::marker::PhantomData;

use corecast::base::wait::{CpuSharing, Spinner, Waiter};
use corecast::channel::TryRecvError;
use corecast::channel::select::{Select, SelectError};
use corecast::channel::ump::{Config, Receiver, Sender, channel_with};
use corecast::lock::table::Bucket;

use super::deal::{self, Deal, Home};
use super::draw::Kind;
use super::guarded::{Stored, bucket_of};
use super::host::{Client, Host, Setting, Words, Work};
use super::serving::{Serving, waiting, with_servers};
use corecast_race::failure::Failure;

/// A client waits for each reply, so there is never more than one message in a ring.
const SLOTS: usize = 8;

#[derive(Debug)]
pub(super) struct Request {
    kind: Kind,
    /// Among those of the server.
    bucket: u32,
    key: u64,
    /// The buffer to be put in, or the one for the copy of a get.
    buffer: Stored,
}

#[derive(Debug)]
pub(super) struct Reply {
    pub(super) is_done: bool,
    /// The buffer that was removed, refused or lent.
    pub(super) buffer: Stored,
}

const _: () = assert!(size_of::<Request>() == 24 && size_of::<Reply>() == 16, "with the header they fit into one line");

/// See the [module](self).
pub(super) struct Messages<S = Selecting>(PhantomData<S>);

impl<S: Serving<Line = Line>> Host for Messages<S> {
    fn servers(setting: &Setting<'_>) -> usize {
        deal::servers(setting)
    }

    fn with(setting: &Setting<'_>, work: Work<'_>) -> Result<(), Failure> {
        let deal = Deal::new(setting);
        let client =
            |servers| MessageClient { homes: &deal.homes, servers, lent: Some(Box::default()), free: Vec::new() };
        with_servers::<S, _>(setting, &deal, work, client)
    }
}

/// The ends of a client at one server.
pub(super) struct Line<Q: Send = Request, R: Send = Reply> {
    pub(super) requests: Sender<Q>,
    pub(super) replies: Receiver<R>,
}

/// A ring for each way: the client's ends, and the server's.
pub(super) fn rings<Q: Send, R: Send>(setting: &Setting<'_>) -> (Line<Q, R>, Receiver<Q>, Sender<R>) {
    let config = || Config { slots: SLOTS, wait: setting.wait, ..Config::default() };
    let (requests, asked) = channel_with(config());
    let (replying, replies) = channel_with(config());
    (Line { requests, replies }, asked, replying)
}

/// A server that receives through a `Select`, and sleeps while there is nothing to do.
pub(super) struct Selecting<Q: Send = Request, R: Send = Reply> {
    pub(super) buckets: Vec<Bucket<Stored>>,
    requests: Select<Receiver<Q>>,
    /// By the number of the client.
    replies: Vec<Sender<R>>,
}

impl<Q: Send, R: Send> Selecting<Q, R> {
    pub(super) fn of(setting: &Setting<'_>, owned: usize) -> Self {
        let buckets = (0..owned).map(|_| Bucket::default()).collect();
        let waiter = Waiter::new(setting.wait, CpuSharing::unpinned(waiting(setting)), None);
        Self { buckets, requests: Select::with_waiter(waiter), replies: Vec::new() }
    }

    pub(super) fn line(&mut self, setting: &Setting<'_>) -> Line<Q, R> {
        let (line, asked, replying) = rings(setting);
        let token = self.requests.add(asked);
        assert_eq!(token.index(), self.replies.len(), "clients are numbered as they come");
        self.replies.push(replying);
        line
    }

    pub(super) fn answer_all(mut self, answer: impl Fn(&mut [Bucket<Stored>], Q) -> R) {
        loop {
            let (client, request) = match self.requests.recv() {
                Ok(received) => received,
                // A client is gone.
                Err(SelectError::Channel { .. }) => continue,
                Err(_none_left) => return,
            };
            let reply = answer(&mut self.buckets, request);
            // One that has gone without waiting for it needs it no more.
            let _gone = self.replies[client.index()].send(reply);
        }
    }
}

impl Serving for Selecting {
    type Line = Line;

    fn new(setting: &Setting<'_>, owned: usize) -> Self {
        Self::of(setting, owned)
    }

    fn connect(&mut self, setting: &Setting<'_>) -> Line {
        self.line(setting)
    }

    fn serve(self) {
        self.answer_all(answer);
    }
}

/// A server that looks at its rings in turn, for as long as there are clients.
pub(super) struct Bare {
    buckets: Vec<Bucket<Stored>>,
    clients: Vec<(Receiver<Request>, Sender<Reply>)>,
}

impl Serving for Bare {
    type Line = Line;

    fn new(_setting: &Setting<'_>, owned: usize) -> Self {
        Self { buckets: (0..owned).map(|_| Bucket::default()).collect(), clients: Vec::new() }
    }

    fn connect(&mut self, setting: &Setting<'_>) -> Line {
        let (line, asked, replying) = rings(setting);
        self.clients.push((asked, replying));
        line
    }

    fn serve(mut self) {
        let mut spinner = Spinner::new();
        while !self.clients.is_empty() {
            let (mut is_idle, mut gone) = (true, None);
            for (at, (requests, replies)) in self.clients.iter_mut().enumerate() {
                match requests.try_recv() {
                    Ok(request) => {
                        let _gone = replies.send(answer(&mut self.buckets, request));
                        is_idle = false;
                    }
                    Err(TryRecvError::Empty) => {}
                    Err(_closed) => gone = Some(at),
                }
            }
            gone.map(|at| self.clients.swap_remove(at));
            if is_idle { spinner.pause() } else { spinner = Spinner::new() }
        }
    }
}

fn answer(buckets: &mut [Bucket<Stored>], request: Request) -> Reply {
    let Request { kind, bucket, key, buffer } = request;
    perform(&mut buckets[bucket as usize], kind, key, buffer)
}

/// One operation, with the buffer that came along.
pub(super) fn perform(bucket: &mut Bucket<Stored>, kind: Kind, key: u64, mut buffer: Stored) -> Reply {
    match kind {
        Kind::Get => {
            let found = bucket.get(key).and_then(Option::as_ref).zip(buffer.as_mut());
            let is_done = found.map(|(payload, buffer)| buffer.0 = payload.0).is_some();
            Reply { is_done, buffer }
        }
        Kind::Put => match bucket.put(key, buffer) {
            Ok(()) => Reply { is_done: true, buffer: None },
            Err(buffer) => Reply { is_done: false, buffer },
        },
        Kind::Remove => {
            let removed = bucket.remove(key);
            Reply { is_done: removed.is_some(), buffer: removed.flatten() }
        }
    }
}

/// A client of all servers.
pub(super) struct MessageClient<'a> {
    homes: &'a [Home],
    servers: Vec<Line>,
    /// The buffer that goes along with gets.
    lent: Stored,
    free: Vec<Stored>,
}

impl MessageClient<'_> {
    #[inline]
    fn ask(&mut self, kind: Kind, key: u64, buffer: Stored) -> Reply {
        let Home { server, bucket } = self.homes[bucket_of(key, self.homes.len())];
        let line = &mut self.servers[server];
        line.requests.send(Request { kind, bucket, key, buffer }).expect("a server outlives its clients");
        line.replies.recv().expect("a server replies to every request")
    }
}

impl Client for MessageClient<'_> {
    #[inline]
    fn get(&mut self, key: u64, into: &mut Words) -> bool {
        let lent = self.lent.take();
        let reply = self.ask(Kind::Get, key, lent);
        self.lent = reply.buffer;
        if let (true, Some(buffer)) = (reply.is_done, &self.lent) {
            *into = buffer.0;
        }
        reply.is_done
    }

    #[inline]
    fn put(&mut self, key: u64, words: Option<&Words>) -> bool {
        let mut buffer = self.free.pop().flatten().unwrap_or_default();
        if let Some(words) = words {
            buffer.0 = *words;
        }
        let reply = self.ask(Kind::Put, key, Some(buffer));
        if !reply.is_done {
            self.free.push(reply.buffer);
        }
        reply.is_done
    }

    #[inline]
    fn remove(&mut self, key: u64) -> bool {
        let reply = self.ask(Kind::Remove, key, None);
        if reply.is_done {
            self.free.push(reply.buffer);
        }
        reply.is_done
    }
}
