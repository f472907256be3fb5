//! What do barriers cost while other programs want the same CPUs?
//!
//! Members meet 20,000 times at corecast's barrier and at `std`'s, in turns, beside 0, 1 and 2 busy processes. Run it
//! with `cargo run --release --example busy_neighbours`.
#![allow(clippy::print_stdout, reason = "this is a program")]

use std::hint::black_box;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::time::{Duration, Instant};

use corecast::Group;
use corecast::machine::pin::{PinError, pin};
use corecast::machine::{self, Machine};

const MEETINGS: u32 = 20_000;
/// Empty steps of each member between two meetings.
const STEPS: u32 = 300;
const TURNS: usize = 5;

/// Busy processes, which end when this is dropped.
struct Neighbours(Vec<Child>);

impl Neighbours {
    fn start(count: usize) -> std::io::Result<Self> {
        let mut started = Self(Vec::new());
        for _ in 0..count {
            // It looks now and then whether this program is still there.
            let script = "while kill -0 $PPID 2>/dev/null; do n=0; while [ $n -lt 20000 ]; do n=$((n+1)); done; done";
            started.0.push(Command::new("sh").args(["-c", script]).stdin(Stdio::null()).spawn()?);
        }
        Ok(started)
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It has ended already, or ends now.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let machine = machine::detect()?;
    for neighbours in 0..=2 {
        let _busy = Neighbours::start(neighbours)?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..TURNS {
            ours.push(meet(&machine)?);
            theirs.push(meet_at_std(&machine)?);
        }
        let (ours, theirs) = (median(ours), median(theirs));
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        println!("{neighbours} busy neighbours: corecast {ours:.1?}, std {theirs:.1?}, ratio {ratio:.2}");
    }
    Ok(())
}

fn meet(machine: &Machine) -> Result<Duration, Box<dyn std::error::Error>> {
    let group = Group::builder(machine).members(2).pin(true).build()?;
    let times = group.run(|me| {
        me.barrier()?;
        let start = Instant::now();
        for _ in 0..MEETINGS {
            work();
            me.barrier()?;
        }
        Ok::<_, corecast::collective::Error>(start.elapsed())
    })?;
    Ok(times.into_iter().next().ok_or("the group has members")??)
}

fn meet_at_std(machine: &Machine) -> Result<Duration, Box<dyn std::error::Error>> {
    let barrier = &Barrier::new(2);
    let cpus = machine.cpu_set();
    let cpu = |rank: usize| cpus.as_slice()[rank % cpus.len()];
    let member = |rank| -> Result<Duration, PinError> {
        pin(cpu(rank))?.forever();
        barrier.wait();
        let start = Instant::now();
        for _ in 0..MEETINGS {
            work();
            barrier.wait();
        }
        Ok(start.elapsed())
    };
    let time = std::thread::scope(|scope| {
        let members = [0, 1].map(|rank| scope.spawn(move || member(rank)));
        members.map(|member| member.join().expect("a member does not panic"))[0].clone()
    });
    Ok(time?)
}

fn work() {
    for step in 0..STEPS {
        black_box(step);
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
