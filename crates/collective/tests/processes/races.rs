//! Races among processes: after they have joined, and at work; the room they take, and the fate of a race whose member is
//! killed.

use std::path::Path;
use std::time::Duration;

use corecast_base::ArenaError;
use corecast_collective::processes::Founding;
use corecast_collective::{Barrier, Error, Member, Races};
use corecast_testing::actor::{Actor, say};
use corecast_testing::skipped;

use crate::founding;
use crate::roles;
use crate::work::one_round;

/// The reason why members do not race.
const CROWDED: &str = "the CPUs, or the time on them, are fewer than the members";

/// Works, and prints the results of the members' races.
pub(crate) fn work_and_tell(me: &mut Member) {
    (1..=20).try_for_each(|round| one_round(me, round)).expect("nobody is lost");
    say(&in_words(me.races()));
}

/// Races twenty times, with work between, or until there is no room; prints the number of races, and the result of the
/// first.
pub(crate) fn race_at_work(me: &mut Member) {
    let mut found = Vec::new();
    for round in 1..=20 {
        match me.race() {
            Ok(races) => found.push(races.expect("each has a CPU")),
            Err(Error::Memory(ArenaError::Full { .. })) => break,
            Err(error) => panic!("{error}"),
        }
        one_round(me, round).expect("nobody is lost");
    }
    one_round(me, 1).expect("the group is as it was");
    me.split(None, 0).expect("so is its room");
    say(&format!("{} {}", found.len(), in_words(found.first())));
}

fn in_words(races: Option<&Races>) -> String {
    let Some(Races { barrier, .. }) = races else { return "none".to_owned() };
    let kind = if barrier.is_cached { "kept" } else { "new" };
    format!("{kind} {} {} {} {:?}", barrier.winner, barrier.entries.len(), barrier.left_out, barrier.entries)
}

/// The report of all members, which is the same.
fn hear_all(role: &str, founding: &Founding) -> String {
    let mut actors = roles::start_all(role, founding);
    let told: Vec<String> = actors.iter_mut().map(Actor::hear).collect();
    assert!(told.iter().all(|other| *other == told[0]), "{told:?}");
    actors.into_iter().for_each(Actor::dismiss);
    told[0].clone()
}

fn racing(folder: Option<&Path>) -> Founding {
    founding(2, |builder| builder.race(true).race_folder(folder.map(Path::to_owned)))
}

#[test]
fn members_race_when_all_have_joined_and_it_is_remembered() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = racing(Some(folder.path()));
    if first.choice().is_crowded {
        return skipped("a race of processes", CROWDED);
    }
    assert_eq!(first.choice().races, None, "nobody has raced before");
    let told = hear_all("tell races", &first);
    assert!(told.starts_with("new ") && told.split(' ').nth(2) == Some("9"), "{told}");
    // The machine may have become faster or slower, and then they race again.
    let mut last = told;
    let kept = (0..20).find_map(|_| {
        let again = racing(Some(folder.path()));
        let known = again.choice().races.as_ref().expect("it is kept").barrier.clone();
        assert!(known.is_cached && known.winner == again.choice().barrier, "{known:?}");
        assert!(last.starts_with(&format!("new {} ", known.winner)), "{last}");
        let told = hear_all("tell races", &again);
        if told.starts_with("kept ") { Some(told) } else { (last = told, None).1 }
    });
    assert_eq!(kept.expect("it is about as fast once in twenty times").replacen("kept", "new", 1), last);
    let file = std::fs::read_dir(folder.path()).expect("listed").next().expect("a file").expect("readable").path();
    let text = std::fs::read_to_string(&file).expect("text").replace("\"median_ns\":", "\"median_ns\":123456789");
    std::fs::write(&file, text).expect("written");
    let told = hear_all("tell races", &racing(Some(folder.path())));
    assert!(told.starts_with("new ") && !told.contains("123456789"), "what is no longer so is raced anew: {told}");
    assert!(!std::fs::read_to_string(&file).expect("text").contains("123456789"), "and replaced");
    assert!(hear_all("tell races", &racing(None)).starts_with("new "), "it is kept nowhere");
}

#[test]
fn trees_and_barriers_that_were_asked_for_are_not_raced() {
    let asked = founding(2, |builder| builder.race(true).race_folder(None).barrier(Barrier::Flat));
    assert_eq!(hear_all("tell races", &asked), "none");
    let crowded = founding(2, |builder| builder.race(true).race_folder(None).members(64));
    assert!(crowded.choice().is_crowded);
}

/// The number of races of members with this room, and the candidates that run in the first race and are left out; `None`
/// where members share CPUs.
fn races_in(room: usize) -> Option<[usize; 3]> {
    let founding = founding(2, |builder| builder.room_bytes(room));
    if founding.choice().is_crowded {
        return None;
    }
    let told = hear_all("race at work", &founding);
    let words: Vec<&str> = told.split(' ').collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse().ok()).unwrap_or(0);
    Some([number(0), number(3), number(4)])
}

#[test]
fn with_less_room_members_race_fewer_and_give_it_back() {
    // Without giving room back, 20 races would lay out more than fits.
    let (mut none, mut all) = (0, 128 << 10);
    let Some(found) = races_in(none) else { return };
    assert_eq!(found, [0, 0, 0], "without room nobody races");
    assert_eq!(races_in(all), Some([20, 9, 0]), "all race again and again in the room of one race");
    // The memory of barriers differs from machine to machine.
    let some = std::iter::from_fn(|| {
        let between = (none + all) / 2;
        let found = races_in(between).expect("as before");
        match found {
            [0, ..] => none = between,
            [_, 9, _] => all = between,
            _ => {}
        }
        (all - none > 64).then_some(found)
    })
    .find(|&[races, ran, _]| races > 0 && ran < 9);
    let [_, ran, left_out] = some.unwrap_or_else(|| panic!("one room between {none} and {all} is for some of them"));
    assert_eq!(ran + left_out, 9);
}

#[test]
fn a_member_killed_in_a_race_is_named() {
    let seed = 0x5eed_0007;
    let mut random = fastrand::Rng::with_seed(seed);
    for victim in [0, 1, 0, 1] {
        let founding = founding(2, |builder| builder);
        if founding.choice().is_crowded {
            return skipped("a member killed in a race", CROWDED);
        }
        let mut actors = roles::start_all("race for ever", &founding);
        actors.iter_mut().for_each(|actor| assert_eq!(actor.hear(), "begun"));
        std::thread::sleep(Duration::from_micros(random.u64(0..3000)));
        actors.remove(victim).kill();
        let mut survivor = actors.pop().expect("the other one");
        assert_eq!(survivor.hear(), format!("member {victim} died"), "seed {seed:#x}");
        survivor.dismiss();
    }
}
