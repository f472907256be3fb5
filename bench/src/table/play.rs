//! The experiment itself: the operations of each thread on a table, their results, and the check before.
//!
//! Of 128 draws 25 are updates, which put and remove in turns, and the others get. An operation that fails (the key is
//! not there, or is already) is tried again with another key until it succeeds; every try counts. One of 128 tries is timed.

use std::sync::Barrier;
use std::thread;

use corecast::base::sync::{AtomicU64, Ordering};
use corecast::base::{CacheLine, Clock};
use corecast::machine::pin::{self, PinError};
use fastrand::Rng;
use serde::{Deserialize, Serialize};

use super::deal::cpu_of;
use super::draw::{Kind, Mix};
use super::host::{Client, Host, Seat, Setting, Words, Work};
use super::latency::Latency;
use corecast_race::failure::Failure;

/// One of this many tries is timed.
const TIMED: u64 = 128;
/// The number of operations of each thread in the check.
pub(super) const CHECKED: usize = 2000;

/// The results of one block.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    /// Operations that each client tried.
    pub(super) tries: Vec<u64>,
    /// Those that succeeded, of all clients.
    pub(super) hits: u64,
    /// Tries that were gets, of all clients.
    pub(super) gets: u64,
    /// From the first client's start to the last one's end.
    pub(super) seconds: f64,
    /// How long tries took that were timed, of all clients.
    pub(super) latency: Latency,
}

impl Turn {
    pub(super) fn of(tallies: &[Tally]) -> Self {
        let start = tallies.iter().map(|tally| tally.start).min().unwrap_or(0);
        let end = tallies.iter().map(|tally| tally.end).max().unwrap_or(0);
        let mut latency = Latency::default();
        tallies.iter().for_each(|tally| latency.merge(&tally.latency));
        Self {
            tries: tallies.iter().map(|tally| tally.tries).collect(),
            hits: tallies.iter().map(|tally| tally.hits).sum(),
            gets: tallies.iter().map(|tally| tally.gets).sum(),
            seconds: Clock::get().ns(end.saturating_sub(start)) / 1e9,
            latency,
        }
    }
}

/// When threads begin, and end.
struct Meeting {
    begin: Barrier,
    /// 1 when they are to end.
    over: CacheLine<AtomicU64>,
}

/// Each client in a thread of its own, bound to its CPU. A job waits for `begin` once.
fn together<R: Send>(
    setting: &Setting<'_>,
    seats: &mut [Seat<'_>],
    job: &(dyn Fn(&mut Seat<'_>, &Meeting) -> R + Sync),
) -> Result<Vec<R>, Failure> {
    let over = CacheLine::new(AtomicU64::new(0));
    let meeting = &Meeting { begin: Barrier::new(seats.len() + 1), over };
    let run = |seat: &mut Seat<'_>| -> Result<R, PinError> {
        match cpu_of(setting, seat.participant).map(pin::pin).transpose() {
            Ok(_pinned) => Ok(job(seat, meeting)),
            Err(error) => {
                meeting.begin.wait();
                Err(error)
            }
        }
    };
    let run = &run;
    let done: Result<Vec<R>, PinError> = thread::scope(|scope| {
        let threads: Vec<_> = seats.iter_mut().map(|seat| scope.spawn(move || run(seat))).collect();
        meeting.begin.wait();
        thread::sleep(setting.time);
        // ORDERING: Relaxed, the flag publishes nothing but itself
        meeting.over.store(1, Ordering::Relaxed);
        threads.into_iter().map(|thread| thread.join().expect("no client panics")).collect()
    });
    done.map_err(Failure::refused)
}

/// Each thread draws from a seed of its own.
pub(super) fn random(setting: &Setting<'_>, participant: usize) -> Rng {
    Rng::with_seed(setting.seed ^ (participant as u64) << 32)
}

/// Puts the client's share in, with keys drawn at random; tells which.
pub(super) fn fill(seat: &mut Seat<'_>, random: &mut Rng, keys: u64, words: fn(u64) -> Option<Words>) -> Vec<u64> {
    let mut put = Vec::with_capacity(seat.share as usize);
    while (put.len() as u64) < seat.share {
        let key = random.u64(1..=keys);
        if seat.client.put(key, words(key).as_ref()) {
            put.push(key);
        }
    }
    put
}

/// The counts of one client in a block. Times are ticks of [`Clock`].
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Tally {
    tries: u64,
    hits: u64,
    gets: u64,
    start: u64,
    end: u64,
    latency: Latency,
}

impl Tally {
    pub(super) fn starting(now: u64) -> Self {
        Self { start: now, ..Self::default() }
    }

    /// Whether one of the next tries, this many, is timed.
    #[inline]
    pub(super) fn times_one_of(&self, next: usize) -> bool {
        self.tries % TIMED < next as u64
    }

    /// A try that was timed.
    pub(super) fn time(&mut self, ticks: u64) {
        self.latency.add(ticks);
    }

    #[inline]
    pub(super) fn count(&mut self, kind: Kind, succeeds: bool) {
        self.tries += 1;
        self.gets += u64::from(matches!(kind, Kind::Get));
        self.hits += u64::from(succeeds);
    }

    pub(super) fn ending(self, now: u64) -> Self {
        Self { end: now, ..self }
    }
}

/// The experiment's loop; it ends when `over` is 1.
pub(super) fn play<C: Client + ?Sized>(client: &mut C, writes_payload: bool, mut mix: Mix, over: &AtomicU64) -> Tally {
    let clock = Clock::get();
    let (mut copy, mut tally) = ([0; 8], Tally::starting(clock.ticks()));
    let mut kind = mix.kind();
    // ORDERING: Relaxed, the flag publishes nothing but itself
    while over.load(Ordering::Relaxed) != 1 {
        let key = mix.key();
        let words = writes_payload.then(|| words_of(key));
        let begin = tally.times_one_of(1).then(|| clock.ticks_in_order());
        let succeeds = match kind {
            Kind::Get => client.get(key, &mut copy),
            Kind::Put => client.put(key, words.as_ref()),
            Kind::Remove => client.remove(key),
        };
        std::hint::black_box(&copy);
        if let Some(begin) = begin {
            tally.time(clock.ticks_in_order().saturating_sub(begin));
        }
        tally.count(kind, succeeds);
        if succeeds {
            kind = mix.kind();
        }
    }
    tally.ending(clock.ticks())
}

/// Makes a table and lets its clients work.
type With = fn(&Setting<'_>, Work<'_>) -> Result<(), Failure>;

/// Times one block over a new table.
pub(super) fn turn<H: Host>(setting: &Setting<'_>) -> Result<Turn, Failure> {
    turn_over(&H::adapted(setting)?, H::with)
}

fn turn_over(setting: &Setting<'_>, with: With) -> Result<Turn, Failure> {
    let mut tallies = Vec::new();
    with(setting, &mut |mut seats| {
        tallies = together(setting, &mut seats, &|seat, meeting| {
            let mut random = random(setting, seat.participant);
            fill(seat, &mut random, setting.keys(), |_| None);
            let mix = Mix::new(random, setting.keys(), setting.zipf);
            meeting.begin.wait();
            seat.client.play(setting.writes_payload, mix, &meeting.over)
        })?;
        Ok(())
    })?;
    Ok(Turn::of(&tallies))
}

/// The words that belong to a key, where they are written.
pub(super) fn words_of(key: u64) -> Words {
    [key; 8]
}

/// Puts and removes at random among few keys, gets what was put, and counts puts minus removes of each key.
pub(super) fn record(seat: &mut Seat<'_>, setting: &Setting<'_>, begin: impl FnOnce()) -> Result<Vec<i64>, Failure> {
    let keys = setting.keys();
    let mut random = random(setting, seat.participant);
    let mut net = vec![0; keys as usize + 1];
    for key in fill(seat, &mut random, keys, |key| Some(words_of(key))) {
        net[key as usize] += 1;
    }
    begin();
    for _ in 0..CHECKED {
        // Half of the time among a few keys that all threads like.
        let key = if random.bool() { random.u64(1..=keys) } else { random.u64(1..=keys.min(8)) };
        let mut words = [0; 8];
        match random.u8(..3) {
            0 => net[key as usize] += i64::from(seat.client.put(key, Some(&words_of(key)))),
            1 => net[key as usize] -= i64::from(seat.client.remove(key)),
            _ if seat.client.get(key, &mut words) && words != words_of(key) => {
                return Err(Failure::Wrong(format!("{words:?} was got for key {key}")));
            }
            _ => {}
        }
    }
    Ok(net)
}

/// Whether each key is there as often as puts minus removes of all clients say, with what was put.
pub(super) fn verify(
    client: &mut dyn Client,
    setting: &Setting<'_>,
    net_of: &dyn Fn(u64) -> i64,
) -> Result<(), Failure> {
    for key in 1..=setting.keys() {
        let (mut words, net) = ([0; 8], net_of(key));
        let present = i64::from(client.get(key, &mut words));
        if present != net {
            return Err(Failure::Wrong(format!("key {key}: puts minus removes are {net}, present is {present}")));
        }
        if present == 1 && words != words_of(key) {
            return Err(Failure::Wrong(format!("{words:?} was got for key {key}")));
        }
    }
    Ok(())
}

/// Whether, for every key, puts minus removes are its presence, and every get copied what had been put.
pub(super) fn check<H: Host>(setting: &Setting<'_>) -> Result<(), Failure> {
    check_over(&Setting { time: std::time::Duration::ZERO, ..H::adapted(setting)? }, H::with)
}

fn check_over(setting: &Setting<'_>, with: With) -> Result<(), Failure> {
    with(setting, &mut |mut seats| {
        let recorded = together(setting, &mut seats, &|seat, meeting| {
            record(seat, setting, || {
                meeting.begin.wait();
            })
        })?;
        let recorded = recorded.into_iter().collect::<Result<Vec<_>, _>>()?;
        let client = &mut seats.first_mut().expect("there is a client").client;
        verify(&mut **client, setting, &|key| recorded.iter().map(|net| net[key as usize]).sum())
    })
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use corecast::base::wait::Wait;

    use super::*;
    use crate::table::host::seats;
    use crate::table::section::Section;
    use corecast_race::place::Place;

    /// Loses a key now and then, or shows a wrong value.
    struct Broken<const LOSES: bool>(u64);

    impl<const LOSES: bool> Client for Broken<LOSES> {
        fn get(&mut self, key: u64, into: &mut Words) -> bool {
            *into = if LOSES { words_of(key) } else { [0; 8] };
            self.0 >> key & 1 == 1
        }

        fn put(&mut self, key: u64, _words: Option<&Words>) -> bool {
            let is_new = self.0 >> key & 1 == 0;
            self.0 |= u64::from(!(LOSES && key == 3)) << key;
            is_new
        }

        fn remove(&mut self, key: u64) -> bool {
            let was_in = self.0 >> key & 1 == 1;
            self.0 &= !(1 << key);
            was_in
        }
    }

    impl<const LOSES: bool> Host for Broken<LOSES> {
        fn with(setting: &Setting<'_>, work: Work<'_>) -> Result<(), Failure> {
            work(seats(setting, || Self(0)))
        }
    }

    pub(in crate::table) const SETTING: Setting<'static> = Setting {
        buckets: 2,
        mean: 4,
        threads: 1,
        cpus: std::borrow::Cow::Borrowed(&[]),
        machine: None,
        is_pinned: false,
        cluster: &[],
        every: 3,
        batch: 7,
        zipf: None,
        writes_payload: false,
        section: Section { is_fenced: true },
        place: &Place::Threads,
        wait: Wait::Adaptive,
        time: Duration::from_millis(2),
        seed: 5,
        original: None,
        user: None,
    };

    #[test]
    fn the_check_finds_a_table_that_loses_keys_or_values() {
        let lost = check::<Broken<true>>(&SETTING).expect_err("it loses key 3").to_string();
        assert!(lost.contains("key 3: puts minus removes are"), "{lost}");
        let wrong = check::<Broken<false>>(&SETTING).expect_err("it shows zeros").to_string();
        assert!(wrong.contains("was got for key"), "{wrong}");
    }
}
