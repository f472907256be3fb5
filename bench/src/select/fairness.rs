//! The fairness of `Select`: how much of its fair share the worst channel gets while all channels are full.
//!
//! Before each round the sender fills every channel, and tops all of them up, one message each in turns, while the round
//! lasts. The receiver takes half of what they hold: no channel can run empty under a receiver that is fair, however slow
//! the sender is, so a channel that gets less was passed over. One that takes what is nearest would find half of them
//! enough.

use std::sync::{Arc, Mutex, PoisonError};

use corecast::base::sync::{AtomicBool, Ordering, yield_now};
use corecast::channel::TrySendError;
use corecast::channel::select::Select;
use corecast::channel::ump::{Receiver, Sender};
use serde::Serialize;

use crate::channel_demands::CHANNELS;
use crate::contender::select_of;
use crate::stats::{least, median};
use corecast_race::contender::Setting;
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Body, Crew, Task};
use corecast_race::message::{Item, Message};
use corecast_race::options::Options;

/// Slots of each channel: many times what is taken from one in a row.
const SLOTS: usize = 256;
/// Messages of a round, of which half of each channel's slots are its fair share.
const MESSAGES: u64 = (CHANNELS * SLOTS / 2) as u64;

/// How evenly the messages were taken from the channels.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fairness {
    /// Channels, all of them full.
    pub channels: usize,
    /// Slots of each.
    pub slots: usize,
    /// Messages taken in a round.
    pub messages: u64,
    /// Rounds.
    pub rounds: usize,
    /// The share of the worst channel in the worst round, relative to an equal share.
    pub worst_share: f64,
    /// The share of the worst channel in the median round.
    pub median_share: f64,
}

/// Counts turns for some rounds.
///
/// # Errors
/// If threads cannot be bound to CPUs, the run is cancelled, or the channels fail.
pub(super) fn measure(setting: &Setting<'_>, options: &Options) -> Result<Fairness, BenchError> {
    let pace = options.pace();
    let mut crew = Crew::start(&setting.seats, setting.oversubscribed, pace.limit)?;
    let abort = Arc::new(Abort::heeding(&options.cancel));
    let taken: Arc<Mutex<Vec<u64>>> = Arc::default();
    let mut bodies = bodies(setting, &abort, &taken);
    let mut shares = Vec::with_capacity(pace.max_rounds);
    for _ in 0..pace.max_rounds {
        options.go_on()?;
        bodies = crew.run(bodies, Task::Batch { iterations: MESSAGES }, &abort)?.bodies;
        shares.push(worst_share(&taken.lock().unwrap_or_else(PoisonError::into_inner)));
    }
    let worst_share = least(shares.iter().copied()).expect("there are rounds in every pace");
    let median_share = median(&shares).expect("there are rounds in every pace");
    let (channels, rounds) = (CHANNELS, shares.len());
    Ok(Fairness { channels, slots: SLOTS, messages: MESSAGES, rounds, worst_share, median_share })
}

/// The fewest messages of a channel over the mean.
fn worst_share(taken: &[u64]) -> f64 {
    let fewest = taken.iter().min().copied().unwrap_or(0);
    fewest as f64 * taken.len() as f64 / taken.iter().sum::<u64>().max(1) as f64
}

/// Keeps all channels full.
struct Filler {
    to: Vec<Sender<Message>>,
    sent: u64,
    is_over: Arc<AtomicBool>,
    abort: Arc<Abort>,
}

/// Takes from whichever channel it is given.
struct Taker {
    from: Select<Receiver<Message>>,
    is_over: Arc<AtomicBool>,
    /// Messages of the last round, by channel.
    taken: Arc<Mutex<Vec<u64>>>,
}

fn bodies(setting: &Setting<'_>, abort: &Arc<Abort>, taken: &Arc<Mutex<Vec<u64>>>) -> Vec<Box<dyn Body>> {
    let (to, from) = select_of(setting, CHANNELS, SLOTS);
    let is_over: Arc<AtomicBool> = Arc::default();
    let filler = Filler { to, sent: 0, is_over: Arc::clone(&is_over), abort: Arc::clone(abort) };
    vec![Box::new(filler), Box::new(Taker { from, is_over, taken: Arc::clone(taken) })]
}

impl Filler {
    /// Sends a message to each channel that has room; true if one had.
    fn top_up(&mut self) -> Result<bool, Failure> {
        let before = self.sent;
        for to in &mut self.to {
            match to.try_send(Message::numbered(self.sent)) {
                Ok(()) => self.sent += 1,
                Err(TrySendError::Full(_)) => {}
                Err(error) => return Err(Failure::refused(error)),
            }
        }
        Ok(self.sent > before)
    }
}

impl Body for Filler {
    fn ready(&mut self, _task: Task) -> Result<(), Failure> {
        // ORDERING: Relaxed, the participants meet before the round, and that orders it
        self.is_over.store(false, Ordering::Relaxed);
        while self.top_up()? {}
        Ok(())
    }

    fn run(&mut self, _iterations: u64) -> Result<(), Failure> {
        // ORDERING: Relaxed, the flag publishes nothing but itself
        while !self.is_over.load(Ordering::Relaxed) {
            self.abort.check()?;
            if !self.top_up()? {
                yield_now();
            }
        }
        Ok(())
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        self.run(rounds)
    }
}

impl Body for Taker {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        let mut taken = vec![0; CHANNELS];
        for _ in 0..iterations {
            let (token, _) = self.from.recv().map_err(Failure::refused)?;
            taken[token.index()] += 1;
        }
        // ORDERING: Relaxed, the flag publishes nothing but itself
        self.is_over.store(true, Ordering::Relaxed);
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner) = taken;
        Ok(())
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        self.run(rounds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_the_worst_is_of_the_mean() {
        assert_eq!(worst_share(&[10, 10, 10, 10]), 1.0);
        assert_eq!(worst_share(&[16, 8, 12, 4]), 0.4);
        assert_eq!(worst_share(&[9, 0]), 0.0);
        assert_eq!(worst_share(&[]), 0.0);
    }
}
