//! What do a producer and two consumers, each a process, notice when one of them is killed?
//!
//! One consumer is killed with SIGKILL while messages stream, then the producer, which also hosts the name by which the
//! consumers found it. The others say what they saw, and end as if nothing had happened to them.
//!
//! Run it with `cargo run --release --example two_processes`, and `corecast top` beside it; a number of seconds behind
//! `--` lets it run longer.
#![allow(clippy::print_stdout, reason = "this is a program")]

use std::env;
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

use corecast::base::region::{Liveness, ParticipantId, RegionPlan, SharedRegion};
use corecast::base::rendezvous::{self, SocketDir};
use corecast::channel::RecvError;
use corecast::channel::mcast::{self, Config, Policy, ZeroReaders};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["producer", name] => produce(name),
        ["consumer", name] => consume(name),
        [] => direct(1.0),
        [seconds] => direct(seconds.parse()?),
        _ => Err("expected nothing, or a number of seconds".into()),
    }
}

/// Starts the three, and kills two of them.
fn direct(seconds: f64) -> Outcome {
    let pause = Duration::try_from_secs_f64(seconds / 2.0)?;
    let name = format!("two_processes-{}", std::process::id());
    let mut producer = Process::start("producer", &name)?;
    let mut survivor = Process::start("consumer", &name)?;
    let mut victim = Process::start("consumer", &name)?;
    thread::sleep(pause);
    victim.child.kill()?;
    producer.hear()?;
    thread::sleep(pause);
    producer.child.kill()?;
    survivor.hear()?;
    let status = survivor.child.wait()?;
    let left = rendezvous::names(&SocketDir::of_user())?.contains(&name);
    println!("consumer 1 ended with {status}, and {} is left", if left { &name } else { "nothing" });
    if status.success() && !left { Ok(()) } else { Err("that should not be".into()) }
}

fn produce(name: &str) -> Outcome {
    let config = Config { zero_readers: ZeroReaders::Block, ..Config::default() };
    let plan = mcast::bytes::spec(config).declare(RegionPlan::new(), "numbers")?;
    let meeting = rendezvous::host(&SocketDir::of_user(), name, SharedRegion::memfd(&plan)?)?;
    let mut tx = mcast::bytes::sender(meeting.region(), "numbers")?;
    println!("producer: hosts {name}");
    let mut known = Vec::new();
    for number in 0_u64.. {
        // Waits for the slower consumer, but not for a dead one.
        tx.send(&number.to_ne_bytes())?;
        if number % 1000 == 0 {
            tell_deaths(meeting.region(), &mut known)?;
        }
    }
    Ok(())
}

/// Says who died since the last look.
fn tell_deaths(region: &SharedRegion, known: &mut Vec<ParticipantId>) -> Outcome {
    known.retain(|&who| {
        let is_dead = region.liveness(who) == Liveness::Dead;
        if is_dead {
            // The producer has seat 0, and the consumers came one after the other.
            println!("producer: consumer {} died; going on", who.index);
        }
        !is_dead
    });
    if known.len() < 2 {
        let others = region.participants()?.into_iter().filter(|other| other.id != region.me());
        known.clear();
        known.extend(others.filter(|other| other.liveness == Liveness::Alive).map(|other| other.id));
    }
    Ok(())
}

fn consume(name: &str) -> Outcome {
    let meeting = rendezvous::connect(&SocketDir::of_user(), name)?;
    let rx = mcast::bytes::receiver(meeting.region(), "numbers", Policy::Reliable)?;
    let me = meeting.region().me().index;
    println!("consumer {me}: found {name}");
    let (mut received, mut expected) = (0_u64, None);
    loop {
        match rx.recv() {
            Ok(message) => {
                let number: u64 = message.read().ok_or("a message of another length")?;
                if expected.is_some_and(|expected| number != expected) {
                    return Err(format!("{number} came, expected {expected:?}").into());
                }
                (received, expected) = (received + 1, Some(number + 1));
            }
            Err(RecvError::Died) => break,
            Err(error) => return Err(error.into()),
        }
    }
    println!("consumer {me}: the producer died after {received} messages, and none of them was lost");
    Ok(())
}

/// This program in another role, killed at the end.
struct Process {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Process {
    /// Starts it, and waits until it says something.
    fn start(role: &str, name: &str) -> Outcome<Self> {
        let mut child = Command::new(env::current_exe()?).args([role, name]).stdout(Stdio::piped()).spawn()?;
        let lines = BufReader::new(child.stdout.take().ok_or("no pipe")?);
        let mut process = Self { child, lines };
        process.hear()?;
        Ok(process)
    }

    /// Waits until it says something, and passes that on.
    fn hear(&mut self) -> Outcome {
        let mut line = String::new();
        if self.lines.read_line(&mut line)? == 0 {
            return Err("a process ended without a word".into());
        }
        print!("{line}");
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended, and then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
