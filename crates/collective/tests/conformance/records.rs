//! Records of all sizes are combined whole, in the order that was asked for, in one call and in parts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use corecast_base::wait::Wait;
use corecast_collective::op::in_order;
use corecast_collective::{Error, Loss, Member, Order, Started};

use crate::{SIZES, group};

/// From one byte to the longest message: sizes that fill a message, or a chunk, exactly, and others that leave a rest.
const RECORD_BYTES: [usize; 8] = [1, 3, 8, 24, 56, 100, 503, 504];
/// None, one, some messages, and some chunks of the shorter ones.
const COUNTS: [usize; 4] = [0, 1, 40, 3000];

/// The records of member `rank`.
fn given(bytes: usize, rank: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * (rank + 1)) as u8).collect()
}

fn total(bytes: usize, members: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * members * (members + 1) / 2) as u8).collect()
}

/// Byte by byte; if a record was cut or moved, a byte would differ from its number.
fn add(record_bytes: usize) -> impl Fn(&mut [u8], &[u8]) + Send {
    move |own: &mut [u8], their: &[u8]| {
        assert_eq!((own.len(), their.len()), (record_bytes, record_bytes));
        own.iter_mut().zip(their).for_each(|(own, their)| *own = own.wrapping_add(*their));
    }
}

#[test]
fn records_of_all_sizes_are_combined_whole() {
    for members in [1, 2, 3, 6] {
        let group = group(members, |builder| builder);
        let results = group.run(|me| {
            for (size, count) in RECORD_BYTES.into_iter().flat_map(|size| COUNTS.map(|count| (size, count))) {
                let (bytes, root) = (size * count, (size + count) % members);
                for order in [Order::Plan, Order::Rank] {
                    let mut records = given(bytes, me.rank());
                    me.reduce_records(order, root, &mut records, size, add(size))?;
                    assert!(me.rank() != root || records == total(bytes, members), "{count} of {size} at {root}");
                    let mut records = given(bytes, me.rank());
                    me.allreduce_records(order, &mut records, size, add(size))?;
                    assert!(records == total(bytes, members), "{count} of {size} among {members}, {order:?}");
                }
            }
            Ok::<_, Error>(())
        });
        assert_eq!(results.expect("nobody panics"), vec![Ok(()); members]);
    }
}

/// Numbers to multiply with and to add: one after the other is another pair, and which comes first matters.
fn then(own: &mut [u8], their: &[u8]) {
    let pair = |bytes: &[u8]| [0, 4].map(|at| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes")));
    let ([multiply, plus], [multiply_after, plus_after]) = (pair(own), pair(their));
    let combined = [multiply.wrapping_mul(multiply_after), plus.wrapping_mul(multiply_after).wrapping_add(plus_after)];
    own.copy_from_slice(&combined.map(u32::to_ne_bytes).concat());
}

/// Some of them, of a member.
fn steps(rank: usize) -> Vec<u8> {
    (0..20_u32).flat_map(|i| [2 * (i + rank as u32) + 3, 7 * i + rank as u32]).flat_map(u32::to_ne_bytes).collect()
}

/// Those of all members, one after the other.
fn steps_of_all(members: usize) -> Vec<u8> {
    let mut all = steps(0);
    for rank in 1..members {
        all.chunks_exact_mut(8).zip(steps(rank).chunks_exact(8)).for_each(|(own, their)| then(own, their));
    }
    all
}

#[test]
fn by_rank_operands_keep_their_places() {
    for shape in corecast_plan::SHAPES {
        for members in SIZES {
            let group = group(members, |builder| builder.shape(shape.name()));
            let results = group.run(|me| {
                for root in 0..members {
                    let mut records = steps(me.rank());
                    me.reduce_records(Order::Rank, root, &mut records, 8, then)?;
                    assert!(me.rank() != root || records == steps_of_all(members), "{} at {root}", shape.name());
                }
                let mut records = steps(me.rank());
                me.allreduce_records(Order::Rank, &mut records, 8, then)?;
                assert_eq!(records, steps_of_all(members), "{} of {members}", shape.name());
                Ok::<_, Error>(())
            });
            assert_eq!(results.expect("nobody panics"), vec![Ok(()); members]);
        }
    }
}

#[test]
fn records_are_bracketed_as_values_are() {
    let group = group(7, |builder| builder);
    let results = group.run(|me| {
        let value = 0.1 / (1.0 + me.rank() as f64);
        let sum = me.allreduce_with(value, in_order(Order::Rank, |a, b| a + b))?;
        let mut bytes = value.to_ne_bytes();
        let number = |bytes: &[u8]| f64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
        me.allreduce_records(Order::Rank, &mut bytes, 8, |own, their| {
            own.copy_from_slice(&(number(own) + number(their)).to_ne_bytes());
        })?;
        assert_eq!(number(&bytes).to_bits(), sum.to_bits());
        Ok::<_, Error>(())
    });
    assert_eq!(results.expect("nobody panics"), [Ok(()); 7]);
}

/// Until it is finished, with limits that have passed at once.
fn interrupted(mut started: Started<'_, ()>) -> Result<(), Error> {
    loop {
        match started.finish_timeout(Duration::ZERO) {
            Err(Error::Timeout { .. }) => std::thread::yield_now(),
            result => return result,
        }
    }
}

#[test]
fn records_that_are_interrupted_again_and_again_are_combined_once() {
    for members in [1, 2, 3, 6] {
        let group = group(members, |builder| builder.wait(Wait::Park));
        let results = group.run(|me| {
            for (size, count) in RECORD_BYTES.into_iter().flat_map(|size| [0, 40, 700].map(|count| (size, count))) {
                let (bytes, root) = (size * count, (size + count) % members);
                for order in [Order::Plan, Order::Arrival, Order::Rank] {
                    let mut records = given(bytes, me.rank());
                    interrupted(me.start().reduce_records(order, root, &mut records, size, add(size))?)?;
                    assert!(me.rank() != root || records == total(bytes, members), "{count} of {size} at {root}");
                    let mut records = given(bytes, me.rank());
                    interrupted(me.start().allreduce_records(order, &mut records, size, add(size))?)?;
                    assert!(records == total(bytes, members), "{count} of {size} among {members}, {order:?}");
                }
            }
            Ok::<_, Error>(())
        });
        assert_eq!(results.expect("nobody panics"), vec![Ok(()); members]);
    }
}

#[test]
fn another_length_is_told_in_every_order() {
    for order in [Order::Plan, Order::Rank] {
        let group = group(3, |builder| builder);
        let results = group.run(|me| {
            let mut records = vec![0; if me.rank() == 2 { 990 } else { 1000 }];
            me.allreduce_records(order, &mut records, 10, |_, _| ())?;
            me.barrier()
        });
        for result in results.expect("nobody panics") {
            assert!(matches!(result, Err(Error::MemberLost { loss: Loss::OtherLength, .. })), "{result:?}");
        }
    }
}

#[test]
fn bytes_that_are_no_records_are_refused_without_harm() {
    let group = group(2, |builder| builder);
    let results = group.run(|me| {
        let large = Err(Error::TooLarge { bytes: 505, most: 504 });
        let records = &mut [0; 1010];
        assert_eq!(me.reduce_records(Order::Plan, 0, records, 505, |_, _| ()), large);
        assert_eq!(me.allreduce_records(Order::Rank, records, 505, |_, _| ()), large);
        assert_eq!(me.start().reduce_records(Order::Plan, 0, records, 505, |_, _| ()).map(drop), large);
        assert_eq!(me.start().allreduce_records(Order::Plan, records, 505, |_, _| ()).map(drop), large);
        let nobody = Err(Error::BadRank { rank: 2, members: 2 });
        assert_eq!(me.reduce_records(Order::Plan, 2, records, 10, |_, _| ()), nobody);
        assert_eq!(me.start().reduce_records(Order::Rank, 2, records, 10, |_, _| ()).map(drop), nobody);
        assert_eq!(panic_of(me, 0), "a record of no bytes cannot be combined");
        assert_eq!(panic_of(me, 9), "1010 bytes are no whole number of records of 9");
        me.allreduce_records(Order::Plan, records, 10, |_, _| ())
    });
    assert_eq!(results.expect("nobody panics beyond its calls"), [Ok(()); 2]);
}

/// The rule that a call breaks.
fn panic_of(me: &mut Member, record_bytes: usize) -> String {
    let broken = || me.allreduce_records(Order::Plan, &mut [0; 1010], record_bytes, |_, _| ());
    let panic = catch_unwind(AssertUnwindSafe(broken)).expect_err("a rule is broken");
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()))
        .expect("words")
}
