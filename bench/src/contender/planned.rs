//! corecast's groups: as they choose for themselves, with each barrier family, and with the tree of each static shape.

use std::sync::Arc;

use corecast::collective::{Barrier, Group, Member};
use corecast::plan::{SHAPES, Shape, Tree};

use super::body::{
    AllreduceEnd, BarrierEnd, BroadcastEnd, Message, ReduceEnd, SliceEnd, allreduce_bodies, barrier_bodies,
    broadcast_bodies, reduce_bodies, slice_bodies,
};
use super::{Body, Contender, Setting, Unfit};
use crate::failure::Failure;
use crate::harness::Abort;
use crate::op::Op;

/// How the row of a tree that another row has already begins and ends its reason.
pub(crate) const TWIN: [&str; 2] = ["the same tree as ", " here"];

/// The row of the group's own choice.
pub(crate) const CHOSEN: &str = "corecast";

/// The row of the tree of a shape.
pub(crate) fn of_shape(shape: &str) -> String {
    format!("{CHOSEN}/tree/{shape}")
}

struct Planned {
    op: Op,
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

pub(super) fn barriers() -> Vec<Box<dyn Contender>> {
    let families = Barrier::ALL.iter().map(|&family| Variant::Family(family));
    variants(Op::Barrier, families.collect())
}

pub(super) fn broadcasts() -> Vec<Box<dyn Contender>> {
    variants(Op::Broadcast, Vec::new())
}

pub(super) fn reductions() -> Vec<Box<dyn Contender>> {
    variants(Op::Reduce, Vec::new())
}

pub(super) fn allreductions() -> Vec<Box<dyn Contender>> {
    variants(Op::Allreduce, Vec::new())
}

fn variants(op: Op, families: Vec<Variant>) -> Vec<Box<dyn Contender>> {
    let shapes = SHAPES.iter().map(|&shape| Variant::Shape(shape));
    let all = [Variant::Auto].into_iter().chain(families).chain(shapes);
    all.map(|variant| Box::new(Planned { op, variant }) as Box<dyn Contender>).collect()
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
        let join = |rank| group.join(rank).map_err(|error| Unfit(error.to_string()));
        let members: Vec<Member> = (0..group.members()).map(join).collect::<Result<_, _>>()?;
        let root = setting.root;
        if !setting.is_usual() {
            let sliced = |me| Sliced { me, op: self.op, root };
            return Ok(slice_bodies(setting.slice_task(), members.into_iter().map(sliced).collect()));
        }
        let rooted = |me| Rooted { me, root };
        Ok(match self.op {
            Op::Broadcast => broadcast_bodies(members.into_iter().map(rooted).collect(), root),
            Op::Reduce => reduce_bodies(members.into_iter().map(rooted).collect(), root),
            Op::Allreduce => allreduce_bodies(members),
            _ => barrier_bodies(members),
        })
    }
}

impl Planned {
    fn group(&self, setting: &Setting<'_>) -> Result<Group, Unfit> {
        // The crew has bound the threads that the members go to.
        let builder = Group::builder(setting.machine)
            .cpus(setting.cpus.clone())
            .members(setting.participants())
            .wait(setting.wait)
            .pinned(true);
        let builder = match self.variant {
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
        };
        builder.build().map_err(|error| Unfit(error.to_string()))
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
            (Op::Broadcast, true) => me.notify_broadcast(*root),
            (Op::Broadcast, false) => me.broadcast_slice(*root, values),
            (Op::Reduce, true) => me.notify_reduce(*root),
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
pub(crate) fn as_planned<'a>(setting: Setting<'a>) -> Setting<'a> {
    let Ok(group) = (Planned { op: setting.op, variant: Variant::Auto }).group(&setting) else { return setting };
    let choice = group.choice();
    let (broadcast, reduce, meeting) = (&choice.broadcast.tree, &choice.reduce.tree, &choice.meeting);
    let tree = match setting.op {
        Op::Broadcast => Some(broadcast),
        Op::Reduce => Some(reduce),
        Op::Allreduce => Some(reduce).filter(|&up| up == broadcast),
        Op::Barrier => Some(&meeting.tree).filter(|&down| choice.barrier == Barrier::Tree && meeting.up() == down),
        _ => None,
    };
    let root = tree.filter(|_| setting.op.is_rooted()).map_or(0, Tree::root);
    setting.rooted_at(root).choosing(tree.cloned())
}

#[cfg(test)]
mod tests {
    use corecast::base::wait::Wait;
    use corecast::base::{CpuId, CpuSet};
    use corecast::machine::{Cpu, Machine, Topology};

    use super::*;

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
