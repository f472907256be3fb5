//! No member leaves a barrier before all have entered it, and each sees afterwards what the others wrote before.

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::wait::Wait;
use corecast_collective::{Barrier, Group};
use corecast_plan::{Scheme, Tree};

use crate::{SIZES, group};

/// Every member counts its own entry, enters, and finds the entries of all on leaving. Every now and then one of them is
/// late.
fn nobody_leaves_early(group: &Group, rounds: u64) {
    let members = group.size();
    let entered: Vec<AtomicU64> = (0..members).map(|_| AtomicU64::new(0)).collect();
    let results = group
        .run(|me| {
            let mut random = fastrand::Rng::with_seed(me.rank() as u64);
            for round in 1..=rounds {
                (0..random.u32(0..3)).for_each(|_| std::thread::yield_now());
                // Relaxed: the barrier alone must make it visible.
                entered[me.rank()].store(round, Ordering::Relaxed);
                me.barrier()?;
                for (rank, entered) in entered.iter().enumerate() {
                    let seen = entered.load(Ordering::Relaxed);
                    assert!(seen == round || seen == round + 1, "in round {round} member {rank} is at {seen}");
                }
            }
            Ok::<_, corecast_collective::Error>(())
        })
        .expect("nobody panics");
    assert_eq!(results, vec![Ok(()); members]);
}

#[test]
fn every_barrier_holds_at_every_size() {
    for &barrier in Barrier::ALL {
        for members in SIZES {
            nobody_leaves_early(&group(members, |builder| builder.barrier(barrier)), 100);
        }
    }
}

#[test]
fn every_barrier_holds_with_every_way_of_waiting() {
    for &barrier in Barrier::ALL {
        // Spinning members that share CPUs would take a time slice for each step.
        for wait in [Wait::Yield, Wait::Park] {
            nobody_leaves_early(&group(4, |builder| builder.barrier(barrier).wait(wait)), 100);
        }
        nobody_leaves_early(&group(2, |builder| builder.barrier(barrier).wait(Wait::Spin)), 20);
    }
}

#[test]
fn the_tree_barrier_holds_over_every_shape() {
    for shape in corecast_plan::SHAPES {
        nobody_leaves_early(&group(7, |builder| builder.barrier(Barrier::Tree).shape(shape.name())), 50);
    }
}

#[test]
fn barriers_that_were_asked_for_follow_a_plan_of_their_own() {
    for members in 3..=9 {
        let scheme = |barrier| {
            let group = group(members, |builder| builder.barrier(barrier));
            nobody_leaves_early(&group, 20);
            group.choice().meeting.scheme.clone()
        };
        let Scheme::Dissemination(mut order) = scheme(Barrier::Dissemination) else { panic!("no order was planned") };
        order.sort_unstable();
        assert!(order.into_iter().eq(0..members), "everybody has one place");
        let Scheme::Leaders(leaders) = scheme(Barrier::Leaders) else { panic!("the nodes have no leaders") };
        let nodes: Vec<usize> = leaders.iter().map(|leader| leader % 2).collect();
        assert!(nodes == [0, 1] || nodes == [1, 0], "one leader for each of the two nodes, not {leaders:?}");
        assert_eq!(scheme(Barrier::Tree), Scheme::Trees);
    }
}

#[test]
fn a_tree_given_serves_every_barrier() {
    for &barrier in Barrier::ALL {
        let star = Tree::new(2, vec![vec![], vec![], vec![3, 1, 0], vec![]]).expect("a tree");
        let group = group(4, |builder| builder.barrier(barrier).tree(star.clone()));
        if !matches!(group.choice().meeting.scheme, Scheme::Dissemination(_)) {
            assert_eq!(group.choice().meeting.tree, star);
        }
        nobody_leaves_early(&group, 50);
    }
}

#[test]
fn thirty_two_members_get_through_on_any_machine() {
    for &barrier in Barrier::ALL {
        nobody_leaves_early(&group(32, |builder| builder.barrier(barrier)), 20);
    }
}

#[test]
fn members_that_share_cpus_get_through_pinned() {
    let cpus = corecast_machine::pin::affinity().expect("Linux tells the mask");
    let topology = corecast_machine::source::discover(&corecast_machine::source::DiscoveryRequest::default())
        .expect("this machine has CPUs");
    let machine = corecast_machine::Machine::from_topology(&topology);
    let one: corecast_base::CpuSet = cpus.iter().take(1).collect();
    let crowded = Group::builder(&machine).cpus(one).members(8).pin(true).build().expect("one CPU is enough");
    nobody_leaves_early(&crowded, 50);
}
