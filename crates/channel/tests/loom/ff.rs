//! Every interleaving of the word channel, with two lines of two cells.

use std::num::NonZeroU64;
use std::time::Duration;

use corecast_base::sync::{Arc, UnsafeCell, spin_hint};
use corecast_base::wait::Wait;
use corecast_channel::ff::{self, Config, Probe, Receiver, Slip};
use corecast_channel::{RecvError, TryRecvError};
use loom::thread;

const CELLS: usize = 4;

fn config(probe: Probe, slip: Slip, wait: Wait) -> Config {
    Config { cells: CELLS, probe, slip, wait, wake_cost: Some(Duration::ZERO) }
}

fn word(number: usize) -> NonZeroU64 {
    NonZeroU64::new(number as u64 + 1).expect("not zero")
}

/// Memory that words stand for.
struct Buffers([UnsafeCell<usize>; CELLS + 2]);

// SAFETY: the model checks every access.
unsafe impl Send for Buffers {}
// SAFETY: as above.
unsafe impl Sync for Buffers {}

/// Sends words that stand for buffers, which are used again without asking as soon as the channel's promise lets them be.
fn buffers_go_round(probe: Probe, count: usize) {
    loom::model(move || {
        let (mut tx, mut rx) = ff::channel_with(config(probe, Slip::None, Wait::Spin));
        let buffers = Arc::new(Buffers(std::array::from_fn(|_| UnsafeCell::new(0))));
        let theirs = Arc::clone(&buffers);
        let sender = thread::spawn(move || {
            for number in 0..count {
                // SAFETY: the model checks that nobody reads meanwhile.
                theirs.0[number % (CELLS + 2)].with_mut(|buffer| unsafe { *buffer = number });
                tx.send(word(number % (CELLS + 2))).expect("the receiver stays");
            }
        });
        for number in 0..count {
            let at = rx.recv().expect("sent").get() as usize - 1;
            // SAFETY: the model checks that nobody writes meanwhile.
            assert_eq!(buffers.0[at].with(|buffer| unsafe { *buffer }), number);
        }
        assert_eq!(rx.recv(), Err(RecvError::Closed));
        sender.join().expect("the sender ends");
    });
}

#[test]
fn buffers_go_round_by_cells() {
    buffers_go_round(Probe::Cell, CELLS + 3);
}

#[test]
fn buffers_go_round_by_lines() {
    buffers_go_round(Probe::Line, CELLS + 3);
}

#[test]
fn sleepers_are_woken() {
    for probe in [Probe::Cell, Probe::Line] {
        loom::model(move || {
            let (mut tx, mut rx) = ff::channel_with(config(probe, Slip::None, Wait::Park));
            let sender = thread::spawn(move || {
                (0..CELLS + 1).for_each(|number| tx.send(word(number)).expect("the receiver stays"));
            });
            (0..CELLS + 1).for_each(|number| assert_eq!(rx.recv(), Ok(word(number))));
            sender.join().expect("the sender ends");
        });
    }
}

fn try_until_there(rx: &mut Receiver) -> Result<NonZeroU64, RecvError> {
    loop {
        match rx.try_recv() {
            Ok(word) => return Ok(word),
            Err(TryRecvError::Failed(error)) => return Err(error),
            Err(_) => spin_hint(),
        }
    }
}

/// A line is taken when it is full, and what is left of one when it is flushed, or when the sender is gone.
#[test]
fn parts_of_lines_are_let_go() {
    for probe in [Probe::Cell, Probe::Line] {
        loom::model(move || {
            let (mut tx, mut rx) = ff::channel_with(config(probe, Slip::Line(Duration::MAX), Wait::Spin));
            let sender = thread::spawn(move || {
                tx.send(word(0)).expect("there is room");
                tx.flush().expect("not forked");
                tx.send(word(1)).expect("there is room");
                tx.send(word(2)).expect("there is room");
            });
            (0..3).for_each(|number| assert_eq!(try_until_there(&mut rx), Ok(word(number))));
            assert_eq!(try_until_there(&mut rx), Err(RecvError::Closed));
            sender.join().expect("the sender ends");
        });
    }
}
