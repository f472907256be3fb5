//! Processes that are killed one after the other while the survivors shrink their group and go on.

use std::time::Duration;

use corecast_base::wait::Wait;
use corecast_collective::{Barrier, Member};
use corecast_testing::actor::{Actor, say};

use crate::roles;
use crate::work::one_round;
use crate::{PATIENCE, founding};

/// Works until it is alone, in groups that get smaller; prints for each the number of members and those that were lost.
pub(crate) fn survive(mut me: Member) {
    say("begun");
    let mut round = 0;
    while me.size() > 1 {
        round += 1;
        if one_round(&mut me, round).is_ok() {
            continue;
        }
        match me.shrink_timeout(PATIENCE) {
            Ok(shrunk) => {
                assert!(shrunk.completed <= shrunk.highest, "{shrunk:?}");
                say(&format!("{} left, of {} without {:?}", shrunk.me.size(), me.size(), shrunk.gone));
                (me, round) = (shrunk.me, 0);
            }
            Err(error) => return say(&error.to_string()),
        }
    }
}

/// The last report of all of these about a group of this size.
#[track_caller]
fn expect_left(actors: &mut [Actor], left: &str) {
    for actor in actors {
        while !actor.hear().starts_with(left) {}
    }
}

#[test]
fn the_others_go_on_when_a_member_is_killed_at_any_time() {
    let seed = 0x5eed_0004;
    let mut random = fastrand::Rng::with_seed(seed);
    for (turn, &barrier) in Barrier::ALL.iter().enumerate() {
        let wait = [Wait::Adaptive, Wait::Yield, Wait::Park][turn % 3];
        let founding = founding(4, |builder| builder.barrier(barrier).wait(wait));
        let mut actors = roles::start_all("survive", &founding);
        actors.iter_mut().for_each(|actor| assert_eq!(actor.hear(), "begun"));
        // Down to the last member with only some barriers, as the others take a tenth of a second to notice each loss.
        let most = if turn % 4 == 0 { 3 } else { 1 };
        for _ in 0..most {
            std::thread::sleep(Duration::from_micros(random.u64(0..2000)));
            let victim = random.usize(0..actors.len());
            actors.remove(victim).kill();
            let told: Vec<String> = actors.iter_mut().map(Actor::hear).collect();
            let expected = format!("{} left, of {} without [{victim}]", actors.len(), actors.len() + 1);
            assert!(told.iter().all(|told| *told == expected), "{told:?}, {barrier} {wait}, seed {seed:#x}");
        }
        if most == 3 {
            actors.into_iter().for_each(Actor::dismiss);
        }
    }
}

#[test]
fn the_others_go_on_when_a_member_is_killed_while_they_shrink() {
    let seed = 0x5eed_0005;
    let mut random = fastrand::Rng::with_seed(seed);
    for turn in 0..6 {
        let wait = [Wait::Adaptive, Wait::Yield, Wait::Park][turn % 3];
        let founding = founding(5, |builder| builder.wait(wait));
        let mut actors = roles::start_all("survive", &founding);
        actors.iter_mut().for_each(|actor| assert_eq!(actor.hear(), "begun"));
        for _ in 0..3 {
            actors.swap_remove(random.usize(0..actors.len())).kill();
            // The others take some tens of milliseconds to find out, and less than one to shrink.
            std::thread::sleep(Duration::from_micros(random.u64(0..30_000)));
        }
        expect_left(&mut actors, "2 left");
        actors.pop().expect("two").kill();
        expect_left(&mut actors, "1 left");
        actors.into_iter().for_each(Actor::dismiss);
    }
}

#[test]
fn a_group_without_room_for_another_generation_says_so_to_all_alike() {
    let founding = founding(5, |builder| builder.room_bytes(0));
    let mut actors = roles::start_all("survive", &founding);
    actors.iter_mut().for_each(|actor| assert_eq!(actor.hear(), "begun"));
    actors.pop().expect("five").kill();
    expect_left(&mut actors, "4 left, of 5 without [4]");
    actors.pop().expect("four").kill();
    let told: Vec<String> = actors.iter_mut().map(Actor::hear).collect();
    assert!(told.iter().all(|told| told.contains("bytes more do not fit")), "{told:?}");
    assert!(told.iter().all(|other| *other == told[0]), "{told:?}");
    actors.into_iter().for_each(Actor::dismiss);
}
