//! A live race between barriers: the model proposes, the machine decides.
//!
//! The model under-predicts what it does not know of, such as many readers of one line. So the families that it ranks
//! first run on the members' own CPUs, beside controls that always do: the message tree, the flat barrier and the ticket. A
//! round is a block of operations of each, in an order drawn anew; a block's time is that of its slowest member. The
//! fastest is used if it beats the fastest control clearly and not by chance, and that control if not.
//!
//! `heats` says who runs and who has won, `rank_test` what is chance, `cache` keeps results between programs.

mod cache;
mod heats;
mod rank_test;

use std::fmt;

use corecast_base::Clock;
use corecast_base::sync::Mutex;

use crate::barrier::Barrier;
use crate::error::{Error, RunError};
use crate::group::Group;
pub(crate) use cache::RaceCache;
use heats::Heats;

/// Who always runs: barriers that no machine makes look foolish.
pub(crate) const CONTROLS: [Barrier; 3] = [Barrier::Tree, Barrier::Flat, Barrier::Ticket];
/// How many others run, the cheapest by the model.
pub(crate) const CHALLENGERS: usize = 6;
/// Operations of one block.
const BLOCK: u32 = 32;
/// Of the order in which barriers run.
const SEED: u64 = 0x5EED;

/// What a race found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Race {
    /// All who ran, the fastest first.
    pub entries: Vec<Entry>,
    /// The barrier to use.
    pub winner: Barrier,
    /// The fastest control, which the winner had to beat.
    pub control: Barrier,
    /// How probable it is that the fastest of the others is as fast beside the control by chance.
    pub p: f64,
    /// True if an earlier program has run it.
    pub is_cached: bool,
}

/// One barrier of a race.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Entry {
    /// The family.
    pub barrier: Barrier,
    /// What it should cost by the model, in the model's unit.
    pub predicted: f64,
    /// Nanoseconds for one operation: the median over the rounds of the slowest member's time.
    pub median_ns: f64,
    /// Rounds it took part in.
    pub rounds: usize,
}

/// What came of one barrier.
#[derive(Debug)]
struct Raced {
    median_ns: f64,
    rounds: usize,
}

/// By index.
#[derive(Debug)]
struct Verdict {
    winner: usize,
    control: usize,
    /// The fastest that is no control, unless it was dropped.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests ask who came near"))]
    challenger: Option<usize>,
    p: f64,
}

impl Race {
    /// Lets these groups' barriers race, of which the first are the controls.
    pub(crate) fn run(groups: &[Group]) -> Result<Self, RunError> {
        let heats = Mutex::new(Heats::new(groups.len(), CONTROLS.len(), SEED));
        groups[0].run(|me| take_part(me, groups, &heats))?.into_iter().collect::<Result<(), Error>>()?;
        let (raced, verdict) = heats.into_inner().expect(UNPOISONED).verdict();
        let entry = |(group, Raced { median_ns, rounds }): (&Group, Raced)| {
            let choice = group.choice();
            Entry { barrier: choice.barrier, predicted: choice.predicted, median_ns, rounds }
        };
        let mut entries: Vec<Entry> = groups.iter().zip(raced).map(entry).collect();
        let (winner, control) = (entries[verdict.winner].barrier, entries[verdict.control].barrier);
        entries.sort_by(|a, b| a.median_ns.total_cmp(&b.median_ns));
        Ok(Self { entries, winner, control, p: verdict.p, is_cached: false })
    }

    fn entry(&self, barrier: Barrier) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.barrier == barrier)
    }
}

const UNPOISONED: &str = "nobody panics while holding the heats";

/// One member of all groups at once. Between rounds members meet in the first group's barrier.
fn take_part(me: &mut crate::Member, groups: &[Group], heats: &Mutex<Heats>) -> Result<(), Error> {
    let mut others = groups[1..].iter().map(|group| group.join(me.rank())).collect::<Result<Vec<_>, _>>()?;
    let clock = Clock::get();
    loop {
        me.barrier()?;
        let order = heats.lock().expect(UNPOISONED).order().to_vec();
        if order.is_empty() {
            return Ok(());
        }
        let mut times = Vec::with_capacity(order.len());
        for &group in &order {
            let member = if group == 0 { &mut *me } else { &mut others[group - 1] };
            let start = clock.ticks();
            (0..BLOCK).try_for_each(|_| member.barrier())?;
            times.push(clock.ns(clock.ticks().saturating_sub(start)) / f64::from(BLOCK));
        }
        heats.lock().expect(UNPOISONED).note(&times);
        me.barrier()?;
        if me.rank() == 0 {
            heats.lock().expect(UNPOISONED).end_round();
        }
    }
}

impl fmt::Display for Race {
    /// Why the winner is used, and then a line for each barrier.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = |barrier| self.entry(barrier).map_or(f64::NAN, |entry| entry.median_ns);
        let Self { winner, control, p, .. } = self;
        let when = if self.is_cached { "in an earlier race" } else { "in a race" };
        match winner == control {
            true => write!(f, "{when} nothing was clearly faster than the control {control}, {:.0} ns", ns(*control))?,
            false => {
                let (fast, slow) = (ns(*winner), ns(*control));
                write!(f, "{when} it took {fast:.0} ns and the control {control} {slow:.0} ns (p {p:.4})")?;
            }
        }
        for Entry { barrier, predicted, median_ns, rounds } in &self.entries {
            write!(f, "\n  {barrier}: {median_ns:.0} ns in {rounds} rounds, predicted {predicted:.0}")?;
        }
        Ok(())
    }
}
