//! A member that panics, leaves or calls something else makes the others fail with its name, and none of them hangs.

use corecast_base::wait::Wait;
use corecast_collective::{Barrier, BuildError, Error, Group, Loss, RunError};
use corecast_plan::Tree;

use crate::{group, machine};

/// Runs four members of which member 2 panics after some barriers while the others go on; returns their results.
fn others_when_one_panics(group: &Group) -> Vec<Result<(), Error>> {
    let seen = std::sync::Mutex::new(Vec::new());
    let outcome = group.run(|me| {
        let rank = me.rank();
        let mut body = || {
            for round in 0.. {
                assert!(!(rank == 2 && round == 10), "planted");
                me.barrier()?;
                let mut value = round;
                me.broadcast(round % 4, &mut value)?;
                me.allreduce(1u32, |a, b| a + b)?;
            }
            Ok(())
        };
        let result = body();
        seen.lock().expect("nobody panics with the lock").push(result);
    });
    match outcome {
        Err(RunError::Panicked { rank: 2, message }) => assert_eq!(message, "planted"),
        other => panic!("member 2 panicked, but run said {other:?}"),
    }
    seen.into_inner().expect("nobody panics with the lock")
}

#[test]
fn a_panic_is_told_to_all_by_name_whatever_the_barrier_and_waiting() {
    for &barrier in Barrier::ALL {
        for wait in [Wait::Adaptive, Wait::Yield, Wait::Park] {
            let group = group(4, |builder| builder.barrier(barrier).wait(wait));
            let lost = Err(Error::MemberLost { rank: 2, loss: Loss::Panicked });
            assert_eq!(others_when_one_panics(&group), vec![lost; 3], "{barrier} {wait}");
            assert!(matches!(group.join(0), Err(Error::MemberLost { rank: 2, .. })), "the group stays failed");
        }
    }
}

#[test]
fn the_first_panic_is_reported_though_others_panic_because_of_it() {
    let group = group(4, |builder| builder);
    let outcome = group.run(|me| {
        assert!(me.rank() != 3, "planted");
        me.barrier().expect("nobody is lost");
    });
    match outcome {
        Err(RunError::Panicked { rank: 3, message }) => assert_eq!(message, "planted"),
        other => panic!("member 3 panicked first, but run said {other:?}"),
    }
}

#[test]
fn a_member_that_leaves_is_missed_by_name() {
    for &barrier in Barrier::ALL {
        let group = group(3, |builder| builder.barrier(barrier));
        let results = group.run(|me| if me.rank() == 1 { Ok(()) } else { me.barrier() }).expect("nobody panics");
        let left = Err(Error::MemberLost { rank: 1, loss: Loss::Left });
        assert_eq!(results, vec![left, Ok(()), left], "{barrier}");
    }
}

#[test]
fn once_a_member_was_missed_the_group_stays_failed() {
    let group = group(2, |builder| builder);
    let mut stays = group.join(0).expect("nobody has joined");
    drop(group.join(1).expect("nobody has joined"));
    let left = Error::MemberLost { rank: 1, loss: Loss::Left };
    // More than an edge holds, so that it ends with some parts on the way.
    assert_eq!(stays.broadcast(0, &mut [1u8; 10_000]), Err(left));
    assert_eq!(stays.broadcast(0, &mut 1u8), Err(left));
    assert_eq!(stays.barrier(), Err(left));
    assert_eq!(group.join(1).map(|_| ()), Err(left), "its seat cannot be taken again");
}

#[test]
fn leaving_after_the_last_operation_is_no_failure() {
    let group = group(4, |builder| builder.shape("sequential"));
    let results = group
        .run(|me| {
            if me.rank() == 3 {
                // The others have long sent their values and left when this one begins.
                std::thread::sleep(std::time::Duration::from_millis(60));
            }
            me.reduce(0, (), |(), ()| ()).map(drop)
        })
        .expect("nobody panics");
    assert_eq!(results, vec![Ok(()); 4]);
}

#[test]
fn another_type_than_the_others_is_a_mismatch_and_no_garbage() {
    let group = group(2, |builder| builder);
    let results = group
        .run(|me| match me.rank() {
            0 => me.broadcast(0, &mut 2u8).and_then(|()| me.barrier()),
            _ => me.broadcast(0, &mut 1i8).and_then(|()| me.barrier()),
        })
        .expect("nobody panics");
    let mismatch = Err(Error::MemberLost { rank: 0, loss: Loss::Mismatched });
    assert_eq!(results, vec![mismatch; 2]);
}

#[test]
fn a_group_can_run_again() {
    let group = group(3, |builder| builder);
    for round in 0..5u64 {
        let sums = group.run(|me| me.allreduce(round, |a, b| a + b)).expect("nobody panics");
        assert_eq!(sums, vec![Ok(3 * round); 3]);
    }
}

#[test]
fn a_group_left_out_of_step_refuses_to_run_again() {
    let group = group(2, |builder| builder.shape("sequential"));
    group
        .run(|me| if me.rank() == 0 { me.broadcast(0, &mut ()) } else { Ok(()) })
        .expect("nobody panics")
        .into_iter()
        .for_each(|result| assert_eq!(result, Ok(())));
    assert!(matches!(group.run(|_| ()), Err(RunError::OutOfStep { rank: 1, operations: 0, expected: 1 })));
}

#[test]
fn ranks_and_roots_outside_the_group_are_refused() {
    let group = group(2, |builder| builder);
    assert_eq!(group.join(2).map(|_| ()), Err(Error::BadRank { rank: 2, members: 2 }));
    let mut me = group.join(0).expect("the first to join");
    assert_eq!(group.join(0).map(|_| ()), Err(Error::AlreadyJoined { rank: 0 }));
    assert_eq!(me.broadcast(7, &mut 0), Err(Error::BadRank { rank: 7, members: 2 }));
    assert_eq!(me.reduce(7, 0, |a, _| a), Err(Error::BadRank { rank: 7, members: 2 }));
    drop(me);
    assert!(group.join(0).is_ok(), "a seat that was left can be taken again");
}

#[test]
fn a_cpu_that_cannot_be_pinned_to_is_named() {
    let machine = machine(1025);
    let far: corecast_base::CpuSet = "1023-1024".parse().expect("a list");
    let group = Group::builder(&machine).cpus(far).build().expect("the model has these CPUs");
    let error = group.run(|me| me.barrier()).expect_err("no machine here has CPU 1023");
    assert!(matches!(error, RunError::Pin { .. }) && error.to_string().contains("CPU 1023"), "{error}");
}

#[test]
fn settings_that_do_not_fit_are_named() {
    let machine = machine(4);
    let refused = |change: fn(corecast_collective::Builder<'_>) -> corecast_collective::Builder<'_>| {
        change(Group::builder(&machine)).build().expect_err("refused").to_string()
    };
    assert!(refused(|b| b.members(0)).contains("not 0"));
    assert!(refused(|b| b.members(5000)).contains("not 5000"));
    assert!(refused(|b| b.shape("star")).contains("'star'"));
    assert!(refused(|b| b.cpus("2-5".parse().expect("a list"))).contains("CPU 4"));
    let tree = Tree::new(0, vec![vec![1], vec![]]).expect("a tree");
    assert!(matches!(Group::builder(&machine).tree(tree).build(), Err(BuildError::TreeSize { nodes: 2, members: 4 })));
    assert!("star".parse::<Barrier>().expect_err("unknown").to_string().contains("dissemination, tree"));
}
