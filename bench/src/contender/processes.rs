//! Members that are processes: one of this program for each rank, which forms the contender's group with the others.
//!
//! The processes meet in memory of their own before every block, take the times themselves, with the harness's clock and by
//! the harness's rules, and are [`Child`]ren of a thread of the harness each, a [`Proxy`], which sleeps meanwhile. So the way
//! to the processes and back is not timed. Between blocks they sleep in the kernel.

use std::io::Stdin;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use corecast::base::region::{RegionPlan, SharedRegion};
use corecast::base::{Arena, Clock, CpuId};
use corecast::machine::pin;
use serde::{Deserialize, Serialize};

use super::body::{SliceTask, Witness};
use super::{Body, Setting, Unfit, contenders};
use crate::child::{Answer, Child, attend, hear, say};
use crate::contender::Contender;
use crate::failure::Failure;
use crate::harness::{Abort, Patience, Rendezvous, Share, Task, Timing};
use crate::op::Op;
use crate::place::Place;

/// What a contender says that has no members but threads.
pub(super) const THREADS_ONLY: &str = "for threads only";

/// The name of what the members share, in its region, and its kind, which no channel has.
const GROUND: &str = "ground";
const KIND: u32 = u32::from_be_bytes(*b"race");
/// Room for each member's line, and for what the harness and a contender lay out beside.
const BYTES_PER_MEMBER: usize = 128;
const BYTES_BESIDE: usize = 4096;

/// What a process is told first.
#[derive(Debug, Serialize, Deserialize)]
struct Assignment {
    contender: String,
    op: String,
    bytes: usize,
    rank: usize,
    members: usize,
    root: usize,
    cpu: u32,
    oversubscribed: bool,
}

/// One member's part, as it is known in the process or thread that is the member.
#[derive(Debug)]
pub struct Seat {
    pub(crate) op: Op,
    pub(crate) bytes: usize,
    pub(crate) rank: usize,
    pub(crate) members: usize,
    pub(crate) root: usize,
    pub(crate) witness: Witness,
}

impl Seat {
    /// What the bodies of operations that carry slices are told; `None` if operations carry what they usually do.
    pub(crate) fn slice_task(&self) -> Option<SliceTask> {
        let Self { op, bytes, members, root, .. } = *self;
        (!op.is_usual(bytes)).then(|| SliceTask::carrying(bytes, op, root, members))
    }
}

/// A thread of the harness that stands for a process.
struct Proxy {
    child: Child,
    /// The block that was announced and not yet done.
    due: Option<Task>,
    timing: Timing,
}

/// What the members of a contender share with each other and the harness: where they meet, and then the contender's.
fn ground(members: usize) -> Result<(SharedRegion, Arena), String> {
    let seats = u32::try_from(members + 1).unwrap_or(u32::MAX);
    let bytes = (BYTES_PER_MEMBER * members + BYTES_BESIDE) as u64;
    let plan = RegionPlan::new().participants(seats).and_then(|plan| plan.add(GROUND, KIND, [0; 6], bytes));
    let plan = plan.map_err(|error| error.to_string())?;
    let region = SharedRegion::memfd(&plan).map_err(|error| error.to_string())?;
    let arena = arena_of(&region).ok_or("the region has lost its only entry")?;
    Ok((region, arena))
}

fn arena_of(region: &SharedRegion) -> Option<Arena> {
    region.entry(GROUND).map(|entry| Arena::within(region.section(&entry)))
}

/// Where members meet, and how often each has come to a barrier that is checked.
fn lay_out(arena: &mut Arena, members: usize, patience: Patience) -> Result<(Rendezvous, Witness), Failure> {
    let rendezvous = Rendezvous::lay_out(arena, members, patience).map_err(Failure::refused)?;
    Ok((rendezvous, Witness::lay_out(arena, members).map_err(Failure::refused)?))
}

/// The bodies of a contender's members, which are processes, by rank.
pub(crate) fn bodies(
    contender: &dyn Contender,
    setting: &Setting<'_>,
    abort: &Arc<Abort>,
) -> Result<Vec<Box<dyn Body>>, Unfit> {
    let Place::Processes { program, arguments } = &setting.place else { return contender.build(setting, abort) };
    if contender.is_external() {
        return contender.build(setting, abort);
    }
    let unfit = |failure: Failure| Unfit(failure.to_string());
    if !Clock::get().is_counter() {
        return Err(Unfit("processes share no clock here that is cheap to read".to_owned()));
    }
    let members = setting.participants();
    let (region, mut arena) = ground(members).map_err(Unfit)?;
    lay_out(&mut arena, members, setting.patience()).map_err(unfit)?;
    let theirs = contender.found(setting, &mut arena)?;
    let start = |rank: usize| {
        let shared = [region.share().map_err(Failure::refused)];
        let theirs = theirs.iter().map(|fd| fd.try_clone().map_err(Failure::refused));
        let fds = shared.into_iter().chain(theirs).collect::<Result<Vec<OwnedFd>, Failure>>()?;
        let who = format!("the process of rank {rank}");
        Child::start(who, (program, arguments), &assignment(contender, setting, rank), &fds, abort)
    };
    let mut children = (0..members).map(start).collect::<Result<Vec<Child>, Failure>>().map_err(unfit)?;
    children.iter_mut().try_for_each(Child::await_ready).map_err(unfit)?;
    let proxy = |child| Box::new(Proxy { child, due: None, timing: Timing::default() }) as Box<dyn Body>;
    Ok(children.into_iter().map(proxy).collect())
}

fn assignment(contender: &dyn Contender, setting: &Setting<'_>, rank: usize) -> Assignment {
    Assignment {
        contender: contender.name(),
        op: setting.op.name().to_owned(),
        bytes: setting.bytes,
        rank,
        members: setting.participants(),
        root: setting.root,
        cpu: setting.seats[rank].get(),
        oversubscribed: setting.oversubscribed,
    }
}

impl Proxy {
    /// The whole of the block that was announced, at the first call of its operation; nothing at the calls that follow.
    fn take_part(&mut self) -> Result<(), Failure> {
        let Some(task) = self.due.take() else { return Ok(()) };
        self.child.tell(&task, &[])?;
        self.timing = self.child.await_done()?;
        Ok(())
    }
}

impl Body for Proxy {
    fn ready(&mut self, task: Task) -> Result<(), Failure> {
        self.due = Some(task);
        Ok(())
    }

    fn run(&mut self, _iterations: u64) -> Result<(), Failure> {
        self.take_part()
    }

    fn check(&mut self, _rounds: u64) -> Result<(), Failure> {
        self.take_part()
    }

    fn performs_elsewhere(&self) -> bool {
        true
    }

    fn amend(&mut self, timing: &mut Timing) {
        timing.clone_from(&self.timing);
    }
}

/// What a process does that is a member: forms the group that it is told of on standard input, and does the tasks that
/// follow until there are no more. For the hidden subcommand of a program that races collectives among processes.
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
    pin::pin(CpuId::new(cpu)).map_err(Failure::refused)?.forever();
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
    use corecast::base::wait::Wait;

    use super::*;
    use crate::this_machine::this_machine;

    fn refusal(op: Op, contender: &str, program: &str) -> String {
        let machine = this_machine();
        let place = Place::Processes { program: program.into(), arguments: Vec::new() };
        let setting = Setting::new(&machine, op, &machine.cpu_set(), 2, Wait::Adaptive).placed(&place);
        let contender = contenders(op).into_iter().find(|known| known.name() == contender).expect("a name");
        let outcome = bodies(&*contender, &setting, &Arc::default());
        outcome.map(drop).expect_err("no member comes of it").to_string()
    }

    #[test]
    fn whoever_cannot_take_part_says_why() {
        if !Clock::get().is_counter() {
            return;
        }
        assert_eq!(refusal(Op::Barrier, "std", "/bin/true"), THREADS_ONLY);
        let ended = refusal(Op::Barrier, "corecast", "/bin/true");
        let is_named = ended.starts_with("the process of rank ") && ended.ends_with(" ended: exit status: 0");
        assert!(is_named, "{ended}");
        let absent = refusal(Op::Broadcast, "corecast", "/no/such/program");
        assert!(absent.starts_with("/no/such/program: "), "{absent}");
    }

    #[test]
    fn an_assignment_that_cannot_be_is_told() {
        let cpu = pin::affinity().expect("own mask").as_slice()[0].get();
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
