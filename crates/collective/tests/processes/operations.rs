//! The operations except the plain three among processes: undisturbed, and when one of them is killed or stopped.

use std::time::Duration;

use corecast_testing::actor::Actor;
use rustix::process::Signal;

use crate::roles;
use crate::{founding, rounds};

/// Members started for rounds without end, each of which has done some.
fn begun(name: &str, members: usize) -> Vec<Actor> {
    let founding = founding(members, |builder| builder);
    let mut actors = roles::start_all(&format!("{name} for ever"), &founding);
    actors.iter_mut().for_each(|actor| assert_eq!(actor.hear(), "begun", "{name}"));
    actors
}

#[track_caller]
fn expect_told(survivors: Vec<Actor>, told: &str, circumstances: &str) {
    for mut survivor in survivors {
        assert_eq!(survivor.hear(), told, "{circumstances}");
        survivor.dismiss();
    }
}

#[test]
fn all_operations_among_two_to_five() {
    for (name, _) in rounds::ALL {
        for members in [2, 3, 5] {
            let founding = founding(members, |builder| builder);
            roles::start_all(&format!("{name} for some time"), &founding).into_iter().for_each(Actor::dismiss);
        }
    }
}

#[test]
fn a_member_killed_in_any_operation_is_named_by_rank() {
    let seed = 0x5eed_0004;
    let mut random = fastrand::Rng::with_seed(seed);
    for (name, _) in rounds::ALL {
        for victim in 0..4 {
            let mut actors = begun(name, 4);
            std::thread::sleep(Duration::from_micros(random.u64(0..3000)));
            actors.remove(victim).kill();
            expect_told(actors, &format!("member {victim} died"), &format!("{name}, seed {seed:#x}"));
        }
    }
}

#[test]
fn a_member_stopped_in_any_operation_is_waited_for() {
    let seed = 0x5eed_0005;
    let mut random = fastrand::Rng::with_seed(seed);
    for (name, _) in rounds::ALL {
        let mut actors = begun(name, 3);
        let stopped = random.usize(0..3);
        std::thread::sleep(Duration::from_micros(random.u64(0..3000)));
        actors[stopped].stop();
        // Long enough for several checks of the members' lives.
        std::thread::sleep(Duration::from_millis(250));
        actors[stopped].signal(Signal::CONT);
        let victim = (stopped + 1) % 3;
        actors.remove(victim).kill();
        let circumstances = format!("{name}, {stopped} was stopped, seed {seed:#x}");
        expect_told(actors, &format!("member {victim} died"), &circumstances);
    }
}

#[test]
fn survivors_of_a_commit_have_applied_the_same() {
    let seed = 0x5eed_0006;
    let mut random = fastrand::Rng::with_seed(seed);
    for (round, victim) in (0..4).cycle().take(20).enumerate() {
        let founding = founding(4, |builder| builder);
        let role = if round % 8 < 4 { "commit and count" } else { "commit any length and count" };
        let mut actors = roles::start_all(role, &founding);
        actors.iter_mut().for_each(|actor| assert_eq!(actor.hear(), "begun"));
        std::thread::sleep(Duration::from_micros(random.u64(0..3000)));
        actors.remove(victim).kill();
        let told: Vec<String> = actors.iter_mut().map(Actor::hear).collect();
        assert!(told[0].starts_with(&format!("member {victim} died, ")), "{told:?}, seed {seed:#x}");
        assert!(told.iter().all(|other| other == &told[0]), "{told:?}, seed {seed:#x}");
    }
}

#[test]
fn long_proposals_need_one_length_and_room() {
    let other_lengths = founding(3, |builder| builder);
    expect_told(
        roles::start_all("commit other lengths", &other_lengths),
        "member 0 gave a slice of another length than its peers",
        "of processes that open commits of 10,000 and of 10,001 bytes",
    );
    let narrow = founding(3, |builder| builder.room_bytes(1 << 20));
    roles::start_all("commit without room", &narrow).into_iter().for_each(Actor::dismiss);
}

#[test]
fn a_member_killed_while_stopped_is_named() {
    for (name, _) in rounds::ALL {
        let mut actors = begun(name, 3);
        actors[1].stop();
        actors.remove(1).kill();
        expect_told(actors, "member 1 died", name);
    }
}

#[test]
fn a_member_that_only_polls_gets_the_error_too() {
    for (name, _) in rounds::ASKING {
        for victim in 0..2 {
            let mut actors = begun(name, 2);
            actors.remove(victim).kill();
            expect_told(actors, &format!("member {victim} died"), name);
        }
    }
}

#[test]
fn a_limit_names_the_stopped_one_and_the_operation_goes_on() {
    let founding = founding(3, |builder| builder);
    let mut actors = roles::start_all("meet with limits for ever", &founding);
    actors.iter_mut().for_each(|actor| assert_eq!(actor.hear(), "begun"));
    actors[1].stop();
    // The stopped member may have entered the current barrier; it has not entered the next.
    for rank in [0, 2] {
        assert_eq!(actors[rank].hear(), "member 1 has not begun it");
    }
    actors[1].signal(Signal::CONT);
    actors.remove(2).kill();
    expect_told(actors, "member 2 died", "the others went on");
}
