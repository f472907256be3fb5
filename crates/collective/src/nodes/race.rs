//! The race between the ways of values between nodes: the engine's own operation, a tree, recursive doubling, and for long values
//! recursive halving.
//!
//! **When to take it:** for a program that runs for minutes: a race takes up to some tenths of a second. **When not:** without
//! one a group takes recursive doubling and trees, and halving for long slices among four nodes or more.
//!
//! All members run the very operations that users call, each form in turn in every round, and member 0 takes the time. The form
//! that is taken without a race is the control: another one replaces it if its median is at most 0.95 of the control's, and it
//! was faster in nine of ten rounds. The result is kept, and taken by later groups of the same nodes with as many members on
//! the same engine.
//!
//! Messages compare calls and lengths; the engine's own operations do not. Before one of more than 60 KiB the nodes compare them
//! by messages. For shorter ones, which a group takes only where the engine has won its race, they do not: members that call
//! something else, or with another length, then get wrong values or an error of the engine, or wait for each other without an
//! end.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use corecast_machine::{read_bounded, write_atomically};
use serde::{Deserialize, Serialize};

use super::error::Error;
use super::forms::{BYTES, CLASSES, FarForm, Forms};
use super::member::Member;
use crate::op::Sum;

/// Version 2 has halving among the ways, version 3 chunks of another length.
const SCHEMA: &str = "corecast-far-race/3";
const MAX_LEN_BYTES: u64 = 64 << 10;
/// The rounds of each class, which all members count alike.
const ROUNDS: [usize; CLASSES.len()] = [31, 31, 15, 9];
/// The share of the control's median that a winner has at most, and the share of rounds in which it was faster.
const CLEARLY: f64 = 0.95;
const MOSTLY: f64 = 0.9;

/// The results of a race, for each operation and size class.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FarRaces {
    /// Allreductions that the engine could do, by size class.
    pub known: Vec<FarRace>,
    /// Other allreductions.
    pub allreduce: Vec<FarRace>,
    /// Broadcasts.
    pub broadcast: Vec<FarRace>,
    /// True if they are those of an earlier group.
    pub is_kept: bool,
}

/// The result for one operation and size class.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FarRace {
    /// The most bytes of the class; `None` for the last one.
    pub most_bytes: Option<usize>,
    /// The form that is taken.
    pub winner: FarForm,
    /// The forms that ran and their medians in nanoseconds, at member 0; the control first.
    pub medians_ns: Vec<(FarForm, f64)>,
}

/// The three operations that race.
#[derive(Clone, Copy, Debug)]
enum Raced {
    Known,
    Allreduce,
    Broadcast,
}

impl Raced {
    fn of(self, forms: &mut Forms) -> &mut [FarForm; CLASSES.len()] {
        match self {
            Self::Known => &mut forms.known,
            Self::Allreduce => &mut forms.allreduce,
            Self::Broadcast => &mut forms.broadcast,
        }
    }

    /// The forms that there are for a size class between this number of nodes, the control first.
    fn candidates(self, control: FarForm, class: usize, nodes: usize) -> Vec<FarForm> {
        let others: &[FarForm] = match self {
            Self::Known => &FarForm::ALL,
            Self::Allreduce => &[FarForm::Tree, FarForm::Doubling, FarForm::Halving],
            Self::Broadcast => &[FarForm::Engine, FarForm::Tree],
        };
        let is_of_use = |form: FarForm| form != FarForm::Halving || FarForm::can_halve(nodes, class);
        let mut candidates = vec![control];
        candidates.extend(others.iter().copied().filter(|&form| form != control && is_of_use(form)));
        candidates
    }
}

/// Forms as they travel from member 0 to the others.
type Codes = [u8; 3 * CLASSES.len()];
/// Says that there is no kept result.
const NONE: u8 = u8::MAX;

impl Member {
    /// Takes the fastest ways between the nodes: those that `folder` keeps of an earlier race of such a group, or else those
    /// that win a race now, which member 0 keeps there. All members call it; only the folder of member 0 matters. Only member 0
    /// gets the times; the others get the winners.
    ///
    /// # Errors
    /// Those of any operation. A result that cannot be kept is no error.
    ///
    /// Where the engine's own operation wins for up to 60 KiB, members no longer find that another one calls something else or
    /// with another length.
    pub fn race(&mut self, folder: Option<&Path>) -> Result<FarRaces, Error> {
        let path = folder.map(|folder| self.path(folder));
        let kept = path.as_deref().filter(|_| self.rank() == 0).and_then(load);
        let mut codes = kept.as_ref().map_or([NONE; 3 * CLASSES.len()], FarRaces::codes);
        self.broadcast(0, &mut codes)?;
        if let Some(forms) = forms_of(&codes) {
            self.ends_mut().forms = forms;
            return Ok(kept.unwrap_or_else(|| FarRaces::of(&forms, true)));
        }
        let control = self.ends_mut().forms;
        let mut races = FarRaces {
            known: self.race_classes(Raced::Known)?,
            allreduce: self.race_classes(Raced::Allreduce)?,
            broadcast: self.race_classes(Raced::Broadcast)?,
            is_kept: false,
        };
        // All messages of the race are over before any member takes another way.
        self.ends_mut().forms = control;
        codes = races.codes();
        self.broadcast(0, &mut codes)?;
        self.barrier()?;
        let forms = forms_of(&codes).expect("member 0 sends forms");
        self.ends_mut().forms = forms;
        match (self.rank(), path) {
            (0, Some(path)) => store(&path, &races),
            (0, None) => {}
            _ => races = FarRaces::of(&forms, false),
        }
        Ok(races)
    }

    fn race_classes(&mut self, raced: Raced) -> Result<Vec<FarRace>, Error> {
        (0..CLASSES.len()).map(|class| self.race_class(raced, class)).collect()
    }

    fn race_class(&mut self, raced: Raced, class: usize) -> Result<FarRace, Error> {
        let control = raced.of(&mut self.ends_mut().forms)[class];
        let candidates = raced.candidates(control, class, self.nodes());
        let mut times = vec![Vec::new(); candidates.len()];
        let mut values = vec![1_u64; BYTES[class] / size_of::<u64>()];
        for _ in 0..ROUNDS[class] {
            for (place, &form) in candidates.iter().enumerate() {
                raced.of(&mut self.ends_mut().forms)[class] = form;
                self.barrier()?;
                let begin = Instant::now();
                match raced {
                    Raced::Known => self.allreduce_slice_with(&mut values, Sum)?,
                    Raced::Allreduce => self.allreduce_slice(&mut values, u64::wrapping_add)?,
                    Raced::Broadcast => {
                        self.broadcast_slice(0, &mut values)?;
                        // A broadcast is over at its root before the others have it.
                        self.barrier()?;
                    }
                }
                times[place].push(begin.elapsed().as_nanos() as f64);
            }
        }
        raced.of(&mut self.ends_mut().forms)[class] = control;
        let winner = candidates[winner(&times)];
        let medians_ns = candidates.into_iter().zip(times.iter().map(|times| median(times))).collect();
        Ok(FarRace { most_bytes: most_bytes(class), winner, medians_ns })
    }

    /// The file of such a group's result. Groups of one lane have the names that they had before there were others.
    fn path(&mut self, folder: &Path) -> PathBuf {
        let lanes = self.lanes();
        let numbering = &self.ends_mut().numbering;
        let mut text = format!("{}\n{:?}\n{:?}", numbering.engine, numbering.hosts, numbering.counts());
        if lanes.count() > 1 {
            text += &format!("\n{lanes}");
        }
        // FNV-1a of 64 bits (Fowler, Noll, Vo).
        let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        folder.join(format!("nodes-{:016x}.json", text.bytes().fold(0xcbf2_9ce4_8422_2325, hash)))
    }
}

fn most_bytes(class: usize) -> Option<usize> {
    Some(CLASSES[class]).filter(|&most| most != usize::MAX)
}

fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// The place of the form to take: 0 is the control.
fn winner(times: &[Vec<f64>]) -> usize {
    let control = &times[0];
    let is_clear = |times: &Vec<f64>| {
        let faster = times.iter().zip(control).filter(|(time, control)| time < control).count();
        median(times) <= CLEARLY * median(control) && faster as f64 >= MOSTLY * control.len() as f64
    };
    let others = (1..times.len()).filter(|&place| is_clear(&times[place]));
    others.min_by(|&a, &b| median(&times[a]).total_cmp(&median(&times[b]))).unwrap_or(0)
}

fn forms_of(codes: &Codes) -> Option<Forms> {
    let form = |place: usize| FarForm::ALL.get(usize::from(codes[place])).copied();
    let mut all = [[FarForm::Tree; CLASSES.len()]; 3];
    for (number, forms) in all.iter_mut().enumerate() {
        for (class, to) in forms.iter_mut().enumerate() {
            *to = form(number * CLASSES.len() + class)?;
        }
    }
    let [known, allreduce, broadcast] = all;
    let are_broadcasts = broadcast.iter().all(|form| matches!(form, FarForm::Engine | FarForm::Tree));
    let is_possible = !allreduce.contains(&FarForm::Engine) && are_broadcasts;
    is_possible.then_some(Forms { known, allreduce, broadcast })
}

impl FarRaces {
    fn all(&self) -> impl Iterator<Item = &FarRace> {
        self.known.iter().chain(&self.allreduce).chain(&self.broadcast)
    }

    fn codes(&self) -> Codes {
        let mut codes = [NONE; 3 * CLASSES.len()];
        for (code, race) in codes.iter_mut().zip(self.all()) {
            *code = FarForm::ALL.iter().position(|&form| form == race.winner).expect("ALL has every form") as u8;
        }
        codes
    }

    /// Without times.
    fn of(forms: &Forms, is_kept: bool) -> Self {
        let races = |forms: &[FarForm]| {
            let race = |(class, &winner)| FarRace { most_bytes: most_bytes(class), winner, medians_ns: Vec::new() };
            forms.iter().enumerate().map(race).collect()
        };
        let Forms { known, allreduce, broadcast } = forms;
        Self { known: races(known), allreduce: races(allreduce), broadcast: races(broadcast), is_kept }
    }
}

impl fmt::Display for FarRaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operations =
            [("allreduce of numbers", &self.known), ("allreduce", &self.allreduce), ("broadcast", &self.broadcast)];
        for (operation, races) in operations {
            for race in races {
                let most = race.most_bytes.map_or("longer".to_owned(), |most| format!("to {most} bytes"));
                write!(f, "{operation} {most}: {}", race.winner)?;
                for (form, median_ns) in &race.medians_ns {
                    write!(f, "  {form} {:.1} us", median_ns / 1e3)?;
                }
                writeln!(f)?;
            }
        }
        Ok(())
    }
}

/// A kept result.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FarRacesJson {
    schema: String,
    known: Vec<FarRaceJson>,
    allreduce: Vec<FarRaceJson>,
    broadcast: Vec<FarRaceJson>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FarRaceJson {
    most_bytes: Option<usize>,
    winner: String,
    medians_ns: Vec<(String, f64)>,
}

/// The kept result, if there is a credible one.
fn load(path: &Path) -> Option<FarRaces> {
    let text = read_bounded(path, MAX_LEN_BYTES).ok()?;
    let json: FarRacesJson = serde_json::from_slice(&text).ok()?;
    let races = |all: Vec<FarRaceJson>| all.into_iter().map(FarRaceJson::race).collect::<Option<Vec<_>>>();
    let (known, allreduce, broadcast) = (races(json.known)?, races(json.allreduce)?, races(json.broadcast)?);
    let races = FarRaces { known, allreduce, broadcast, is_kept: true };
    let classes = || (0..3 * CLASSES.len()).map(|place| most_bytes(place % CLASSES.len()));
    let is_whole = races.all().map(|race| race.most_bytes).eq(classes());
    (json.schema == SCHEMA && is_whole && forms_of(&races.codes()).is_some()).then_some(races)
}

/// Keeps a result; without a place for it the next group races again.
fn store(path: &Path, races: &FarRaces) {
    let all = |races: &[FarRace]| races.iter().map(FarRaceJson::of).collect();
    let FarRaces { known, allreduce, broadcast, .. } = races;
    let (known, allreduce, broadcast) = (all(known), all(allreduce), all(broadcast));
    let json = FarRacesJson { schema: SCHEMA.to_owned(), known, allreduce, broadcast };
    let text = serde_json::to_vec(&json).expect("texts and numbers");
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let _ = made.and_then(|()| write_atomically(path, &text));
}

impl FarRaceJson {
    fn of(race: &FarRace) -> Self {
        let medians_ns = race.medians_ns.iter().map(|(form, median_ns)| (form.to_string(), *median_ns)).collect();
        Self { most_bytes: race.most_bytes, winner: race.winner.to_string(), medians_ns }
    }

    fn race(self) -> Option<FarRace> {
        let median = |(form, median_ns): (String, f64)| {
            Some((form.parse().ok()?, median_ns)).filter(|(_, median_ns)| median_ns.is_finite() && *median_ns >= 0.0)
        };
        let medians_ns = self.medians_ns.into_iter().map(median).collect::<Option<Vec<_>>>()?;
        Some(FarRace { most_bytes: self.most_bytes, winner: self.winner.parse().ok()?, medians_ns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_control_stays_unless_another_form_is_clearly_faster() {
        let control: Vec<f64> = (0..31).map(|round| 100.0 + f64::from(round % 5)).collect();
        let scaled = |by: f64| control.iter().map(|time| time * by).collect::<Vec<f64>>();
        assert_eq!(winner(&[control.clone(), scaled(0.97), scaled(1.2)]), 0);
        assert_eq!(winner(&[control.clone(), scaled(0.9), scaled(0.8)]), 2);
        let mut unsteady = scaled(0.5);
        unsteady[..5].fill(500.0);
        assert_eq!(winner(&[control, unsteady]), 0, "slower in five rounds");
    }

    #[test]
    fn a_kept_result_comes_back_and_damage_is_ignored() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("not/yet/there.json");
        let mut races = FarRaces::of(&Forms::of_nodes(2), false);
        races.known[0].medians_ns = vec![(FarForm::Doubling, 12.5), (FarForm::Engine, 20.0)];
        assert_eq!(load(&path), None);
        store(&path, &races);
        assert_eq!(load(&path), Some(FarRaces { is_kept: true, ..races.clone() }));
        let whole = std::fs::read_to_string(&path).expect("kept");
        for (from, to) in
            [("far-race/3", "far-race/2"), ("doubling", "thirds"), ("12.5", "-1"), ("\"tree\"", "\"doubling\"")]
        {
            assert!(whole.contains(from), "{from}");
            std::fs::write(&path, whole.replace(from, to)).expect("written");
            assert_eq!(load(&path), None, "{to}");
        }
        std::fs::write(&path, &whole[..whole.len() / 2]).expect("written");
        assert_eq!(load(&path), None);
        assert!(
            races.to_string().contains("allreduce of numbers to 64 bytes: doubling  doubling 0.0 us  engine 0.0 us")
        );
    }
}
