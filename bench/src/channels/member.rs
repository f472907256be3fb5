//! Receivers that are processes: each is this program again, a [`Child`] that attaches to a channel.
//!
//! For the harness such a receiver is a [`Body`] like any other: a [`Proxy`], whose thread sleeps while the process works.
//! The process says what it saw in its own ticks, which are everybody's where the clock is the CPU's counter. It is told of
//! a task, and has answered, before the participants meet to begin it, so that waking it up is not part of what is timed.

use std::io::Stdin;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use corecast::base::{Clock, CpuId};
use corecast::machine::pin;
use serde::{Deserialize, Serialize};

use super::bodies::Sink;
use super::contender::{Seed, carrier};
use super::wire::Wire;
use corecast_race::child::{Answer, Child, attend, hear, say};
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Body, Stamps, Task, cpu_time_of_this_thread};

/// The first message to a process.
#[derive(Debug, Serialize, Deserialize)]
struct Assignment {
    contender: String,
    wire: Wire,
    word: u64,
    cpu: Option<u32>,
}

/// A receiver in another process.
pub(super) struct Proxy {
    child: Child,
    timing: Stamps,
}

impl Proxy {
    /// Starts the program and gives it the seed.
    pub(super) fn start(
        program: (&Path, &[String]),
        contender: &str,
        (wire, seed): (&Wire, Seed),
        cpu: Option<CpuId>,
        abort: &Arc<Abort>,
    ) -> Result<Self, Failure> {
        let cpu = cpu.map(CpuId::get);
        let assignment = Assignment { contender: contender.to_owned(), wire: *wire, word: seed.word, cpu };
        let who = cpu.map_or_else(|| "a receiver".to_owned(), |cpu| format!("the receiver on CPU {cpu}"));
        let mut child = Child::start(who, program, &assignment, &seed.fds, abort)?;
        child.await_ready()?;
        Ok(Self { child, timing: Stamps::default() })
    }

    fn await_done(&mut self) -> Result<(), Failure> {
        self.timing = self.child.await_done()?;
        Ok(())
    }
}

impl Body for Proxy {
    fn run(&mut self, _iterations: u64) -> Result<(), Failure> {
        self.await_done()
    }

    fn check(&mut self, _rounds: u64) -> Result<(), Failure> {
        self.await_done()
    }

    fn paced(&mut self, _begin: u64, _count: u64, _every: u64) -> Result<Vec<u64>, Failure> {
        self.await_done()?;
        Ok(std::mem::take(&mut self.timing.marks))
    }

    fn ready(&mut self, task: Task) -> Result<(), Failure> {
        self.child.tell(&task, &[])?;
        self.child.await_ready()
    }

    fn amend(&mut self, timing: &mut Stamps) {
        timing.cpu = self.timing.cpu;
        timing.missed = self.timing.missed;
        if Clock::get().is_counter() {
            timing.end = self.timing.end;
        }
    }
}

/// The work of a receiving process: it attaches to the channel that it is told of on standard input, and does the tasks that
/// follow until there are no more. For the hidden subcommand of a program that races channels among processes.
///
/// # Errors
/// Why the process cannot go on; its parent has been told.
pub fn member() -> Result<(), Failure> {
    attend(serve)
}

fn serve(control: &Stdin) -> Result<(), Failure> {
    let Some((assignment, fds)) = hear(control)? else { return Ok(()) };
    let mut sink = sink(assignment, fds)?;
    say(control, &Answer::Ready)?;
    while let Some((task, _)) = hear::<Task>(control)? {
        say(control, &Answer::Ready)?;
        let timing = perform(&mut sink, task)?;
        say(control, &Answer::Done(timing))?;
    }
    Ok(())
}

fn sink(assignment: Assignment, fds: Vec<OwnedFd>) -> Result<Sink, Failure> {
    let Assignment { contender, wire, word, cpu } = assignment;
    if let Some(cpu) = cpu {
        pin::pin(CpuId::new(cpu)).map_err(Failure::refused)?.forever();
    }
    let carrier = carrier(&contender).ok_or_else(|| Failure::Refused(format!("no contender '{contender}'")))?;
    Ok(Sink::new(carrier.attach(&wire, Seed { fds, word }, &Arc::default()).map_err(Failure::refused)?))
}

fn perform(sink: &mut Sink, task: Task) -> Result<Stamps, Failure> {
    let (clock, cpu) = (Clock::get(), cpu_time_of_this_thread());
    let mut timing = Stamps { start: clock.ticks(), ..Stamps::default() };
    match task {
        Task::Check { rounds } => sink.check(rounds)?,
        Task::Batch { iterations } => sink.run(iterations)?,
        Task::Paced { count, every } => timing.marks = sink.paced(0, count, every)?,
        other => return Err(Failure::Refused(format!("a receiver cannot do {other:?}"))),
    }
    timing.end = clock.ticks();
    timing.cpu = cpu_time_of_this_thread().saturating_sub(cpu);
    sink.amend(&mut timing);
    Ok(timing)
}
