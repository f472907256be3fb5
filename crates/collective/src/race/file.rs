//! Results of races, as JSON. A file may come from anywhere: an unknown name or an impossible cost makes it invalid.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::choice::{AllreduceForm, Entry, Race, Races, SizeClass};

/// Results of races, in a file or in a group's description.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RacesJson {
    barrier: RaceJson,
    broadcast: Option<RaceJson>,
    reduce: Option<RaceJson>,
    /// By size class.
    allreduce: Vec<SizedRaceJson>,
}

/// A race of one size class.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SizedRaceJson {
    /// The most bytes of the class; `null` for the last one.
    most_bytes: Option<usize>,
    race: RaceJson,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RaceJson {
    winner: String,
    control: String,
    p: f64,
    left_out: usize,
    entries: Vec<EntryJson>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryJson {
    name: String,
    predicted: f64,
    median_ns: f64,
    rounds: usize,
}

impl RacesJson {
    pub(crate) fn of(races: &Races) -> Self {
        let Races { barrier, broadcast, reduce, allreduce } = races;
        let tree = |race: &Option<Race<String>>| race.as_ref().map(RaceJson::of);
        let sized = |(class, race): &(SizeClass, Race<AllreduceForm>)| SizedRaceJson {
            most_bytes: class.most_bytes(),
            race: RaceJson::of(race),
        };
        let allreduce = allreduce.iter().map(sized).collect();
        Self { barrier: RaceJson::of(barrier), broadcast: tree(broadcast), reduce: tree(reduce), allreduce }
    }

    /// The earlier result, if it is valid.
    pub(crate) fn races(&self) -> Option<Races> {
        // `None` for what is no race, and nothing within for none.
        let tree = |race: &Option<RaceJson>| race.as_ref().map_or(Some(None), |race| race.race().map(Some));
        let (broadcast, reduce) = (tree(&self.broadcast)?, tree(&self.reduce)?);
        let allreduce = self.allreduce.iter().map(SizedRaceJson::race).collect::<Option<Vec<_>>>()?;
        // Each class once, the smallest first.
        let is_ascending = allreduce.is_sorted_by(|(a, _), (b, _)| a < b);
        let barrier = self.barrier.race()?;
        is_ascending.then_some(Races { barrier, broadcast, reduce, allreduce })
    }
}

impl SizedRaceJson {
    fn race(&self) -> Option<(SizeClass, Race<AllreduceForm>)> {
        let class = SizeClass::of(self.most_bytes.unwrap_or(usize::MAX));
        (class.most_bytes() == self.most_bytes).then_some((class, self.race.race()?))
    }
}

impl RaceJson {
    fn of<T: ToString>(race: &Race<T>) -> Self {
        let entry = |entry: &Entry<T>| EntryJson {
            name: entry.racer.to_string(),
            predicted: entry.predicted,
            median_ns: entry.median_ns,
            rounds: entry.rounds,
        };
        let (winner, control) = (race.winner.to_string(), race.control.to_string());
        let entries = race.entries.iter().map(entry).collect();
        Self { winner, control, p: race.p, left_out: race.left_out, entries }
    }

    fn race<T: FromStr + Clone>(&self) -> Option<Race<T>> {
        let entries = self.entries.iter().map(EntryJson::entry).collect::<Option<Vec<Entry<T>>>>()?;
        let place = |name: &str| self.entries.iter().position(|entry| entry.name == name);
        let ran = |name: &str| Some(entries[place(name)?].racer.clone());
        let (winner, control) = (ran(&self.winner)?, ran(&self.control)?);
        let race = Race { winner, control, p: self.p, left_out: self.left_out, entries, is_cached: true };
        (0.0..=1.0).contains(&self.p).then_some(race)
    }
}

impl EntryJson {
    /// `None` if there is nothing of this name, or its costs are none.
    fn entry<T: FromStr>(&self) -> Option<Entry<T>> {
        let Self { predicted, median_ns, rounds, .. } = *self;
        let is_cost = |cost: f64| cost.is_finite() && cost >= 0.0;
        let racer = self.name.parse().ok()?;
        (is_cost(predicted) && is_cost(median_ns)).then_some(Entry { racer, predicted, median_ns, rounds })
    }
}
