//! corecast's groups: as they choose for themselves, with each barrier family, and with the tree of each static shape.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use corecast::base::Arena;
use corecast::collective::{Barrier, Builder, Group, Member};
use corecast::plan::{SHAPES, Shape, Tree};
use corecast::processes::Invitation;

use super::bodies::{
    AllreduceEnd, BarrierEnd, BroadcastEnd, ReduceEnd, SliceEnd, SliceTask, Witness, allreduce_body, barrier_body,
    broadcast_body, reduce_body, slice_body,
};
use super::row_name::{CHOSEN, of_shape};
use super::{Contender, Seat, Setting, Unfit, exchanged};
use crate::failure::Failure;
use crate::harness::{Abort, Body};
use crate::message::Message;
use crate::op::Op;

/// How the row of a tree that another row has already begins and ends its reason.
pub const TWIN: [&str; 2] = ["the same tree as ", " here"];

/// The most that slices take of a group's memory for each member: the slots in which members show each other slices, or an
/// area of chunks in each direction.
const CHUNKS_BYTES: usize = 128 << 10;

/// For each member. They take at most half of what is left of the memory, and where that is too little long slices go in
/// messages, and nobody is told: a race would measure these. So there is more than what would do.
const ROOM_BYTES: usize = 3 * CHUNKS_BYTES;

struct Planned {
    variant: Variant,
}

#[derive(Clone, Copy)]
enum Variant {
    /// The group's own choice.
    Auto,
    /// A barrier family, over the planned tree if it uses one.
    Family(Barrier),
    /// The tree of a static shape.
    Shape(&'static dyn Shape),
}

/// The group's own choice, every family of barriers, and the tree of every static shape.
pub(super) fn barriers() -> Vec<Box<dyn Contender>> {
    variants(Barrier::ALL.iter().map(|&family| Variant::Family(family)))
}

/// The group's own choice, and the tree of every static shape.
pub(super) fn trees() -> Vec<Box<dyn Contender>> {
    variants(std::iter::empty())
}

/// The group's own choice alone.
pub(super) fn chosen() -> Vec<Box<dyn Contender>> {
    vec![Box::new(Planned { variant: Variant::Auto })]
}

fn variants(families: impl Iterator<Item = Variant>) -> Vec<Box<dyn Contender>> {
    let shapes = SHAPES.iter().map(|&shape| Variant::Shape(shape));
    let all = [Variant::Auto].into_iter().chain(families).chain(shapes);
    all.map(|variant| Box::new(Planned { variant }) as Box<dyn Contender>).collect()
}

impl Contender for Planned {
    fn name(&self) -> String {
        match self.variant {
            Variant::Auto => CHOSEN.to_owned(),
            Variant::Family(family) => format!("corecast/{family}"),
            Variant::Shape(shape) => of_shape(shape.name()),
        }
    }

    fn about(&self) -> String {
        match self.variant {
            Variant::Auto => "corecast, as it plans for this machine".to_owned(),
            Variant::Family(family) => format!("corecast: {}", family.about()),
            Variant::Shape(shape) => format!("corecast by messages over a fixed tree: {}", shape.about()),
        }
    }

    fn is_ours(&self) -> bool {
        true
    }

    fn build(&self, setting: &Setting<'_>, _abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        let group = self.group(setting)?;
        let witness = Witness::new(group.size());
        let body = |rank| {
            let me = group.join(rank).map_err(|error| Unfit(error.to_string()))?;
            let Setting { op, bytes, root, .. } = *setting;
            let seat = Seat { op, bytes, rank, members: group.size(), root, witness: witness.clone() };
            Ok(body_of(me, seat))
        };
        (0..group.size()).map(body).collect()
    }

    fn found(&self, setting: &Setting<'_>, _arena: &mut Arena) -> Result<Vec<OwnedFd>, Unfit> {
        let room = setting.participants() * ROOM_BYTES + exchanged::room_bytes(setting.op, setting.bytes);
        let founding = self.builder(setting)?.room_bytes(room).found();
        let shared = founding.map_err(|error| Unfit(error.to_string()))?.share();
        Ok(vec![shared.map_err(|error| Unfit(error.to_string()))?])
    }

    fn attend(&self, seat: Seat, _arena: &mut Arena, fds: Vec<OwnedFd>) -> Result<Box<dyn Body>, Unfit> {
        let fd = fds.into_iter().next().ok_or_else(|| Unfit("it was given no group".to_owned()))?;
        let joined = Invitation::of_fd(fd).and_then(|invitation| invitation.rank(seat.rank).join());
        joined.map(|me| body_of(me, seat)).map_err(|error| Unfit(error.to_string()))
    }
}

/// The loop of the seat's operation around a member.
fn body_of(me: Member, seat: Seat) -> Box<dyn Body> {
    let Seat { op, bytes, rank, members, root, .. } = seat;
    if Op::EXCHANGES.contains(&op) {
        return exchanged::body(SliceTask::carrying(bytes, op, root, members), rank, me);
    }
    if let Some(task) = seat.slice_task() {
        return slice_body(task, rank, Sliced { me, op, root });
    }
    match op {
        Op::Broadcast => broadcast_body(rank == root, Rooted { me, root }),
        Op::Reduce => reduce_body((rank, members), root, Rooted { me, root }),
        Op::Allreduce => allreduce_body((rank, members), me),
        _ => barrier_body(rank, me, seat.witness),
    }
}

impl Planned {
    fn group(&self, setting: &Setting<'_>) -> Result<Group, Unfit> {
        self.builder(setting)?.build().map_err(|error| Unfit(error.to_string()))
    }

    fn builder<'a>(&self, setting: &Setting<'a>) -> Result<Builder<'a>, Unfit> {
        // The crew has bound the threads that the members go to, and processes bind themselves.
        let builder = Group::builder(setting.machine)
            .cpus(setting.cpus.clone())
            .members(setting.participants())
            .wait(setting.wait)
            .plan_folder(None)
            .race_folder(None)
            .pin(setting.bound);
        Ok(match self.variant {
            Variant::Auto => builder,
            Variant::Family(family) => builder.barrier(family),
            Variant::Shape(shape) => {
                let trees = setting.static_trees();
                let ours = trees.iter().find(|tree| tree.shape == shape.name());
                let ours = ours.ok_or_else(|| Unfit("the model does not have these CPUs".to_owned()))?;
                if let Some(twin) = &ours.same_as {
                    return Err(Unfit(format!("{}{twin}{}", TWIN[0], TWIN[1])));
                }
                builder.tree(ours.tree.clone()).barrier(Barrier::Tree)
            }
        })
    }
}

/// A member of a group whose operations have this root.
struct Rooted {
    me: Member,
    root: usize,
}

/// A member of a group whose operations carry slices, or nothing.
struct Sliced {
    me: Member,
    op: Op,
    root: usize,
}

impl SliceEnd for Sliced {
    #[inline]
    fn perform(&mut self, values: &mut [u64]) -> Result<(), Failure> {
        let Self { me, op, root } = self;
        let outcome = match (*op, values.is_empty()) {
            (Op::Broadcast, true) => me.broadcast(*root, &mut ()),
            (Op::Broadcast, false) => me.broadcast_slice(*root, values),
            (Op::Reduce, true) => me.reduce(*root, (), |(), ()| ()).map(drop),
            (Op::Reduce, false) => me.reduce_slice(*root, values, u64::wrapping_add),
            (_, true) => me.allreduce((), |(), ()| ()),
            (_, false) => me.allreduce_slice(values, u64::wrapping_add),
        };
        outcome.map_err(Failure::refused)
    }
}

impl BarrierEnd for Member {
    #[inline]
    fn wait(&mut self) -> Result<(), Failure> {
        self.barrier().map_err(Failure::refused)
    }
}

impl BroadcastEnd for Rooted {
    #[inline]
    fn broadcast(&mut self, value: &mut Message) -> Result<(), Failure> {
        self.me.broadcast(self.root, value).map_err(Failure::refused)
    }
}

impl ReduceEnd for Rooted {
    #[inline]
    fn reduce(&mut self, value: u64) -> Result<Option<u64>, Failure> {
        self.me.reduce(self.root, value, u64::wrapping_add).map_err(Failure::refused)
    }
}

impl AllreduceEnd for Member {
    #[inline]
    fn allreduce(&mut self, value: u64) -> Result<u64, Failure> {
        Member::allreduce(self, value, u64::wrapping_add).map_err(Failure::refused)
    }
}

/// The same setting with what the group's own plan says: the root of a rooted operation, and its tree, if it has one.
pub fn as_planned<'a>(setting: Setting<'a>) -> Setting<'a> {
    let Ok(group) = (Planned { variant: Variant::Auto }).group(&setting) else { return setting };
    let choice = group.choice();
    let (broadcast, reduce, meeting) = (&choice.broadcast.tree, &choice.reduce.tree, &choice.meeting);
    let tree = match setting.op {
        Op::Broadcast | Op::Scatter => Some(broadcast),
        Op::Reduce | Op::Gather => Some(reduce),
        Op::Allreduce => Some(reduce).filter(|&up| up == broadcast),
        Op::Barrier => Some(&meeting.tree).filter(|&down| choice.barrier == Barrier::Tree && meeting.up() == down),
        _ => None,
    };
    let root = tree.filter(|_| setting.op.is_rooted()).map_or(0, Tree::root);
    setting.rooted_at(root).choosing(tree.cloned())
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::FileExt;

    use corecast::base::wait::Wait;
    use corecast::base::{CpuId, CpuSet};
    use corecast::machine::{Cpu, Machine, Topology};

    use super::*;
    use crate::this_machine::this_machine;

    /// The words of a file.
    fn words(file: OwnedFd) -> Vec<u64> {
        let file = File::from(file);
        let mut bytes = vec![0; file.metadata().expect("a file").len() as usize];
        file.read_exact_at(&mut bytes, 0).expect("all of it");
        bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("8 bytes"))).collect()
    }

    #[test]
    fn long_slices_of_processes_are_raced_in_chunks() {
        let machine = this_machine();
        let (op, bytes, members) = (Op::Broadcast, 256 << 10, 3);
        let setting = Setting::new(&machine, op, &machine.cpu_set(), members, Wait::Yield).carrying(bytes);
        let planned = || Planned { variant: Variant::Auto };
        let memory = planned().found(&setting, &mut Arena::heap()).expect("founded").remove(0);
        std::thread::scope(|scope| {
            for rank in 0..members {
                let seat = Seat { op, bytes, rank, members, root: 0, witness: Witness::new(members) };
                let fds = vec![memory.try_clone().expect("a descriptor")];
                let attend = move || planned().attend(seat, &mut Arena::heap(), fds).expect("a seat").check(1);
                scope.spawn(move || attend().expect("performed"));
            }
        });
        // The values of the broadcast grow by one from word to word, and a message is shorter than this.
        let words = words(memory);
        let longest = words.chunk_by(|a, b| a.wrapping_add(1) == *b).map(<[u64]>::len).max();
        assert!(longest >= Some(1 << 10), "{longest:?} words side by side");
    }

    #[test]
    fn two_members_have_one_edge_and_nobody_is_raced_against_himself() {
        let cpus: CpuSet = (0..2).map(CpuId::new).collect();
        let topology = Topology { cpus: cpus.iter().map(Cpu::flat).collect(), ..Topology::default() };
        let machine = Machine::from_topology(&topology);
        for op in [Op::Broadcast, Op::Reduce, Op::Allreduce] {
            let setting = as_planned(Setting::new(&machine, op, &cpus, 2, Wait::default()));
            let same_as = |known: &super::super::setting::StaticTree| known.same_as.clone();
            let twins: Vec<_> = setting.static_trees().iter().map(same_as).collect();
            assert!(twins.iter().all(|twin| twin.as_deref() == Some(CHOSEN)), "{op}: {twins:?}");
        }
    }
}
