//! Races while a group is put together: threads race before it is built, processes after all have joined.
//!
//! If an earlier group like this one has kept a result, and the barrier that won then takes about as long now, this group
//! uses it. Otherwise its members race, and the result is kept, if it can be. Threads race in a group of their own, so that
//! the group that is built begins afresh.

use std::path::PathBuf;

use corecast_base::ArenaError;
use corecast_base::wait::Waiter;
use corecast_machine::Cpu;

use super::Group;
use crate::choice::PlanInputs;
use crate::choice::{Candidates, Races};
use crate::error::{Error, RunError};
use crate::member::{GroupPlan, Member};
use crate::race::{Kind, RaceCache};

/// The place where results are kept of races among members on these CPUs.
#[derive(Debug, Clone)]
pub(crate) struct RaceStore {
    /// `None` for nowhere.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) cpus: Vec<Cpu>,
    pub(crate) are_processes: bool,
    /// The trees that race.
    pub(crate) trees: u64,
}

impl RaceStore {
    fn of(&self, inputs: &PlanInputs) -> Option<RaceCache> {
        let kind = Kind { wait: inputs.settings.wait, is_pinned: inputs.is_pinned, are_processes: self.are_processes };
        Some(RaceCache::new(self.folder.clone()?, self.cpus.clone(), inputs.members(), self.trees, kind))
    }

    /// True if an earlier group may have kept a result.
    pub(crate) fn are_there(&self, inputs: &PlanInputs) -> bool {
        // The name of the file takes a look at the whole machine, which a user who never raced need not wait for.
        self.folder.as_ref().is_some_and(|folder| folder.exists())
            && self.of(inputs).is_some_and(|cache| cache.is_there())
    }

    /// The result of an earlier group, as far as it concerns these trees and barriers.
    fn load(&self, inputs: &PlanInputs, candidates: &Candidates) -> Option<Races> {
        self.of(inputs)?.load().filter(|races| candidates.has(races))
    }

    fn keep(&self, inputs: &PlanInputs, races: &Races) {
        // A group that cannot keep its result will race again.
        let _ = self.of(inputs).map(|cache| cache.store(races));
    }
}

impl GroupPlan {
    /// The same after the result of an earlier group; `None` if there is none.
    pub(crate) fn known(&self, candidates: &Candidates, records: &RaceStore) -> Option<Self> {
        let races = records.load(&self.inputs, candidates)?;
        Some(self.raced(candidates, races))
    }

    fn raced(&self, candidates: &Candidates, races: Races) -> Self {
        Self { choice: std::sync::Arc::new(self.choice.raced(candidates, races)), ..self.clone() }
    }

    /// The same after a race of threads, which wait with these waiters, or after the result of an earlier group.
    pub(crate) fn raced_by_threads(
        &self,
        waiters: &[Waiter],
        candidates: &Candidates,
        records: &RaceStore,
    ) -> Result<Self, ArenaError> {
        let known = self.known(candidates, records);
        let planned = known.as_ref().unwrap_or(self);
        let group = Group::of_threads(planned.clone(), waiters.to_vec())?;
        match run(&group, candidates) {
            Ok(None) => Ok(planned.clone()),
            Ok(Some(races)) => {
                records.keep(&self.inputs, &races);
                Ok(self.raced(candidates, races))
            }
            Err(error) => {
                let mut choice = (*self.choice).clone();
                choice.why = format!("{}; no race, as {error}", choice.why);
                Ok(Self { choice: std::sync::Arc::new(choice), ..self.clone() })
            }
        }
    }
}

/// The result of the race, the same at all members; `None` if the known result still holds.
fn run(group: &Group, candidates: &Candidates) -> Result<Option<Races>, RunError> {
    let race = |me: &mut Member| if me.is_still_so()? { Ok(None) } else { me.race_among(candidates).map(Some) };
    let found = group.run(race)?.into_iter().collect::<Result<Vec<_>, Error>>()?;
    Ok(found.into_iter().next().expect("a group has members"))
}

impl Member {
    /// The race that members run first in a group of processes; it does not count as an operation of theirs. If there is no
    /// room for two candidates, the model's choice stays.
    #[cfg(not(loom))]
    pub(crate) fn race_when_joined(&mut self, records: &RaceStore) -> Result<(), Error> {
        if !self.is_still_so()? {
            match self.race() {
                Ok(Some(races)) if self.rank() == 0 => records.keep(&self.ends().inputs, &races),
                Ok(_) | Err(Error::Memory(ArenaError::Full { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        self.ends_mut().core.count_as_begun(0);
        Ok(())
    }
}
