//! The races between the candidates of groups on this machine, whose results later groups take.
//!
//! `corecast tune` runs them for as many members as CPUs, and for 2, 4, 8, .. below: groups of other sizes go by the model.

use corecast::collective::{AllreduceForm, BuildError, Race, Races, SizeClass};
use corecast::{Group, Machine};
use serde::Serialize;

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::race_json::RaceJson;
use crate::table;

/// The results that the members of one group found.
#[derive(Debug)]
pub(super) struct KeptRaces {
    members: usize,
    races: Races,
}

/// The same in `tune --json`.
#[derive(Debug, Serialize)]
pub(super) struct KeptRacesJson {
    members: usize,
    barrier: RaceJson,
    broadcast: Option<RaceJson>,
    reduce: Option<RaceJson>,
    allreduce: Vec<SizedRaceJson>,
}

/// A race of one size class.
#[derive(Debug, Serialize)]
struct SizedRaceJson {
    /// The most bytes of the class; `null` for the last one.
    most_bytes: Option<usize>,
    race: RaceJson,
}

/// Races among groups of this machine's CPUs, and keeps the results in the user's cache.
pub(super) fn race(machine: &Machine, output: &Output, interrupt: &Interrupt) -> Result<Vec<KeptRaces>, Failure> {
    let mut kept = Vec::new();
    for members in sizes(machine.cpus.len()) {
        interrupt.check()?;
        match raced(machine, members) {
            Ok(races) => kept.extend(races.map(|races| KeptRaces { members, races })),
            Err(error) => output.remark(&format!("no race among {members} members: {error}")),
        }
    }
    Ok(kept)
}

/// `None` where there is nothing to race for, such as members that share CPUs.
fn raced(machine: &Machine, members: usize) -> Result<Option<Races>, BuildError> {
    Ok(Group::builder(machine).members(members).race(true).build()?.choice().races.clone())
}

/// The numbers of members, ascending.
fn sizes(cpus: usize) -> Vec<usize> {
    let mut sizes: Vec<usize> = (1..).map(|power| 1 << power).take_while(|&size| size < cpus).collect();
    sizes.extend((cpus > 1).then_some(cpus));
    sizes
}

impl KeptRaces {
    pub(super) fn json(&self) -> KeptRacesJson {
        let Races { barrier, broadcast, reduce, allreduce, .. } = &self.races;
        KeptRacesJson {
            members: self.members,
            barrier: RaceJson::of(barrier),
            broadcast: broadcast.as_ref().map(RaceJson::of),
            reduce: reduce.as_ref().map(RaceJson::of),
            allreduce: allreduce
                .iter()
                .map(|(class, race)| SizedRaceJson { most_bytes: class.most_bytes(), race: RaceJson::of(race) })
                .collect(),
        }
    }
}

/// A table of the winners.
pub(super) fn text(kept: &[KeptRaces]) -> String {
    let headings = [">members", "barrier", "broadcast", "reduce", "allreduce, by most bytes"];
    let mut winners = table::table(&headings);
    for KeptRaces { members, races: Races { barrier, broadcast, reduce, allreduce, .. } } in kept {
        let tree = |race: &Option<_>| race.as_ref().map_or_else(|| "-".to_owned(), winner);
        winners.add_row([
            members.to_string(),
            barrier.winner.to_string(),
            tree(broadcast),
            tree(reduce),
            by_size(allreduce),
        ]);
    }
    format!("kept for groups on this machine, as races found:\n{}\n", table::text(&winners))
}

/// The winner of each size class, or of all.
fn by_size(races: &[(SizeClass, Race<AllreduceForm>)]) -> String {
    let first = races.first().map(|(_, race)| race.winner);
    if let Some(all) = first.filter(|&first| races.iter().all(|(_, race)| race.winner == first)) {
        return format!("{all}, all sizes");
    }
    let winners = races.iter().map(|(class, race)| {
        let bytes = class.most_bytes().map_or_else(|| "more".to_owned(), |bytes| bytes.to_string());
        format!("{bytes} {}", race.winner)
    });
    winners.collect::<Vec<_>>().join(", ")
}

fn winner(race: &Race<String>) -> String {
    race.winner.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_all_cpus_and_of_powers_of_two_race() {
        assert_eq!([1, 2, 3, 8].map(sizes), [vec![], vec![2], vec![2, 3], vec![2, 4, 8]]);
    }
}
