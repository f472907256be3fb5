//! Living, leaving and dead participants, told apart by the evidence of the kernel.

use std::collections::BTreeSet;
use std::sync::{Barrier, Mutex};

use corecast_base::region::{AttachError, Liveness, ParticipantId, SharedRegion};
use corecast_testing::actor::Actor;
use rustix::process::Signal;

use super::roles;
use super::{eventually, plan};

fn id_of(actor: &Actor) -> ParticipantId {
    let word = u64::from_str_radix(actor.said.trim_start_matches("0x"), 16).expect("a word");
    ParticipantId::from_word(word).expect("a participant")
}

#[test]
fn a_killed_process_is_dead_although_it_is_a_zombie() {
    let region = SharedRegion::memfd(&plan()).expect("memory");
    let actor = roles::attached("attach", &region);
    assert_eq!(region.liveness(id_of(&actor)), Liveness::Alive);
    actor.signal(Signal::KILL);
    eventually("the killed process is dead", || region.liveness(id_of(&actor)) == Liveness::Dead);
    eventually("nobody has waited for it", || actor.state() == 'Z');
    assert_eq!(region.liveness(id_of(&actor)), Liveness::Dead);
}

#[test]
fn a_stopped_process_is_alive_and_known_to_be_stopped() {
    let region = SharedRegion::memfd(&plan()).expect("memory");
    let actor = roles::attached("attach", &region);
    assert!(!region.is_stopped(id_of(&actor)) && !region.is_stopped(region.me()));
    actor.stop();
    assert_eq!((actor.state(), region.liveness(id_of(&actor))), ('T', Liveness::Alive));
    assert!(region.is_stopped(id_of(&actor)) && !region.is_stopped(region.me()));
    actor.signal(Signal::CONT);
    eventually("it goes on", || !region.is_stopped(id_of(&actor)));
    actor.stop();
    actor.signal(Signal::KILL);
    eventually("the stopped process was killed", || region.liveness(id_of(&actor)) == Liveness::Dead);
}

#[test]
fn a_process_that_ends_has_left() {
    let region = SharedRegion::memfd(&plan()).expect("memory");
    let actor = roles::attached("attach", &region);
    let them = id_of(&actor);
    actor.dismiss();
    assert_eq!(region.liveness(them), Liveness::Left);
}

#[test]
fn a_forked_child_does_not_keep_its_parent_alive() {
    let region = SharedRegion::memfd(&plan()).expect("memory");
    let actor = roles::attached("attach and fork", &region);
    assert_eq!(region.liveness(id_of(&actor)), Liveness::Alive);
    actor.signal(Signal::KILL);
    eventually("the parent is dead, its child is not", || region.liveness(id_of(&actor)) == Liveness::Dead);
}

#[test]
fn a_participant_without_evidence_claims_no_deaths_and_has_none() {
    let region = SharedRegion::memfd(&plan()).expect("memory");
    let mut actor = roles::attached("attach without proc", &region);
    if actor.said.starts_with("may not") {
        return corecast_testing::skipped("a process without evidence", &actor.said);
    }
    let id = id_of(&actor);
    assert_eq!(actor.hear(), "evidence: false, sees [Alive]");
    actor.signal(Signal::KILL);
    eventually("it has ended", || actor.state() == 'Z');
    assert_eq!(region.liveness(id), Liveness::Alive, "nobody can know");
}

#[test]
fn each_death_is_taken_note_of_once() {
    let region = SharedRegion::memfd(&plan()).expect("memory");
    let other = SharedRegion::from_fd(region.share().expect("/proc")).expect("a good region");
    let actors = [roles::attached("attach", &region), roles::attached("attach", &region)];
    let dead: BTreeSet<_> = actors.iter().map(id_of).collect();
    actors.iter().for_each(|actor| actor.signal(Signal::KILL));
    eventually("both are dead", || dead.iter().all(|&who| region.liveness(who) == Liveness::Dead));

    let settled = Mutex::new(Vec::new());
    let start = Barrier::new(4);
    std::thread::scope(|scope| {
        for reaper in [&region, &other, &region, &other] {
            scope.spawn(|| {
                start.wait();
                let settle = |who| settled.lock().expect("no panic").push(who);
                while !reaper.reap(settle).expect("not forked") {
                    std::thread::yield_now();
                }
            });
        }
    });
    let mut settled = settled.into_inner().expect("no panic");
    settled.sort_unstable();
    assert_eq!(settled, dead.iter().copied().collect::<Vec<_>>());
    assert!(dead.iter().all(|&who| other.liveness(who) == Liveness::Dead), "also when it is on record");
    assert_eq!(region.participants().expect("not forked").len(), 2);
    assert!(dead.iter().all(|who| region.participant_at(who.index).is_none()), "nobody has their slots");
    assert_eq!((other.participant_at(region.me().index), other.participant_at(u32::MAX)), (Some(region.me()), None));
}

#[test]
fn a_reaper_that_panics_leaves_the_work_to_the_next() {
    let region = SharedRegion::memfd(&plan()).expect("memory");
    let actor = roles::attached("attach", &region);
    actor.signal(Signal::KILL);
    eventually("it is dead", || region.liveness(id_of(&actor)) == Liveness::Dead);
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| region.reap(|_| panic!("half done"))));
    assert!(caught.is_err());
    let mut settled = Vec::new();
    assert_eq!(region.reap(|who| settled.push(who)), Ok(true));
    assert_eq!(settled, [id_of(&actor)]);
}

#[test]
fn slots_of_the_dead_are_taken_again() {
    let region = SharedRegion::memfd(&plan().participants(2).expect("two")).expect("memory");
    let actor = roles::attached("attach", &region);
    let attach = || SharedRegion::from_fd(region.share().expect("/proc"));
    let refused = attach().expect_err("no slot");
    assert!(
        matches!(&refused, AttachError::Busy(doubt) if doubt.why == "all 2 participant slots are taken"),
        "{refused}"
    );
    let them = id_of(&actor);
    actor.signal(Signal::KILL);
    eventually("it is dead", || region.liveness(them) == Liveness::Dead);
    let successor = attach().expect("the slot of the dead");
    assert_eq!((successor.me().index, successor.me().generation), (them.index, them.generation + 1));
    assert_eq!((region.liveness(successor.me()), region.liveness(them)), (Liveness::Alive, Liveness::Dead));
}

#[test]
fn strange_participants_are_dead() {
    let region = SharedRegion::memfd(&plan()).expect("memory");
    for (index, generation) in [(0, 2), (1, 1), (4, 1), (u32::MAX, 1), (u32::MAX, u32::MAX)] {
        assert_eq!(region.liveness(ParticipantId { index, generation }), Liveness::Dead);
    }
    assert_eq!(ParticipantId::from_word(0), None);
    assert_eq!(ParticipantId::from_word(region.me().to_word()), Some(region.me()));
}

#[test]
fn a_thousand_come_and_go() {
    let region = SharedRegion::memfd(&plan()).expect("memory");
    for _ in 0..1000 {
        let guest = SharedRegion::from_fd(region.share().expect("/proc")).expect("a free slot");
        assert_eq!(region.liveness(guest.me()), Liveness::Alive);
    }
    assert_eq!(region.participants().expect("not forked").len(), 1);
}
