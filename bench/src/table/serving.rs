//! Servers that own buckets and are sent messages, and the threads that they and their clients run in.

use std::thread;

use super::deal::{self, Deal, cpu_of, serve_bound};
use super::host::{Client, Setting, Work};
use corecast_race::failure::Failure;

/// A server of some buckets. It ends when all its clients are gone.
pub(super) trait Serving: Send + Sized {
    /// The ends of a client at this server.
    type Line;

    /// With this number of buckets, and no clients yet.
    fn new(setting: &Setting<'_>, owned: usize) -> Self;

    /// The ends of one more client.
    fn connect(&mut self, setting: &Setting<'_>) -> Self::Line;

    /// Answers requests until all clients are gone.
    fn serve(self);
}

/// Starts the servers, lets clients work that have a line to each of them, and waits for the servers' end.
pub(super) fn with_servers<'a, S: Serving, C: Client + Send + 'a>(
    setting: &Setting<'_>,
    deal: &Deal,
    work: Work<'_>,
    mut client: impl FnMut(Vec<S::Line>) -> C,
) -> Result<(), Failure> {
    let mut sides: Vec<S> = deal.owned().into_iter().map(|owned| S::new(setting, owned)).collect();
    let connect = || client(sides.iter_mut().map(|server| server.connect(setting)).collect());
    let seats = deal.seats(setting, connect);
    thread::scope(|scope| {
        let serve = |(server, &participant): (S, &usize)| {
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

/// How many participants wait for messages, for the ends' waiters.
pub(super) fn waiting(setting: &Setting<'_>) -> usize {
    deal::participants(setting)
}
