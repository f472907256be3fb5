//! The race between the forms of an allreduce, for each size class: shown to all, or along trees.
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
        let Ends { direct, choice, .. } = self.ends();
        let control = direct.form_of(class);
        let challenger = AllreduceForm::ALL.into_iter().find(|&form| form != control).expect("there are two");
        let predicted =
            |form| choice.allreduce_predicted.iter().find(|(other, _)| *other == form).map_or(0.0, |it| it.1);
        let racers = vec![(control, predicted(control)), (challenger, predicted(challenger))];
        let rounds = self.rounds_of(1, racers.len(), LONGEST_NS, |me, candidate| {
            let before = me.ends().direct;
            me.ends_mut().direct.set(class, racers[candidate].0);
            // The agreement on times goes as before.
            let time = me.block_of(operations(class), &mut run);
            me.ends_mut().direct = before;
            time
        });
        let race = Race::of(racers, rounds?, 0);
        self.ends_mut().direct.set(class, race.winner);
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
    /// True if there is memory for both forms.
    fn may_race_forms(&self, class: SizeClass) -> bool {
        if class.is_of_values() {
            self.all_read.is_some()
        } else {
            !self.core.arena.is_shared() && self.direct.has_slices()
        }
    }
}
