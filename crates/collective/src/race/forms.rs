//! The race between the forms of an allreduce, for each size class: shown to all, by clusters, or along trees.
//!
//! Members take the form that they race for this one operation as if it had been chosen, so they time the very operation that
//! users call. The form that is taken without a race is the control. Classes up to 512 bytes race with single values, the
//! others with slices, which need memory of their own: it is laid out for the first slice and stays. Processes keep their
//! room for what they lay out themselves, so slices race among threads only.

use corecast_channel::Plain;

use crate::choice::{AllreduceForm, Race, SizeClass};
use crate::error::Error;
use crate::member::{Ends, Member};

/// No round of a class begins after this time.
const LONGEST_NS: f64 = 8e6;
/// The bytes raced in the class that has no end.
const LONGEST_BYTES: usize = 1 << 20;

impl Member {
    /// Lets the forms race for each size class in which there is a choice, and takes the winners.
    pub(super) fn race_forms(&mut self) -> Result<Vec<(SizeClass, Race<AllreduceForm>)>, Error> {
        let mut races = Vec::new();
        for class in SizeClass::all().filter(|class| class.most_bytes() != Some(0)) {
            if !self.ends().may_race_forms(class) {
                continue;
            }
            let race = match class.most_bytes() {
                Some(8) => self.race_values(class, [1_u64; 1])?,
                Some(56) => self.race_values(class, [1_u64; 7])?,
                // The longest value that goes in one message.
                Some(512) => self.race_values(class, [1_u64; 63])?,
                bytes => self.race_slices(class, bytes.unwrap_or(LONGEST_BYTES))?,
            };
            races.push((class, race));
        }
        Ok(races)
    }

    fn race_values<const N: usize>(&mut self, class: SizeClass, value: [u64; N]) -> Result<Race<AllreduceForm>, Error>
    where
        [u64; N]: Plain,
    {
        self.race_form(class, |me| {
            me.allreduce(value, |a, b| std::array::from_fn(|i| a[i].wrapping_add(b[i]))).map(drop)
        })
    }

    fn race_slices(&mut self, class: SizeClass, bytes: usize) -> Result<Race<AllreduceForm>, Error> {
        let mut values = vec![1_u64; bytes / size_of::<u64>()];
        self.race_form(class, |me| me.allreduce_slice(&mut values, u64::wrapping_add))
    }

    fn race_form(
        &mut self,
        class: SizeClass,
        mut run: impl FnMut(&mut Self) -> Result<(), Error>,
    ) -> Result<Race<AllreduceForm>, Error> {
        let racers = self.ends().forms_to_race(class);
        let rounds = self.rounds_of(1, racers.len(), LONGEST_NS, |me, candidate| {
            let before = me.ends().direct;
            me.ends_mut().direct.set(class, racers[candidate].0);
            // The agreement on times goes as before.
            let time = me.block_of(operations(class), &mut run);
            me.ends_mut().direct = before;
            time
        });
        let race = Race::of(racers, rounds?, 0);
        let direct = &mut self.ends_mut().direct;
        // The entries are in the order of their times.
        let shown = race.entries.iter().map(|entry| entry.racer).find(|&form| form != AllreduceForm::Trees);
        if let Some(shown) = shown.filter(|_| class.is_of_values()) {
            direct.show(shown);
        }
        direct.set(class, race.winner);
        Ok(race)
    }
}

/// Operations in a block: fewer of what takes long.
fn operations(class: SizeClass) -> u32 {
    match class.most_bytes() {
        Some(0..=512) => 32,
        Some(..=32768) => 8,
        _ => 2,
    }
}

impl Ends {
    /// True if there is memory for more than one form.
    fn may_race_forms(&self, class: SizeClass) -> bool {
        if class.is_of_values() {
            self.all_read.is_some() || self.clusters.is_some()
        } else {
            !self.core.arena.is_shared() && self.direct.has_slices()
        }
    }

    /// The forms that race in a class with their predicted costs, first the one that is taken without a race. In the first
    /// class these are all; as all values that are shown go one way, in others only that one, beside trees.
    fn forms_to_race(&self, class: SizeClass) -> Vec<(AllreduceForm, f64)> {
        let control = self.direct.form_of(class);
        let is_first = class.most_bytes() == Some(8);
        let is_here = |form: AllreduceForm| match form {
            AllreduceForm::Trees => true,
            _ if !class.is_of_values() => form == AllreduceForm::Direct,
            AllreduceForm::Direct => self.all_read.is_some() && (is_first || self.direct.shown() == form),
            AllreduceForm::Clusters => self.clusters.is_some() && (is_first || self.direct.shown() == form),
        };
        let predicted = |form| {
            let costs = &self.choice.allreduce_predicted;
            costs.iter().find(|(other, _)| *other == form).map_or(0.0, |found| found.1)
        };
        let others = AllreduceForm::ALL.into_iter().filter(|&form| form != control && is_here(form));
        [control].into_iter().chain(others).map(|form| (form, predicted(form))).collect()
    }
}
