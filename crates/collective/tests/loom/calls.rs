//! Members that do not call the same; and the stamp that keeps a word of a barrier from being taken for that of another
//! one.

use corecast_base::wait::Wait;
use corecast_collective::{Barrier, CallKind, Error};

use super::{briefly, group, run};

/// A message of another operation than the current one is refused, and by then the log tells what its sender had called.
#[test]
fn the_call_of_a_member_is_known_with_its_message() {
    loom::model(|| {
        let group = group(2, Barrier::Dissemination, Wait::Spin);
        run(&group, |me| match me.rank() {
            0 => me.broadcast(0, &mut 1u8).expect("the edge has room"),
            _ => {
                me.broadcast(1, &mut 2u8).expect("the edge has room");
                let mut value = 3u8;
                let error = me.broadcast(0, &mut value).expect_err("the message is of the operation before");
                let Error::Mismatched { rank: 1, called, other: 0, expected } = error else { panic!("{error}") };
                assert_eq!((called.operation, called.root), (CallKind::Broadcast, Some(1)));
                assert_eq!((expected.operation, expected.root, value), (CallKind::Broadcast, Some(0), 3));
            }
        });
    });
}

/// The third signal takes the word of the first, which the other member has read by then, though it may be one barrier behind.
#[test]
fn a_word_of_a_barrier_is_written_again_after_it_was_read() {
    for barrier in [Barrier::Dissemination, Barrier::SharedLine] {
        briefly(move || {
            let group = group(2, barrier, Wait::Spin);
            run(&group, |me| (0..3).for_each(|_| me.barrier().expect("nobody is lost")));
        });
    }
}
