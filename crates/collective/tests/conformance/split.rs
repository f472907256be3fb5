//! Parts of a group: their members, their work beside each other and the whole, and their separate failures.

use std::sync::Barrier as Meeting;
use std::time::Duration;

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::wait::Wait;
use corecast_collective::{Barrier, BuildError, Error, Loss, Member};
use corecast_plan::Tree;

use crate::{SIZES, group, one_round};

/// The ranks in the whole of the members of a part.
fn members_of(part: &mut Member, rank: usize) -> Result<Vec<usize>, Error> {
    let mut ranks = vec![0; part.size()];
    if let Some(gathered) = part.gather(0, rank as u64)? {
        ranks = gathered;
    }
    part.broadcast_slice(0, &mut ranks)?;
    Ok(ranks.into_iter().map(|rank| rank as usize).collect())
}

/// Splits groups of all sizes by the `wish` of each rank in a group of a size, and compares each part with `expected`.
fn parts_are(wish: fn(usize, usize) -> (Option<u32>, i64), expected: fn(usize, usize) -> Option<Vec<usize>>) {
    for members in SIZES {
        let results = group(members, |builder| builder).run(|me| {
            let rank = me.rank();
            let (color, key) = wish(rank, members);
            let Some(mut part) = me.split(color, key)? else { return me.barrier().map(|()| None) };
            for round in 1..=10 {
                one_round(&mut part, round)?;
            }
            let ranks = members_of(&mut part, rank)?;
            assert_eq!(ranks[part.rank()], rank);
            me.barrier()?;
            Ok(Some(ranks))
        });
        for (rank, found) in results.expect("nobody panics").into_iter().enumerate() {
            assert_eq!(found, Ok(expected(rank, members)), "rank {rank} of {members}");
        }
    }
}

#[test]
fn one_color_is_the_whole_again() {
    parts_are(|_, _| (Some(3), 0), |_, members| Some((0..members).collect()));
}

#[test]
fn keys_may_turn_the_order_round() {
    parts_are(|rank, _| (Some(0), -(rank as i64)), |_, members| Some((0..members).rev().collect()));
}

#[test]
fn two_colors_are_two_parts() {
    parts_are(
        |rank, _| (Some(rank as u32 % 2), 0),
        |rank, members| Some((0..members).filter(|other| other % 2 == rank % 2).collect()),
    );
}

#[test]
fn as_many_colors_as_members_leave_everybody_alone() {
    parts_are(|rank, members| (Some((members - rank) as u32), 0), |rank, _| Some(vec![rank]));
}

#[test]
fn a_member_without_a_color_gets_no_part() {
    parts_are(
        |rank, _| ((rank % 3 > 0).then_some(u32::MAX), 7),
        |rank, members| (rank % 3 > 0).then(|| (0..members).filter(|other| other % 3 > 0).collect()),
    );
    parts_are(|_, _| (None, 0), |_, _| None);
}

#[test]
fn every_barrier_holds_in_parts_beside_the_whole() {
    for &barrier in Barrier::ALL {
        let whole = group(7, |builder| builder.barrier(barrier));
        let entered: Vec<AtomicU64> = (0..7).map(|_| AtomicU64::new(0)).collect();
        let results = whole.run(|me| {
            let rank = me.rank();
            let mut part = me.split(rank as u32 % 2, 0)?.expect("a color");
            for round in 1..=30 {
                // Relaxed: the barriers alone must make it visible.
                entered[rank].store(2 * round, Ordering::Relaxed);
                part.barrier()?;
                let mut mates = (0..7).filter(|mate| mate % 2 == rank % 2);
                assert!(mates.all(|mate| entered[mate].load(Ordering::Relaxed) >= 2 * round), "{barrier}");
                entered[rank].store(2 * round + 1, Ordering::Relaxed);
                me.barrier()?;
                assert!(entered.iter().all(|entered| entered.load(Ordering::Relaxed) > 2 * round), "{barrier}");
            }
            Ok::<_, Error>(())
        });
        assert_eq!(results.expect("nobody panics"), [Ok(()); 7]);
    }
}

#[test]
fn parts_have_parts_and_all_are_used_in_turns() {
    for wait in [Wait::Adaptive, Wait::Yield, Wait::Park] {
        let results = group(8, |builder| builder.wait(wait)).run(|me| {
            let mut groups = Vec::new();
            for halving in [2, 4, 8] {
                let parent = groups.last_mut().unwrap_or(me);
                let part = parent.split((parent.rank() >= 8 / halving) as u32, 0)?;
                groups.push(part.expect("a color"));
            }
            for round in 1..=20 {
                one_round(me, round)?;
                groups.iter_mut().rev().try_for_each(|part| one_round(part, round))?;
            }
            Ok::<_, Error>(groups.iter().map(Member::size).collect())
        });
        assert_eq!(results.expect("nobody panics"), vec![Ok(vec![4, 2, 1]); 8], "{wait}");
    }
}

#[test]
fn a_member_may_be_in_many_parts_and_leave_them_at_any_time() {
    let results = group(4, |builder| builder).run(|me| {
        let rank = me.rank();
        let mut kept = Vec::new();
        for round in 0..40 {
            let mut part = me.split((rank >> (round % 2)) as u32 & 1, 0)?.expect("a color");
            one_round(&mut part, round)?;
            if round % 3 == 0 {
                kept.push(part);
            }
        }
        kept.iter_mut().try_for_each(|part| one_round(part, 1))
    });
    assert_eq!(results.expect("nobody panics"), [Ok(()); 4]);
}

#[test]
fn a_group_can_be_split_by_every_run() {
    let group = group(3, |builder| builder);
    for _ in 0..3 {
        let results = group.run(|me| one_round(&mut me.split(1, 0)?.expect("a color"), 1));
        assert_eq!(results.expect("nobody panics"), [Ok(()); 3]);
    }
}

#[test]
fn a_panic_fails_the_groups_of_its_member_and_no_other() {
    let (split, fallen) = (Meeting::new(4), Meeting::new(3));
    let outcome = group(4, |builder| builder).run(|me| {
        let rank = me.rank();
        let mut part = me.split(rank as u32 % 2, 0).expect("nobody is lost").expect("a color");
        split.wait();
        assert!(rank != 3, "planted");
        let lost = |rank| Err(Error::MemberLost { rank, loss: Loss::Panicked });
        assert_eq!(me.barrier(), lost(3));
        fallen.wait();
        if rank == 1 {
            assert_eq!(part.barrier(), lost(1), "by its rank in the part");
        } else {
            (1..=20).try_for_each(|round| one_round(&mut part, round)).expect("this part is whole");
            assert_eq!(part.split(0, 0).map(|part| part.map(|part| part.size())), Ok(Some(2)));
        }
    });
    assert!(outcome.expect_err("member 3 panicked").to_string().ends_with("planted"));
}

#[test]
fn a_member_that_leaves_its_part_fails_that_alone() {
    let results = group(3, |builder| builder).run(|me| {
        let mut part = me.split(1, 0)?.expect("a color");
        if me.rank() == 1 {
            drop(part);
        } else {
            assert_eq!(part.barrier(), Err(Error::MemberLost { rank: 1, loss: Loss::Left }));
        }
        one_round(me, 1)
    });
    assert_eq!(results.expect("nobody panics"), [Ok(()); 3]);
}

#[test]
fn a_split_that_somebody_misses_fails() {
    let results = group(3, |builder| builder)
        .run(|me| if me.rank() == 1 { Ok(None) } else { me.split(1, 0).map(|part| part.map(|part| part.rank())) });
    let left = Err(Error::MemberLost { rank: 1, loss: Loss::Left });
    assert_eq!(results.expect("nobody panics"), [left, Ok(None), left]);
}

#[test]
fn an_operation_that_is_pending_comes_first() {
    let alone = group(2, |builder| builder);
    let mut me = alone.join(0).expect("nobody has joined");
    assert!(
        me.start().barrier().and_then(|mut started| started.finish_timeout(Duration::from_millis(1))).is_err(),
        "nobody else is there"
    );
    assert!(matches!(me.split(0, 0), Err(Error::Pending)));
}

#[test]
fn a_part_has_what_groups_have() {
    let results = group(5, |builder| builder).run(|me| {
        let mut part = me.split(me.rank() as u32 % 2, 0)?.expect("a color");
        if part.rank() == 0 {
            part.coordinator::<u64>()?.commit(&7, Duration::MAX)
        } else {
            part.participant::<u64>(0)?.serve(|&proposal| proposal == 7, |_, is_commit| assert!(is_commit))
        }
    });
    assert_eq!(results.expect("nobody panics"), [Ok(true); 5]);
}

#[test]
fn a_subgroup_has_the_cpus_of_its_ranks_and_a_plan_of_its_own() {
    for members in SIZES {
        let whole = group(members, |builder| builder);
        let ranks: Vec<usize> = (0..members).rev().step_by(2).collect();
        let part = whole.subgroup(&ranks).expect("ranks of the group");
        assert!(part.cpus().iter().eq(ranks.iter().map(|&rank| &whole.cpus()[rank])));
        assert_eq!(part.choice().broadcast.tree.len(), ranks.len());
        let results = part.run(|me| (1..=10).try_for_each(|round| one_round(me, round)));
        assert_eq!(results.expect("nobody panics"), vec![Ok(()); ranks.len()]);
        assert!(whole.run(|me| one_round(me, 1)).is_ok(), "the whole has nothing to do with it");
    }
}

#[test]
fn a_subgroup_keeps_what_was_asked_for_but_a_tree_of_all() {
    let whole = group(6, |builder| builder.barrier(Barrier::Packed).shape("fibonacci"));
    let part = whole.subgroup(&[1, 2, 5]).expect("ranks of the group");
    assert_eq!((part.choice().barrier, part.choice().broadcast.planner.as_str()), (Barrier::Packed, "fibonacci"));
    let star = Tree::new(0, vec![vec![1, 2], vec![], vec![]]).expect("a tree");
    let part = group(3, |builder| builder.tree(star)).subgroup(&[2, 1]).expect("ranks of the group");
    assert_ne!(part.choice().broadcast.planner, "given");
}

#[test]
fn ranks_that_make_no_subgroup_are_named() {
    let whole = group(3, |builder| builder);
    let refused = |ranks: &[usize]| whole.subgroup(ranks).map(drop).expect_err("refused");
    assert!(matches!(refused(&[]), BuildError::Members { members: 0 }));
    assert!(matches!(refused(&[0, 3, 0]), BuildError::BadRank { rank: 3, members: 3 }));
    assert!(matches!(refused(&[0, 2, 1, 2]), BuildError::RepeatedRank { rank: 2 }));
}
