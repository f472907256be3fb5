//! One session of clients with a memory: the check before, and a timed block. Each client has a thread, bound to its CPU.
//!
//! Before a block is timed the clients do the same for a while. A client whose first reply takes long, as its server's thread has
//! just been started, takes the server to be on its own CPU for 10 ms and yields to it, so that each round trip lasts three times
//! as long. That was most of a short block of some contenders, and none of others.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use corecast::base::CacheLine;
use corecast::base::sync::{AtomicU64, Ordering};
use corecast::machine::pin::{self, PinError};

use super::host::{Block, Player, Seat, Setting, With};
use super::tally::Turn;
use corecast_race::failure::Failure;

/// How long clients work before they are timed, at most as long as the block itself.
const WARM_UP: Duration = Duration::from_millis(12);

/// The same of a block of this length.
pub(super) fn warm_up(block: Duration) -> Duration {
    WARM_UP.min(block)
}

/// One block of a memory that is made for it.
pub(super) fn turn(with: &With, setting: &Setting<'_>) -> Result<Turn, Failure> {
    let mut turn = Turn::default();
    with(setting, &mut |mut seats| {
        turn = Turn::of(together(&[warm_up(setting.time), setting.time], &mut seats, &|player, block| {
            player.play(block)
        })?);
        Ok(())
    })?;
    Ok(turn)
}

/// Whether the memory does what the workload asks of it, with all clients at once.
pub(super) fn check(with: &With, setting: &Setting<'_>) -> Result<(), Failure> {
    let setting = &Setting { time: Duration::ZERO, ..setting.clone() };
    with(setting, &mut |mut seats| {
        let recorded = together(&[setting.time], &mut seats, &|player, block| player.record(block))?;
        let first = seats.first_mut().ok_or_else(|| Failure::Refused("there is no client".to_owned()))?;
        first.player.verify(&recorded)
    })
}

type Job<'a, R> = &'a (dyn Fn(&mut dyn Player, &Block<'_>) -> Result<R, Failure> + Sync);

/// Each client in a thread of its own, for blocks of these times, one after the other; the results are those of the last.
fn together<R: Send>(times: &[Duration], seats: &mut [Seat<'_>], job: Job<'_, R>) -> Result<Vec<R>, Failure> {
    seats.first_mut().map_or(Ok(()), |seat| seat.player.fill())?;
    let over: &Vec<CacheLine<AtomicU64>> = &times.iter().map(|_| CacheLine::new(AtomicU64::new(0))).collect();
    let (clients, begin) = (seats.len(), &Barrier::new(seats.len() + 1));
    let end = |over: &AtomicU64| {
        // ORDERING: Relaxed, the flag publishes nothing but itself
        over.store(1, Ordering::Relaxed);
    };
    let run = |rank: usize, seat: &mut Seat<'_>| -> Result<Result<R, Failure>, PinError> {
        let pinned = seat.cpu.map(pin::pin).transpose();
        begin.wait();
        let _pinned = pinned?;
        let (last, before) = over.split_last().expect("there is a block");
        let mut play = |over, is_warm_up| job(&mut *seat.player, &Block { over, is_warm_up, rank, clients });
        let done = before.iter().try_for_each(|over| play(over, true).map(drop)).and_then(|()| play(last, false));
        if done.is_err() {
            over.iter().for_each(|over| end(over));
        }
        Ok(done)
    };
    let run = &run;
    let done: Result<Vec<Result<R, Failure>>, PinError> = thread::scope(|scope| {
        let start = |(rank, seat)| scope.spawn(move || run(rank, seat));
        let threads: Vec<_> = seats.iter_mut().enumerate().map(start).collect();
        begin.wait();
        for (time, over) in times.iter().zip(over) {
            thread::sleep(*time);
            end(over);
        }
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
