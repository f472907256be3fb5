//! Chooses the participants that are servers, and deals out the buckets to them.
//!
//! Of n participants every K-th is a server, from the first on: every third in the paper, which found that best. Two are
//! one server and one client, and so is one. Each server owns a contiguous range of buckets, and the buckets that
//! remain are dealt in turn.

use corecast::base::CpuId;
use corecast::machine::pin::{self, PinError};

use super::host::{Client, Seat, Setting};

/// Where a bucket is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Home {
    pub(super) server: usize,
    /// Among those of the server.
    pub(super) bucket: u32,
}

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Deal {
    /// The numbers of the participants that serve.
    pub(super) servers: Vec<usize>,
    /// The numbers of the others.
    pub(super) clients: Vec<usize>,
    /// The home of each bucket.
    pub(super) homes: Vec<Home>,
}

/// One for each thread, but a server and a client at least.
pub(super) fn participants(setting: &Setting<'_>) -> usize {
    setting.threads.max(2)
}

/// How many of them are servers.
pub(super) fn servers(setting: &Setting<'_>) -> usize {
    participants(setting).div_ceil(setting.every)
}

impl Deal {
    pub(super) fn new(setting: &Setting<'_>) -> Self {
        let (servers, clients): (Vec<_>, Vec<_>) = (0..participants(setting)).partition(|id| id % setting.every == 0);
        Self { homes: homes(setting.buckets, servers.len()), servers, clients }
    }

    /// How many buckets each server owns.
    pub(super) fn owned(&self) -> Vec<usize> {
        let mut owned = vec![0; self.servers.len()];
        self.homes.iter().for_each(|home| owned[home.server] += 1);
        owned
    }

    /// A seat for each client, the first of which fills the table.
    pub(super) fn seats<'a, C: Client + Send + 'a>(
        &self,
        setting: &Setting<'_>,
        mut client: impl FnMut() -> C,
    ) -> Vec<Seat<'a>> {
        let share = |rank| if rank == 0 { setting.initial() } else { 0 };
        let seat = |(rank, &participant)| Seat { client: Box::new(client()), participant, share: share(rank) };
        self.clients.iter().enumerate().map(seat).collect()
    }
}

/// Where a participant is bound to, if it is.
pub(super) fn cpu_of(setting: &Setting<'_>, participant: usize) -> Option<CpuId> {
    setting.is_pinned.then(|| setting.cpus[participant % setting.cpus.len()])
}

/// Serves where the server is bound to. Its clients wait for it, wherever it runs: so it serves where it could not be bound, too.
pub(super) fn serve_bound(cpu: Option<CpuId>, serve: impl FnOnce()) -> Result<(), PinError> {
    let pinned = cpu.map(pin::pin).transpose();
    serve();
    pinned.map(drop)
}

fn homes(buckets: usize, servers: usize) -> Vec<Home> {
    let each = buckets / servers;
    let home = |bucket| match bucket < each * servers {
        true => Home { server: bucket / each, bucket: (bucket % each) as u32 },
        false => Home { server: bucket - each * servers, bucket: each as u32 },
    };
    (0..buckets).map(home).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::play::tests::SETTING;

    #[test]
    fn every_third_participant_is_a_server_or_every_kth() {
        let servers = |threads, every| super::servers(&Setting { threads, every, ..SETTING });
        assert_eq!([1, 2, 3, 6, 10, 18, 36].map(|threads| servers(threads, 3)), [1, 1, 1, 2, 4, 6, 12]);
        assert_eq!([(6, 2), (36, 12), (2, 256)].map(|(threads, every)| servers(threads, every)), [3, 3, 1]);
        let deal = Deal::new(&Setting { threads: 7, every: 3, ..SETTING });
        assert_eq!((deal.servers, deal.clients), (vec![0, 3, 6], vec![1, 2, 4, 5]));
    }

    #[test]
    fn buckets_are_dealt_in_ranges_and_the_rest_in_turn() {
        let of = |buckets, servers| {
            let homes = homes(buckets, servers);
            homes.into_iter().map(|home| (home.server, home.bucket)).collect::<Vec<_>>()
        };
        assert_eq!(of(5, 2), [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2)]);
        assert_eq!(of(12, 12), (0..12).map(|server| (server, 0)).collect::<Vec<_>>(), "the best case");
        assert_eq!(of(2, 3), [(0, 0), (1, 0)], "one server has none");
        assert_eq!(Deal::new(&Setting { buckets: 5, threads: 4, every: 2, ..SETTING }).owned(), [3, 2]);
    }
}
