//! The roles of other processes: this program, started as a member of a group with the memory as its standard input.

use std::os::fd::AsFd;
use std::time::Duration;

use corecast_collective::processes::{Founding, Invitation, JoinError};
use corecast_collective::{Error, Member};
use corecast_testing::actor::{Actor, Role, say};

use super::{PATIENCE, commits, mismatch, parts, races, rounds, shrink, work};

/// The text after the name of the rounds that are its role.
const FOR_EVER: &str = " for ever";
const FOR_SOME_TIME: &str = " for some time";
/// The text before the name of the call that is its role.
const CALL: &str = "call ";

/// A member of this rank that is a process.
pub(crate) fn start(role: &str, founding: &Founding, rank: usize) -> Actor {
    Actor::reading("roles::play", role, &rank.to_string(), founding.share().expect("/proc is there"))
}

/// A process for each member.
pub(crate) fn start_all(role: &str, founding: &Founding) -> Vec<Actor> {
    (0..founding.members()).map(|rank| start(role, founding, rank)).collect()
}

/// Not a test: the program's work when it is an actor.
#[test]
fn play() {
    let Some(role) = Role::of_this_process() else { return };
    end_in_time();
    let rank = role.place.parse().expect("a rank");
    let fd = std::io::stdin().as_fd().try_clone_to_owned().expect("a descriptor");
    let invitation = Invitation::of_fd(fd).expect("a good region").rank(rank);
    match role.name.as_str() {
        "work" => work::all_operations(&mut invitation.join().expect("a free place")).expect("nobody is lost"),
        "work in any place" => {
            let fd = std::io::stdin().as_fd().try_clone_to_owned().expect("a descriptor");
            let any = Invitation::of_fd(fd).expect("a good region").members(work::ANYBODY);
            drop(invitation);
            work::all_operations(&mut any.join().expect("a free place")).expect("nobody is lost");
        }
        "work for ever" => tell_end(&mut invitation.join().expect("a free place"), work::one_round),
        "survive" => shrink::survive(invitation.join().expect("a free place")),
        "tell races" => races::work_and_tell(&mut invitation.join().expect("a free place")),
        "race at work" => races::race_at_work(&mut invitation.join().expect("a free place")),
        "race for ever" => tell_end(&mut invitation.join().expect("a free place"), |me, _| me.race().map(drop)),
        "split" => parts::split(&mut invitation.join().expect("a free place")).expect("nobody is lost"),
        "split until full" => say(&parts::split_until_full(&mut invitation.join().expect("a free place"))),
        "split and work for ever" => parts::split_and_work_for_ever(&mut invitation.join().expect("a free place")),
        "meet for ever" => tell_end(&mut invitation.join().expect("a free place"), |me, _| me.barrier()),
        "leave after 5" => {
            let mut me = invitation.join().expect("a free place");
            (0..5).for_each(|_| me.barrier().expect("nobody has left yet"));
        }
        "panic after 5" => {
            let mut me = invitation.join().expect("a free place");
            (0..5).for_each(|_| me.barrier().expect("nobody is lost yet"));
            std::panic::set_hook(Box::new(|_| ()));
            let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
                let _moved = me;
                panic!("planted");
            }));
            assert!(panicked.is_err());
        }
        "meet with limits for ever" => {
            let mut me = invitation.join().expect("a free place");
            // An actor that is stopped itself only reports how it ends.
            let mut has_told = me.rank() == 1;
            tell_end(&mut me, |me, _| meet_with_limits(me, &mut has_told));
        }
        role if commits::ROLES.contains(&role) => {
            commits::play(role, &mut invitation.join().expect("a free place"), &mut count_rounds());
        }
        role if role.starts_with(CALL) => {
            let mut me = invitation.join().expect("a free place");
            mismatch::call_and_tell(&mut me, role.trim_start_matches(CALL));
        }
        role if role.ends_with(FOR_SOME_TIME) => {
            let mut left = 100;
            let after = &mut || {
                left -= 1;
                left > 0
            };
            let mut me = invitation.join().expect("a free place");
            rounds::of(role.trim_end_matches(FOR_SOME_TIME))(&mut me, after).expect("nobody is lost");
            me.barrier().expect("nobody is lost");
        }
        role if role.ends_with(FOR_EVER) => {
            let mut me = invitation.join().expect("a free place");
            let rounds = rounds::of(role.trim_end_matches(FOR_EVER));
            let error = rounds(&mut me, &mut count_rounds()).expect_err("one is lost");
            assert_eq!(me.barrier(), Err(error), "it stays so");
            say(&error.to_string());
        }
        "join" => tell_whether(invitation.timeout(Duration::from_millis(300)).join()),
        "join in a minute" => {
            say("comes");
            tell_whether(invitation.timeout(PATIENCE).join());
        }
        "wait for others" => drop(invitation.timeout(PATIENCE).join()),
        other => panic!("no such role: {other}"),
    }
}

/// Ends this process if something hangs, so that a test fails rather than lasts.
fn end_in_time() {
    std::thread::spawn(|| {
        std::thread::sleep(PATIENCE);
        say("hung");
        std::process::exit(9);
    });
}

/// Works with the others until one is lost; reports once that it has begun, and at the end the error it got.
fn tell_end(me: &mut Member, mut round: impl FnMut(&mut Member, u64) -> Result<(), Error>) {
    let mut rounds = 0;
    let error = loop {
        rounds += 1;
        if let Err(error) = round(me, rounds) {
            break error;
        }
        if rounds == 3 {
            say("begun");
        }
    };
    assert_eq!(me.barrier(), Err(error), "it stays so");
    say(&error.to_string());
}

fn tell_whether(joined: Result<Member, JoinError>) {
    match joined {
        Ok(_) => say("joined"),
        Err(error) => say(&error.to_string()),
    }
}

/// Reports after some rounds that it has begun, and never ends them.
fn count_rounds() -> impl FnMut() -> bool {
    let mut rounds = 0;
    move || {
        rounds += 1;
        if rounds == 3 {
            say("begun");
        }
        true
    }
}

/// A barrier with limits; reports once which members were missing, if there was one.
fn meet_with_limits(me: &mut Member, has_told: &mut bool) -> Result<(), Error> {
    let mut meeting = me.start().barrier()?;
    loop {
        match meeting.finish_timeout(Duration::from_millis(50)) {
            Err(Error::Timeout { missing }) if missing.members() == 1 && !*has_told => {
                *has_told = true;
                say(&missing.to_string());
            }
            Err(Error::Timeout { .. }) => {}
            other => return other,
        }
    }
}
