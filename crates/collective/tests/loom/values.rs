//! Slices along trees, and slices and single values that members show each other.

use corecast_base::CpuId;
use corecast_base::sync::{Arc, AtomicU64, Ordering};
use corecast_base::wait::Wait;
use corecast_collective::{AllreduceForm, Barrier, Group};
use corecast_machine::{Cpu, Machine, Topology};
use corecast_plan::Effort;

use super::{briefly, group, run};

/// Slices of two chunks through areas of one, so that each is written over once: values come through whole.
#[test]
fn long_slices_of_two() {
    loom::model(|| {
        let group = group(2, Barrier::Ticket, Wait::Spin);
        run(&group, |me| {
            let mut values = if me.rank() == 0 { [1u64, 2, 3, 4] } else { [0; 4] };
            me.broadcast_slice(0, &mut values).expect("nobody is lost");
            assert_eq!(values, [1, 2, 3, 4]);
            me.reduce_slice(1, &mut values, |a, b| a + b).expect("nobody is lost");
            assert!(me.rank() == 0 || values == [2, 4, 6, 8]);
        });
    });
}

/// The root writes over a chunk only after it has heard from all its readers: it sees what they did before. The model does not
/// let a load see a store that comes later, so this stands for values that are torn.
#[test]
fn a_chunk_is_written_over_after_it_was_read() {
    loom::model(|| {
        let group = group(2, Barrier::Ticket, Wait::Spin);
        let has_read = Arc::new(AtomicU64::new(0));
        run(&group, move |me| {
            let mut values = [7u64; 2];
            if me.rank() == 1 {
                has_read.store(1, Ordering::Relaxed);
            }
            me.broadcast_slice(0, &mut values).expect("nobody is lost");
            me.broadcast_slice(0, &mut values).expect("nobody is lost");
            assert!(me.rank() == 1 || has_read.load(Ordering::Relaxed) == 1);
        });
    });
}

/// Slices of three chunks through two slots, of which the first is written over: values come through whole, both combine all.
#[test]
fn a_slice_shown_to_each_other_by_two() {
    loom::model(|| {
        let group = group(2, Barrier::Ticket, Wait::Spin);
        run(&group, |me| {
            let mut values = [1u64, 2, 3, 4, 5].map(|value| value << (8 * me.rank()));
            me.allreduce_slice(&mut values, |a, b| a + b).expect("nobody is lost");
            assert_eq!(values, [0x101, 0x202, 0x303, 0x404, 0x505]);
        });
    });
}

/// Parts of three chunks through two slots, of which the first is written over: each comes through whole.
#[test]
fn parts_gathered_by_two() {
    loom::model(|| {
        let group = group(2, Barrier::Ticket, Wait::Spin);
        run(&group, |me| {
            let own = [1u64, 2, 3, 4, 5].map(|value| value << (8 * me.rank()));
            let mut all = [0; 10];
            me.allgather_slice(&own, &mut all).expect("nobody is lost");
            assert_eq!(all, [1, 2, 3, 4, 5, 0x100, 0x200, 0x300, 0x400, 0x500]);
        });
    });
}

/// Values through two slots, of which the first is written over: none is of an earlier round.
#[test]
fn values_gathered_by_two() {
    briefly(|| {
        run(&group(2, Barrier::Dissemination, Wait::Spin), |me| {
            for round in 1..4u64 {
                let mut all = [0; 2];
                me.allgather(round << (8 * me.rank()), &mut all).expect("nobody is lost");
                assert_eq!(all, [round, round << 8]);
            }
        });
    });
}

/// Values through two slots, of which each is written over: none is of an earlier round.
fn values_shown_to_each_other(group: impl Fn() -> Group + Send + Sync + 'static) {
    briefly(move || {
        run(&group(), |me| {
            for round in 0..3u64 {
                let value = round << (8 * me.rank());
                assert_eq!(me.allreduce(value, |a, b| a + b), Ok(0x101 * round));
            }
        });
    });
}

#[test]
fn values_shown_to_each_other_by_two() {
    values_shown_to_each_other(|| group(2, Barrier::Dissemination, Wait::Spin));
}

/// The last ticket wakes a sleeper.
#[test]
fn values_shown_to_each_other_by_two_who_share_a_cpu() {
    values_shown_to_each_other(|| {
        let machine = Machine::from_topology(&Topology { cpus: vec![Cpu::flat(CpuId::new(0))], ..Topology::default() });
        let builder = Group::builder(&machine).members(2).barrier(Barrier::Ticket).wait(Wait::Park);
        builder.effort(Effort::Quick).plan_folder(None).build().expect("two members on one CPU")
    });
}

/// Each combines a part, which the others see whole; sleepers are woken.
#[test]
fn parts_of_a_slice_combined_by_three() {
    briefly(|| {
        let group = group(3, Barrier::Ticket, Wait::Park);
        run(&group, |me| {
            let mut values = [1u32, 2, 3, 4].map(|value| value << (8 * me.rank()));
            me.allreduce_slice(&mut values, |a, b| a + b).expect("nobody is lost");
            assert_eq!(values, [0x10101, 0x20202, 0x30303, 0x40404]);
        });
    });
}

/// The leader of two reads the value of one, exchanges with the leader of nobody else, and shows the result. Slots are written
/// over, those of leaders in the third round.
#[test]
fn values_combined_by_clusters_of_three() {
    briefly(|| {
        let group = group(3, Barrier::Ticket, Wait::Spin);
        assert_eq!(group.choice().allreduce(8), AllreduceForm::Clusters);
        run(&group, |me| {
            for round in 0..3u64 {
                let value = round << (8 * me.rank());
                assert_eq!(me.allreduce(value, |a, b| a + b), Ok(0x10101 * round));
            }
        });
    });
}

/// Each sees what every other one wrote before it showed its value.
#[test]
fn values_combined_by_clusters_show_what_was_written_before() {
    briefly(|| {
        let group = group(3, Barrier::Ticket, Wait::Spin);
        let written = Arc::new([0, 1, 2].map(|_| AtomicU64::new(0)));
        run(&group, move |me| {
            written[me.rank()].store(1, Ordering::Relaxed);
            assert_eq!(me.allreduce(1u64, |a, b| a + b), Ok(3));
            assert!(written.iter().all(|word| word.load(Ordering::Relaxed) == 1));
        });
    });
}
