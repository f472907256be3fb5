//! Other processes: this program, started with a role in the environment and a region as its standard input.

use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};

use corecast_base::region::SharedRegion;
use corecast_channel::ff;
use corecast_channel::ump::{self, BytesSender};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::death::{longest_of, signed};
use crate::traffic::{NAME, expect, message};
use crate::words::word;

const ROLE: &str = "CORECAST_TEST_ROLE";

/// A process with a role, killed at the end.
pub(crate) struct Actor(Child);

impl Actor {
    /// Starts a process that attaches to the region.
    pub(crate) fn start(role: &str, region: &SharedRegion) -> Self {
        let child = Command::new(std::env::current_exe().expect("a program has a path"))
            .args(["--exact", "actor::play"])
            .env(ROLE, role)
            .stdin(Stdio::from(region.share().expect("/proc is there")))
            .stdout(Stdio::null())
            .spawn();
        Self(child.expect("this program can be started"))
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).expect("it is our child and was not waited for");
    }

    /// Kills it, and returns without waiting for its end.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Stops it, and returns when it is stopped.
    pub(crate) fn stop(&self) {
        self.signal(Signal::STOP);
        let pid = Some(Pid::from_child(&self.0));
        let (_, status) = waitpid(pid, WaitOptions::UNTRACED).expect("our child").expect("it has stopped");
        assert!(status.stopped());
    }

    /// Returns when it has ended well by itself.
    pub(crate) fn expect_end(mut self) {
        assert!(self.0.wait().expect("our child").success());
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Not a test: what this program does when it is an actor. A role is a verb and a number.
#[test]
fn play() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let (verb, number) = role.split_once(' ').expect("a verb and a number");
    let number = number.parse().expect("a number");
    let fd = std::io::stdin().as_fd().try_clone_to_owned().expect("a descriptor");
    let region = SharedRegion::from_fd(fd).expect("a good region");
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

fn open_sender(region: &SharedRegion) -> BytesSender {
    ump::sender(region, NAME).expect("nobody has it, or who had it is gone")
}

fn send(tx: &mut BytesSender, count: u64) {
    let longest = tx.max_len();
    (0..count).for_each(|number| tx.send(&message(number, longest)).expect("the receiver stays"));
}

/// Receives this many, and says goodbye.
fn receive(region: &SharedRegion, count: u64) {
    let mut rx = ump::receiver(region, NAME).expect("nobody has it");
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
