//! Values and parts that are gathered at all members: by those that show them to each other, and along trees in larger groups.

use corecast_collective::{Error, Loss};

use crate::{SIZES, group};

/// None, a message, and more than a chunk of an exchange.
const LENGTHS: [usize; 7] = [0, 1, 7, 63, 64, 8192, 20_001];

fn part(rank: usize, len: usize) -> impl Iterator<Item = u64> {
    (0..len).map(move |i| (rank * 1_000_000 + i) as u64)
}

#[test]
fn every_member_gets_all_parts_by_rank() {
    for members in SIZES {
        let results = group(members, |builder| builder).run(|me| {
            for round in 0..50 {
                let (mut values, mut long) = (vec![[0; 63]; members], vec![[0; 64]; members]);
                me.allgather([me.rank() + round; 63], &mut values)?;
                me.allgather([me.rank() + round; 64], &mut long)?;
                assert!(
                    (0..members).all(|rank| values[rank] == [rank + round; 63] && long[rank] == [rank + round; 64])
                );
            }
            for len in LENGTHS {
                let (own, mut all) = (part(me.rank(), len).collect::<Vec<_>>(), vec![u64::MAX; members * len]);
                me.allgather_slice(&own, &mut all)?;
                assert!(all.into_iter().eq((0..members).flat_map(|rank| part(rank, len))), "{len} of {members}");
            }
            Ok::<_, Error>(())
        });
        assert_eq!(results.expect("nobody panics"), vec![Ok(()); members]);
    }
}

#[test]
fn elements_of_no_byte_and_of_many_chunks_are_gathered_too() {
    for members in [1, 2, 5, 9] {
        let results = group(members, |builder| builder).run(|me| {
            me.allgather_slice(&[(); 3], &mut vec![(); 3 * members])?;
            let mut all = vec![[0_u8; 70_000]; members];
            me.allgather_slice(&[[me.rank() as u8; 70_000]], &mut all)?;
            assert!((0..members).all(|rank| all[rank] == [rank as u8; 70_000]));
            Ok::<_, Error>(())
        });
        assert_eq!(results.expect("nobody panics"), vec![Ok(()); members]);
    }
}

#[test]
fn room_for_another_number_is_as_if_it_had_not_been_called() {
    let results = group(3, |builder| builder).run(|me| {
        let refused = me.allgather_slice(&[1, 2], &mut [0; 5]);
        assert_eq!(refused, Err(Error::WrongCount { values: 5, members: 3 }));
        assert_eq!(me.allgather(1, &mut [0; 2]), Err(Error::WrongCount { values: 2, members: 3 }));
        let mut all = [0; 3];
        me.allgather_slice(&[me.rank()], &mut all).map(|()| all)
    });
    assert_eq!(results.expect("nobody panics"), vec![Ok([0, 1, 2]); 3]);
}

#[test]
fn a_part_of_another_length_is_told_to_all() {
    for members in [2, 3, 9] {
        let results = group(members, |builder| builder).run(|me| {
            let len = if me.rank() == 1 { 5 } else { 4 };
            me.allgather_slice(&vec![1_u8; len], &mut vec![0; members * len]).and_then(|()| me.barrier())
        });
        let is_told =
            |result: &Result<(), Error>| matches!(result, Err(Error::MemberLost { loss: Loss::OtherLength, .. }));
        let results = results.expect("nobody panics");
        assert!(results.iter().all(is_told), "{results:?}");
    }
}
