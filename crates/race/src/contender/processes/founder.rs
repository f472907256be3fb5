//! The harness's side of members that are processes: the memory they share, and the threads that stand for them.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use corecast::base::region::{RegionPlan, SharedRegion};
use corecast::base::{Arena, Clock};

use super::{Assignment, GROUND, arena_of, lay_out};
use crate::child::Child;
use crate::contender::elsewhere::{Elsewhere, Performer};
use crate::contender::{Contender, Setting};
use crate::failure::Failure;
use crate::harness::{Abort, Body, Stamps, Task};
use crate::place::Place;
use crate::skip::Skip;

/// The kind of what the members share, which no channel has.
const KIND: u32 = u32::from_be_bytes(*b"race");
/// Room for each member's line, and for what the harness and a contender lay out beside.
const BYTES_PER_MEMBER: usize = 128;
const BYTES_BESIDE: usize = 4096;

/// Stands for a process.
struct Proxy {
    child: Child,
    timing: Stamps,
}

/// The bodies of a contender's members, which are processes, by rank.
///
/// # Errors
/// The reason, and whether it broke down ([`Skip`]).
pub fn bodies(
    contender: &dyn Contender,
    setting: &Setting<'_>,
    abort: &Arc<Abort>,
) -> Result<Vec<Box<dyn Body>>, Skip> {
    let here = || contender.build(setting, abort).map_err(Skip::unfit);
    let Place::Processes { program, arguments } = &setting.place else { return here() };
    if contender.is_external() {
        return here();
    }
    let unfit = |failure: Failure| Skip::asked(&failure);
    if !Clock::get().is_counter() {
        return Err(Skip::unfit("processes share no clock here that is cheap to read"));
    }
    let members = setting.participants();
    let (region, mut arena) = ground(members).map_err(Skip::unfit)?;
    lay_out(&mut arena, members, setting.patience()).map_err(unfit)?;
    let theirs = contender.found(setting, &mut arena).map_err(Skip::unfit)?;
    let start = |rank: usize| {
        let shared = [region.share().map_err(Failure::while_doing("share memory with a process"))];
        let theirs = theirs.iter().map(|fd| fd.try_clone().map_err(Failure::refused));
        let fds = shared.into_iter().chain(theirs).collect::<Result<Vec<OwnedFd>, Failure>>()?;
        let who = format!("the process of rank {rank}");
        Child::start(who, (program, arguments), &assignment(contender, setting, rank), &fds, abort)
    };
    let mut children = (0..members).map(start).collect::<Result<Vec<Child>, Failure>>().map_err(unfit)?;
    children.iter_mut().try_for_each(Child::await_ready).map_err(unfit)?;
    let proxy = |child| Box::new(Elsewhere::new(Proxy { child, timing: Stamps::default() })) as Box<dyn Body>;
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
        cpu: setting.bound.then(|| setting.seats[rank].get()),
        oversubscribed: setting.oversubscribed,
    }
}

impl Performer for Proxy {
    fn perform(&mut self, task: Task) -> Result<(), Failure> {
        self.child.tell(&task, &[])?;
        self.timing = self.child.await_done()?;
        Ok(())
    }

    fn amend(&self, timing: &mut Stamps) {
        timing.clone_from(&self.timing);
    }
}

/// The memory of a contender's members and the harness: their meeting point, and then the contender's part.
fn ground(members: usize) -> Result<(SharedRegion, Arena), String> {
    let seats = u32::try_from(members + 1).unwrap_or(u32::MAX);
    let bytes = (BYTES_PER_MEMBER * members + BYTES_BESIDE) as u64;
    let plan = RegionPlan::new().participants(seats).and_then(|plan| plan.add(GROUND, KIND, [0; 6], bytes));
    let plan = plan.map_err(|error| error.to_string())?;
    let region = SharedRegion::memfd(&plan).map_err(|error| error.to_string())?;
    let arena = arena_of(&region).ok_or("the region has lost its only entry")?;
    Ok((region, arena))
}

#[cfg(test)]
mod tests {
    use corecast::base::wait::Wait;
    use corecast_testing::skipped;

    use super::*;
    use crate::contender::contenders;
    use crate::contender::processes::THREADS_ONLY;
    use crate::op::Op;
    use crate::this_machine::this_machine;

    fn refusal(op: Op, contender: &str, program: &str) -> String {
        let machine = this_machine();
        let place = Place::Processes { program: program.into(), arguments: Vec::new() };
        let setting = Setting::new(&machine, op, &machine.cpu_set(), 2, Wait::Adaptive).placed(&place);
        let contender = contenders(op).into_iter().find(|known| known.name() == contender).expect("a name");
        let outcome = bodies(&*contender, &setting, &Arc::default());
        outcome.map(drop).expect_err("no member comes of it").reason
    }

    #[test]
    fn a_contender_that_cannot_take_part_says_why() {
        if !Clock::get().is_counter() {
            return skipped("processes that cannot take part", "needs a counter that all CPUs share");
        }
        assert_eq!(refusal(Op::Barrier, "std", "/bin/true"), THREADS_ONLY);
        let ended = refusal(Op::Barrier, "corecast", "/bin/true");
        let is_named = ended.starts_with("the process of rank ") && ended.ends_with(" ended: exit status: 0");
        assert!(is_named, "{ended}");
        let absent = refusal(Op::Broadcast, "corecast", "/no/such/program");
        assert!(absent.starts_with("/no/such/program: "), "{absent}");
    }
}
