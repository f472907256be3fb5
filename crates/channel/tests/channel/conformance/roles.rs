//! The roles of other processes: this program, started with a role in its environment and a region.

use corecast_base::region::SharedRegion;
use corecast_channel::ff;
use corecast_channel::ump::{self, bytes::Sender};
use corecast_testing::actor::{Actor, Role};
use rustix::process::{Signal, kill_process};

use crate::conformance::death::{longest_of, signed};
use crate::conformance::traffic::{NAME, expect, message};
use crate::conformance::words::word;

/// Starts a process that attaches to the region.
pub(crate) fn start(role: &str, region: &SharedRegion) -> Actor {
    Actor::inheriting("conformance::roles::play", role, &region.share().expect("/proc is there"))
}

/// Not a test: the work of this program when it is an actor. A role is a verb and a number.
#[test]
fn play() {
    let Some(role) = Role::of_this_process() else { return };
    let (verb, number) = role.name.split_once(' ').expect("a verb and a number");
    let number = number.parse().expect("a number");
    let region = SharedRegion::from_fd(role.descriptor()).expect("a good region");
    match verb {
        "send" => send(&mut open_sender(&region), number),
        "receive" => receive(&region, number),
        "send-for-ever" => send_for_ever(&region, number),
        "die-writing" => die_writing(&region, number),
        "die-in-a-batch" => die_in_a_batch(&region, number),
        "send-words" => {
            let mut tx = ff::sender(&region, NAME).expect("nobody has it");
            for number in number.. {
                tx.send(word(number)).expect("the receiver stays");
            }
        }
        "receive-words" => {
            let mut rx = ff::receiver(&region, NAME).expect("nobody has it");
            for number in number.. {
                assert_eq!(rx.recv(), Ok(word(number)));
            }
        }
        "exit-without-goodbye" => {
            let mut tx = open_sender(&region);
            send(&mut tx, number);
            std::mem::forget(tx);
            std::mem::forget(region);
        }
        other => panic!("no such role: {other}"),
    }
}

fn open_sender(region: &SharedRegion) -> Sender {
    ump::bytes::sender(region, NAME).expect("nobody has it, or its owner is gone")
}

fn send(tx: &mut Sender, count: u64) {
    let longest = tx.max_len();
    (0..count).for_each(|number| tx.send(&message(number, longest)).expect("the receiver stays"));
}

/// Receives this many, and says goodbye.
fn receive(region: &SharedRegion, count: u64) {
    let mut rx = ump::bytes::receiver(region, NAME).expect("nobody has it");
    let longest = longest_of(region);
    for number in 0..count {
        expect(&rx.recv().expect("the sender stays"), number, longest);
    }
}

/// Sends messages of this actor until it is killed: one by one, in batches, as loans, some of them aborted.
fn send_for_ever(region: &SharedRegion, actor: u64) {
    let mut tx = open_sender(region);
    let longest = tx.max_len();
    let mut number = 0;
    let mut next = || {
        number += 1;
        signed(actor, number - 1, longest)
    };
    loop {
        tx.send(&next()).expect("the receiver stays");
        let batch = [next(), next(), next()];
        tx.send_batch(batch.iter().map(Vec::as_slice)).expect("the receiver stays");
        let mut aborted = tx.reserve(longest).expect("the receiver stays");
        aborted.bytes().copy_from(&vec![0xab; longest]);
        drop(aborted);
        let message = next();
        let mut loan = tx.reserve(message.len()).expect("the receiver stays");
        loan.bytes().copy_from(&message);
        loan.commit();
    }
}

/// Dies after writing the whole of a loan behind this many messages.
fn die_writing(region: &SharedRegion, count: u64) {
    let mut tx = open_sender(region);
    send(&mut tx, count);
    let len = tx.max_len();
    let mut loan = tx.reserve(len).expect("the receiver stays");
    loan.bytes().copy_from(&vec![0xff; len]);
    kill_process(rustix::process::getpid(), Signal::KILL).expect("a process may kill itself");
}

/// Dies in a batch of which some messages are written, behind this many messages.
fn die_in_a_batch(region: &SharedRegion, count: u64) {
    let mut tx = open_sender(region);
    send(&mut tx, count);
    let messages = (0..5).map(|number| {
        if number == 4 {
            kill_process(rustix::process::getpid(), Signal::KILL).expect("a process may kill itself");
        }
        [0xff; 20].as_slice()
    });
    tx.send_batch(messages).expect("the receiver stays");
}
