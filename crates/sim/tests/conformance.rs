//! All locks, channels and collectives keep their promises wherever threads lose their CPUs, and the little that is promised
//! where one is killed.

use corecast_sim::conformance::{
    CheckedCollective, End, KilledOutcome, LastStores, Phase, Placement, Trial, check_channel, check_channel_killed,
    check_killed, check_lock,
};
use corecast_sim::{Algorithm, Channel};

/// Of each lock.
const SEEDS: u64 = 100;
/// Of each lock and channel, with threads that move.
const MOVING_SEEDS: u64 = 100;
/// Of each barrier and operation of a group, which takes longer to make.
const FEW_SEEDS: u64 = 10;
const FEW_MOVING_SEEDS: u64 = 10;

#[test]
fn locks_exclude_and_lose_no_wake_up_under_preemption() {
    for &algorithm in Algorithm::ALL {
        for seed in 0..SEEDS {
            check_lock(algorithm, seed, Placement::Pinned).unwrap_or_else(|failure| panic!("{failure}"));
        }
    }
}

/// Three threads, each on its CPU, without stops.
const KILLS: Trial =
    Trial { seed: 2, threads: 3, cpus: 4, rounds: 3, one_in: 1, longest_stop_ns: 0, placement: Placement::Pinned };

#[test]
fn a_kill_at_any_access_leaves_the_others_with_a_lock_that_excludes() {
    for &algorithm in Algorithm::ALL.iter().filter(|&&algorithm| algorithm != Algorithm::Byte) {
        for stores in [LastStores::Land, LastStores::Lost] {
            let outcomes: Vec<KilledOutcome> = (0..)
                .map(|access| {
                    check_killed(algorithm, KILLS, access, stores).unwrap_or_else(|failure| panic!("{failure}"))
                })
                .take_while(|outcome| outcome.killed.is_some())
                .collect();
            for phase in [Phase::Locks, Phase::Holds, Phase::Unlocks, Phase::Between] {
                assert!(outcomes.iter().any(|outcome| outcome.killed == Some(phase)), "{algorithm}: {phase:?}");
            }
            // A dead holder holds the lock for ever.
            let holds = |outcome: &&KilledOutcome| outcome.killed == Some(Phase::Holds);
            assert!(outcomes.iter().filter(holds).any(|outcome| !outcome.others_ended), "{algorithm}");
        }
    }
}

/// A waiter that may overtake only once it has spun in vain was left asleep by the simulated machine.
#[test]
fn seeds_that_have_failed_pass() {
    check_lock(Algorithm::Auto, 927, Placement::Pinned).unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn channels_carry_whole_messages_in_order_under_preemption() {
    for &channel in Channel::ALL {
        for seed in 0..SEEDS {
            check_channel(channel, seed, Placement::Pinned).unwrap_or_else(|failure| panic!("{failure}"));
        }
    }
}

#[test]
fn collectives_give_the_right_results_under_preemption() {
    for collective in CheckedCollective::all() {
        for seed in 0..FEW_SEEDS {
            collective.check(seed, Placement::Pinned).unwrap_or_else(|failure| panic!("{failure}"));
        }
    }
}

#[test]
fn locks_channels_and_collectives_hold_where_threads_move() {
    let moves = Placement::Unpinned;
    for seed in 0..MOVING_SEEDS {
        for &algorithm in Algorithm::ALL {
            check_lock(algorithm, seed, moves).unwrap_or_else(|failure| panic!("{failure}"));
        }
        for &channel in Channel::ALL {
            check_channel(channel, seed, moves).unwrap_or_else(|failure| panic!("{failure}"));
        }
    }
    for collective in CheckedCollective::all() {
        for seed in 0..FEW_MOVING_SEEDS {
            collective.check(seed, moves).unwrap_or_else(|failure| panic!("{failure}"));
        }
    }
}

/// The kills at an access in turn, until one comes after the end.
fn kills(check: impl Fn(u64) -> bool) -> u64 {
    (0..).find(|&access| !check(access)).expect("a thread ends")
}

#[test]
fn a_kill_at_any_access_of_a_send_leaves_whole_messages_and_an_end_that_gives_up() {
    for &channel in Channel::ALL {
        for (end, stores) in
            [(End::Sender, LastStores::Land), (End::Sender, LastStores::Lost), (End::Receiver, LastStores::Land)]
        {
            let killed = kills(|access| {
                check_channel_killed(channel, 3, end, access, stores).unwrap_or_else(|failure| panic!("{failure}"))
            });
            assert!(
                killed > 36,
                "{}: each message has an access of the {end}, and {killed} were tried",
                channel.name()
            );
        }
    }
}

#[test]
fn a_kill_at_any_access_of_a_collective_leaves_members_that_give_up_and_right_results() {
    for collective in CheckedCollective::all() {
        let killed = kills(|access| {
            collective.check_killed(3, access, LastStores::Land).unwrap_or_else(|failure| panic!("{failure}"))
        });
        assert!(killed > 3, "{collective}: each operation has an access, and {killed} were tried");
    }
}
