//! SSYNC's table whose buckets belong to servers that run the clients' closures: corecast's `delegate`, with as many servers as
//! `messages` has, and dealt as there.

use std::sync::mpsc;
use std::thread;

use corecast::lock::delegate::{self, Clients};
use corecast::lock::table::Bucket;

use super::deal::{self, Deal, Home, cpu_of, serve_bound};
use super::guarded::{Guarded, Stored, Worker, bucket_of};
use super::host::{Host, Setting, Work};
use corecast_race::failure::Failure;

type Buckets = Vec<Bucket<Stored>>;

/// See the [module](self).
pub(super) struct Delegated {
    homes: Vec<Home>,
    /// By the number of the server.
    servers: Vec<Clients<Buckets>>,
}

impl Guarded for Delegated {
    type Front = ();

    #[inline]
    fn write<R: Send>(&self, key: u64, change: impl FnOnce(&mut Bucket<Stored>) -> R + Send) -> R {
        let Home { server, bucket } = self.homes[bucket_of(key, self.homes.len())];
        self.servers[server].run(|buckets| change(&mut buckets[bucket as usize]))
    }
}

impl Host for Delegated {
    fn servers(setting: &Setting<'_>) -> usize {
        deal::servers(setting)
    }

    fn with(setting: &Setting<'_>, work: Work<'_>) -> Result<(), Failure> {
        let deal = Deal::new(setting);
        thread::scope(|scope| {
            let start = |(&participant, owned): (&usize, usize)| {
                let (tell, told) = mpsc::channel();
                let cpu = cpu_of(setting, participant);
                let serve = move || {
                    let buckets: Buckets = (0..owned).map(|_| Bucket::default()).collect();
                    delegate::serve(buckets, |clients| tell.send(clients).expect("the host waits for them"));
                };
                (scope.spawn(move || serve_bound(cpu, serve)), told)
            };
            let (serving, told): (Vec<_>, Vec<_>) = deal.servers.iter().zip(deal.owned()).map(start).unzip();
            let servers = told.iter().map(|told| told.recv().expect("a server sends them first")).collect();
            let delegated = Self { homes: deal.homes.clone(), servers };
            let result = work(deal.seats(setting, || Worker::new(&delegated)));
            // Servers end without clients.
            drop(delegated);
            for server in serving {
                server.join().expect("no server panics").map_err(Failure::refused)?;
            }
            result
        })
    }
}
