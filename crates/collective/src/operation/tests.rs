//! Runs the steps of one operation as all members, for the tests of each.

use std::thread;

use corecast_base::wait::{CpuSharing, Wait, Waiter};

use crate::core::Core;
use crate::membership::Site;
use crate::membership::tests::sites;

/// Runs `body` as every member, on a thread each, with the memory that `lay_out` makes there. Returns the results by rank.
pub(super) fn run<M: Send, R: Send>(
    members: usize,
    lay_out: impl Fn(&mut Site) -> M,
    body: impl Fn(usize, &mut Core, &mut M) -> R + Sync,
) -> Vec<R> {
    let member = |mut site: Site| {
        let memory = lay_out(&mut site);
        let waiter = Waiter::new(Wait::Adaptive, CpuSharing::unpinned(members), None);
        (Core::new(site.rank, members, waiter, site.table, site.arena), memory)
    };
    let all: Vec<_> = sites(members).map(member).collect();
    thread::scope(|scope| {
        let body = &body;
        let start = |(rank, (mut core, mut memory))| scope.spawn(move || body(rank, &mut core, &mut memory));
        let threads: Vec<_> = all.into_iter().enumerate().map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("no member panics")).collect()
    })
}
