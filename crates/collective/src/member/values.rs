//! Operations on one value of each member.

use corecast_channel::Plain;

use super::{Member, prepared};

use crate::error::Error;
use crate::op::Op;
use crate::operation::Order;

/// The barrier, and operations on one value of each member.
impl Member {
    /// Returns when every member has entered. Everything that any member wrote before is visible to all afterwards.
    ///
    /// # Errors
    /// [`Error::MemberLost`].
    #[inline]
    pub fn barrier(&mut self) -> Result<(), Error> {
        self.run(prepared::barrier())
    }

    /// Gives the root's `value` to all members. The root may run ahead of the others by some operations. A broadcast of
    /// `()` tells all others that the root has come.
    ///
    /// # Errors
    /// [`Error::MemberLost`]; [`Error::BadRank`] if there is no such root.
    #[inline]
    pub fn broadcast<T: Plain>(&mut self, root: usize, value: &mut T) -> Result<(), Error> {
        self.run(prepared::broadcast(self.rank_and_size(), root, value)?)
    }

    /// Combines all members' values and returns the result at `root`, `None` elsewhere. `combine` must be associative and
    /// commutative up to rounding; the same plan combines in the same order. A reduction of `()` tells the root that all
    /// have come.
    ///
    /// # Errors
    /// [`Error::MemberLost`]; [`Error::BadRank`] if there is no such root.
    #[inline]
    pub fn reduce<T: Plain>(
        &mut self,
        root: usize,
        value: T,
        combine: impl FnMut(T, T) -> T,
    ) -> Result<Option<T>, Error> {
        self.run(prepared::reduce(self.rank_and_size(), Order::Plan, root, value, combine)?)
    }

    /// As [`reduce`](Self::reduce), with an operation of [`op`](crate::op), in the order that suits it or that
    /// [`op::in_order`](crate::op::in_order) names.
    ///
    /// # Errors
    /// As [`reduce`](Self::reduce).
    pub fn reduce_with<T: Plain>(&mut self, root: usize, value: T, op: impl Op<T>) -> Result<Option<T>, Error> {
        self.run(prepared::reduce(self.rank_and_size(), op.order(), root, value, |left, right| {
            op.combine(left, right)
        })?)
    }

    /// Combines all members' values and returns the result, the same bits to all. In a small group each member combines all
    /// values itself, in rank order for every [`Order`].
    ///
    /// # Errors
    /// [`Error::MemberLost`].
    #[inline]
    pub fn allreduce<T: Plain>(&mut self, value: T, combine: impl FnMut(T, T) -> T) -> Result<T, Error> {
        self.run(prepared::allreduce(Order::Plan, value, combine))
    }

    /// As [`allreduce`](Self::allreduce), with an operation of [`op`](crate::op), in the order that suits it or that
    /// [`op::in_order`](crate::op::in_order) names.
    ///
    /// # Errors
    /// As [`allreduce`](Self::allreduce).
    pub fn allreduce_with<T: Plain>(&mut self, value: T, op: impl Op<T>) -> Result<T, Error> {
        self.run(prepared::allreduce(op.order(), value, |left, right| op.combine(left, right)))
    }

    /// Brings all members' values to `root` and returns them there, by rank; `None` elsewhere. Take it where the root wants
    /// the values and not their combination: all of them travel through the members next to the root, which keep their
    /// subtrees' values until they are passed on.
    ///
    /// # Errors
    /// [`Error::BadRank`] if there is no such root, [`Error::MemberLost`], [`Error::Pending`].
    pub fn gather<T: Plain>(&mut self, root: usize, value: T) -> Result<Option<Vec<T>>, Error> {
        self.run(prepared::gather(self.rank_and_size(), root, value)?)
    }

    /// Gives each member its value of the root's `values`, the first to member 0 and so on. The other members give `None`;
    /// values from them are ignored.
    ///
    /// # Errors
    /// [`Error::WrongCount`] at a root that gives another number of values than there are members, which is then as if it
    /// had not called; those of [`gather`](Self::gather).
    pub fn scatter<T: Plain>(&mut self, root: usize, values: Option<&[T]>) -> Result<T, Error> {
        self.run(prepared::scatter(self.rank_and_size(), root, values)?)
    }

    /// Brings all members' values to `all` at all of them, by rank.
    ///
    /// # Errors
    /// [`Error::WrongCount`] at a member whose `all` has not room for just one value of each member, which is then as if it
    /// had not called; [`Error::MemberLost`].
    #[inline]
    pub fn allgather<T: Plain>(&mut self, value: T, all: &mut [T]) -> Result<(), Error> {
        self.run(prepared::allgather(self.rank_and_size(), value, all)?)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::thread;
    use std::time::Duration;

    use corecast_base::wait::Wait;
    use corecast_base::{Arena, CpuId};
    use corecast_machine::{Cpu, Machine, Topology};
    use corecast_plan::{Effort, Problem};

    use crate::choice::{AllreduceForm, PlanInputs, Settings, SizeClass, Trees};
    use crate::error::{Error, Loss};
    use crate::member::{GroupMemory, GroupPlan, Home, Member};
    use crate::op::in_order;
    use crate::operation::Order;

    const PATIENCE: Duration = Duration::from_secs(60);

    /// Members of a machine of nodes of four CPUs that go by clusters, as if there were that many CPUs here. Runs `body` as each.
    fn by_clusters<R: Send>(members: u32, body: impl Fn(&mut Member) -> R + Sync) -> Vec<R> {
        let cpu = |id| Cpu { numa: Some(id / 4), ..Cpu::flat(CpuId::new(id)) };
        let topology = Topology { cpus: (0..members).map(cpu).collect(), ..Topology::default() };
        let problem = Problem::of_machine(&Machine::from_topology(&topology)).expect("CPUs");
        let settings = Settings { wait: Wait::Adaptive, trees: Trees::Cheapest, barrier: None, effort: Effort::Quick };
        let mut plan = GroupPlan::of_part(PlanInputs::of_all(problem, settings, None, false, false));
        let mut choice = (*plan.choice).clone();
        SizeClass::all().for_each(|class| choice.direct.set(class, AllreduceForm::Clusters));
        plan.choice = std::sync::Arc::new(choice);
        let memory = GroupMemory::new(plan, Arena::heap(), None, None).expect("the heap has room");
        let member = |rank| Member::new(memory.ends(rank).expect("the heap has room"), Home::Own { kept: None });
        let all: Vec<Member> = (0..members as usize).map(member).collect();
        thread::scope(|scope| {
            let body = &body;
            let threads: Vec<_> = all.into_iter().map(|mut me| scope.spawn(move || body(&mut me))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no member panics")).collect()
        })
    }

    #[test]
    fn values_of_all_sizes_and_orders_are_combined_once_by_clusters() {
        for members in [3, 8, 13] {
            let count = u64::from(members);
            let outcomes = by_clusters(members, |me| {
                assert_eq!(me.ends().choice.allreduce(8), AllreduceForm::Clusters);
                let rank = me.rank() as u64;
                for round in 0..30u64 {
                    assert_eq!(me.allreduce(round + rank, |a, b| a + b)?, round * count + count * (count - 1) / 2);
                    assert_eq!(me.allreduce([round; 63], |a, b| a.map(|a| a + b[0]))?, [round * count; 63]);
                    assert_eq!(me.allreduce([round; 64], |a, b| a.map(|a| a + b[0]))?, [round * count; 64], "too long");
                    let ends =
                        me.allreduce_with([rank; 2], in_order(Order::Rank, |a: [u64; 2], b: [u64; 2]| [a[0], b[1]]))?;
                    assert_eq!(ends, [0, count - 1]);
                    assert_eq!(me.start().allreduce(rank, u64::max)?.finish_timeout(PATIENCE)?, count - 1);
                    let mut all = me.start().allreduce(rank, u64::min)?;
                    while !all.try_finish()? {
                        thread::yield_now();
                    }
                    assert_eq!(all.finish()?, 0);
                    me.barrier()?;
                }
                Ok::<_, Error>(())
            });
            assert_eq!(outcomes, vec![Ok(()); members as usize]);
        }
    }

    #[test]
    fn a_member_with_another_type_makes_all_fail_by_clusters() {
        for is_long in [false, true] {
            let outcomes = by_clusters(9, |me| {
                let other = match (me.rank() == 3, is_long) {
                    (true, false) => me.allreduce(0i64, |a, _| a).map(drop),
                    (true, true) => me.allreduce([0u64; 100], |a, _| a).map(drop),
                    _ => me.allreduce(0u64, |a, _| a).map(drop),
                };
                other.and_then(|()| me.barrier())
            });
            let is_told =
                |outcome: &Result<(), Error>| matches!(outcome, Err(Error::MemberLost { loss: Loss::Mismatched, .. }));
            assert!(outcomes.iter().all(is_told), "{outcomes:?}");
        }
    }
}
