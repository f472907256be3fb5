//! How a group forms, and the ways in which it fails to.

use std::thread;
use std::time::Duration;

use corecast_base::region::{RegionPlan, SharedRegion};
use corecast_base::rendezvous::{self, SocketDir};
use corecast_base::wait::Affinity;
use corecast_collective::processes::{Invitation, JoinError};
use corecast_collective::{Error, Group, Loss};
use corecast_machine::pin;
use corecast_plan::Effort;

use crate::roles;
use crate::{PATIENCE, founding};

#[test]
fn threads_of_one_process_may_come_by_descriptor_too() {
    let founding = founding(3, |builder| builder);
    thread::scope(|scope| {
        for rank in 0..3 {
            let invitation = Invitation::of_fd(founding.share().expect("/proc")).expect("a good region").rank(rank);
            scope.spawn(move || {
                let mut me = invitation.join().expect("a free place");
                assert_eq!((me.rank(), me.size()), (rank, 3));
                assert_eq!(me.allreduce(1u8, |a, b| a + b), Ok(3));
            });
        }
    });
}

#[test]
fn the_first_at_a_name_founds_the_group_and_nothing_is_left_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = SocketDir::at(folder.path().join("sockets"));
    let machine = crate::machine(3);
    let founder = Group::builder(&machine).pin(false).effort(Effort::Quick);
    for round in 0..10_u64 {
        thread::scope(|scope| {
            for rank in 0..3 {
                let (dir, founder) = (&dir, &founder);
                scope.spawn(move || {
                    let invitation = Invitation::by_name(dir, "meeting", founder).expect("a group");
                    let mut me = invitation.rank(rank).join().expect("a free place");
                    assert_eq!(me.allreduce(round, |a, b| a + b), Ok(3 * round));
                    me.barrier().expect("nobody leaves before");
                });
            }
        });
        let left: Vec<_> = std::fs::read_dir(dir.path()).expect("made by the host").collect();
        assert!(left.is_empty(), "round {round}: {left:?}");
    }
}

#[test]
fn a_name_of_a_group_of_another_size_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = SocketDir::at(folder.path().join("sockets"));
    let _hosted = rendezvous::host(&dir, "meeting", founding(3, |builder| builder).region().clone()).expect("a name");
    let machine = crate::machine(3);
    let joined = Invitation::by_name(&dir, "meeting", &Group::builder(&machine).members(2)).expect("a group").join();
    assert!(matches!(joined, Err(JoinError::Size { found: 3, expected: 2 })), "{joined:?}");
}

#[test]
fn a_member_that_never_comes_is_named_by_rank() {
    let founding = founding(4, |builder| builder);
    let mut first = roles::start("join", &founding, 2);
    let second = Invitation::of_region(founding.region().clone()).rank(0).timeout(Duration::from_millis(300)).join();
    let told = |missing: &[usize]| matches!(missing, [1, 2, 3] | [1, 3]);
    assert!(matches!(&second, Err(JoinError::SetupTimeout { missing }) if told(missing)), "{second:?}");
    let said = first.hear();
    assert!(said.starts_with("the group is not complete: ranks") && said.contains("1, 3"), "{said}");
}

/// A thread with other CPUs than the member's, which gets no place, does not tell the others of its own CPUs.
#[test]
fn a_join_that_fails_leaves_the_cpus_of_the_member() {
    let founding = founding(1, |builder| builder);
    let region = founding.region();
    let cpu = pin::affinity().expect("own mask").iter().next().expect("a thread runs somewhere");
    thread::scope(|scope| {
        let bound = scope.spawn(|| {
            pin::pin(cpu).expect("an allowed CPU").forever();
            let me = Invitation::of_region(region.clone()).rank(0).join().expect("a free place");
            (me, Affinity::of_this_thread())
        });
        let (_me, told) = bound.join().expect("no panic");
        assert!(region.is_confined(region.me(), &told), "the member told of its CPU");
        let twice = Invitation::of_region(region.clone()).rank(0).join();
        assert!(matches!(twice, Err(JoinError::Member(Error::AlreadyJoined { rank: 0 }))), "{twice:?}");
        assert!(Invitation::of_region(region.clone()).rank(1).join().is_err(), "there is none");
        assert!(region.is_confined(region.me(), &told), "and nobody else did");
    });
}

#[test]
fn a_place_is_taken_once_and_ranks_have_an_end() {
    let founding = founding(2, |builder| builder);
    let stays = roles::start("work for ever", &founding, 0);
    let invitation = || Invitation::of_fd(founding.share().expect("/proc")).expect("a good region").timeout(PATIENCE);
    let outside = invitation().rank(2).join();
    assert!(matches!(outside, Err(JoinError::Member(Error::BadRank { rank: 2, members: 2 }))), "{outside:?}");
    let mut me = invitation().rank(1).join().expect("a free place");
    for rank in 0..2 {
        let twice = invitation().rank(rank).join();
        assert!(
            matches!(twice, Err(JoinError::Member(Error::AlreadyJoined { rank: taken })) if taken == rank),
            "{twice:?}"
        );
    }
    assert!(matches!(invitation().join(), Err(JoinError::Member(Error::AlreadyJoined { .. }))), "nothing is free");
    stays.kill();
    let lost = Err(Error::MemberLost { rank: 0, loss: Loss::Died });
    assert_eq!(std::iter::repeat_with(|| me.barrier()).find(Result::is_err), Some(lost));
    let late = invitation().rank(0).join();
    assert!(matches!(late, Err(JoinError::Member(Error::MemberLost { rank: 0, loss: Loss::Died }))), "{late:?}");
}

#[test]
fn a_group_of_another_size_is_refused() {
    let founding = founding(3, |builder| builder);
    let joined = Invitation::of_region(founding.region().clone()).members(4).join();
    let error = joined.expect_err("another size").to_string();
    assert_eq!(error, "a group of 3 members, where 4 were expected");
}

#[test]
fn a_region_without_a_group_is_told() {
    let plan = RegionPlan::new().add("group", 1, [0; 6], 4096).expect("a channel of this name");
    for plan in [RegionPlan::new(), plan] {
        let region = SharedRegion::memfd(&plan).expect("memory");
        let joined = Invitation::of_region(region).join();
        assert!(matches!(joined, Err(JoinError::NoGroup)), "{joined:?}");
    }
}

#[test]
fn pinned_members_are_bound_to_their_cpus() {
    let here = corecast_machine::pin::affinity().expect("a mask").as_slice()[0];
    let machine = crate::machine(here.get() + 1);
    let only: corecast_base::CpuSet = std::iter::once(here).collect();
    let founding = Group::builder(&machine).cpus(only).pin(true).found().expect("a group of one");
    thread::scope(|scope| {
        scope.spawn(|| {
            let _me = Invitation::of_region(founding.region().clone()).join().expect("a free place");
            assert_eq!(corecast_machine::pin::affinity().expect("a mask").as_slice(), [here]);
        });
    });
}
