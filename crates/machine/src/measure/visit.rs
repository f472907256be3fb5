//! One visit of a pair: all costs between two CPUs, in both directions, in a few milliseconds.
//!
//! Both threads run the same steps in lockstep, each the other's counterpart. Every visit makes new channels, so
//! that the median averages over where their memory happens to lie; they are made by the
//! thread that receives.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::bounce::BounceLine;
use super::chain::{self, Order};
use super::gauge::Gauge;
use super::halt::{Halt, Halted};
use super::meeting::{Meeting, Pace, Seat};
use super::stats::Summary;
use super::stream;
use crate::probe::{Probe, ProbeReceiver, ProbeSender};

/// A lower limit for the cost of any channel's message in a stream, in nanoseconds.
const LEAST_SEND_NS: f64 = 2.0;
/// The wait for the last message to be visible, a hand-over or so, must be below 1 % of a stream. Measured on two cores
/// of a Zen 5, a message costs 7.9 ns in streams of 16, 6.4 of 64, 3.9 of 256, and 3.3 of 1024, 4096 and 16384.
const SHORTEST_STREAM: usize = 1024;
/// A lower limit for the cost of a line from another core.
const LEAST_RECEIVE_NS: f64 = 20.0;
/// The value reported where a cost is too small for the clock.
const LEAST_COST_NS: f64 = 0.1;

/// The size of one batch, and the number of batches.
#[derive(Clone, Debug)]
pub(super) struct Batches {
    pub(super) gauge: Gauge,
    /// Messages of one stream.
    pub(super) stream: usize,
    /// Round trips of one line.
    pub(super) trips: u64,
    /// Channels with one message each.
    pub(super) order: Order,
    pub(super) channels: usize,
    /// Messages of one stream to each of the channels.
    pub(super) each: usize,
    pub(super) pace: Pace,
}

impl Batches {
    pub(super) fn new(gauge: Gauge, seed: u64) -> Self {
        let channels = gauge.batch_of(LEAST_RECEIVE_NS);
        let stream = gauge.batch_of(LEAST_SEND_NS).max(SHORTEST_STREAM);
        Self {
            gauge,
            stream,
            each: (stream / channels).min(chain::SLOTS / 2),
            trips: gauge.batch_of(LEAST_RECEIVE_NS) as u64,
            order: Order::shuffled(channels, seed),
            channels,
            pace: Pace { warm_up: 3, most: 18, limit: Duration::from_millis(10) },
        }
    }
}

/// The costs of a pair, as one visit found them. Side 0 is the CPU at the lower position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Costs {
    /// One way of a bare line.
    pub(super) bounce: Summary,
    /// The sender's cost of a message from side 0 to side 1, and back.
    pub(super) send: [Summary; 2],
    /// The same through one channel whose receiver reads along: not a cost of the model, but in the notes.
    pub(super) followed: [Summary; 2],
    /// The **receiver's** cost of a message from side 0 to side 1, and back.
    pub(super) receive: [Summary; 2],
}

impl Costs {
    /// Joins the notes of the two sides.
    pub(super) fn joined(first: &Side, second: &Side) -> Self {
        Self {
            bounce: first.bounce,
            send: [first.send, second.send],
            followed: [first.followed, second.followed],
            receive: [second.receive, first.receive],
        }
    }

    /// The five that the model has.
    pub(super) fn all(&self) -> [Summary; 5] {
        [self.bounce, self.send[0], self.send[1], self.receive[0], self.receive[1]]
    }
}

/// The notes of one side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    bounce: Summary,
    /// Its own sends to the other side.
    send: Summary,
    followed: Summary,
    /// Its own receives from the other side.
    receive: Summary,
}

/// One visit of two threads.
pub(super) struct Visit<'h, P: Probe> {
    meeting: Meeting<'h>,
    line: BounceLine,
    /// The sending ends that each side has made for the other; taken at once.
    offers: [Mutex<Option<SendEnds<P>>>; 2],
}

struct SendEnds<P: Probe> {
    stream: P::Sender,
    chain: Vec<P::Sender>,
}

impl<'h, P: Probe> Visit<'h, P> {
    pub(super) fn new(halt: &'h Halt) -> Self {
        Self { meeting: Meeting::new(2, halt), line: BounceLine::default(), offers: Default::default() }
    }

    /// The part of side 0 or 1, on its thread.
    pub(super) fn attend(&self, side: usize, probe: &P, batches: &Batches) -> Result<Side, Halted> {
        let mut seat = self.meeting.seat(side);
        let (stream_sender, mut stream) = probe.connect(2 * batches.stream);
        let (chain_senders, mut chain) = chain::connect(probe, batches.channels);
        *lock(&self.offers[side]) = Some(SendEnds { stream: stream_sender, chain: chain_senders });
        seat.meet(true)?;
        let taken = lock(&self.offers[1 - side]).take();
        let mut to = taken.expect("the other side made its offer before it came to the meeting");

        let bounce = self.bounce(&mut seat, side, batches)?;
        let (mut send, mut followed, mut receive) = (bounce, bounce, bounce);
        for sending in [0, 1] {
            if sending == side {
                send = time_dealt_stream(&mut seat, &mut to.chain, batches)?;
                followed = time_followed_stream(&mut seat, &mut to.stream, batches)?;
                serve_chain(&mut seat, &mut to.chain, batches)?;
            } else {
                take_dealt_stream(&mut seat, &mut chain, batches)?;
                let stream = std::slice::from_mut(&mut stream);
                seat.accompany(|seat| stream::receive_all(stream, batches.stream, seat.halt))?;
                receive = time_chain(&mut seat, &mut chain, batches)?;
            }
        }
        Ok(Side { bounce, send, followed, receive })
    }

    /// Only the hand-over of a bare line: the same by both sides, taken by the first.
    pub(super) fn attend_bounce(&self, side: usize, batches: &Batches) -> Result<Summary, Halted> {
        self.bounce(&mut self.meeting.seat(side), side, batches)
    }

    fn bounce(&self, seat: &mut Seat<'_>, side: usize, batches: &Batches) -> Result<Summary, Halted> {
        let (gauge, trips, mut batch) = (&batches.gauge, batches.trips, 0..);
        let mut next = || batch.next().expect("batches are few");
        if side == 0 {
            let samples = seat.time(&batches.pace, |seat| self.line.lead(next(), trips, gauge, seat.halt))?;
            return Ok(summary(&samples));
        }
        seat.accompany(|seat| self.line.follow(next(), trips, seat.halt))?;
        Ok(Summary { median: LEAST_COST_NS, mad: 0.0 })
    }
}

/// A stream that the receiver takes out when all is sent.
fn time_dealt_stream(
    seat: &mut Seat<'_>,
    senders: &mut [impl ProbeSender],
    batches: &Batches,
) -> Result<Summary, Halted> {
    let samples = seat.time(&batches.pace, |seat| {
        let cost_ns = stream::time_sends(senders, batches.each, &batches.gauge, seat.halt)?;
        seat.meet(true)?;
        Ok(cost_ns)
    })?;
    Ok(summary(&samples))
}

fn take_dealt_stream(
    seat: &mut Seat<'_>,
    receivers: &mut [impl ProbeReceiver],
    batches: &Batches,
) -> Result<(), Halted> {
    seat.accompany(|seat| {
        seat.meet(true)?;
        stream::receive_all(receivers, batches.each, seat.halt)
    })
}

/// A stream through one channel whose receiver reads along.
fn time_followed_stream(
    seat: &mut Seat<'_>,
    sender: &mut impl ProbeSender,
    batches: &Batches,
) -> Result<Summary, Halted> {
    let one = std::slice::from_mut(sender);
    let samples =
        seat.time(&batches.pace, |seat| stream::time_sends(one, batches.stream, &batches.gauge, seat.halt))?;
    Ok(summary(&samples))
}

fn serve_chain(seat: &mut Seat<'_>, senders: &mut [impl ProbeSender], batches: &Batches) -> Result<(), Halted> {
    seat.accompany(|seat| {
        chain::fill(senders, &batches.order, seat.halt)?;
        stream::drain_store_buffer();
        seat.meet(true).map(drop)
    })
}

fn time_chain(seat: &mut Seat<'_>, receivers: &mut [impl ProbeReceiver], batches: &Batches) -> Result<Summary, Halted> {
    let samples = seat.time(&batches.pace, |seat| {
        let empty_ns = batches.order.empty_walk_ns(&batches.gauge, seat.halt)?;
        seat.meet(true)?;
        Ok(chain::time_receives(receivers, &batches.gauge, seat.halt)? - empty_ns)
    })?;
    Ok(summary(&samples))
}

/// Costs below what the clock can tell are raised to it: a free message would make any plan as good as any other.
fn summary(samples: &[f64]) -> Summary {
    let Summary { median, mad } = Summary::of(samples);
    Summary { median: median.max(LEAST_COST_NS), mad }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
