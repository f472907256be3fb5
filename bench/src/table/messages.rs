//! Servers that own the buckets, and clients that ask them over channels: corecast's `ump` rings, and `Select` at the servers.
//!
//! A request is one line, and so is the reply: key, bucket and the place of a buffer, which belongs to the end that has the line.
//! A client waits for each reply. For a get it lends a buffer, the server copies the 64 bytes into it, and the
//! client copies them once more.
//!
//! A server ends when all its clients are gone. The first client fills the table.

use std::thread;

use corecast::base::wait::{CpuSharing, Waiter};
use corecast::channel::select::{Select, SelectError};
use corecast::channel::ump::{Config, Receiver, Sender, channel_with};
use corecast::lock::table::Bucket;

use super::deal::{self, Deal, Home, cpu_of, participants, serve_bound};
use super::draw::Kind;
use super::guarded::{Stored, bucket_of};
use super::host::{Client, Host, Setting, Words, Work};
use corecast_race::failure::Failure;

/// A client waits for each reply, so there is never more than one message in a ring.
const SLOTS: usize = 8;

#[derive(Debug)]
struct Request {
    kind: Kind,
    /// Among those of the server.
    bucket: u32,
    key: u64,
    /// The buffer to be put in, or the one for the copy of a get.
    buffer: Stored,
}

#[derive(Debug)]
struct Reply {
    is_done: bool,
    /// The buffer that was removed, refused or lent.
    buffer: Stored,
}

const _: () = assert!(size_of::<Request>() == 24 && size_of::<Reply>() == 16, "with the header they fit into one line");

/// See the [module](self).
pub(super) struct Messages;

impl Host for Messages {
    fn servers(setting: &Setting<'_>) -> usize {
        deal::servers(setting)
    }

    fn with(setting: &Setting<'_>, work: Work<'_>) -> Result<(), Failure> {
        let deal = Deal::new(setting);
        let mut sides: Vec<Server> = deal.owned().into_iter().map(|owned| Server::new(setting, owned)).collect();
        let client = || {
            let servers = sides.iter_mut().map(|server| server.connect(setting)).collect();
            MessageClient { homes: &deal.homes, servers, lent: Some(Box::default()), free: Vec::new() }
        };
        let seats = deal.seats(setting, client);
        thread::scope(|scope| {
            let serve = |(server, &participant): (Server, &usize)| {
                let cpu = cpu_of(setting, participant);
                move || serve_bound(cpu, || server.serve())
            };
            let serves = sides.into_iter().zip(&deal.servers).map(serve);
            let serving: Vec<_> = serves.map(|serve| scope.spawn(serve)).collect();
            let result = work(seats);
            for server in serving {
                server.join().expect("no server panics").map_err(Failure::refused)?;
            }
            result
        })
    }
}

/// The ends of a client at one server.
struct Line {
    requests: Sender<Request>,
    replies: Receiver<Reply>,
}

struct Server {
    buckets: Vec<Bucket<Stored>>,
    requests: Select<Receiver<Request>>,
    /// By the number of the client.
    replies: Vec<Sender<Reply>>,
}

impl Server {
    fn new(setting: &Setting<'_>, owned: usize) -> Self {
        let buckets = (0..owned).map(|_| Bucket::default()).collect();
        let waiter = Waiter::new(setting.wait, CpuSharing::unpinned(participants(setting)), None);
        Self { buckets, requests: Select::with_waiter(waiter), replies: Vec::new() }
    }

    fn connect(&mut self, setting: &Setting<'_>) -> Line {
        let config = || Config { slots: SLOTS, wait: setting.wait, ..Config::default() };
        let (asking, asked) = channel_with(config());
        let (replying, replied) = channel_with(config());
        let token = self.requests.add(asked);
        assert_eq!(token.index(), self.replies.len(), "clients are numbered as they come");
        self.replies.push(replying);
        Line { requests: asking, replies: replied }
    }

    fn serve(mut self) {
        loop {
            let (client, request) = match self.requests.recv() {
                Ok(received) => received,
                // A client is gone.
                Err(SelectError::Channel { .. }) => continue,
                Err(_none_left) => return,
            };
            let reply = answer(&mut self.buckets[request.bucket as usize], request);
            // One that has gone without waiting for it needs it no more.
            let _gone = self.replies[client.index()].send(reply);
        }
    }
}

fn answer(bucket: &mut Bucket<Stored>, request: Request) -> Reply {
    let Request { kind, key, mut buffer, .. } = request;
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
