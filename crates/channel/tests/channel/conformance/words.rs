//! The promises of a `ff` channel among threads and processes.

use std::num::NonZeroU64;
use std::thread;
use std::time::Duration;

use corecast_base::region::{RegionPlan, SharedRegion};
use corecast_base::sync::{Arc, AtomicU64, Ordering};
use corecast_base::wait::Wait;
use corecast_channel::OpenChannelError;
use corecast_channel::ff::{self, Config, Probe, Receiver, Sender, Slip};
use corecast_channel::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
use rustix::process::Signal;

use crate::conformance::roles::start;
use crate::conformance::traffic::NAME;

/// Long enough for everything that happens at all.
const PATIENCE: Duration = Duration::from_secs(60);
/// A slip that no test waits for.
const NEVER: Slip = Slip::Line(Duration::from_secs(3600));

fn region(config: &Config) -> SharedRegion {
    let plan = ff::spec(config.clone()).declare(RegionPlan::new(), NAME).expect("one channel with a good name");
    SharedRegion::memfd(&plan).expect("there is memory")
}

fn ends(region: &SharedRegion) -> (Sender, Receiver) {
    (ff::sender(region, NAME).expect("nobody has it"), ff::receiver(region, NAME).expect("nobody has it"))
}

/// All configurations that differ in the protocol.
fn configs() -> Vec<Config> {
    let slips = [Slip::None, Slip::Line(Duration::from_micros(50))];
    let of = |slip| [Probe::Cell, Probe::Line].map(|probe| Config { cells: 32, slip, probe, ..Config::default() });
    slips.into_iter().flat_map(of).collect()
}

/// Runs the test for every memory and configuration.
fn for_each(test: impl Fn(Sender, Receiver)) {
    for config in configs() {
        let (tx, rx) = ends(&region(&config));
        test(tx, rx);
        let (tx, rx) = ff::channel_with(config);
        test(tx, rx);
    }
}

/// Any word that follows from the number and is not zero.
pub(crate) fn word(number: u64) -> NonZeroU64 {
    NonZeroU64::new(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1).expect("odd")
}

#[test]
fn streams_arrive_whole_and_in_order() {
    for wait in Wait::ALL {
        for config in configs() {
            let count = if wait == Wait::Spin { 2_000 } else { 20_000 };
            let (mut tx, mut rx) = ff::channel_with(Config { wait, ..config });
            let sender = thread::spawn(move || (0..count).for_each(|n| tx.send(word(n)).expect("received")));
            for number in 0..count {
                assert_eq!(rx.recv(), Ok(word(number)), "word {number}");
            }
            assert_eq!(rx.recv(), Err(RecvError::Closed));
            sender.join().expect("the sender does not panic");
        }
    }
}

#[test]
fn a_full_channel_gives_the_word_back_and_an_empty_one_says_so() {
    for_each(|mut tx, mut rx| {
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(rx.recv_timeout(Duration::from_millis(2)), Err(RecvTimeoutError::Timeout));
        (0..32).for_each(|number| tx.try_send(word(number)).expect("32 cells are empty"));
        assert_eq!(tx.try_send(word(32)), Err(TrySendError::Full(word(32))));
        assert_eq!(tx.send_timeout(word(32), Duration::from_millis(2)), Err(SendTimeoutError::Timeout(word(32))));
        (0..8).for_each(|number| assert_eq!(rx.try_recv(), Ok(word(number))));
        assert_eq!(tx.send_timeout(word(32), PATIENCE), Ok(()), "a line was taken");
        (8..32).for_each(|number| assert_eq!(rx.try_recv(), Ok(word(number))));
        assert_eq!(rx.recv(), Ok(word(32)), "a part of a line is waited for, and taken after a while");
    });
}

#[test]
fn a_part_of_a_line_waits_for_the_rest_or_for_a_flush_or_a_goodbye() {
    let (mut tx, mut rx) = ff::channel_with(Config { slip: NEVER, ..Config::default() });
    (0..3).for_each(|number| tx.send(word(number)).expect("there is room"));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    tx.flush().expect("not forked");
    tx.send(word(3)).expect("there is room");
    (0..4).for_each(|number| assert_eq!(rx.try_recv(), Ok(word(number)), "all that is there when a part is taken"));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    (4..9).for_each(|number| tx.send(word(number)).expect("there is room"));
    (4..8).for_each(|number| assert_eq!(rx.try_recv(), Ok(word(number)), "the line is full"));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    drop(tx);
    assert_eq!(rx.try_recv(), Ok(word(8)));
    assert_eq!(rx.try_recv(), Err(RecvError::Closed.into()));
}

#[test]
fn the_other_end_learns_of_the_goodbye() {
    for_each(|mut tx, mut rx| {
        tx.send(word(1)).expect("there is room");
        let receiver = thread::spawn(move || [rx.recv(), rx.recv()]);
        drop(tx);
        let received = receiver.join().expect("the receiver does not panic");
        assert_eq!(received, [Ok(word(1)), Err(RecvError::Closed)]);
    });
    for_each(|mut tx, rx| {
        let sender = thread::spawn(move || (0..).find_map(|number| tx.send(word(number)).err()));
        drop(rx);
        let refused = sender.join().expect("the sender does not panic");
        assert!(matches!(refused, Some(SendError::Closed(_))), "{refused:?}");
    });
}

#[test]
fn buffers_that_words_stand_for_can_be_used_again_without_asking() {
    const CELLS: u64 = 32;
    for config in configs() {
        let (mut tx, mut rx) = ff::channel_with(config);
        // When word n + cells was sent, the receiver has taken word n and is done with all before it. The last word that was
        // sent is the one before.
        let buffers: Arc<Vec<_>> = Arc::new((0..CELLS + 2).map(|_| AtomicU64::new(0)).collect());
        let theirs = Arc::clone(&buffers);
        let sender = thread::spawn(move || {
            for number in 0..5_000 {
                let at = number % (CELLS + 2);
                theirs[at as usize].store(number, Ordering::Relaxed);
                tx.send(NonZeroU64::new(at + 1).expect("not zero")).expect("the receiver stays");
            }
        });
        for number in 0..5_000 {
            let at = rx.recv().expect("sent").get() - 1;
            assert_eq!(buffers[at as usize].load(Ordering::Relaxed), number);
        }
        sender.join().expect("the sender does not panic");
    }
}

#[test]
fn words_between_processes_survive_the_death_of_their_sender() {
    for config in configs() {
        let region = region(&config);
        let mut rx = ff::receiver(&region, NAME).expect("nobody has it");
        let actor = start("send-words 0", &region);
        for number in 0..1_000 {
            assert_eq!(rx.recv_timeout(PATIENCE), Ok(word(number)));
        }
        actor.signal(Signal::KILL);
        let mut number = 1_000;
        let gone = loop {
            match rx.recv_timeout(PATIENCE) {
                Ok(received) => assert_eq!(received, word(number)),
                Err(error) => break error,
            }
            number += 1;
        };
        assert_eq!(gone, RecvError::Died.into());
        assert_eq!(rx.try_recv(), Err(RecvError::Died.into()));
        drop(actor);
        let dead = ff::sender(&region, NAME).expect_err("cells do not tell where it stopped");
        assert!(matches!(dead, OpenChannelError::Died { end: "sender", .. }), "{dead}");
    }
}

#[test]
fn a_sender_learns_of_the_death_of_its_receiver() {
    for config in configs() {
        let region = region(&config);
        let mut tx = ff::sender(&region, NAME).expect("nobody has it");
        let actor = start("receive-words 0", &region);
        // More than fit, so that it has begun.
        (0..100).for_each(|number| tx.send(word(number)).expect("the receiver stays"));
        actor.signal(Signal::KILL);
        let refused = (100..).find_map(|number| tx.send(word(number)).err());
        assert!(matches!(refused, Some(SendError::Died(_))), "{refused:?}");
    }
}

#[test]
fn ends_have_one_owner_and_directories_are_checked() {
    let good = region(&Config::default());
    let (tx, rx) = ends(&good);
    assert!(matches!(ff::sender(&good, NAME), Err(OpenChannelError::Taken { .. })));
    assert!(matches!(ff::receiver(&good, NAME), Err(OpenChannelError::Taken { .. })));
    drop(tx);
    assert!(matches!(ff::sender(&good, NAME), Err(OpenChannelError::Closed { end: "sender", .. })));
    drop(rx);
    assert!(matches!(ff::receiver(&good, NAME), Err(OpenChannelError::Closed { end: "receiver", .. })));
    let spec = ff::spec(Config::default());
    for (at, nonsense) in [(0, 33), (0, 16), (0, 1 << 60), (0, 2048), (1, 2), (3, 9), (5, 99)] {
        let mut config = spec.config;
        config[at] = nonsense;
        let plan = RegionPlan::new().add(NAME, spec.kind, config, spec.bytes).expect("a channel");
        let region = SharedRegion::heap(&plan).expect("there is memory");
        let error = ff::receiver(&region, NAME).expect_err("no channel");
        assert!(matches!(error, OpenChannelError::Layout { .. }), "{config:?}: {error}");
    }
}
