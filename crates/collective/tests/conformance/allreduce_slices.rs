//! Slices that are reduced for all: by rank where members show them to each other, the same bits at all members everywhere.

use corecast_base::wait::Wait;
use corecast_collective::{Error, Loss, Member, RunError};

use crate::{SIZES, group};

/// In groups of up to this size members show each other their slices, with CPUs of their own or not; larger ones may use
/// trees.
const ALWAYS_SHOWN: usize = 4;

/// A line, where members begin to share the work, and chunks of trees and of an exchange.
const BYTES: [usize; 7] = [64, 2 << 10, 8 << 10, 16 << 10, 64 << 10, 128 << 10, 192 << 10];

/// Lengths of slices of such elements, next to those bytes and exactly there; and the shortest.
fn lengths(element: usize) -> Vec<usize> {
    let around = BYTES.map(|bytes| bytes / element).map(|len| [len.saturating_sub(1), len, len + 1]);
    [&[0, 1, 2], around.as_flattened()].concat()
}

/// Decimal numbers with their numbers of digits: combining two of them puts one behind the other.
fn join(left: [u32; 2], right: [u32; 2]) -> [u32; 2] {
    [left[0].wrapping_mul(10u32.pow(right[1])).wrapping_add(right[0]), left[1] + right[1]]
}

#[test]
fn operands_stand_in_the_order_of_the_ranks() {
    for members in 2..=ALWAYS_SHOWN {
        let group = group(members, |builder| builder);
        let results = group.run(|me| {
            for len in lengths(8) {
                let digit = |rank: usize, i: usize| ((rank + i) % 10) as u32;
                let mut values: Vec<[u32; 2]> = (0..len).map(|i| [digit(me.rank(), i), 1]).collect();
                me.allreduce_slice(&mut values, join)?;
                let expected = |i| (0..members).map(|rank| [digit(rank, i), 1]).reduce(join).expect("a member");
                let wrong = (0..len).find(|&i| values[i] != expected(i));
                assert_eq!(wrong, None, "{len} values of {members} at {}", me.rank());
            }
            Ok::<_, Error>(())
        });
        assert_eq!(results.expect("nobody panics"), vec![Ok(()); members]);
    }
}

#[test]
fn sums_of_fractions_have_the_same_bits_at_all_members() {
    for members in SIZES {
        let group = group(members, |builder| builder);
        let given = |rank: usize, i: usize| 1.0 / (1 + i + rank * rank) as f64;
        for len in lengths(8) {
            let results = group.run(|me| {
                let mut values: Vec<f64> = (0..len).map(|i| given(me.rank(), i)).collect();
                me.allreduce_slice(&mut values, |a, b| a + b)?;
                Ok::<_, Error>(values.into_iter().map(f64::to_bits).collect::<Vec<_>>())
            });
            let results = results.expect("nobody panics");
            let first = results[0].as_ref().expect("nobody is lost");
            assert!(results.iter().all(|bits| bits.as_ref() == Ok(first)), "{len} values of {members}");
            for (i, &bits) in first.iter().enumerate() {
                let sum: f64 = (0..members).map(|rank| given(rank, i)).sum();
                assert!((f64::from_bits(bits) - sum).abs() < 1e-12, "value {i} of {len}, {members} members");
            }
        }
    }
}

#[test]
fn parts_that_end_within_words_are_whole() {
    fn of<const N: usize>(members: usize) {
        let group = group(members, |builder| builder);
        let results = group.run(|me| {
            for len in lengths(N) {
                let mut values: Vec<[u8; N]> = (0..len).map(|i| [(i * (me.rank() + 1)) as u8; N]).collect();
                me.allreduce_slice(&mut values, |a, b| std::array::from_fn(|i| a[i].wrapping_add(b[i])))?;
                let all = members * (members + 1) / 2;
                assert!((0..len).all(|i| values[i] == [(i * all) as u8; N]), "{len} of {N} bytes of {members}");
            }
            Ok::<_, Error>(())
        });
        assert_eq!(results.expect("nobody panics"), vec![Ok(()); members]);
    }
    for members in [2, 3, 7] {
        of::<1>(members);
        of::<3>(members);
        of::<5>(members);
        of::<100>(members);
    }
}

#[test]
fn operations_of_all_kinds_take_turns_in_two_groups_and_their_parts() {
    fn round(me: &mut Member, number: usize) -> Result<(), Error> {
        let (members, len) = (me.size(), [3, 700, 5000, 20_000][number % 4]);
        let mut values = vec![number as u64; len];
        me.allreduce_slice(&mut values, |a, b| a + b)?;
        assert!(values.iter().all(|&value| value == (number * members) as u64));
        me.broadcast_slice(number % members, &mut values)?;
        me.reduce_slice(number % members, &mut values, u64::max)
    }
    let [first, second] = [0; 2].map(|_| group(4, |builder| builder));
    let results = first.run(|me| {
        let mut other = second.join(3 - me.rank()).expect("nobody has joined");
        let mut part = me.split(me.rank() as u32 % 2, 0)?.expect("a color");
        for number in 0..20 {
            round(me, number)?;
            round(&mut other, number)?;
            round(&mut part, number)?;
        }
        // The part's last messages are on their way to members that may still wait for them.
        part.barrier()?;
        other.barrier()
    });
    assert_eq!(results.expect("nobody panics"), vec![Ok(()); 4]);
}

#[test]
fn seats_are_taken_over_between_slices() {
    let group = group(3, |builder| builder);
    for number in 1..8u64 {
        let results = group.run(|me| {
            let mut values = vec![number; 9000];
            me.allreduce_slice(&mut values, |a, b| a + b).map(|()| values)
        });
        assert_eq!(results.expect("nobody panics"), vec![Ok(vec![3 * number; 9000]); 3], "round {number}");
    }
}

#[test]
fn a_panic_while_values_are_combined_is_told_by_name() {
    for (members, len) in [(2, 10), (2, 20_000), (3, 10), (3, 20_000), (9, 20_000)] {
        let group = group(members, |builder| builder.wait(Wait::Park));
        let outcome = group.run(|me| {
            let is_last = me.rank() == 0;
            let mut left = len / members / 2;
            let mut values = vec![1u32; len];
            let combine = |a, b| {
                assert!(!is_last || left > 0, "planted");
                left = left.saturating_sub(1);
                a + b
            };
            let seen = me.allreduce_slice(&mut values, combine).and_then(|()| me.barrier());
            assert_eq!(seen, Err(Error::MemberLost { rank: 0, loss: Loss::Panicked }));
        });
        assert!(matches!(outcome, Err(RunError::Panicked { rank: 0, .. })), "{members}, {len}: {outcome:?}");
    }
}

#[test]
fn a_slice_of_another_length_is_told_with_a_rank_that_has_one() {
    for (len, other) in [(1, 20_000), (20_000, 1), (0, 5000), (4096, 4097)] {
        let group = group(3, |builder| builder);
        let results = group.run(|me| {
            let mut values = vec![1u64; if me.rank() == 1 { other } else { len }];
            me.allreduce_slice(&mut values, |a, b| a + b)?;
            me.barrier()
        });
        for result in results.expect("nobody panics") {
            let is_told = matches!(result, Err(Error::MemberLost { loss: Loss::OtherLength, .. }));
            assert!(is_told, "{len} against {other}: {result:?}");
        }
    }
}
