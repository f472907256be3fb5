//! The contenders that are channels between two participants, one file each, and the list of all contenders.
//!
//! To add one: a file here that implements [`Contender`] with the ends of [`pair_body`](crate::pair_body), and a line in
//! `REGISTRY`. The harness checks it before it times it, and lists it in every table of its operation.

mod crossbeam_select;
mod ring_ff;
mod ring_mcast;
mod ring_rtrb;
mod ring_ump;
mod selected;
mod sync_channel;

use corecast_race::contender::{self, Contender, Listed, RawLine};
use corecast_race::op::Op;

pub(crate) use ring_ump::ring as ump_ring;
pub(crate) use selected::select as select_of;

use crate::channel_demands::CHANNELS;
use crate::channels::word_queues;

type List = fn() -> Vec<Box<dyn Contender>>;

/// Every contender of every operation between two; a line may stand for a family.
const REGISTRY: &[(Op, List)] = &[
    (Op::OneWay, || one(ring_ump::Ump { op: Op::OneWay, slots: 64 })),
    (Op::OneWay, || one(RawLine)),
    (Op::OneWay, || one(ring_rtrb::Rtrb { op: Op::OneWay, slots: 64 })),
    (Op::OneWay, || one(sync_channel::SyncChannel { op: Op::OneWay, slots: 64 })),
    (Op::Stream, || one(ring_ump::Ump { op: Op::Stream, slots: 1024 })),
    (Op::Stream, || one(ring_ump::Ump { op: Op::Stream, slots: 64 })),
    (Op::Stream, || one(ring_rtrb::Rtrb { op: Op::Stream, slots: 1024 })),
    (Op::Stream, || one(ring_rtrb::Rtrb { op: Op::Stream, slots: 64 })),
    (Op::Stream, || one(sync_channel::SyncChannel { op: Op::Stream, slots: 1024 })),
    (Op::Stream, || one(sync_channel::SyncChannel { op: Op::Stream, slots: 64 })),
    (Op::Words, || one(ring_ff::Ff { op: Op::Words, cells: 1024 })),
    (Op::Words, || one(ring_ff::Ff { op: Op::Words, cells: 64 })),
    (Op::Words, || word_queues(Op::Words, 1024)),
    (Op::Words, || word_queues(Op::Words, 64)),
    (Op::Select, || one(selected::Selected { channels: CHANNELS })),
    (Op::Select, || one(ring_ump::Ump { op: Op::Select, slots: 64 })),
    (Op::Select, || one(crossbeam_select::CrossbeamSelect { channels: CHANNELS })),
    (Op::Idle, || one(ring_ump::Ump { op: Op::Idle, slots: 64 })),
    (Op::Idle, || one(ring_ff::Ff { op: Op::Idle, cells: 64 })),
    (Op::Idle, || one(ring_mcast::Mcast { slots: 64 })),
    (Op::Idle, || one(selected::Selected { channels: 8 })),
    (Op::Idle, || one(ring_rtrb::Rtrb { op: Op::Idle, slots: 64 })),
    (Op::Idle, || one(sync_channel::SyncChannel { op: Op::Idle, slots: 64 })),
    (Op::Idle, || one(crossbeam_select::CrossbeamSelect { channels: 8 })),
];

fn one(contender: impl Contender + 'static) -> Vec<Box<dyn Contender>> {
    vec![Box::new(contender)]
}

/// The contenders of an operation, of groups or between two. The others' ratios refer to the first one.
#[must_use]
pub(crate) fn contenders(op: Op) -> Vec<Box<dyn Contender>> {
    let channels = REGISTRY.iter().filter(|(of, _)| *of == op).flat_map(|(_, list)| list());
    contender::contenders(op).into_iter().chain(channels).collect()
}

/// All contenders of all operations.
#[must_use]
pub fn list() -> Vec<Listed> {
    let of = |op: Op| contenders(op).into_iter().map(move |contender| Listed::of(op, &*contender));
    Op::ALL.into_iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;
    use std::time::Duration;

    use corecast::base::wait::Wait;
    use corecast_race::contender::Setting;
    use corecast_race::harness::{Crew, Task};

    use super::*;
    use crate::this_machine::this_machine;

    const OPS: [Op; 5] = [Op::OneWay, Op::Stream, Op::Words, Op::Select, Op::Idle];

    #[test]
    fn names_are_unique_and_the_reference_is_ours() {
        for op in OPS {
            let contenders = contenders(op);
            let names: HashSet<String> = contenders.iter().map(|contender| contender.name()).collect();
            assert_eq!(names.len(), contenders.len(), "{op}");
            assert!(contenders[0].is_ours() && contenders.iter().any(|contender| !contender.is_ours()), "{op}");
        }
        let listed = list();
        assert!(Op::ALL.into_iter().all(|op| listed.iter().any(|listed| listed.op == op)));
    }

    /// Every channel passes its check, also after it has been timed and checked before.
    #[test]
    fn every_channel_delivers_all_in_order() {
        let machine = this_machine();
        for op in OPS {
            let setting = Setting::new(&machine, op, &machine.cpu_set(), 2, Wait::Adaptive).carrying(op.bytes());
            let limit = Duration::from_secs(60);
            let mut crew = Crew::start(&setting.seats, setting.oversubscribed, limit).expect("allowed CPUs");
            for contender in contenders(op) {
                let (name, abort) = (contender.name(), Arc::default());
                let built = contender.build(&setting, &abort);
                let mut bodies = built.unwrap_or_else(|unfit| panic!("{op}: {name}: {unfit}"));
                let tasks = [Task::Check { rounds: 20 }, Task::Batch { iterations: 9 }, Task::Check { rounds: 20 }];
                for task in tasks.into_iter().chain([Task::Separated { operations: 3 }]) {
                    let block = crew.run(bodies, task, &abort);
                    bodies = block.unwrap_or_else(|error| panic!("{op}: {name}: {error}")).bodies;
                }
            }
        }
    }
}
