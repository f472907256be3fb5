//! The process's side of members that are processes: it is told its part on standard input, and does its tasks.

use std::io::Stdin;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use corecast::base::CpuId;
use corecast::base::region::SharedRegion;
use corecast::machine::pin;

use super::{Assignment, Seat, arena_of, lay_out};
use crate::child::{Answer, attend, hear, say};
use crate::contender::contenders;
use crate::failure::Failure;
use crate::harness::{Body, Patience, Rendezvous, Share, Task};
use crate::op::Op;

/// The work of a process that is a member: it forms the group named on standard input, and does the tasks that follow until
/// there are no more. For the hidden subcommand of a program that races collectives among processes.
///
/// # Errors
/// Why the process cannot go on; its parent has been told.
pub fn member() -> Result<(), Failure> {
    attend(serve)
}

fn serve(control: &Stdin) -> Result<(), Failure> {
    let Some((assignment, fds)) = hear::<Assignment>(control)? else { return Ok(()) };
    let rank = assignment.rank;
    let (mut body, start) = take_seat(assignment, fds)?;
    let (start, abort) = (Arc::new(start), Arc::default());
    say(control, &Answer::Ready)?;
    while let Some((task, _)) = hear::<Task>(control)? {
        let share = Share { rank, task, body, start: Arc::clone(&start), abort: Arc::clone(&abort) };
        let timing;
        (body, timing) = share.execute()?;
        say(control, &Answer::Done(timing))?;
    }
    Ok(())
}

fn take_seat(assignment: Assignment, fds: Vec<OwnedFd>) -> Result<(Box<dyn Body>, Rendezvous), Failure> {
    let Assignment { contender, op, bytes, rank, members, root, cpu, oversubscribed } = assignment;
    if let Some(cpu) = cpu {
        pin::pin(CpuId::new(cpu)).map_err(Failure::refused)?.forever();
    }
    let op: Op = op.parse().map_err(Failure::refused)?;
    let known = contenders(op).into_iter().find(|known| known.name() == contender);
    let known = known.ok_or_else(|| Failure::Refused(format!("no contender '{contender}'")))?;
    let mut fds = fds.into_iter();
    let ground = fds.next().ok_or_else(|| Failure::Refused("nothing to meet in was given".to_owned()))?;
    let region = SharedRegion::from_fd(ground).map_err(Failure::refused)?;
    let mut arena = arena_of(&region).ok_or_else(|| Failure::Refused("nothing to meet in is there".to_owned()))?;
    let (start, witness) = lay_out(&mut arena, members, Patience::new(oversubscribed))?;
    let seat = Seat { op, bytes, rank, members, root, witness };
    let body = known.attend(seat, &mut arena, fds.collect()).map_err(Failure::refused)?;
    Ok((body, start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assignment_that_cannot_be_is_told() {
        let cpu = Some(pin::affinity().expect("own mask").as_slice()[0].get());
        let assignment = |contender: &str, op: &str| {
            let (contender, op) = (contender.to_owned(), op.to_owned());
            Assignment { contender, op, bytes: 0, rank: 0, members: 1, root: 0, cpu, oversubscribed: true }
        };
        let told = |assignment| {
            let outcome = std::thread::spawn(move || take_seat(assignment, Vec::new()).map(drop)).join();
            outcome.expect("no panic").expect_err("no seat").to_string()
        };
        assert_eq!(told(assignment("nobody", "barrier")), "no contender 'nobody'");
        assert!(told(assignment("corecast", "meet")).starts_with("unknown operation 'meet'"));
        assert_eq!(told(assignment("corecast", "barrier")), "nothing to meet in was given");
    }
}
