//! `corecast bench stream`: very many checksummed messages through one `ump` ring, each of them verified.
//!
//! The race of streams shows the rate; this shows that no message is torn, lost or out of order, which takes far more of
//! them: a known error of the algorithm's published code shows once or twice in 5 * 10^7.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use corecast::base::Clock;
use corecast::machine::Machine;
use serde::Serialize;

use crate::contender::ump_ring;
use crate::pair_body::{RecvEnd, SendEnd};
use corecast_race::contender::Setting;
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Body, Crew, Task};
use corecast_race::message::Message;
use corecast_race::op::Op;
use corecast_race::options::Options;
use corecast_race::progress::Progress;

/// Messages between two looks at the caller's flag, some 20 ms.
const CHUNK: u64 = 2_000_000;
/// The longest time of a chunk; with two ends on one CPU every few messages cost a switch of threads.
const LIMIT: Duration = Duration::from_secs(60);

/// The outcome of `corecast bench stream`.
#[derive(Clone, Debug, Serialize)]
pub struct StreamReport {
    /// The machine's name.
    pub machine: String,
    /// The commit that the program was built from; `null` if it was not built in a git checkout.
    pub commit: Option<String>,
    /// The CPUs of sender and receiver.
    pub cpus: [u32; 2],
    /// Slots of the ring.
    pub slots: usize,
    /// How both ends waited.
    pub wait: String,
    /// Messages sent.
    pub messages: u64,
    /// Messages whose checksum did not fit their bytes.
    pub torn: u64,
    /// Messages that never arrived.
    pub lost: u64,
    /// Messages that arrived after a later one, or twice.
    pub reordered: u64,
    /// Seconds from the first send to the last receive.
    pub seconds: f64,
    /// Messages per second.
    pub messages_per_s: f64,
}

impl StreamReport {
    /// True if every message arrived once, whole and in order.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.torn == 0 && self.lost == 0 && self.reordered == 0
    }
}

/// The parts of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamOptions {
    /// Messages to send.
    pub messages: u64,
    /// Slots of the ring.
    pub slots: usize,
}

impl Default for StreamOptions {
    /// 10^9 messages through 1024 slots.
    fn default() -> Self {
        Self { messages: 1_000_000_000, slots: 1024 }
    }
}

/// Sends the messages from the first CPU to the second and counts what went wrong.
///
/// # Errors
/// A [`BenchError`] if the options do not fit the machine, the run is cancelled, or an end fails. Messages gone wrong are
/// no error but counted.
pub fn stream(
    machine: &Machine,
    options: &Options,
    stream: &StreamOptions,
    progress: &mut dyn Progress,
) -> Result<StreamReport, BenchError> {
    let pair = options.pair(machine)?;
    let setting = Setting::new(machine, Op::Stream, &pair.into_iter().collect(), 2, options.wait);
    let mut crew = Crew::start(&setting.seats, setting.oversubscribed, LIMIT)?;
    let tally: Arc<Mutex<Tally>> = Arc::default();
    let (to, from) = ump_ring(&setting, stream.slots);
    let sink = Sink { from, expected: 0, tally: Arc::clone(&tally) };
    let mut bodies: Vec<Box<dyn Body>> = vec![Box::new(Source { to, sent: 0 }), Box::new(sink)];
    let (abort, mut sent, mut ticks) = (Arc::new(Abort::heeding(&options.cancel)), 0, 0);
    while sent < stream.messages {
        options.go_on()?;
        progress.step(sent as f64 / stream.messages as f64, "stream of checked messages");
        let iterations = CHUNK.min(stream.messages - sent);
        let block = crew.run(bodies, Task::Batch { iterations }, &abort)?;
        bodies = block.bodies;
        ticks += corecast_race::harness::ticks_of(Op::Stream, &block.timings);
        sent += iterations;
    }
    progress.step(1.0, "done");
    let seconds = Clock::get().ns(ticks) / 1e9;
    let tally = *tally.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(StreamReport {
        machine: machine.name.clone(),
        commit: options.commit.clone(),
        cpus: [setting.seats[0].get(), setting.seats[1].get()],
        slots: stream.slots,
        wait: options.wait.name().to_owned(),
        messages: sent,
        torn: tally.torn,
        lost: tally.lost,
        reordered: tally.reordered,
        seconds,
        messages_per_s: if seconds > 0.0 { sent as f64 / seconds } else { 0.0 },
    })
}

/// The first failure so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    torn: u64,
    lost: u64,
    reordered: u64,
}

struct Source<S> {
    to: S,
    sent: u64,
}

struct Sink<R> {
    from: R,
    /// The number of the next message.
    expected: u64,
    tally: Arc<Mutex<Tally>>,
}

impl<S: SendEnd<Item = Message>> Body for Source<S> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for number in self.sent..self.sent + iterations {
            self.to.send(sealed(number))?;
        }
        self.sent += iterations;
        Ok(())
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        self.run(rounds)
    }
}

impl<R: RecvEnd<Item = Message>> Body for Sink<R> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        let mut tally = *self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..iterations {
            let message = self.from.recv()?;
            self.expected = tally.take_in(message, self.expected);
        }
        *self.tally.lock().unwrap_or_else(PoisonError::into_inner) = tally;
        Ok(())
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        self.run(rounds)
    }
}

impl Tally {
    /// Judges one message and returns the number that should come next.
    #[inline(always)]
    fn take_in(&mut self, message: Message, expected: u64) -> u64 {
        if message == sealed(expected) {
            return expected + 1;
        }
        self.judge(message, expected)
    }

    #[cold]
    fn judge(&mut self, message: Message, expected: u64) -> u64 {
        let number = message[0];
        if message != sealed(number) {
            // Its number may be wrong too: it is taken for the one that was expected.
            self.torn += 1;
            return expected + 1;
        }
        if number < expected {
            // It was counted as lost when a later one came before it, or it came twice.
            self.reordered += 1;
            return expected;
        }
        self.lost += number - expected;
        number + 1
    }
}

/// A message of which every word alone tells the number, each in its own way and with all its bits, so that no mixture of
/// two looks whole: the factors are odd and hence can be undone.
#[inline(always)]
pub(crate) fn sealed(number: u64) -> Message {
    std::array::from_fn(|word| number.wrapping_mul((word as u64).wrapping_mul(0x9e37_79b9_7f4a_7c16) + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::this_machine::this_machine;

    fn tally(messages: &[Message]) -> Tally {
        let mut tally = Tally::default();
        messages.iter().fold(0, |expected, &message| tally.take_in(message, expected));
        tally
    }

    #[test]
    fn each_fault_is_counted_as_what_it_is() {
        let whole = |numbers: &[u64]| numbers.iter().map(|&number| sealed(number)).collect::<Vec<_>>();
        assert_eq!(tally(&whole(&[0, 1, 2, 3])), Tally::default());
        assert_eq!(tally(&whole(&[0, 1, 4, 5])), Tally { lost: 2, ..Tally::default() });
        assert_eq!(tally(&whole(&[0, 1, 1, 2])), Tally { reordered: 1, ..Tally::default() });
        assert_eq!(tally(&whole(&[0, 2, 1, 3])), Tally { lost: 1, reordered: 1, ..Tally::default() });
        let mut torn = whole(&[0, 1, 2, 3]);
        torn[1][4..].copy_from_slice(&sealed(1025)[4..]);
        assert_eq!(tally(&torn), Tally { torn: 1, ..Tally::default() });
    }

    #[test]
    fn a_short_stream_is_clean_and_can_be_stopped() {
        let machine = this_machine();
        let (options, short) = (Options::default(), StreamOptions { messages: 20_000, slots: 64 });
        let report = stream(&machine, &options, &short, &mut ()).expect("allowed CPUs");
        assert!(report.is_clean() && report.messages == 20_000, "{report:?}");
        options.cancel.cancel();
        assert_eq!(stream(&machine, &options, &short, &mut ()).map(drop), Err(BenchError::Cancelled));
    }
}
