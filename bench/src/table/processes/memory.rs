//! The memory that the processes of a table share: two rings for each client and server, the buffers, and where clients meet.

use corecast::base::PlaceSlice;
use corecast::base::region::{RegionPlan, SharedRegion};
use corecast::base::sync::{AtomicU64, Ordering};
use corecast::base::wait::Spinner;
use corecast::channel::ump::bytes::{Receiver, Sender};
use corecast::channel::ump::{self, Config};

use super::super::deal::Deal;
use super::super::host::{Setting, Words};
use super::super::play::CHECKED;
use corecast_race::failure::Failure;

const BUFFERS: &str = "buffers";
/// Puts minus removes of each key, of all clients' checks.
const NETS: &str = "nets";
/// Two words: whether clients may begin, and whether they have to end.
const MEETING: &str = "meeting";
/// No channel's.
const KIND: u32 = 0x7461;
const WORDS: usize = 8;
/// A client waits for each reply, so there is never more than one message in a ring.
const SLOTS: usize = 8;

/// How many buffers a client has at first: what it fills the table with, what it may put on top of that in a check, and what it
/// lends.
pub(super) fn stock(setting: &Setting<'_>, rank: usize) -> u64 {
    let filling = if rank == 0 { setting.initial() } else { 0 };
    filling + CHECKED as u64 + 1
}

/// The first buffer of a client.
pub(super) fn first_buffer(setting: &Setting<'_>, rank: usize) -> u64 {
    (0..rank).map(|rank| stock(setting, rank)).sum()
}

fn asks(client: usize, server: usize) -> String {
    format!("ask-{client}-{server}")
}

fn replies(client: usize, server: usize) -> String {
    format!("reply-{client}-{server}")
}

/// The region for a table.
pub(super) fn plan(setting: &Setting<'_>, deal: &Deal) -> Result<RegionPlan, Failure> {
    let participants = deal.servers.len() + deal.clients.len();
    let buffers = first_buffer(setting, deal.clients.len()) * WORDS as u64;
    let sections = [(BUFFERS, buffers), (NETS, setting.keys() + 1), (MEETING, 2)];
    // The harness has a seat, too.
    let mut plan = RegionPlan::new().participants(participants as u32 + 1).map_err(Failure::refused)?;
    for (name, words) in sections {
        plan = plan.add(name, KIND, [0; 6], 8 * words).map_err(Failure::refused)?;
    }
    let config = Config { slots: SLOTS, wait: setting.wait, ..Config::default() };
    for client in 0..deal.clients.len() {
        for server in 0..deal.servers.len() {
            for name in [asks(client, server), replies(client, server)] {
                plan = ump::bytes::spec(config.clone()).declare(plan, &name).map_err(Failure::refused)?;
            }
        }
    }
    Ok(plan)
}

/// The ends of a client at a server.
pub(super) fn client_ends(region: &SharedRegion, client: usize, server: usize) -> Result<(Sender, Receiver), Failure> {
    let asking = ump::bytes::sender(region, &asks(client, server)).map_err(Failure::refused)?;
    Ok((asking, ump::bytes::receiver(region, &replies(client, server)).map_err(Failure::refused)?))
}

/// The ends of a server for a client.
pub(super) fn server_ends(region: &SharedRegion, client: usize, server: usize) -> Result<(Receiver, Sender), Failure> {
    let asked = ump::bytes::receiver(region, &asks(client, server)).map_err(Failure::refused)?;
    Ok((asked, ump::bytes::sender(region, &replies(client, server)).map_err(Failure::refused)?))
}

/// The words that are no channel's.
pub(super) struct Memory {
    buffers: PlaceSlice<AtomicU64>,
    nets: PlaceSlice<AtomicU64>,
    meeting: PlaceSlice<AtomicU64>,
}

impl Memory {
    pub(super) fn open(region: &SharedRegion) -> Result<Self, Failure> {
        let words = |name: &str| {
            let entry = region.entry(name).ok_or_else(|| Failure::Refused(format!("no '{name}' in the region")))?;
            let section = region.section(&entry);
            section.words(0, section.len() / 8).map_err(Failure::refused)
        };
        Ok(Self { buffers: words(BUFFERS)?, nets: words(NETS)?, meeting: words(MEETING)? })
    }

    /// Whether there is a buffer of this number. The process that received it cannot know otherwise.
    #[inline]
    pub(super) fn has_buffer(&self, number: u64) -> bool {
        number < (self.buffers.len() / WORDS) as u64
    }

    #[inline]
    fn buffer(&self, number: u64) -> &[AtomicU64] {
        &self.buffers[number as usize * WORDS..][..WORDS]
    }

    #[inline]
    pub(super) fn read(&self, number: u64) -> Words {
        let buffer = self.buffer(number);
        // ORDERING: Relaxed, the message that names the buffer orders it
        std::array::from_fn(|at| buffer[at].load(Ordering::Relaxed))
    }

    #[inline]
    pub(super) fn write(&self, number: u64, words: &Words) {
        for (into, &word) in self.buffer(number).iter().zip(words) {
            // ORDERING: Relaxed, the message that names the buffer orders it
            into.store(word, Ordering::Relaxed);
        }
    }

    /// Adds what a client counted of a key.
    pub(super) fn add_net(&self, key: u64, net: i64) {
        // ORDERING: Relaxed, the client says that it is done over a socket, and the process that looks has heard of it from there
        self.nets[key as usize].fetch_add(net as u64, Ordering::Relaxed);
    }

    pub(super) fn net(&self, key: u64) -> i64 {
        // ORDERING: Relaxed, as in add_net
        self.nets[key as usize].load(Ordering::Relaxed) as i64
    }

    /// Lets clients begin.
    pub(super) fn begin(&self) {
        // ORDERING: Relaxed, the word publishes nothing but itself
        self.meeting[0].store(1, Ordering::Relaxed);
    }

    pub(super) fn await_begin(&self) {
        let mut spinner = Spinner::new();
        // ORDERING: Relaxed, the word publishes nothing but itself
        while self.meeting[0].load(Ordering::Relaxed) == 0 {
            spinner.pause();
        }
    }

    /// Makes clients end.
    pub(super) fn end(&self) {
        // ORDERING: Relaxed, the word publishes nothing but itself
        self.meeting[1].store(1, Ordering::Relaxed);
    }

    /// 1 when clients are to end.
    pub(super) fn over(&self) -> &AtomicU64 {
        &self.meeting[1]
    }
}
