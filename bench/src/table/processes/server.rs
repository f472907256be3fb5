//! A server process: it owns buckets, and performs the operations that clients ask for.

use corecast::base::region::SharedRegion;
use corecast::base::wait::{CpuSharing, Waiter};
use corecast::channel::RecvError;
use corecast::channel::select::{Select, SelectError};
use corecast::channel::ump::bytes::{Receiver, Sender};
use corecast::lock::table::Bucket;

use super::super::deal::Deal;
use super::super::draw::Kind;
use super::super::host::Setting;
use super::memory::{Memory, server_ends};
use corecast_race::failure::Failure;

/// The operation and its bucket, the key, and a buffer.
pub(super) type Request = [u64; 3];
/// Whether it was done, and the buffer that was removed.
pub(super) type Reply = [u64; 2];

pub(super) fn request(kind: Kind, bucket: u32, key: u64, buffer: u64) -> Request {
    [kind as u64 | u64::from(bucket) << 8, key, buffer]
}

pub(super) struct Server<'a> {
    /// Of each key the number of its buffer.
    buckets: Vec<Bucket<u64>>,
    requests: Select<Receiver>,
    /// By the number of the client.
    replies: Vec<Sender>,
    memory: &'a Memory,
}

impl<'a> Server<'a> {
    pub(super) fn open(
        setting: &Setting<'_>,
        deal: &Deal,
        number: usize,
        (region, memory): (&SharedRegion, &'a Memory),
    ) -> Result<Self, Failure> {
        let crowd = CpuSharing::unpinned(deal.servers.len() + deal.clients.len());
        let mut requests = Select::with_waiter(Waiter::new(setting.wait, crowd, None));
        let mut replies = Vec::new();
        for client in 0..deal.clients.len() {
            let (asked, replying) = server_ends(region, client, number)?;
            assert_eq!(requests.add(asked).index(), client, "clients are numbered as they come");
            replies.push(replying);
        }
        let buckets = (0..deal.owned()[number]).map(|_| Bucket::default()).collect();
        Ok(Self { buckets, requests, replies, memory })
    }

    /// Until all clients have left.
    pub(super) fn serve(mut self) -> Result<(), Failure> {
        loop {
            let (client, request) = match self.requests.recv() {
                Ok((client, request)) => (client.index(), request.read::<Request>()),
                Err(SelectError::Channel { error: RecvError::Closed, .. }) => continue,
                Err(SelectError::Channel { token, error }) => {
                    return Err(Failure::Refused(format!("client {}: {error}", token.index())));
                }
                Err(_none_left) => return Ok(()),
            };
            let reply = request.and_then(|request| self.answer(request));
            let nonsense = || Failure::Wrong(format!("client {client} asked for nonsense: {request:?}"));
            let mut room = self.replies[client].reserve(size_of::<Reply>()).map_err(Failure::refused)?;
            room.write(&reply.ok_or_else(nonsense)?);
            room.commit();
        }
    }

    /// `None` if the request is none: another process may have written anything.
    fn answer(&mut self, [what, key, buffer]: Request) -> Option<Reply> {
        let bucket = self.buckets.get_mut(usize::try_from(what >> 8).ok()?)?;
        let is_buffer = self.memory.has_buffer(buffer);
        let reply = match what & 0xff {
            GET if is_buffer => match bucket.get(key) {
                Some(&payload) => {
                    self.memory.write(buffer, &self.memory.read(payload));
                    [1, buffer]
                }
                None => [0, buffer],
            },
            PUT if is_buffer => [u64::from(bucket.put(key, buffer).is_ok()), buffer],
            REMOVE => bucket.remove(key).map_or([0, 0], |payload| [1, payload]),
            _ => return None,
        };
        Some(reply)
    }
}

const GET: u64 = Kind::Get as u64;
const PUT: u64 = Kind::Put as u64;
const REMOVE: u64 = Kind::Remove as u64;
