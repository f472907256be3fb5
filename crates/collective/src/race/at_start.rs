//! Races when a group is put together: among threads before it is built, among processes when all have joined.
//!
//! What an earlier group like this one has found is taken if the barrier that won then takes about as long now; if not, or if
//! there is nothing, members race, and what they find is kept, if it can be. Threads do so in a group of their own, so that
//! the one that is built begins afresh.

use std::path::PathBuf;

use corecast_base::ArenaError;
use corecast_base::wait::Waiter;
use corecast_machine::Cpu;

use super::cache::{Kind, RaceCache};
use super::{Field, Races};
use crate::basis::Basis;
use crate::commons::Planned;
use crate::error::{Error, RunError};
use crate::group::Group;
use crate::member::Member;

/// Where results are kept of races among members on these CPUs.
#[derive(Debug, Clone)]
pub(crate) struct Records {
    /// `None` for nowhere.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) cpus: Vec<Cpu>,
    pub(crate) are_processes: bool,
    /// Which trees race.
    pub(crate) trees: u64,
}

impl Records {
    fn of(&self, basis: &Basis) -> Option<RaceCache> {
        let kind = Kind { wait: basis.wishes.wait, is_pinned: basis.is_pinned, are_processes: self.are_processes };
        Some(RaceCache::new(self.folder.clone()?, self.cpus.clone(), basis.members(), self.trees, kind))
    }

    /// What an earlier group has found, as far as it is of these.
    fn load(&self, basis: &Basis, field: &Field) -> Option<Races> {
        self.of(basis)?.load().filter(|races| field.has(races))
    }

    fn keep(&self, basis: &Basis, races: &Races) {
        // Whoever cannot keep it races again.
        let _ = self.of(basis).map(|cache| cache.store(races));
    }
}

impl Planned {
    /// The same with what an earlier group has found; `None` if none has.
    pub(crate) fn known(&self, field: &Field, records: &Records) -> Option<Self> {
        let races = records.load(&self.basis, field)?;
        Some(self.raced(field, races))
    }

    fn raced(&self, field: &Field, races: Races) -> Self {
        Self { choice: std::sync::Arc::new(self.choice.raced(field, races)), ..self.clone() }
    }

    /// The same with what threads find, who wait with these, or an earlier group has.
    pub(crate) fn raced_by_threads(
        &self,
        waiters: &[Waiter],
        field: &Field,
        records: &Records,
    ) -> Result<Self, ArenaError> {
        let known = self.known(field, records);
        let planned = known.as_ref().unwrap_or(self);
        let group = Group::of_threads(planned.clone(), waiters.to_vec())?;
        match run(&group, field) {
            Ok(None) => Ok(planned.clone()),
            Ok(Some(races)) => {
                records.keep(&self.basis, &races);
                Ok(self.raced(field, races))
            }
            Err(error) => {
                let mut choice = (*self.choice).clone();
                choice.why = format!("{}; no race, as {error}", choice.why);
                Ok(Self { choice: std::sync::Arc::new(choice), ..self.clone() })
            }
        }
    }
}

/// What all members of a group find, who find the same; nothing if what is known still holds.
fn run(group: &Group, field: &Field) -> Result<Option<Races>, RunError> {
    let race = |me: &mut Member| if me.is_still_so()? { Ok(None) } else { me.race_among(field).map(Some) };
    let found = group.run(race)?.into_iter().collect::<Result<Vec<_>, Error>>()?;
    Ok(found.into_iter().next().expect("a group has members"))
}

impl Member {
    /// What members that are processes do first, of which nobody is told. Should there be no room for two candidates, the
    /// model has decided.
    #[cfg(not(loom))]
    pub(crate) fn race_when_joined(&mut self, records: &Records) -> Result<(), Error> {
        if !self.is_still_so()? {
            match self.race() {
                Ok(Some(races)) if self.rank() == 0 => records.keep(&self.ends().basis, &races),
                Ok(_) | Err(Error::Memory(ArenaError::Full { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        self.ends_mut().core.count_as_begun(0);
        Ok(())
    }
}
