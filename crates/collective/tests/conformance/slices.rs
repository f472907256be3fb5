//! Slices of all lengths arrive whole, members with another length get an error, and values are gathered and scattered by
//! rank.

use corecast_collective::op::{And, Max, MaxLoc, Min, MinLoc, Or, Prod, Sum, Xor};
use corecast_collective::{Error, Loss, Member, Plain, RunError};

use crate::{SIZES, group};

/// Around one message, around what an edge holds, where chunks begin, around one chunk and an area of them, and far more.
const LENGTHS: [usize; 20] =
    [0, 1, 7, 8, 62, 63, 64, 252, 253, 255, 256, 257, 1000, 2047, 2048, 2049, 5000, 8192, 8193, 100_000];

#[test]
fn slices_of_all_lengths_reach_everybody() {
    for members in SIZES {
        let group = group(members, |builder| builder);
        let results = group.run(|me| {
            for (round, len) in LENGTHS.into_iter().enumerate() {
                let root = round % members;
                let sent: Vec<u64> = (0..len as u64).map(|i| i * 7 + root as u64).collect();
                let mut got = if me.rank() == root { sent.clone() } else { vec![u64::MAX; len] };
                me.broadcast_slice(root, &mut got)?;
                assert!(got == sent, "{len} from {root} to {} of {members}", me.rank());
                let mut sums = sent.clone();
                me.reduce_slice(root, &mut sums, |a, b| a + b)?;
                if me.rank() == root {
                    assert!(sums.iter().zip(&sent).all(|(sum, one)| *sum == members as u64 * one));
                }
                let mut most: Vec<u16> = (0..len).map(|i| (i % 1000 + me.rank()) as u16).collect();
                me.allreduce_slice(&mut most, u16::max)?;
                assert!(most.iter().enumerate().all(|(i, &most)| usize::from(most) == i % 1000 + members - 1));
            }
            me.barrier()
        });
        assert_eq!(results.expect("nobody panics"), vec![Ok(()); members]);
    }
}

#[test]
fn slices_go_over_every_shape() {
    for shape in corecast_plan::SHAPES {
        let group = group(7, |builder| builder.shape(shape.name()));
        let results = group.run(|me| {
            let mut bytes = vec![me.rank() as u8; 3001];
            me.allreduce_slice(&mut bytes, |a, b| a | b).map(|()| bytes)
        });
        assert_eq!(results.expect("nobody panics"), vec![Ok(vec![7; 3001]); 7], "{}", shape.name());
    }
}

fn large_values<T: Plain + PartialEq + std::fmt::Debug + Sync>(value: T) {
    let group = group(4, |builder| builder);
    let results = group.run(|me| {
        let mut values = [value; 5];
        me.broadcast_slice(3, &mut values)?;
        me.allreduce_slice(&mut values, |a, _| a)?;
        assert_eq!(me.gather_slice(1, &values)?, (me.rank() == 1).then(|| vec![vec![value; 5]; 4]));
        Ok::<_, Error>(values)
    });
    assert_eq!(results.expect("nobody panics"), vec![Ok([value; 5]); 4]);
}

#[test]
fn elements_of_no_byte_and_of_many_messages_are_values_too() {
    large_values(());
    large_values([1u8; 504]);
    large_values([2u8; 505]);
    large_values([3u64; 2000]);
    // Of a chunk, and more than that.
    large_values([4u64; 2048]);
    large_values([5u64; 2049]);
}

#[test]
fn elements_that_fill_no_chunk_evenly_arrive_whole() {
    fn odd<const N: usize>() {
        let group = group(4, |builder| builder);
        let results = group.run(|me| {
            for len in [1000, 16_384 / N, 16_384 / N + 1, 40_001 / N] {
                let sent: Vec<[u8; N]> = (0..len).map(|i| [i as u8; N]).collect();
                let mut got = if me.rank() == 1 { sent.clone() } else { vec![[0; N]; len] };
                me.broadcast_slice(1, &mut got)?;
                assert!(got == sent, "{len} of {N} bytes");
                me.allreduce_slice(&mut got, |a, b| std::array::from_fn(|i| a[i].wrapping_add(b[i])))?;
                assert!(got.iter().zip(&sent).all(|(sum, one)| *sum == one.map(|byte| byte.wrapping_mul(4))));
            }
            Ok::<_, Error>(())
        });
        assert_eq!(results.expect("nobody panics"), vec![Ok(()); 4]);
    }
    odd::<1>();
    odd::<3>();
    odd::<7>();
    odd::<12>();
    odd::<505>();
}

#[test]
fn megabytes_flow_through_a_deep_tree() {
    // And a value, so that the last chunk is not full.
    const LEN: usize = (64 << 17) + 1;
    let group = group(3, |builder| builder.shape("sequential"));
    let results = group.run(|me| {
        let mut values = vec![0u64; LEN];
        if me.rank() == 2 {
            values.iter_mut().enumerate().for_each(|(i, value)| *value = i as u64 ^ 0x5555);
        }
        me.broadcast_slice(2, &mut values)?;
        assert!(values.iter().enumerate().all(|(i, &value)| value == i as u64 ^ 0x5555));
        me.allreduce_slice(&mut values, |a, b| a + b)?;
        Ok::<_, Error>(values.iter().enumerate().all(|(i, &value)| value == 3 * (i as u64 ^ 0x5555)))
    });
    assert_eq!(results.expect("nobody panics"), vec![Ok(true); 3]);
}

#[test]
fn another_length_is_told_to_all_and_nobody_hangs() {
    for members in 2..=9 {
        for (len, other) in [(0, 1), (1, 0), (64, 63), (255, 256), (10_000, 9_999), (9_999, 10_000)] {
            for operation in 0..3 {
                let group = group(members, |builder| builder);
                let results = group.run(|me| {
                    let mut values = vec![1u64; if me.rank() == members - 1 { other } else { len }];
                    match operation {
                        0 => me.broadcast_slice(0, &mut values)?,
                        1 => me.reduce_slice(0, &mut values, |a, b| a + b)?,
                        _ => me.allreduce_slice(&mut values, |a, b| a + b)?,
                    }
                    me.barrier()
                });
                for result in results.expect("nobody panics") {
                    let is_told = matches!(result, Err(Error::MemberLost { loss: Loss::OtherLength, .. }));
                    assert!(is_told, "operation {operation}, {len} against {other}: {result:?}");
                }
            }
        }
    }
}

#[test]
fn another_type_is_told_to_all_and_nobody_hangs() {
    fn work<T: Plain>(me: &mut Member, mut values: Vec<T>, operation: usize) -> Result<(), Error> {
        match operation {
            0 => me.broadcast_slice(0, &mut values)?,
            1 => me.reduce_slice(0, &mut values, |a, _| a)?,
            _ => me.allreduce_slice(&mut values, |a, _| a)?,
        }
        me.barrier()
    }
    for (len, operation) in [1, 100, 10_000].map(|len| [(len, 0), (len, 1), (len, 2)]).concat() {
        let group = group(4, |builder| builder);
        let results = group.run(|me| match me.rank() {
            3 => work(me, vec![1i64; len], operation),
            _ => work(me, vec![1u64; len], operation),
        });
        for result in results.expect("nobody panics") {
            let is_told = matches!(result, Err(Error::MemberLost { loss: Loss::Mismatched, .. }));
            assert!(is_told, "operation {operation}, {len} values: {result:?}");
        }
    }
}

#[test]
fn values_are_gathered_and_scattered_by_rank() {
    for shape in corecast_plan::SHAPES {
        for members in SIZES {
            let group = group(members, |builder| builder.shape(shape.name()));
            let results = group.run(|me| {
                for root in 0..members {
                    let is_root = me.rank() == root;
                    let all: Vec<u32> = (0..members as u32).map(|rank| 100 * rank + root as u32).collect();
                    let own = all[me.rank()];
                    assert_eq!(me.gather(root, own)?, is_root.then(|| all.clone()));
                    assert_eq!(me.scatter(root, is_root.then_some(&all[..]))?, own);
                    let slices: Vec<Vec<u32>> = (0..members).map(|rank| vec![own; 100 * rank]).collect();
                    let gathered = me.gather_slice(root, &slices[me.rank()])?;
                    let lens = gathered.map(|slices| slices.iter().map(Vec::len).collect::<Vec<_>>());
                    assert_eq!(lens, is_root.then(|| (0..members).map(|rank| 100 * rank).collect()));
                    for len in [0, 1, 62, 63, 64, 300] {
                        let parts: Vec<u64> = (0..members * len).map(|i| (i + root) as u64).collect();
                        let mut own = vec![u64::MAX; len];
                        me.scatter_slice(root, is_root.then_some(&parts[..]), &mut own)?;
                        assert!(own == parts[me.rank() * len..][..len], "{len} from {root} of {members}");
                    }
                    assert_eq!(me.gather(root, ())?.map(|all| all.len()), is_root.then_some(members));
                }
                Ok::<_, Error>(())
            });
            assert_eq!(results.expect("nobody panics"), vec![Ok(()); members], "{}", shape.name());
        }
    }
}

#[test]
fn a_scatter_of_the_wrong_number_is_as_if_it_had_not_been_called() {
    let group = group(3, |builder| builder);
    let results = group.run(|me| {
        if me.rank() == 1 {
            let refused = |values| Err(Error::WrongCount { values, members: 3 });
            assert_eq!(me.scatter(1, Some(&[1u8, 2])), refused(2));
            assert_eq!(me.scatter::<u8>(1, None), refused(0));
        }
        assert_eq!(me.scatter(3, Some(&[1u8; 3])), Err(Error::BadRank { rank: 3, members: 3 }));
        assert_eq!(me.gather(3, 1u8), Err(Error::BadRank { rank: 3, members: 3 }));
        if me.rank() == 1 {
            let refused = |values| Err(Error::WrongCount { values, members: 3 });
            assert_eq!(me.scatter_slice(1, Some(&[1u8; 5]), &mut [0; 2]), refused(5));
            assert_eq!(me.scatter_slice(1, None, &mut [0u8; 2]), refused(0));
        }
        let mut own = [0u8; 2];
        assert_eq!(me.scatter_slice(3, None, &mut own), Err(Error::BadRank { rank: 3, members: 3 }));
        me.scatter_slice(1, Some(&[1u8, 2, 3, 4, 5, 6]), &mut own)?;
        assert_eq!(own, [1, 3, 5].map(|first| [first, first + 1])[me.rank()]);
        me.scatter(1, Some(&[5u8, 6, 7]))
    });
    assert_eq!(results.expect("nobody panics"), [Ok(5), Ok(6), Ok(7)]);
}

#[test]
fn room_for_another_length_is_told_to_all_who_scatter() {
    for members in 2..=7 {
        for (len, other) in [(0, 1), (1, 0), (64, 63), (9_999, 10_000)] {
            let group = group(members, |builder| builder);
            let results = group.run(|me| {
                let values = vec![1u64; members * len];
                let mut own = vec![0; if me.rank() == members - 1 { other } else { len }];
                me.scatter_slice(0, (me.rank() == 0).then_some(&values[..]), &mut own)?;
                me.barrier()
            });
            for result in results.expect("nobody panics") {
                let is_told = matches!(result, Err(Error::MemberLost { loss: Loss::OtherLength, .. }));
                assert!(is_told, "{len} against {other}: {result:?}");
            }
        }
    }
}

/// Members that run ahead lay out something else than members with more values.
#[test]
fn another_length_is_told_though_somebody_goes_on_to_make_an_object() {
    for (short, root) in [(0, 0), (2, 0), (0, 2), (2, 2)] {
        let group = group(3, |builder| builder);
        let results = group.run(|me| {
            let mut values = vec![1u64; if me.rank() == short { 100 } else { 10_000 }];
            let first = if root == 0 {
                me.broadcast_slice(root, &mut values)
            } else {
                me.reduce_slice(root, &mut values, |a, b| a + b)
            };
            let second = match me.rank() {
                0 => me.coordinator::<u64>().map(drop),
                _ => me.participant::<u64>(0).map(drop),
            };
            first.and(second).and_then(|()| me.barrier())
        });
        let results = results.expect("nobody panics");
        assert!(results.iter().all(Result::is_err), "{short} to {root}: {results:?}");
        let is_told =
            |result: &Result<(), Error>| matches!(result, Err(Error::MemberLost { loss: Loss::OtherLength, .. }));
        assert!(results.iter().any(is_told), "{short} to {root}: {results:?}");
    }
}

#[test]
fn the_known_operations_combine_all_values() {
    for members in SIZES {
        let group = group(members, |builder| builder);
        let results = group.run(|me| {
            let (rank, last) = (me.rank() as u64, me.size() as u64 - 1);
            assert_eq!(me.allreduce_with(rank, Sum)?, (0..=last).sum::<u64>());
            assert_eq!(me.allreduce_with(rank + 1, Prod)?, (1..=last + 1).product::<u64>());
            assert_eq!((me.allreduce_with(rank, Min)?, me.allreduce_with(rank, Max)?), (0, last));
            assert_eq!(me.allreduce_with(rank | 32, And)?, (0..=last).fold(63, |a, b| a & (b | 32)));
            assert_eq!(me.allreduce_with(1u64 << rank, Or)?, (1 << members) - 1);
            assert_eq!(me.allreduce_with(rank, Xor)?, (0..=last).fold(0, |a, b| a ^ b));
            assert_eq!(me.allreduce_with([9, rank], MinLoc)?, [9, 0]);
            assert_eq!(me.allreduce_with([rank, rank], MaxLoc)?, [last, last]);
            assert_eq!(me.reduce_with(0, 0.5, Sum)?, (rank == 0).then_some(0.5 * members as f64));
            let odd = if rank == last { f64::NAN } else { 1.0 };
            assert!(me.allreduce_with(odd, Min)?.is_nan() && me.allreduce_with(odd, Max)?.is_nan());
            Ok::<_, Error>(())
        });
        assert_eq!(results.expect("nobody panics"), vec![Ok(()); members]);
    }
}

#[test]
fn a_panic_in_an_operation_is_told_by_name() {
    let group = group(4, |builder| builder.shape("sequential"));
    let outcome = group.run(|me| {
        let is_root = me.rank() == 0;
        let sum = me.reduce(0, 1u32, |a, b| if is_root { panic!("planted") } else { a + b });
        let seen = sum.and_then(|_| me.barrier());
        assert_eq!(seen, Err(Error::MemberLost { rank: 0, loss: Loss::Panicked }));
    });
    assert!(matches!(outcome, Err(RunError::Panicked { rank: 0, .. })), "{outcome:?}");
}
