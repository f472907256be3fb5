//! A race takes a barrier that works, gives its reasons, and is kept.

use std::path::PathBuf;

use corecast_base::CpuId;
use corecast_collective::{AllreduceForm, Barrier, Builder, Error, Group, Loss, Race, Races, SizeClass};
use corecast_machine::{Cpu, Machine, Topology};
use corecast_testing::skipped;

use crate::machine;

const CONTROLS: [Barrier; 3] = [Barrier::Tree, Barrier::Flat, Barrier::Ticket];

/// The reason why members do not race.
const CROWDED: &str = "the CPUs, or the time on them, are fewer than the members";

/// A machine of the CPUs this process may use; `None` if there is only one, where there is nothing to race for.
fn this_machine() -> Option<Machine> {
    let cpus = corecast_machine::pin::affinity().expect("Linux tells the mask");
    let cpus: Vec<Cpu> = cpus.iter().take(4).map(Cpu::flat).collect();
    if cpus.len() < 2 {
        skipped("a race of threads", "there is one CPU only");
        return None;
    }
    Some(Machine::from_topology(&Topology { cpus, ..Topology::default() }))
}

fn raced(machine: &Machine, folder: Option<PathBuf>) -> Group {
    Group::builder(machine).race(true).race_folder(folder).build().expect("a group of the machine's CPUs")
}

fn barrier_race(group: &Group) -> Option<&Race> {
    group.choice().races.as_ref().map(|races| &races.barrier)
}

#[test]
fn the_winner_of_a_race_is_used_and_remembered() {
    let Some(machine) = this_machine() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let first = raced(&machine, Some(folder.path().to_owned()));
    let results = first.run(|me| (0..100).try_for_each(|_| me.barrier())).expect("nobody panics");
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    let choice = first.choice();
    // A container whose quota is below its CPUs is crowded.
    let Some(Races { barrier: race, .. }) = &choice.races else {
        assert!(choice.is_crowded, "{choice}");
        return skipped("a race of threads", CROWDED);
    };
    assert_eq!(choice.barrier, race.winner);
    assert!(CONTROLS.contains(&race.control) && !race.is_cached);
    assert!(CONTROLS.iter().all(|control| race.entries.iter().any(|entry| entry.racer == *control)));
    assert!(race.entries.len() > CONTROLS.len() && race.entries.iter().all(|entry| entry.median_ns > 0.0), "{race:?}");
    assert!(race.winner == race.control || race.p < 0.01, "{race:?}");
    assert!(choice.to_string().contains(&race.to_string()), "{choice}");

    // The machine may have become faster or slower, and then they race again.
    let mut last = race.clone();
    let cached = (0..20).find_map(|_| {
        let again = barrier_race(&raced(&machine, Some(folder.path().to_owned()))).expect("remembered").clone();
        if again.is_cached { Some(again) } else { (last = again, None).1 }
    });
    let cached = cached.expect("it is about as fast once in twenty times");
    assert_eq!((&cached.entries, cached.winner), (&last.entries, last.winner));
    for file in std::fs::read_dir(folder.path()).expect("listed") {
        std::fs::write(file.expect("a file").path(), "{\"schema\":\"corecast-ra").expect("written");
    }
    let anew = raced(&machine, Some(folder.path().to_owned()));
    assert!(!barrier_race(&anew).expect("raced again").is_cached, "what is unreadable is ignored");
    assert!(!barrier_race(&raced(&machine, None)).expect("raced").is_cached);
}

/// All of a group's allreduces by size: of a value, and of a slice that is longer.
fn allreduces_are_right(group: &Group) {
    let members = group.size() as u64;
    let results = group.run(|me| {
        for round in 0..50 {
            assert_eq!(me.allreduce(round, |a, b| a + b)?, round * members);
            assert_eq!(me.allreduce([round; 63], |a, b| std::array::from_fn(|i| a[i] + b[i]))?, [round * members; 63]);
            for len in [1, 512, 513, 9000] {
                let mut values = vec![round; len];
                me.allreduce_slice(&mut values, |a, b| a + b)?;
                assert_eq!(values, vec![round * members; len]);
            }
        }
        Ok::<_, Error>(())
    });
    assert!(results.expect("nobody panics").iter().all(Result::is_ok));
}

#[test]
fn a_group_takes_what_was_kept_for_each_size_unless_it_is_damaged() {
    let Some(machine) = this_machine() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let unasked = || Group::builder(&machine).race_folder(Some(folder.path().to_owned())).build().expect("a group");
    let before = unasked();
    if before.choice().is_crowded {
        return skipped("a race of threads", CROWDED);
    }
    assert_eq!(before.choice().races, None, "nobody has raced");
    assert_eq!([8, 4096].map(|bytes| before.choice().allreduce(bytes)), [AllreduceForm::Direct; 2]);
    let races = raced(&machine, Some(folder.path().to_owned())).choice().races.clone().expect("raced");
    let classes: Vec<SizeClass> = races.allreduce.iter().map(|(class, _)| *class).collect();
    assert_eq!(classes, SizeClass::all().skip(1).collect::<Vec<_>>(), "each size class by itself");

    let file = std::fs::read_dir(folder.path()).expect("listed").next().expect("a file").expect("readable").path();
    let mut kept: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&file).expect("text")).expect("JSON");
    for race in kept["races"]["allreduce"].as_array_mut().expect("races") {
        let is_trees = [8, 4096].contains(&race["most_bytes"].as_u64().unwrap_or(0));
        race["race"]["winner"] = if is_trees { "trees" } else { "direct" }.into();
    }
    std::fs::write(&file, kept.to_string()).expect("written");
    let group = unasked();
    let forms = [8, 9, 512, 4096, 4097, 1 << 20].map(|bytes| group.choice().allreduce(bytes).name());
    assert_eq!(forms, ["trees", "direct", "direct", "trees", "direct", "direct"]);
    assert!(group.choice().allreduce_race(5).is_some_and(|race| race.is_cached));
    allreduces_are_right(&group);
    // 4096 bytes go along trees, more the direct way.
    let outcomes = unasked().run(|me| me.allreduce_slice(&mut vec![1_u64; 512 + me.rank() % 2], |a, b| a + b));
    let is_told =
        |outcome: &Result<(), Error>| matches!(outcome, Err(Error::MemberLost { loss: Loss::OtherLength, .. }));
    assert!(outcomes.expect("nobody panics").iter().all(is_told), "members of other forms find out");

    for race in kept["races"]["allreduce"].as_array_mut().expect("races") {
        race["race"]["winner"] = "trees".into();
    }
    std::fs::write(&file, kept.to_string()).expect("written");
    allreduces_are_right(&unasked());
    std::fs::write(&file, kept.to_string().replace("direct", "nobody's")).expect("written");
    assert_eq!(unasked().choice().races, None, "what is damaged is ignored");
}

#[test]
fn a_kept_result_that_no_longer_holds_is_raced_anew() {
    let Some(machine) = this_machine() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let race = || raced(&machine, Some(folder.path().to_owned())).choice().clone();
    if race().is_crowded {
        return skipped("a race of threads", CROWDED);
    }
    let file = std::fs::read_dir(folder.path()).expect("listed").next().expect("a file").expect("readable").path();
    for wrong_ns in [1e-3, 1e12] {
        let kept = std::fs::read_to_string(&file).expect("text");
        let mut kept: serde_json::Value = serde_json::from_str(&kept).expect("JSON");
        for entry in kept["races"]["barrier"]["entries"].as_array_mut().expect("entries") {
            entry["median_ns"] = wrong_ns.into();
        }
        std::fs::write(&file, kept.to_string()).expect("written");
        let found = race().races.expect("raced anew").barrier;
        assert!(!found.is_cached && found.entries.iter().all(|entry| entry.median_ns != wrong_ns), "{found}");
        let kept = std::fs::read_to_string(&file).expect("text");
        let kept: serde_json::Value = serde_json::from_str(&kept).expect("JSON");
        assert_eq!(kept["races"]["barrier"]["entries"][0]["median_ns"], found.entries[0].median_ns, "it is replaced");
    }
}

#[test]
fn there_is_no_race_for_what_was_asked_for_or_cannot_be_won() {
    let Some(here) = this_machine() else { return };
    let race = |builder: Builder<'_>| builder.race(true).race_folder(None).build().expect("a group").choice().clone();
    assert_eq!(race(Group::builder(&here).barrier(Barrier::Flat)).races, None);
    assert_eq!(race(Group::builder(&here).shape("binary")).races, None);
    assert_eq!(race(Group::builder(&here).members(1)).races, None);
    assert_eq!(race(Group::builder(&here).members(64)).races, None, "members share CPUs");
    let unasked = Group::builder(&here).race_folder(None).build().expect("a group");
    assert_eq!(unasked.choice().races, None, "it was not asked for");
}

#[test]
fn a_race_on_cpus_that_are_not_here_leaves_it_to_the_model() {
    let far = machine(1025).restricted_to(&"1023-1024".parse().expect("a list"));
    assert_eq!(far.cpus[0].id, CpuId::new(1023));
    let choice = raced(&far, None).choice().clone();
    assert!(choice.races.is_none() && choice.why.contains("no race, as member"), "{choice}");
}

#[test]
fn members_at_work_race_and_go_on_with_the_winner() {
    let Some(here) = this_machine() else { return };
    let group = Group::builder(&here).race_folder(None).build().expect("a group of the machine's CPUs");
    if group.choice().is_crowded {
        return skipped("a race of threads", CROWDED);
    }
    let work = |me: &mut corecast_collective::Member| {
        assert_eq!(me.races(), None);
        for round in 0..3u64 {
            let found = me.race()?;
            assert_eq!(me.races(), found.as_ref());
            let entries = found.expect("each has a CPU").barrier.entries;
            assert!(entries.iter().all(|entry| entry.rounds > 0 && entry.median_ns > 0.0), "{entries:?}");
            (0..100).try_for_each(|_| me.barrier())?;
            assert_eq!(me.allreduce(round, u64::max)?, round);
            let mut part = me.split(0, 0)?.expect("a color");
            assert_eq!(part.races(), None, "nothing is raced in parts");
            part.barrier()?;
        }
        Ok::<_, Error>(me.races().cloned())
    };
    let found: Vec<_> = group.run(work).expect("nobody panics").into_iter().map(|one| one.expect("no fault")).collect();
    assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "all know the same: {found:?}");
    let again = group.run(|me| me.races().cloned()).expect("in step");
    assert_eq!(again, found, "it is kept with the place");
    assert_eq!(group.choice().races, None, "that is what the group was put together by");
}

#[test]
fn a_race_counts_as_one_operation_for_those_who_are_left() {
    let Some(here) = this_machine() else { return };
    let group = Group::builder(&here).members(2).race_folder(None).build().expect("a group of the machine's CPUs");
    let completed = group.run(|me| {
        (0..3).try_for_each(|_| me.barrier())?;
        let races = me.race()?;
        if me.rank() == 1 {
            return Ok((0, races.is_some()));
        }
        me.barrier().expect_err("member 1 has left");
        Ok::<_, Error>((me.shrink()?.completed, races.is_some()))
    });
    let [Ok((completed, has_raced)), _] = completed.expect("nobody panics")[..] else { panic!("a fault") };
    assert_eq!(completed, 3 + u64::from(has_raced));
}

#[test]
fn a_member_that_panics_in_a_race_is_named_to_the_others() {
    let Some(here) = this_machine() else { return };
    let group = Group::builder(&here).members(2).race_folder(None).build().expect("a group of the machine's CPUs");
    if group.choice().is_crowded {
        return skipped("a race of threads", CROWDED);
    }
    let outcome = group.run(|me| {
        assert_ne!(me.rank(), 1, "planted");
        loop {
            if let Err(error) = me.race() {
                assert!(matches!(error, Error::MemberLost { rank: 1, .. }), "{error}");
                assert_eq!(me.barrier(), Err(error));
                return;
            }
        }
    });
    assert!(outcome.expect_err("one panics").to_string().contains("member 1 panicked"));
}
