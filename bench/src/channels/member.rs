//! The work of a participant that is a process, told of what to do on its standard input: see `proxy`.

use std::io::Stdin;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use corecast::base::{Clock, CpuId};
use corecast::machine::pin;

use super::bodies::Sink;
use super::contender::{Carrier, Seed, carrier};
use super::node_process;
use super::proxy::{Assignment, Begin, Role};
use corecast_race::child::{Answer, attend, hear, say};
use corecast_race::failure::Failure;
use corecast_race::harness::{Body, Stamps, Task, cpu_time_of_this_thread};

/// The work of a process that takes part: it makes or attaches to the channels that it is told of on standard input, and does
/// the tasks that follow until there are no more. For the hidden subcommand of a program that races channels among processes.
///
/// # Errors
/// Why the process cannot go on; its parent has been told.
pub fn member() -> Result<(), Failure> {
    attend(serve)
}

fn serve(control: &Stdin) -> Result<(), Failure> {
    let Some((assignment, fds)) = hear::<Assignment>(control)? else { return Ok(()) };
    let is_first = assignment.role.is_first();
    let mut body = body(control, assignment, fds)?;
    say(control, &Answer::Ready)?;
    while let Some((task, _)) = hear::<Task>(control)? {
        say(control, &Answer::Ready)?;
        if is_first && hear::<Begin>(control)?.is_none() {
            break;
        }
        let timing = perform(&mut *body, task)?;
        say(control, &Answer::Done(timing))?;
    }
    Ok(())
}

fn body(control: &Stdin, assignment: Assignment, fds: Vec<OwnedFd>) -> Result<Box<dyn Body>, Failure> {
    let Assignment { contender, wire, cpu, role } = assignment;
    if let Some(cpu) = cpu {
        pin::pin(CpuId::new(cpu)).map_err(Failure::refused)?.forever();
    }
    let carrier: &dyn Carrier =
        carrier(&contender).ok_or_else(|| Failure::Refused(format!("no contender '{contender}'")))?;
    Ok(match role {
        Role::Receiver(word) => {
            let inlet = carrier.attach(&wire, Seed { fds, word }, &Arc::default()).map_err(Failure::refused)?;
            Box::new(Sink::new(inlet))
        }
        Role::Node(turns) => Box::new(node_process::node(control, carrier, &wire, &turns)?),
    })
}

fn perform(body: &mut dyn Body, task: Task) -> Result<Stamps, Failure> {
    let (clock, cpu) = (Clock::get(), cpu_time_of_this_thread());
    let mut timing = Stamps { start: clock.ticks(), ..Stamps::default() };
    match task {
        Task::Check { rounds } => body.check(rounds)?,
        Task::Batch { iterations } => body.run(iterations)?,
        Task::Paced { count, every } => timing.marks = body.paced(0, count, every)?,
        other => return Err(Failure::Refused(format!("a participant cannot do {other:?}"))),
    }
    timing.end = clock.ticks();
    timing.cpu = cpu_time_of_this_thread().saturating_sub(cpu);
    body.amend(&mut timing);
    Ok(timing)
}
