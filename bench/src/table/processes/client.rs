//! A client process: it asks the servers to perform the operations of the experiment.

use std::panic::resume_unwind;

use corecast::base::region::SharedRegion;
use corecast::channel::ump::bytes::{Receiver, Sender};

use super::super::deal::{Deal, Home};
use super::super::draw::Kind;
use super::super::guarded::bucket_of;
use super::super::host::{Client, Setting, Words};
use super::memory::{Memory, client_ends, first_buffer, stock};
use super::server::{Reply, request};
use corecast_race::failure::Failure;

/// An operation that fails unwinds with its [`Failure`]: the experiment knows hits and misses only.
pub(super) struct ProcessClient<'a> {
    homes: Vec<Home>,
    /// By the number of the server.
    servers: Vec<(Sender, Receiver)>,
    /// The buffer that goes along with gets.
    lent: u64,
    free: Vec<u64>,
    memory: &'a Memory,
}

impl<'a> ProcessClient<'a> {
    pub(super) fn open(
        setting: &Setting<'_>,
        deal: &Deal,
        rank: usize,
        (region, memory): (&SharedRegion, &'a Memory),
    ) -> Result<Self, Failure> {
        let servers =
            (0..deal.servers.len()).map(|server| client_ends(region, rank, server)).collect::<Result<_, _>>()?;
        let lent = first_buffer(setting, rank);
        let free = (lent + 1..lent + stock(setting, rank)).collect();
        Ok(Self { homes: deal.homes.clone(), servers, lent, free, memory })
    }

    fn ask(&mut self, kind: Kind, key: u64, buffer: u64) -> Result<(bool, u64), Failure> {
        let Home { server, bucket } = self.homes[bucket_of(key, self.homes.len())];
        let (requests, replies) = &mut self.servers[server];
        let mut room = requests.reserve(size_of_val(&request(kind, bucket, key, buffer))).map_err(Failure::refused)?;
        room.write(&request(kind, bucket, key, buffer));
        room.commit();
        let reply = replies.recv().map_err(Failure::refused)?;
        match reply.read::<Reply>() {
            Some([is_done @ (0 | 1), buffer]) if is_done == 0 || self.memory.has_buffer(buffer) => {
                Ok((is_done == 1, buffer))
            }
            other => Err(Failure::Wrong(format!("server {server} replied nonsense: {other:?}"))),
        }
    }

    #[inline]
    fn expect(&mut self, kind: Kind, key: u64, buffer: u64) -> (bool, u64) {
        self.ask(kind, key, buffer).unwrap_or_else(|failure| resume_unwind(Box::new(failure)))
    }
}

impl Client for ProcessClient<'_> {
    #[inline]
    fn get(&mut self, key: u64, into: &mut Words) -> bool {
        let (is_done, _) = self.expect(Kind::Get, key, self.lent);
        if is_done {
            *into = self.memory.read(self.lent);
        }
        is_done
    }

    #[inline]
    fn put(&mut self, key: u64, words: Option<&Words>) -> bool {
        let buffer = self.free.pop().expect("there are as many as a client puts");
        if let Some(words) = words {
            self.memory.write(buffer, words);
        }
        let (is_done, _) = self.expect(Kind::Put, key, buffer);
        if !is_done {
            self.free.push(buffer);
        }
        is_done
    }

    #[inline]
    fn remove(&mut self, key: u64) -> bool {
        let (is_done, buffer) = self.expect(Kind::Remove, key, 0);
        if is_done {
            self.free.push(buffer);
        }
        is_done
    }
}
