//! One session of clients with a memory: the check before, and a timed block. Each client has a thread, bound to its CPU.

use std::sync::Barrier;
use std::thread;

use corecast::base::CacheLine;
use corecast::base::sync::{AtomicU64, Ordering};
use corecast::machine::pin::{self, PinError};

use super::host::{Block, Player, Seat, Setting, With};
use super::tally::Turn;
use corecast_race::failure::Failure;

/// One block of a memory that is made for it.
pub(super) fn turn(with: &With, setting: &Setting<'_>) -> Result<Turn, Failure> {
    let mut turn = Turn::default();
    with(setting, &mut |mut seats| {
        turn = Turn::of(together(setting, &mut seats, &|player, block| player.play(block))?);
        Ok(())
    })?;
    Ok(turn)
}

/// Whether the memory does what the workload asks of it, with all clients at once.
pub(super) fn check(with: &With, setting: &Setting<'_>) -> Result<(), Failure> {
    let setting = &Setting { time: std::time::Duration::ZERO, ..setting.clone() };
    with(setting, &mut |mut seats| {
        let recorded = together(setting, &mut seats, &|player, block| player.record(block))?;
        let first = seats.first_mut().ok_or_else(|| Failure::Refused("there is no client".to_owned()))?;
        first.player.verify(&recorded)
    })
}

type Job<'a, R> = &'a (dyn Fn(&mut dyn Player, &Block<'_>) -> Result<R, Failure> + Sync);

/// Each client in a thread of its own; the block is over when the setting's time is.
fn together<R: Send>(setting: &Setting<'_>, seats: &mut [Seat<'_>], job: Job<'_, R>) -> Result<Vec<R>, Failure> {
    seats.first_mut().map_or(Ok(()), |seat| seat.player.fill())?;
    let over = &CacheLine::new(AtomicU64::new(0));
    let (clients, begin) = (seats.len(), &Barrier::new(seats.len() + 1));
    let run = |rank: usize, seat: &mut Seat<'_>| -> Result<Result<R, Failure>, PinError> {
        let pinned = seat.cpu.map(pin::pin).transpose();
        begin.wait();
        let _pinned = pinned?;
        let done = job(&mut *seat.player, &Block { over, rank, clients });
        if done.is_err() {
            // ORDERING: Relaxed, the flag publishes nothing but itself
            over.store(1, Ordering::Relaxed);
        }
        Ok(done)
    };
    let run = &run;
    let done: Result<Vec<Result<R, Failure>>, PinError> = thread::scope(|scope| {
        let start = |(rank, seat)| scope.spawn(move || run(rank, seat));
        let threads: Vec<_> = seats.iter_mut().enumerate().map(start).collect();
        begin.wait();
        thread::sleep(setting.time);
        // ORDERING: Relaxed, the flag publishes nothing but itself
        over.store(1, Ordering::Relaxed);
        threads.into_iter().map(|thread| thread.join().expect("no client panics")).collect()
    });
    done.map_err(Failure::refused)?.into_iter().collect()
}

/// Whether the block goes on.
#[inline]
pub(super) fn goes_on(block: &Block<'_>) -> bool {
    // ORDERING: Relaxed, the flag publishes nothing but itself
    block.over.load(Ordering::Relaxed) != 1
}
