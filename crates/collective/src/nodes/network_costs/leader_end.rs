//! Messages to one partner and to all nodes over an engine, each waited for.

use std::thread;
use std::time::Duration;

use corecast_base::Clock;
use corecast_base::sync::{spin_hint, yield_now};

use crate::nodes::{Engine, Facts, Fault, Slot, Step, Ticket};

/// The time between two yields of a leader that waits: the same as in groups.
const BURST: Duration = Duration::from_micros(30);
/// The time between two looks of a leader that has nothing to do: others measure meanwhile, perhaps on the same CPUs.
const REST: Duration = Duration::from_millis(1);

/// The words that were sent as these bytes.
pub(super) fn words_of(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("a chunk has eight bytes")))
}

/// A leader's end, waiting.
pub(super) struct LeaderEnd<'a> {
    engine: &'a mut dyn Engine,
    /// True while it sleeps as it waits.
    is_resting: bool,
}

impl<'a> LeaderEnd<'a> {
    pub(super) fn new(engine: &'a mut dyn Engine) -> Self {
        // Sends of a burst share a slot, which may not be looked at meanwhile: the slots are made large enough at once.
        for slot in [Slot::outgoing(0), Slot::incoming(0)] {
            engine.room(slot, Slot::BYTES);
        }
        Self { engine, is_resting: false }
    }

    /// Sets whether it sleeps between two looks at what it waits for.
    pub(super) fn rest(&mut self, is_resting: bool) {
        self.is_resting = is_resting;
    }

    pub(super) fn facts(&self) -> &Facts {
        self.engine.facts()
    }

    /// Waits until a step is done.
    pub(super) fn wait(&mut self, ticket: Ticket) -> Result<(), Fault> {
        let clock = Clock::get();
        let burst = clock.ticks_in(BURST);
        loop {
            let end = clock.ticks() + burst;
            while clock.ticks() < end {
                if self.engine.poll(ticket)? {
                    return Ok(());
                }
                spin_hint();
            }
            if self.is_resting {
                thread::sleep(REST);
            }
            yield_now();
        }
    }

    /// Begins to send that many bytes, at most [`Slot::BYTES`], whatever they are.
    pub(super) fn start_send(&mut self, to: usize, bytes: usize) -> Result<Ticket, Fault> {
        self.engine.start(Step::Send { to, from: Slot::outgoing(0), bytes })
    }

    /// Begins to receive at most that many bytes, at most [`Slot::BYTES`].
    pub(super) fn start_receive(&mut self, from: usize, bytes: usize) -> Result<Ticket, Fault> {
        self.engine.start(Step::Receive { from, into: Slot::incoming(0), bytes })
    }

    /// Sends that many bytes and waits until they have left.
    pub(super) fn send(&mut self, to: usize, bytes: usize) -> Result<(), Fault> {
        let ticket = self.start_send(to, bytes)?;
        self.wait(ticket)
    }

    /// Waits for a message of at most that many bytes.
    pub(super) fn receive(&mut self, from: usize, bytes: usize) -> Result<(), Fault> {
        let ticket = self.start_receive(from, bytes)?;
        self.wait(ticket)
    }

    /// Sends a number.
    pub(super) fn send_number(&mut self, to: usize, number: f64) -> Result<(), Fault> {
        self.send_words(to, &[number.to_bits()])
    }

    /// Waits for a number.
    pub(super) fn receive_number(&mut self, from: usize) -> Result<f64, Fault> {
        let [bits] = self.receive_words(from)?;
        Ok(f64::from_bits(bits))
    }

    /// Sends some words.
    pub(super) fn send_words<const N: usize>(&mut self, to: usize, words: &[u64; N]) -> Result<(), Fault> {
        let room = self.engine.room(Slot::outgoing(0), 8 * N);
        room.chunks_exact_mut(8).zip(words).for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_le_bytes()));
        self.send(to, 8 * N)
    }

    /// Waits for some words.
    pub(super) fn receive_words<const N: usize>(&mut self, from: usize) -> Result<[u64; N], Fault> {
        self.receive(from, 8 * N)?;
        let room = self.engine.room(Slot::incoming(0), 8 * N);
        let mut words = [0; N];
        words.iter_mut().zip(words_of(room)).for_each(|(word, received)| *word = received);
        Ok(words)
    }

    /// Lets messages come in for that long, without receiving any.
    pub(super) fn let_arrive(&mut self, duration: Duration) -> Result<(), Fault> {
        let clock = Clock::get();
        let end = clock.ticks() + clock.ticks_in(duration);
        while clock.ticks() < end {
            if let Some(word) = self.engine.listen()? {
                return Err(Fault::Told(word));
            }
            yield_now();
        }
        Ok(())
    }

    /// The bytes of all nodes, one after the other; each gives as many.
    pub(super) fn gather(&mut self, own: &[u8]) -> Result<Vec<u8>, Fault> {
        let nodes = self.engine.facts().nodes();
        self.engine.room(Slot::outgoing(0), own.len()).copy_from_slice(own);
        self.engine.room(Slot::incoming(0), own.len() * nodes);
        let step = Step::Gather { from: Slot::outgoing(0), bytes: own.len(), into: Slot::incoming(0) };
        let ticket = self.engine.start(step)?;
        self.wait(ticket)?;
        Ok(self.engine.room(Slot::incoming(0), own.len() * nodes).to_vec())
    }
}
