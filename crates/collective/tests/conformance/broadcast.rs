//! Every member gets the root's value, from every root, over every shape, at every size of member set and payload.

use corecast_collective::{Error, Group, Member, Plain};
use corecast_plan::Tree;

use crate::{SIZES, group};

fn run(group: &Group, body: impl Fn(&mut Member) -> Result<(), Error> + Sync) {
    let results = group.run(body).expect("nobody panics");
    assert_eq!(results, vec![Ok(()); group.size()]);
}

#[test]
fn every_root_over_every_shape() {
    for shape in corecast_plan::SHAPES {
        for members in SIZES {
            run(&group(members, |builder| builder.shape(shape.name())), |me| {
                for root in 0..me.size() {
                    let mut value = if me.rank() == root { 1000 + root } else { 0 };
                    me.broadcast(root, &mut value)?;
                    assert_eq!(value, 1000 + root, "{} from {root} to {}", shape.name(), me.rank());
                }
                Ok(())
            });
        }
    }
}

fn bytes<const LEN: usize>(me: &mut Member) -> Result<(), Error> {
    for round in 0..20u8 {
        let root = usize::from(round) % me.size();
        let sent: [u8; LEN] = std::array::from_fn(|i| (i as u8).wrapping_mul(31).wrapping_add(round));
        let mut got = if me.rank() == root { sent } else { [0xAA; LEN] };
        me.broadcast(root, &mut got)?;
        assert_eq!(got, sent, "{LEN} bytes in round {round} at {}", me.rank());
    }
    Ok(())
}

#[test]
fn payloads_of_no_byte_to_many_lines() {
    run(&group(5, |builder| builder), |me| {
        bytes::<0>(me)?;
        bytes::<1>(me)?;
        bytes::<55>(me)?;
        bytes::<56>(me)?;
        bytes::<57>(me)?;
        bytes::<503>(me)?;
        bytes::<505>(me)?;
        bytes::<4096>(me)?;
        bytes::<100_000>(me)
    });
}

#[test]
fn types_with_wide_alignment_arrive_whole() {
    #[derive(Clone, Copy, Debug, PartialEq, Default)]
    #[repr(C, align(64))]
    struct Wide {
        tag: u64,
        value: [u64; 7],
    }
    // SAFETY: 64 bytes of numbers, laid out as C does, without padding.
    unsafe impl Plain for Wide {}
    run(&group(3, |builder| builder), |me| {
        let sent = Wide { tag: 7, value: [u64::MAX; 7] };
        let mut got = if me.rank() == 1 { sent } else { Wide::default() };
        me.broadcast(1, &mut got)?;
        assert_eq!(got, sent);
        Ok(())
    });
}

#[test]
fn all_members_see_all_broadcasts_in_the_same_order() {
    let group = group(6, |builder| builder.shape("binary"));
    let seen = group
        .run(|me| {
            let mut seen = Vec::new();
            let mut random = fastrand::Rng::with_seed(7);
            for number in 0..500 {
                let root = random.usize(0..me.size());
                let mut value = if me.rank() == root { [root, number] } else { [usize::MAX, 0] };
                me.broadcast(root, &mut value)?;
                seen.push(value);
            }
            Ok::<_, Error>(seen)
        })
        .expect("nobody panics");
    let first = seen[0].clone().expect("no member is lost");
    assert_eq!(first.len(), 500);
    assert!(seen.iter().all(|seen| seen.as_ref() == Ok(&first)));
}

#[test]
fn the_root_runs_ahead_until_the_edges_are_full_and_nothing_is_lost() {
    run(&group(4, |builder| builder.shape("sequential")), |me| {
        for number in 0..2000u64 {
            let mut value = if me.rank() == 0 { number } else { u64::MAX };
            me.broadcast(0, &mut value)?;
            assert_eq!(value, number);
            if me.rank() == 3 && number % 100 == 0 {
                std::thread::yield_now();
            }
        }
        Ok(())
    });
}

#[test]
fn notify_releases_everybody() {
    run(&group(5, |builder| builder), |me| (0..50).try_for_each(|round| me.broadcast(round % 5, &mut ())));
}

#[test]
fn a_given_tree_is_used() {
    let chain = Tree::new(2, vec![vec![], vec![0], vec![1]]).expect("a chain 2 -> 1 -> 0");
    let group = group(3, |builder| builder.tree(chain.clone()));
    assert_eq!(group.choice().broadcast.tree, chain);
    run(&group, |me| {
        let mut value = if me.rank() == 0 { 5 } else { 0 };
        me.broadcast(0, &mut value)?;
        assert_eq!(value, 5);
        Ok(())
    });
}
