//! A ring of bare cache lines: the least work that any channel must do.
//!
//! Take it to see the cost of the machine itself, below any channel. It is not for messages: it carries one word and
//! has no way to wait, to close or to notice that the other end is gone. Each message is one line that the sender
//! writes and the receiver reads; the receiver reports on a line of its own, every eighth of the ring, how many it has
//! read. Wait-free. Everything that the sender wrote before a send is visible after the receive (Release, Acquire).

use corecast_base::CacheLine;
use corecast_base::sync::{Arc, AtomicU64, Ordering};

use crate::probe::{Probe, ProbeReceiver, ProbeSender};

/// Measures bare cache lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineProbe;

impl Probe for LineProbe {
    type Sender = LineSender;
    type Receiver = LineReceiver;

    fn name(&self) -> &str {
        "bare cache lines"
    }

    fn connect(&self, slots: usize) -> (LineSender, LineReceiver) {
        let slots = slots.max(1).next_power_of_two();
        let ring =
            Arc::new(Ring { lines: (0..slots).map(|_| CacheLine::default()).collect(), read: CacheLine::default() });
        (LineSender { ring: Arc::clone(&ring), sent: 0, read_seen: 0 }, LineReceiver { ring, received: 0 })
    }
}

/// The memory that both ends reach.
#[derive(Debug)]
struct Ring {
    /// A power of two of lines.
    lines: Box<[CacheLine<Line>]>,
    /// Messages read so far, updated every eighth of the ring. Written by the receiver, read by the sender when it runs
    /// out of room.
    read: CacheLine<AtomicU64>,
}

impl Ring {
    fn line(&self, n: u64) -> &Line {
        &self.lines[n as usize & (self.lines.len() - 1)]
    }

    fn len(&self) -> u64 {
        self.lines.len() as u64
    }
}

/// One message. Both words are written by the sender and read by the receiver.
#[derive(Debug, Default)]
struct Line {
    /// The count of the message, from 1: it tells this lap of the ring from the last one.
    count: AtomicU64,
    value: AtomicU64,
}

/// The sending end of a [`LineProbe`] channel.
#[derive(Debug)]
pub struct LineSender {
    ring: Arc<Ring>,
    sent: u64,
    /// Messages known to be read.
    read_seen: u64,
}

impl ProbeSender for LineSender {
    #[inline]
    fn try_send(&mut self, value: u64) -> bool {
        if self.sent - self.read_seen == self.ring.len() {
            // ORDERING: Acquire, pairs with the Release in LineReceiver::acknowledge: the lines were read before they
            // are written again [line-read]
            self.read_seen = self.ring.read.load(Ordering::Acquire);
            if self.sent - self.read_seen == self.ring.len() {
                return false;
            }
        }
        let line = self.ring.line(self.sent);
        self.sent += 1;
        // ORDERING: Relaxed, made visible by the count below
        line.value.store(value, Ordering::Relaxed);
        // ORDERING: Release, pairs with the Acquire in LineReceiver::try_receive [line-full]
        line.count.store(self.sent, Ordering::Release);
        true
    }
}

/// The receiving end of a [`LineProbe`] channel.
#[derive(Debug)]
pub struct LineReceiver {
    ring: Arc<Ring>,
    received: u64,
}

impl LineReceiver {
    #[inline]
    fn acknowledge(&self) {
        // ORDERING: Release, pairs with the Acquire in LineSender::try_send [line-read]
        self.ring.read.store(self.received, Ordering::Release);
    }
}

impl ProbeReceiver for LineReceiver {
    #[inline]
    fn try_receive(&mut self) -> Option<u64> {
        let line = self.ring.line(self.received);
        // ORDERING: Acquire, pairs with the Release in LineSender::try_send [line-full]
        if line.count.load(Ordering::Acquire) != self.received + 1 {
            return None;
        }
        // ORDERING: Relaxed, the count above was acquired and the sender waits for the acknowledgement
        let value = line.value.load(Ordering::Relaxed);
        self.received += 1;
        if self.received % (self.ring.len() / 8).max(1) == 0 {
            self.acknowledge();
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_holds_what_it_promises_and_keeps_the_order() {
        for slots in [1, 2, 3, 8, 64] {
            let (mut sender, mut receiver) = LineProbe.connect(slots);
            let mut next = 0;
            for _ in 0..5 {
                let first = next;
                while sender.try_send(next) {
                    next += 1;
                }
                assert!(next - first >= slots as u64 - 1, "{slots} slots held only {}", next - first);
                for expected in first..next {
                    assert_eq!(receiver.try_receive(), Some(expected));
                }
                assert_eq!(receiver.try_receive(), None);
            }
        }
    }

    #[test]
    fn another_thread_receives_everything_in_order() {
        const MESSAGES: u64 = 20_000;
        let (mut sender, mut receiver) = LineProbe.connect(16);
        let reader = std::thread::spawn(move || {
            for expected in 0..MESSAGES {
                let got = loop {
                    match receiver.try_receive() {
                        Some(value) => break value,
                        None => corecast_base::sync::yield_now(),
                    }
                };
                assert_eq!(got, expected);
            }
        });
        for value in 0..MESSAGES {
            while !sender.try_send(value) {
                corecast_base::sync::yield_now();
            }
        }
        reader.join().expect("every message arrives in order");
    }
}
