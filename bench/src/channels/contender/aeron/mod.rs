//! Aeron's IPC, from its Java package. The participants are threads of a Java program, which gets a line of text for each block.
//!
//! A single publication and a subscription for each receiver, with an embedded media driver, all in the program
//! `AeronStream.java` beside this file. Each of the harness's participants stands for one thread of the program: it binds
//! that thread to its own CPUs, and sleeps while the block lasts. The first receiver talks to the program. The program takes
//! the times of a block, so that the conversation is not timed; single messages are not timed. The program writes and sums
//! the harness's pattern, and the harness compares the sums of a check with its own.
//!
//! Without a JDK or the jar the row is skipped and says what to get.

mod java;
mod process;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use corecast::base::Clock;
use rustix::process::Pid;
use rustix::thread::{sched_getaffinity, sched_setaffinity};

use self::process::Process;
use super::super::ends::{Inlet, Outlet, Reading};
use super::super::pattern;
use super::super::traffic::Traffic;
use super::super::wire::Wire;
use super::{Carrier, Ends, Inlets, Traits};
use corecast_race::contender::Unfit;
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Stamps};

/// The longest message of Aeron.
const MOST_BYTES: usize = 16 << 20;

pub(super) struct AeronIpc;

/// A block as the program saw it, in ticks.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    start: u64,
    sender_end: u64,
    end: u64,
}

/// A thread of the program, for which a participant stands.
struct Seat {
    thread: Pid,
    is_taken: bool,
}

/// The sender, or a receiver but the first: waits to be told what the program saw.
struct Listener {
    seat: Seat,
    is_sender: bool,
    told: Receiver<Block>,
    block: Block,
}

/// The first receiver, which talks to the program.
struct Speaker {
    seat: Seat,
    process: Process,
    bytes: usize,
    others: Vec<Sender<Block>>,
    abort: Arc<Abort>,
    block: Block,
    cpu: Duration,
}

impl Carrier for AeronIpc {
    fn name(&self) -> &'static str {
        "aeron-ipc"
    }

    fn about(&self) -> &'static str {
        "Aeron's IPC, in a Java machine of its own with the media driver; busy-spins, or yields if CPUs are shared"
    }

    fn traits(&self) -> Traits {
        Traits::BROADCAST
    }

    /// Streams only: in other traffic a node waits for messages of several channels, and each channel is a program of its own.
    fn plays(&self, traffic: Traffic) -> bool {
        traffic == Traffic::Stream
    }

    fn times_single_messages(&self) -> bool {
        false
    }

    fn open(&self, wire: &Wire, abort: &Arc<Abort>) -> Result<Ends, Unfit> {
        if wire.bytes > MOST_BYTES {
            return Err(Unfit(format!("a packet has at most {MOST_BYTES} bytes")));
        }
        let jar = java::jar().map_err(Unfit)?;
        let unfit = |failure: Failure| Unfit(format!("{}: {failure}", jar.display()));
        let (process, greeting) = Process::start(&jar, wire, abort).map_err(unfit)?;
        let mut seats = seats(&greeting, wire.receivers + 1).map_err(unfit)?.into_iter();
        let mut others = Vec::new();
        let mut listener = |seat, is_sender| {
            let (tell, told) = channel();
            others.push(tell);
            Listener { seat, is_sender, told, block: Block::default() }
        };
        let mut next = || seats.next().expect("a seat for each participant");
        let (sender, first) = (listener(next(), true), next());
        let rest: Vec<_> = seats.map(|seat| listener(seat, false)).collect();
        let (bytes, abort, block, cpu) = (wire.bytes, Arc::clone(abort), Block::default(), Duration::ZERO);
        let speaker = Speaker { seat: first, process, bytes, others, abort, block, cpu };
        let mut inlets: Vec<Box<dyn Inlet>> = vec![Box::new(speaker)];
        inlets.extend(rest.into_iter().map(|listener| Box::new(listener) as Box<dyn Inlet>));
        Ok(Ends { outlet: Box::new(sender), inlets: Inlets::Here(inlets) })
    }
}

/// The threads of the program's first answer, `ready` and the thread of each participant.
fn seats(greeting: &str, participants: usize) -> Result<Vec<Seat>, Failure> {
    let numbers = greeting.strip_prefix("ready ").unwrap_or_default().split(' ');
    let threads = numbers.filter_map(|number| number.parse().ok()).filter_map(Pid::from_raw);
    let seats: Vec<_> = threads.map(|thread| Seat { thread, is_taken: false }).collect();
    if seats.len() == participants { Ok(seats) } else { Err(misunderstood(greeting)) }
}

fn misunderstood(answer: &str) -> Failure {
    Failure::Refused(format!("the Java program answers '{answer}'"))
}

impl Seat {
    /// Gives the program's thread the CPUs of the calling one, if it was not done before.
    fn take(&mut self) -> Result<(), Failure> {
        if !self.is_taken {
            let cpus = sched_getaffinity(None).map_err(Failure::refused)?;
            sched_setaffinity(Some(self.thread), &cpus).map_err(Failure::refused)?;
            self.is_taken = true;
        }
        Ok(())
    }
}

impl Listener {
    fn listen(&mut self) -> Result<(), Failure> {
        self.seat.take()?;
        // The speaker never waits for long; it is gone if it has failed, and has said why.
        self.block = self.told.recv().map_err(|_| Failure::Aborted)?;
        Ok(())
    }

    fn stamp(&self, timing: &mut Stamps) {
        let end = if self.is_sender { self.block.sender_end } else { self.block.end };
        *timing = Stamps { start: self.block.start, end, cpu: Duration::ZERO, ..std::mem::take(timing) };
    }
}

impl Outlet for Listener {
    fn send(&mut self, _first: u64, _count: u64) -> Result<(), Failure> {
        self.listen()
    }

    fn settle(&mut self, _sent: u64) -> Result<(), Failure> {
        Ok(())
    }

    fn amend(&mut self, timing: &mut Stamps) {
        self.stamp(timing);
    }
}

impl Inlet for Listener {
    fn receive(&mut self, _first: u64, _count: u64, _reading: Reading) -> Result<u64, Failure> {
        self.listen().map(|()| 0)
    }

    fn amend(&mut self, timing: &mut Stamps) {
        self.stamp(timing);
    }
}

impl Inlet for Speaker {
    fn receive(&mut self, first: u64, count: u64, reading: Reading) -> Result<u64, Failure> {
        self.seat.take()?;
        let verb = if reading == Reading::Verify { "check" } else { "run" };
        let answer = self.process.ask(&format!("{verb} {first} {count}"), &self.abort)?;
        let [total_ns, sender_ns, cpu_ns, sum] = numbers(&answer)?;
        if reading == Reading::Verify && sum != expected_sum(self.bytes, first, count) {
            return Err(Failure::Wrong(format!("the sum of {count} messages is {sum}, which is not the pattern's")));
        }
        let (clock, ticks) = (Clock::get(), |ns| Clock::get().ticks_in(Duration::from_nanos(ns)));
        let end = clock.ticks();
        let start = end.saturating_sub(ticks(total_ns));
        self.block = Block { start, sender_end: start + ticks(sender_ns), end };
        self.cpu = Duration::from_nanos(cpu_ns);
        for other in &self.others {
            // A receiver that is gone has failed, and says so itself.
            let _ = other.send(self.block);
        }
        Ok(0)
    }

    fn amend(&mut self, timing: &mut Stamps) {
        let Block { start, end, .. } = self.block;
        *timing = Stamps { start, end, cpu: self.cpu, ..std::mem::take(timing) };
    }
}

/// The numbers of an answer to a block.
fn numbers(answer: &str) -> Result<[u64; 4], Failure> {
    if let Some(what) = answer.strip_prefix("wrong ") {
        return Err(Failure::Wrong(what.to_owned()));
    }
    let numbers = answer.strip_prefix("done ").unwrap_or_default().split(' ');
    let numbers: Vec<u64> = numbers.filter_map(|number| number.parse().ok()).collect();
    numbers.try_into().map_err(|_| misunderstood(answer))
}

/// The result of a receiver of these messages if they are the harness's.
fn expected_sum(bytes: usize, first: u64, count: u64) -> u64 {
    let mut message = vec![0; bytes];
    let mut sum = 0u64;
    for number in first..first + count {
        pattern::write(&mut message, number);
        sum = sum.wrapping_add(pattern::sum(&message));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_or_quoted() {
        assert_eq!(numbers("done 5 4 3 18446744073709551615"), Ok([5, 4, 3, u64::MAX]));
        assert_eq!(numbers("wrong message 7"), Err(Failure::Wrong("message 7".to_owned())));
        for answer in ["done 5 4 3", "done", "", "ready 1 2"] {
            let failure = numbers(answer).expect_err("no block's answer").to_string();
            assert!(failure.contains(&format!("'{answer}'")), "{failure}");
        }
        let threads: Vec<_> = seats("ready 12 13", 2).expect("two").iter().map(|seat| seat.thread).collect();
        assert_eq!(threads, [12, 13].map(|number| Pid::from_raw(number).expect("not zero")));
        assert!(seats("ready 12 13", 3).is_err() && seats("ready", 1).is_err());
    }
}
