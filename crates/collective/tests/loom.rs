//! Every interleaving of the barriers, of acknowledged broadcasts, of a fault report and of the steps after it among two
//! and three members. Run by `ci/loom.sh`.
//!
//! The edges of the message tree are `ump` channels, which have models of their own.
#![cfg(loom)]

#[path = "loom/calls.rs"]
mod calls;
#[path = "loom/proposals.rs"]
mod proposals;
#[path = "loom/values.rs"]
mod values;

use corecast_base::CpuId;
use corecast_base::sync::{Arc, AtomicU64, Ordering};
use corecast_base::wait::Wait;
use corecast_collective::acknowledged::{AckConfig, AckOn, AckTuning, Discipline, Edges, Variant};
use corecast_collective::{Barrier, Error, Group, Loss, Member};
use corecast_machine::{Cpu, Machine, Topology};
use corecast_plan::Effort;
use loom::thread;

/// A machine of two nodes: members 0 and 2, and the others.
fn two_nodes(id: u32) -> Cpu {
    Cpu { numa: Some(id % 2), ..Cpu::flat(CpuId::new(id)) }
}

fn group(members: u32, barrier: Barrier, wait: Wait) -> Group {
    group_on(members, two_nodes, barrier, wait)
}

fn group_on(members: u32, cpu: fn(u32) -> Cpu, barrier: Barrier, wait: Wait) -> Group {
    let cpus = (0..members).map(cpu).collect();
    let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
    let builder = Group::builder(&machine).barrier(barrier).wait(wait).effort(Effort::Quick).plan_folder(None);
    builder.build().expect("a group of the machine's CPUs")
}

/// Runs `body` as every member, on a thread each.
fn run(group: &Group, body: impl Fn(&mut Member) + Clone + 'static) {
    let others: Vec<_> = (1..group.size())
        .map(|rank| {
            let mut me = group.join(rank).expect("nobody has joined");
            let body = body.clone();
            thread::spawn(move || body(&mut me))
        })
        .collect();
    body(&mut group.join(0).expect("nobody has joined"));
    others.into_iter().for_each(|thread| thread.join().expect("a member ends"));
}

/// Each member writes its own word with the weakest ordering; after the barrier each sees all of them.
fn nobody_leaves_early(members: u32, barrier: Barrier, wait: Wait, rounds: u64) {
    nobody_leaves_early_on(members, two_nodes, barrier, wait, rounds);
}

fn nobody_leaves_early_on(members: u32, cpu: fn(u32) -> Cpu, barrier: Barrier, wait: Wait, rounds: u64) {
    loom::model(move || {
        let group = group_on(members, cpu, barrier, wait);
        let entered = Arc::new((0..members).map(|_| AtomicU64::new(0)).collect::<Vec<_>>());
        run(&group, move |me| {
            for round in 1..=rounds {
                entered[me.rank()].store(round, Ordering::Relaxed);
                me.barrier().expect("nobody is lost");
                for entered in entered.iter() {
                    assert!(entered.load(Ordering::Relaxed) >= round);
                }
            }
        });
    });
}

#[test]
fn dissemination_of_two() {
    nobody_leaves_early(2, Barrier::Dissemination, Wait::Spin, 2);
    nobody_leaves_early(2, Barrier::Dissemination, Wait::Park, 1);
}

#[test]
fn dissemination_of_three() {
    nobody_leaves_early(3, Barrier::Dissemination, Wait::Spin, 1);
}

#[test]
fn ticket_of_two() {
    nobody_leaves_early(2, Barrier::Ticket, Wait::Spin, 2);
    nobody_leaves_early(2, Barrier::Ticket, Wait::Park, 1);
}

#[test]
fn ticket_of_three() {
    nobody_leaves_early(3, Barrier::Ticket, Wait::Spin, 1);
}

#[test]
fn flat_of_two() {
    nobody_leaves_early(2, Barrier::Flat, Wait::Spin, 2);
    nobody_leaves_early(2, Barrier::Flat, Wait::Park, 1);
}

#[test]
fn flat_of_three() {
    nobody_leaves_early(3, Barrier::Flat, Wait::Spin, 1);
}

#[test]
fn shared_line_of_two() {
    nobody_leaves_early(2, Barrier::SharedLine, Wait::Spin, 2);
    nobody_leaves_early(2, Barrier::SharedLine, Wait::Park, 1);
}

#[test]
fn shared_line_of_three() {
    nobody_leaves_early(3, Barrier::SharedLine, Wait::Spin, 1);
}

#[test]
fn tree_of_two() {
    nobody_leaves_early(2, Barrier::Tree, Wait::Spin, 1);
}

/// A root and its two children, or a child and its child, whichever is planned.
#[test]
fn release_tree_of_three() {
    nobody_leaves_early(3, Barrier::ReleaseTree, Wait::Spin, 1);
}

#[test]
fn release_line_of_three() {
    nobody_leaves_early(3, Barrier::ReleaseLine, Wait::Spin, 1);
}

#[test]
fn release_tree_of_two() {
    nobody_leaves_early(2, Barrier::ReleaseTree, Wait::Spin, 2);
    nobody_leaves_early(2, Barrier::ReleaseTree, Wait::Park, 1);
}

/// One round, in which each signals two.
#[test]
fn three_ways_of_three() {
    nobody_leaves_early(3, Barrier::Dissemination3, Wait::Spin, 1);
}

/// Fewer members than a round has ways.
#[test]
fn more_ways_than_members() {
    nobody_leaves_early(2, Barrier::Dissemination4, Wait::Spin, 1);
    nobody_leaves_early(2, Barrier::Dissemination8, Wait::Park, 1);
}

/// Members 0 and 2 gather at 0, which then gathers with 1.
#[test]
fn hierarchy_of_three() {
    nobody_leaves_early(3, Barrier::Hierarchy, Wait::Spin, 1);
}

/// A leader and its sibling, whose byte wraps around, and a third member.
#[test]
fn packed_of_two() {
    let topology = |id| Cpu { core: Some(0), ..Cpu::flat(CpuId::new(id)) };
    nobody_leaves_early_on(2, topology, Barrier::Packed, Wait::Spin, 2);
    nobody_leaves_early_on(2, topology, Barrier::Packed, Wait::Park, 1);
}

#[test]
fn packed_of_three() {
    let topology = |id| Cpu { core: Some(id / 2), ..Cpu::flat(CpuId::new(id)) };
    nobody_leaves_early_on(3, topology, Barrier::Packed, Wait::Spin, 1);
}

/// Both may lead their one cluster.
#[test]
fn dynamic_leader_of_two() {
    nobody_leaves_early(2, Barrier::DynamicLeader, Wait::Spin, 2);
    nobody_leaves_early(2, Barrier::DynamicLeader, Wait::Park, 1);
}

/// Two clusters, in one of which both may lead.
#[test]
fn dynamic_leader_of_three() {
    nobody_leaves_early(3, Barrier::DynamicLeader, Wait::Spin, 1);
}

/// Two clusters' leaders, by every exchange.
#[test]
fn hybrids_of_three() {
    nobody_leaves_early(3, Barrier::HybridStar, Wait::Spin, 1);
    nobody_leaves_early(3, Barrier::HybridTree, Wait::Spin, 1);
    nobody_leaves_early(3, Barrier::HybridDissemination, Wait::Spin, 1);
    nobody_leaves_early(3, Barrier::HybridDissemination4, Wait::Spin, 1);
    nobody_leaves_early(3, Barrier::HybridDiamond, Wait::Spin, 1);
}

#[test]
fn diamond_of_two() {
    nobody_leaves_early(2, Barrier::Diamond, Wait::Spin, 2);
    nobody_leaves_early(2, Barrier::Diamond, Wait::Park, 1);
}

#[test]
fn diamond_of_three() {
    nobody_leaves_early(3, Barrier::Diamond, Wait::Spin, 1);
}

/// Two leaders exchange, one of them for a member of its own.
#[test]
fn leaders_of_three() {
    nobody_leaves_early(3, Barrier::Leaders, Wait::Spin, 1);
}

/// A mismatch found by one member reaches the other, which may be asleep by then.
#[test]
fn a_fault_wakes_sleepers() {
    loom::model(|| {
        let group = group(2, Barrier::Dissemination, Wait::Park);
        run(&group, |me| {
            let lost = Err(Error::MemberLost { rank: 0, loss: Loss::Mismatched });
            match me.rank() {
                0 => {
                    me.broadcast(0, &mut 1u8).expect("the edge has room");
                    assert_eq!(me.barrier(), lost);
                }
                _ => assert_eq!(me.broadcast(0, &mut 1u16), lost),
            }
        });
    });
}

/// The next member to take a seat sees everything that the last one did before it left the seat.
#[test]
fn a_seat_passes_on_what_its_member_did() {
    loom::model(|| {
        let group = Arc::new(group(2, Barrier::Dissemination, Wait::Spin));
        let ends = [0, 1].map(|rank| {
            let group = Arc::clone(&group);
            with_stack(move || {
                let mut me = off_the_stack(&group, rank);
                me.reduce(0, (), |(), ()| ()).map(drop).expect("both take part");
            })
        });
        ends.into_iter().for_each(|thread| thread.join().expect("a member ends"));
        off_the_stack(&group, 1);
    });
}

/// The first member of this rank: moving a member takes more stack than a model has to spare.
#[inline(never)]
fn off_the_stack(group: &Group, rank: usize) -> Box<Member> {
    Box::new(group.join(rank).expect("nobody has joined"))
}

/// Checks a model with one forced switch per run: it has no orderings of its own, and each run makes a group.
fn briefly(body: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(1);
    model.check(body);
}

/// Starts a thread with 2^16 words of stack, where the usual coroutine has 4096: members that plan need more, as do joins.
fn with_stack(body: impl FnOnce() + Send + 'static) -> thread::JoinHandle<()> {
    thread::Builder::new().stack_size(1 << 16).spawn(body).expect("models can spawn")
}

/// The first members of a group, off the stack.
#[expect(clippy::vec_box, reason = "moving a member itself takes more stack than a model has")]
fn joined(group: &Group, members: usize) -> Vec<Box<Member>> {
    (0..members).map(|rank| off_the_stack(group, rank)).collect()
}

/// Runs `body` as each of these joined members, on threads that have the stack to plan.
#[expect(clippy::vec_box, reason = "moving a member itself takes more stack than a model has")]
fn run_planners(members: Vec<Box<Member>>, body: impl Fn(&mut Member) + Clone + Send + 'static) {
    let threads: Vec<_> = members
        .into_iter()
        .map(|mut me| {
            let body = body.clone();
            with_stack(move || body(&mut me))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("a member ends"));
}

/// Two survivors of three agree on the one that is gone, whichever of them finds it, and meet in a group of their own. A
/// member that waits for the other's word may be asleep.
fn those_who_are_left_agree(wait: Wait) {
    briefly(move || {
        let group = group(3, Barrier::Ticket, wait);
        let mut others = joined(&group, 3);
        let mut third = others.pop().expect("one of three");
        drop(third.start().barrier().expect("nobody is lost"));
        drop(third);
        let entered = Arc::new(AtomicU64::new(0));
        run_planners(others, move |me| {
            let mut shrunk = me.shrink().expect("the other one shrinks it too");
            assert_eq!((shrunk.gone, shrunk.me.rank(), shrunk.me.size()), (vec![2], me.rank(), 2));
            if me.rank() == 1 {
                entered.store(1, Ordering::Relaxed);
            }
            shrunk.me.reduce(0, (), |(), ()| ()).map(drop).expect("nobody is lost");
            assert!(me.rank() == 1 || entered.load(Ordering::Relaxed) == 1);
        });
    });
}

#[test]
fn those_who_are_left_of_three_agree() {
    those_who_are_left_agree(Wait::Spin);
    those_who_are_left_agree(Wait::Park);
}

/// Two members of one part; the first to come plans it.
#[test]
fn a_part_of_two() {
    briefly(|| {
        let group = group(2, Barrier::Ticket, Wait::Spin);
        let entered = Arc::new(AtomicU64::new(0));
        run_planners(joined(&group, 2), move |me| {
            let mut part = me.split(0, -(me.rank() as i64)).expect("nobody is lost").expect("a color");
            if part.rank() == 1 {
                entered.store(1, Ordering::Relaxed);
            }
            part.reduce(0, (), |(), ()| ()).map(drop).expect("nobody is lost");
            assert!(part.rank() == 1 || entered.load(Ordering::Relaxed) == 1);
        });
    });
}

/// The root publishes through a window of one, so that the slot is written over for the second event. Each of the others marks
/// an event as processed with the weakest ordering; once it is acknowledged, the root sees all marks.
fn nobody_acknowledges_early(members: u32, tuning: AckTuning, wait: Wait, events: u64) {
    let config = AckConfig::default().window(1).tuning(AckTuning { arity: 1, ..tuning });
    let body = move || {
        let group = group(members, Barrier::Ticket, wait);
        let processed = Arc::new((0..members).map(|_| AtomicU64::new(0)).collect::<Vec<_>>());
        run(&group, move |me| {
            let rank = me.rank();
            if rank != config.root {
                let mut follower = me.ack_follower::<u64>(config).expect("all agree");
                while let Some(event) = follower.recv().expect("nobody is lost") {
                    assert_eq!(event.value, 10 * event.number);
                    processed[rank].store(event.number, Ordering::Relaxed);
                }
                return;
            }
            let mut root = me.ack_root::<u64>(config).expect("all agree");
            for number in 1..=events {
                root.publish(&(10 * number)).expect("nobody is lost");
                root.wait(number).expect("nobody is lost");
                let others = processed.iter().enumerate().filter(|(other, _)| *other != rank);
                if tuning.ack_on == AckOn::Processed {
                    others.for_each(|(_, processed)| assert!(processed.load(Ordering::Relaxed) >= number));
                }
            }
            root.close().expect("nobody is lost");
        });
    };
    // Sleepers have many more states.
    if wait.sleeps() { briefly(body) } else { loom::model(body) }
}

#[test]
fn acknowledged_by_counters_of_two() {
    nobody_acknowledges_early(2, AckTuning::default(), Wait::Spin, 2);
}

#[test]
fn acknowledged_on_receipt_of_two() {
    nobody_acknowledges_early(2, AckTuning { ack_on: AckOn::Received, ..AckTuning::default() }, Wait::Spin, 2);
}

#[test]
fn acknowledged_asleep_of_two() {
    nobody_acknowledges_early(2, AckTuning::default(), Wait::Park, 1);
}

#[test]
fn acknowledged_by_counters_of_three() {
    nobody_acknowledges_early(3, AckTuning::default(), Wait::Spin, 1);
}

#[test]
fn acknowledged_by_a_tree_of_three() {
    nobody_acknowledges_early(3, AckTuning { variant: Variant::Tree, ..AckTuning::default() }, Wait::Spin, 1);
}

#[test]
fn acknowledged_by_messages_of_two() {
    nobody_acknowledges_early(2, AckTuning { edges: Edges::Messages, ..AckTuning::default() }, Wait::Spin, 2);
}

#[test]
fn acknowledged_by_tasks_of_two() {
    let edges = Edges::Tasks(Discipline::Lifo);
    nobody_acknowledges_early(2, AckTuning { edges, ..AckTuning::default() }, Wait::Spin, 2);
}
