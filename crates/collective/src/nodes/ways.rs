//! The way that values take between nodes: the engine's own operation, a tree, recursive doubling, or recursive halving.
//!
//! All nodes have to take the same way, so it follows from what is the same at all of them: the numbers of members, the size of
//! the values, their type, the operation and its order, and the result of a race that all have taken part in.

use corecast_plan::Operation;

use super::ends::Ends;
use super::exchange::{CHUNK_BYTES, HALVED_BYTES, Way, Whole};
use super::forms::{CLASSES, FarForm, Forms, Known, class};
use super::schedule::{Actions, Pattern, Place};
use crate::operation::Order;

/// The most bytes that the engine takes at once where it takes a slice as it is: its buffers have room for as many, and keep it.
const WHOLE_BYTES: usize = 64 << 20;

impl Ends {
    /// The messages of this node.
    fn actions(&mut self, pattern: Pattern) -> Actions {
        let place = Place { node: self.numbering.node, nodes: self.numbering.nodes() };
        self.schedules.actions(place, pattern)
    }

    /// The way of an allreduction of this many bytes. By rank it takes no planned tree, whose parts do not lie side by side.
    pub(super) fn allreduce_way(&mut self, bytes: usize, order: Order, known: Option<Known>) -> Way {
        let class = class(bytes);
        Way::Messages(match (self.allreduce_form(bytes, known), known) {
            (FarForm::Engine, Some((kind, op))) => {
                return Way::Whole(Whole::Allreduce(kind, op), self.agreement(class));
            }
            (FarForm::Tree, _) => {
                let planned = (order != Order::Rank).then(|| self.planned(Operation::Allreduce, class, 0));
                planned.flatten().unwrap_or_else(|| self.actions(Pattern::AllreduceByTree))
            }
            (FarForm::Halving, _) => self.actions(Pattern::AllreduceByHalving),
            (FarForm::Doubling | FarForm::Engine, _) => self.actions(Pattern::AllreduceByDoubling),
        })
    }

    fn allreduce_form(&self, bytes: usize, known: Option<Known>) -> FarForm {
        let Forms { known: of_known, allreduce, .. } = &self.forms;
        (if known.is_some() { of_known } else { allreduce })[class(bytes)]
    }

    /// The most bytes of the chunks of an allreduction.
    pub(super) fn allreduce_chunk_bytes(&self, bytes: usize, known: Option<Known>) -> usize {
        match self.allreduce_form(bytes, known) {
            // No node has to combine values first.
            FarForm::Engine if self.numbering.most_members() == 1 => WHOLE_BYTES,
            FarForm::Halving => HALVED_BYTES,
            _ => CHUNK_BYTES,
        }
    }

    /// The way of a reduction of this many bytes to a node.
    pub(super) fn reduce_way(&mut self, bytes: usize, order: Order, root: usize) -> Way {
        Way::Messages(match order {
            Order::Rank => self.actions(Pattern::ReduceByRank(root)),
            Order::Plan | Order::Arrival => {
                let planned = self.planned(Operation::Reduce, class(bytes), root);
                planned.unwrap_or_else(|| self.actions(Pattern::Reduce(root)))
            }
        })
    }

    /// The way of a broadcast of this many bytes from a node.
    pub(super) fn broadcast_way(&mut self, bytes: usize, root: usize) -> Way {
        let class = class(bytes);
        match self.forms.broadcast[class] {
            FarForm::Engine => Way::Whole(Whole::Broadcast(root), self.agreement(class)),
            _ => {
                let planned = self.planned(Operation::Broadcast, class, root);
                Way::Messages(planned.unwrap_or_else(|| self.actions(Pattern::Broadcast(root))))
            }
        }
    }

    /// The messages in which the nodes compare their calls before an operation of the engine. Shorter classes have none, as these
    /// would take as long as the operation.
    fn agreement(&mut self, class: usize) -> Actions {
        let is_compared = class + 1 == CLASSES.len();
        if is_compared { self.actions(Pattern::AllreduceByDoubling) } else { Actions::default() }
    }

    /// The messages along a planned tree, at a leader of a node or a lane of a group that has a plan.
    fn planned(&mut self, operation: Operation, class: usize, root: usize) -> Option<Actions> {
        let leads = self.leader.is_some() || self.lane_end.leader.is_some();
        let plan = self.far_plan.as_mut().filter(|_| leads)?;
        Some(plan.actions(operation, class, root))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::thread;

    use corecast_base::CpuId;
    use corecast_machine::{Cpu, Machine, Topology};

    use super::*;
    use crate::Group;
    use crate::nodes::Member;
    use crate::nodes::local::Network;
    use crate::op::Sum;

    /// Sums of floats and of numbers by this form: the bits of both.
    fn sums(me: &mut Member, form: FarForm, len: usize) -> (Vec<u64>, Vec<u64>) {
        let Forms { known, allreduce, .. } = &mut me.ends_mut().forms;
        (*known, *allreduce) = ([form; CLASSES.len()], [form; CLASSES.len()]);
        let rank = me.rank();
        let mut floats: Vec<f64> = (0..len).map(|place| 1.0 / (3 + rank * 31 + place) as f64).collect();
        me.allreduce_slice(&mut floats, |a, b| a + b).expect("a sum of floats");
        let mut numbers: Vec<u64> = (0..len).map(|place| (rank * 31 + place) as u64).collect();
        me.allreduce_slice_with(&mut numbers, Sum).expect("a sum of numbers");
        (floats.into_iter().map(f64::to_bits).collect(), numbers)
    }

    #[test]
    fn halving_gives_the_bits_of_doubling() {
        let cpus = (0..3).map(|id| Cpu::flat(CpuId::new(id))).collect();
        let machine = &Machine::from_topology(&Topology { cpus, ..Topology::default() });
        for members in [&[1; 4][..], &[1, 3, 2, 1, 1], &[1; 8]] {
            thread::scope(|scope| {
                for (engine, &members) in Network::of(members.len()).delays(5).engines().into_iter().zip(members) {
                    scope.spawn(move || {
                        let group = Group::builder(machine).members(members).pin(false).plan_folder(None);
                        let group = group.race_folder(None).over(engine).build().expect("the nodes meet");
                        let compared = group.run(|me| {
                            for len in [0, 1, 7, 1000, 8192, 20_000] {
                                let by_halving = sums(me, FarForm::Halving, len);
                                assert_eq!(by_halving, sums(me, FarForm::Doubling, len), "{len} values");
                            }
                        });
                        compared.expect("no panic");
                    });
                }
            });
        }
    }
}
