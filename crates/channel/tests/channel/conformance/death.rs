//! One end after the process at the other one has ended, well or not.

use std::thread;
use std::time::Duration;

use corecast_base::region::SharedRegion;
use corecast_channel::OpenChannelError;
use corecast_channel::ump::bytes::{Receiver, Sender};
use corecast_channel::ump::{self, Config, Credit};
use corecast_channel::{Bytes, RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
use rustix::process::{Pid, Signal, WaitOptions, waitpid};

use crate::conformance::roles::start;
use crate::conformance::traffic::{NAME, credits, expect, message, plan};

/// Long enough for everything that happens at all.
const PATIENCE: Duration = Duration::from_secs(60);

fn region(config: &Config) -> SharedRegion {
    SharedRegion::memfd(&plan(config)).expect("there is memory")
}

fn receiver(region: &SharedRegion) -> Receiver {
    ump::bytes::receiver(region, NAME).expect("nobody has it")
}

fn sender(region: &SharedRegion) -> Sender {
    ump::bytes::sender(region, NAME).expect("nobody has it, or its owner is gone")
}

/// The longest message of the channel.
pub(crate) fn longest_of(region: &SharedRegion) -> usize {
    let config = region.entry(NAME).expect("declared").config;
    let credit = if config[1] == 0 { Credit::AckLine } else { Credit::SlotClear };
    ump::bytes::channel(Config { slots: config[0] as usize, credit, ..Config::default() }).0.max_len()
}

/// A message that tells who sent it as which one, and whether it is whole.
pub(crate) fn signed(actor: u64, number: u64, longest: usize) -> Vec<u8> {
    let mut bytes = [actor.to_ne_bytes(), number.to_ne_bytes()].concat();
    bytes.extend(message(actor << 32 | number, longest - bytes.len()));
    bytes
}

/// The signer of the message, and the number that it gave it.
fn check_signed(bytes: &Bytes<'_>, longest: usize) -> (u64, u64) {
    let word = |at| {
        let mut word = [0; 8];
        bytes.read_at(at, &mut word);
        u64::from_ne_bytes(word)
    };
    let (actor, number) = (word(0), word(8));
    assert_eq!(bytes.to_vec(), signed(actor, number, longest), "message {number} of actor {actor}");
    (actor, number)
}

#[test]
fn streams_between_processes_arrive_whole_and_in_order() {
    for config in credits() {
        let (there, back) = (region(&config), region(&config));
        let longest = longest_of(&there);
        let (mut rx, mut tx) = (receiver(&there), sender(&back));
        let (theirs, ours) = (start("send 2000", &there), start("receive 2000", &back));
        for number in 0..2000 {
            tx.send(&message(number, longest)).expect("the receiver stays");
            expect(&rx.recv().expect("sent"), number, longest);
        }
        assert_eq!(rx.recv().err(), Some(RecvError::Closed), "an end in another process says goodbye too");
        theirs.dismiss();
        ours.dismiss();
        assert_eq!(tx.send(&[1]), Err(SendError::Closed(())));
    }
}

#[test]
fn senders_killed_at_any_time_leave_whole_messages_and_a_ring_for_the_next() {
    let seed = 0x5eed_0001;
    let mut random = fastrand::Rng::with_seed(seed);
    for config in credits() {
        let region = region(&config);
        let longest = longest_of(&region);
        let mut rx = receiver(&region);
        for actor in 0..100 {
            let process = start(&format!("send-for-ever {actor}"), &region);
            let until = random.u64(1..400);
            let mut number = 0;
            let gone = loop {
                match rx.try_recv() {
                    Ok(message) => assert_eq!(check_signed(&message, longest), (actor, number), "seed {seed:#x}"),
                    // The last actor, until this one is there.
                    Err(TryRecvError::Failed(RecvError::Died)) if number == 0 => {
                        thread::yield_now();
                        continue;
                    }
                    Err(TryRecvError::Empty) => {
                        thread::yield_now();
                        continue;
                    }
                    Err(TryRecvError::Failed(error)) => break error,
                    Err(error) => panic!("{error}"),
                }
                number += 1;
                if number == until {
                    process.signal(Signal::KILL);
                }
            };
            assert_eq!(gone, RecvError::Died, "after {number} messages, seed {seed:#x}");
            assert!(number >= until);
        }
        let mut tx = sender(&region);
        tx.send(b"I am still here").expect("there is room");
        assert_eq!(rx.recv().expect("sent").to_vec(), b"I am still here");
    }
}

#[test]
fn an_unpublished_message_was_never_there() {
    for config in credits() {
        for death in ["die-writing", "die-in-a-batch"] {
            // At each place of the ring, so that all of its words were written by a dead one.
            (0..16).for_each(|count| follow_a_dead_sender(&config, death, count));
        }
    }
}

/// A sender dies as it does behind this many messages, and another one takes its place.
fn follow_a_dead_sender(config: &Config, death: &str, count: u64) {
    let region = region(config);
    let longest = longest_of(&region);
    let mut rx = receiver(&region);
    let actor = start(&format!("{death} {count}"), &region);
    for number in 0..count {
        expect(&rx.recv_timeout(PATIENCE).expect("sent"), number, longest);
    }
    let gone = loop {
        match rx.recv_timeout(PATIENCE) {
            // Messages that found no room together were published as far as they found room.
            Ok(part) => assert_eq!((part.to_vec(), death), (vec![0xff; 20], "die-in-a-batch")),
            Err(error) => break error,
        }
    };
    assert_eq!(gone, RecvError::Died.into());
    assert_eq!(rx.try_recv().err(), Some(RecvError::Died.into()), "it stays so");
    drop(actor);
    let mut tx = sender(&region);
    assert_eq!(rx.try_recv().err(), Some(TryRecvError::Empty), "there is somebody again");
    for number in 0..40 {
        tx.send(&message(number, longest)).expect("there is room");
        expect(&rx.recv().expect("sent"), number, longest);
        assert_eq!(rx.try_recv().err(), Some(TryRecvError::Empty), "after message {number} behind {count}, {death}");
    }
}

#[test]
fn messages_sent_before_a_death_are_received_after_it() {
    for config in credits() {
        let region = region(&config);
        let longest = longest_of(&region);
        let actor = start("exit-without-goodbye 3", &region);
        actor.dismiss();
        let mut rx = receiver(&region);
        let mut tx = sender(&region);
        tx.send(&message(3, longest)).expect("there is room behind three messages");
        (0..4).for_each(|number| expect(&rx.recv().expect("sent"), number, longest));
        drop(tx);
        assert_eq!(rx.recv().err(), Some(RecvError::Closed));
    }
}

#[test]
fn a_waiting_sender_learns_of_a_dead_receiver_which_has_no_successor() {
    for config in credits() {
        let region = region(&config);
        let longest = longest_of(&region);
        let mut tx = sender(&region);
        let actor = start("receive 1000000", &region);
        // More than the ring holds, so that it has begun.
        (0..100).for_each(|number| tx.send(&message(number, longest)).expect("the receiver stays"));
        actor.stop();
        let full =
            (100..).find_map(|number| tx.send_timeout(&message(number, longest), Duration::from_millis(120)).err());
        assert_eq!(full, Some(SendTimeoutError::Timeout(())), "a stopped process is not dead");
        actor.signal(Signal::KILL);
        let len = tx.max_len();
        let refused = (0..).find_map(|_: u32| tx.send(&vec![0; len]).err());
        assert_eq!(refused, Some(SendError::Died(())));
        assert_eq!(tx.try_send(&vec![0; len]), Err(TrySendError::Failed(SendError::Died(()))));
        drop(actor);
        let dead = ump::bytes::receiver(&region, NAME).expect_err("nobody can follow");
        assert!(matches!(dead, OpenChannelError::Died { end: "receiver", .. }), "{dead}");
    }
}

#[test]
fn a_stopped_sender_is_waited_for() {
    for config in credits() {
        let region = region(&config);
        let longest = longest_of(&region);
        let mut rx = receiver(&region);
        let actor = start("send-for-ever 7", &region);
        check_signed(&rx.recv_timeout(PATIENCE).expect("sent"), longest);
        actor.stop();
        while rx.drain(usize::MAX, |_| ()).expect("it is not dead") > 0 {}
        assert_eq!(rx.recv_timeout(Duration::from_millis(120)).err(), Some(RecvTimeoutError::Timeout));
        actor.signal(Signal::CONT);
        check_signed(&rx.recv_timeout(PATIENCE).expect("it goes on"), longest);
        actor.signal(Signal::KILL);
        let ended = std::iter::repeat_with(|| rx.recv_timeout(PATIENCE).err()).find_map(|error| error);
        assert_eq!(ended, Some(RecvError::Died.into()));
    }
}

#[test]
fn a_forked_child_gets_an_error_and_disturbs_no_end() {
    let region = region(&Config::default());
    let (mut tx, mut rx) = (sender(&region), receiver(&region));
    // SAFETY: the child calls the two ends, which take no lock there, and ends without unwinding.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let is_told = tx.try_send(b"x") == Err(SendError::Forked(()).into())
            && tx.send(b"x") == Err(SendError::Forked(()))
            && rx.try_recv().err() == Some(RecvError::Forked.into())
            && rx.recv().err() == Some(RecvError::Forked)
            && rx.drain(1, |_| ()) == Err(RecvError::Forked)
            && ump::bytes::sender(&region, NAME)
                .err()
                .is_some_and(|error| matches!(error, OpenChannelError::Forked(_)));
        drop((tx, rx));
        // SAFETY: ends the child, running nothing of this program.
        unsafe { libc::_exit(i32::from(!is_told)) };
    }
    let (_, status) = waitpid(Pid::from_raw(child), WaitOptions::empty()).expect("our child").expect("waited for");
    assert_eq!(status.exit_status(), Some(0));
    tx.send(b"still mine").expect("there is room");
    assert_eq!(rx.recv().expect("sent").to_vec(), b"still mine");
}
