//! A race takes a barrier that works, says why, and is remembered.

use std::path::PathBuf;

use corecast_base::CpuId;
use corecast_collective::{Barrier, Builder, Group};
use corecast_machine::{Cpu, Machine, Topology};

use crate::machine;

const CONTROLS: [Barrier; 3] = [Barrier::Tree, Barrier::Flat, Barrier::Ticket];

/// A machine of the CPUs this process may use; `None` if it is one alone, where there is nothing to race for.
fn this_machine() -> Option<Machine> {
    let cpus = corecast_machine::pin::affinity().expect("Linux tells the mask");
    let cpus: Vec<Cpu> = cpus.iter().take(4).map(Cpu::flat).collect();
    (cpus.len() > 1).then(|| Machine::from_topology(&Topology { cpus, ..Topology::default() }))
}

fn raced(machine: &Machine, folder: Option<PathBuf>) -> Group {
    Group::builder(machine).race(true).race_folder(folder).build().expect("a group of the machine's CPUs")
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
    let Some(race) = &choice.race else { return assert!(choice.is_crowded, "{choice}") };
    assert_eq!(choice.barrier, race.winner);
    assert!(CONTROLS.contains(&race.control) && !race.is_cached);
    assert!(CONTROLS.iter().all(|control| race.entries.iter().any(|entry| entry.barrier == *control)));
    assert!(race.entries.len() > CONTROLS.len() && race.entries.iter().all(|entry| entry.median_ns > 0.0), "{race:?}");
    assert!(race.winner == race.control || race.p < 0.01, "{race:?}");
    assert!(choice.to_string().contains(&race.to_string()), "{choice}");

    let again = raced(&machine, Some(folder.path().to_owned()));
    let cached = again.choice().race.as_ref().expect("remembered");
    assert!(cached.is_cached && cached.entries == race.entries && cached.winner == race.winner);
    for file in std::fs::read_dir(folder.path()).expect("listed") {
        std::fs::write(file.expect("a file").path(), "{\"schema\":\"corecast-ra").expect("written");
    }
    let anew = raced(&machine, Some(folder.path().to_owned()));
    assert!(!anew.choice().race.as_ref().expect("raced again").is_cached, "what is unreadable is ignored");
    assert!(!raced(&machine, None).choice().race.as_ref().expect("raced").is_cached);
}

#[test]
fn there_is_no_race_for_what_was_asked_for_or_cannot_be_won() {
    let Some(here) = this_machine() else { return };
    let race = |builder: Builder<'_>| builder.race(true).race_folder(None).build().expect("a group").choice().clone();
    assert_eq!(race(Group::builder(&here).barrier(Barrier::Flat)).race, None);
    assert_eq!(race(Group::builder(&here).shape("binary")).race, None);
    assert_eq!(race(Group::builder(&here).members(1)).race, None);
    assert_eq!(race(Group::builder(&here).members(64)).race, None, "members share CPUs");
    assert_eq!(Group::builder(&here).build().expect("a group").choice().race, None, "it was not asked for");
}

#[test]
fn a_race_on_cpus_that_are_not_here_leaves_it_to_the_model() {
    let far = machine(1025).restricted_to(&"1023-1024".parse().expect("a list"));
    assert_eq!(far.cpus[0].id, CpuId::new(1023));
    let choice = raced(&far, None).choice().clone();
    assert!(choice.race.is_none() && choice.why.contains("no race, as member"), "{choice}");
}
