//! Members that are killed, stopped, leave or fork: the others get an error with the member, and none of them hangs.

use std::time::Duration;

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::wait::Wait;
use corecast_collective::processes::{Founding, Invitation, JoinError};
use corecast_collective::{Barrier, Error, Loss};
use rustix::process::{Pid, Signal, WaitOptions, waitpid};

use crate::founding;
use crate::roles;

#[test]
fn members_killed_at_any_time_are_told_by_rank() {
    let seed = 0x5eed_0002;
    let mut random = fastrand::Rng::with_seed(seed);
    for &barrier in Barrier::ALL {
        for wait in [Wait::Adaptive, Wait::Yield, Wait::Park] {
            let founding = founding(3, |builder| builder.barrier(barrier).wait(wait));
            let mut actors = roles::start_all("work for ever", &founding);
            actors.iter_mut().for_each(|actor| assert_eq!(actor.hear(), "begun"));
            let victim = random.usize(0..3);
            std::thread::sleep(Duration::from_micros(random.u64(0..2000)));
            actors.remove(victim).kill();
            for mut survivor in actors {
                assert_eq!(survivor.hear(), format!("member {victim} died"), "{barrier} {wait}, seed {seed:#x}");
                survivor.dismiss();
            }
        }
    }
}

#[test]
fn a_stopped_member_is_waited_for() {
    let founding = founding(3, |builder| builder);
    let mut actors = roles::start_all("work for ever", &founding);
    actors.iter_mut().for_each(|actor| assert_eq!(actor.hear(), "begun"));
    actors[1].stop();
    // Long enough for several checks of the members' lives.
    std::thread::sleep(Duration::from_millis(350));
    actors[1].signal(Signal::CONT);
    actors.remove(2).kill();
    for mut survivor in actors {
        assert_eq!(survivor.hear(), "member 2 died", "and not the one that was stopped");
        survivor.dismiss();
    }
}

#[test]
fn leaving_and_panicking_are_told_apart() {
    for (role, told) in [
        ("leave after 5", "member 1 left the group while others waited for it"),
        ("panic after 5", "member 1 panicked"),
    ] {
        let founding = founding(3, |builder| builder);
        let others = [0, 2].map(|rank| roles::start("meet for ever", &founding, rank));
        roles::start(role, &founding, 1).dismiss();
        for mut other in others {
            assert_eq!((other.hear().as_str(), other.hear().as_str()), ("begun", told));
            other.dismiss();
        }
    }
}

#[test]
fn a_member_that_dies_before_all_have_come_is_named() {
    let founding = founding(3, |builder| builder);
    let early = roles::start("wait for others", &founding, 2);
    let region = founding.region();
    let section = region.section(&region.entry("group").expect("declared"));
    let places = section.slice::<CacheLine<AtomicU64>>(0, 3).expect("a line for each member comes first");
    while places[2].load(Ordering::Relaxed) == 0 {
        std::thread::yield_now();
    }
    drop(early);
    let joined = Invitation::of_region(region.clone()).rank(0).join();
    assert!(matches!(joined, Err(JoinError::Member(Error::MemberLost { rank: 2, loss: Loss::Died }))), "{joined:?}");
}

#[test]
fn a_member_that_will_never_come_can_be_given_up() {
    // A member that does not sleep sees that all have come before it gets the reason.
    for wait in [Wait::Adaptive, Wait::Yield, Wait::Park] {
        give_up_the_second(&founding(3, |builder| builder.wait(wait)));
    }
}

fn give_up_the_second(founding: &Founding) {
    let mut early = [0, 2].map(|rank| roles::start("join in a minute", founding, rank));
    early.iter_mut().for_each(|actor| assert_eq!(actor.hear(), "comes"));
    assert!(founding.give_up(1).expect("good memory"), "nobody had come as member 1");
    for mut actor in early {
        assert_eq!(actor.hear(), "member 1 died", "long before the minute is over");
        actor.dismiss();
    }
    assert!(!founding.give_up(1).expect("good memory"), "once is enough");
    let late = Invitation::of_region(founding.region().clone()).rank(1).join();
    assert!(matches!(late, Err(JoinError::Member(Error::MemberLost { rank: 1, loss: Loss::Died }))), "{late:?}");
    let nobody = founding.give_up(3);
    assert!(matches!(nobody, Err(JoinError::Member(Error::BadRank { rank: 3, members: 3 }))), "{nobody:?}");
}

#[test]
fn a_member_that_has_come_is_not_given_up() {
    let founding = founding(2, |builder| builder);
    let mut actors = roles::start_all("meet for ever", &founding);
    actors.iter_mut().for_each(|actor| assert_eq!(actor.hear(), "begun"));
    assert!(!founding.give_up(0).expect("good memory"));
    actors.remove(0).kill();
    assert!(!founding.give_up(0).expect("good memory"), "the other one finds out by itself");
    assert_eq!(actors[0].hear(), "member 0 died");
}

#[test]
fn a_forked_child_is_told_so_and_disturbs_nobody() {
    let founding = founding(1, |builder| builder);
    let mut me = Invitation::of_region(founding.region().clone()).join().expect("a free place");
    // SAFETY: the child calls the member, which takes no lock there, and ends without unwinding.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let is_told = me.barrier() == Err(Error::Forked)
            && me.broadcast(0, &mut 1u8) == Err(Error::Forked)
            && me.allreduce(1u8, |a, b| a + b) == Err(Error::Forked);
        drop(me);
        // SAFETY: ends the child, running nothing of this program.
        unsafe { libc::_exit(i32::from(!is_told)) };
    }
    let (_, status) = waitpid(Pid::from_raw(child), WaitOptions::empty()).expect("our child").expect("waited for");
    assert_eq!(status.exit_status(), Some(0));
    assert_eq!(me.allreduce(3u8, |a, b| a + b), Ok(3), "still a member");
}
