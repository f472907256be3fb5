//! The measurement of two partners.
//!
//! One of them asks and the other answers; then they change. Both run through the same list of steps, so that nothing has to be
//! agreed on in between.

use std::time::{Duration, Instant};

use super::Settings;
use super::leader_end::LeaderEnd;
use crate::nodes::Fault;

/// The shortest message, in bytes.
const SHORT: usize = 8;
/// Lengths between which the time of a byte is taken, in bytes.
const LONG: [usize; 2] = [16 << 10, 64 << 10];
/// Messages before anything is timed.
const WARM_UP: u32 = 20;
/// A message that takes this many times the median was interrupted.
const INTERRUPTED: f64 = 5.0;

/// The figures that one partner found, in nanoseconds but for the share. An exchange is of messages that both send at once.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Found {
    pub(super) one_way_ns: f64,
    pub(super) spread_ns: f64,
    pub(super) send_ns: f64,
    pub(super) receive_ns: f64,
    pub(super) gap_ns: f64,
    pub(super) exchange_ns: f64,
    pub(super) byte_ns: f64,
    pub(super) late_ns: f64,
    pub(super) tail_share: f64,
    pub(super) tail_ns: f64,
}

impl Found {
    /// Its figures in the order in which they are sent.
    pub(super) fn figures(&self) -> [f64; 10] {
        let Self {
            one_way_ns,
            spread_ns,
            send_ns,
            receive_ns,
            gap_ns,
            exchange_ns,
            byte_ns,
            late_ns,
            tail_share,
            tail_ns,
        } = *self;
        [one_way_ns, spread_ns, send_ns, receive_ns, gap_ns, exchange_ns, byte_ns, late_ns, tail_share, tail_ns]
    }

    /// From such figures.
    pub(super) fn of(figures: [f64; 10]) -> Self {
        let [one_way_ns, spread_ns, send_ns, receive_ns, gap_ns, exchange_ns, byte_ns, late_ns, tail_share, tail_ns] =
            figures;
        Self { one_way_ns, spread_ns, send_ns, receive_ns, gap_ns, exchange_ns, byte_ns, late_ns, tail_share, tail_ns }
    }
}

/// Asks the partner, which [answers](answer) meanwhile.
pub(super) fn ask(end: &mut LeaderEnd<'_>, partner: usize, settings: &Settings) -> Result<Found, Fault> {
    there_and_back(end, partner, SHORT, WARM_UP)?;
    let single = there_and_back(end, partner, SHORT, settings.exchanges)?;
    let mut found = of_messages(single, exchanges(end, partner, settings)?);
    let bursts = f64::from(settings.bursts.max(2));
    let (started_ns, acknowledged_ns) = burst(end, partner, settings)?;
    found.send_ns = started_ns / bursts;
    found.gap_ns = ((acknowledged_ns - 2.0 * found.one_way_ns) / (bursts - 1.0)).max(0.0);
    // A burst that the partner takes up only when all of it has arrived.
    end.send_number(partner, 2.0 * found.one_way_ns + 2.0 * acknowledged_ns)?;
    burst(end, partner, settings)?;
    found.receive_ns = end.receive_number(partner)?;
    let mut long = [0.0; 2];
    for (time, bytes) in long.iter_mut().zip(LONG) {
        there_and_back(end, partner, bytes, WARM_UP / 4)?;
        *time = median(there_and_back(end, partner, bytes, (settings.exchanges / 20).max(5))?);
    }
    found.byte_ns = ((long[1] - long[0]) / (LONG[1] - LONG[0]) as f64).max(0.0);
    Ok(found)
}

/// Answers the partner, which [asks](ask).
pub(super) fn answer(end: &mut LeaderEnd<'_>, partner: usize, settings: &Settings) -> Result<(), Fault> {
    echo(end, partner, SHORT, WARM_UP)?;
    echo(end, partner, SHORT, settings.exchanges)?;
    exchanges(end, partner, settings)?;
    take_burst(end, partner, settings)?;
    let pause_ns = end.receive_number(partner)?;
    end.let_arrive(Duration::from_nanos(pause_ns.clamp(0.0, 1e9) as u64))?;
    let taken_ns = take_burst(end, partner, settings)?;
    end.send_number(partner, taken_ns / f64::from(settings.bursts.max(2)))?;
    for bytes in LONG {
        echo(end, partner, bytes, WARM_UP / 4)?;
        echo(end, partner, bytes, (settings.exchanges / 20).max(5))?;
    }
    Ok(())
}

/// Messages there and back: half the time of each, in nanoseconds.
fn there_and_back(end: &mut LeaderEnd<'_>, partner: usize, bytes: usize, count: u32) -> Result<Vec<f64>, Fault> {
    let mut times = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let start = Instant::now();
        let answer = end.start_receive(partner, bytes)?;
        end.send(partner, bytes)?;
        end.wait(answer)?;
        times.push(start.elapsed().as_nanos() as f64 / 2.0);
    }
    Ok(times)
}

/// Exchanges of short messages, behind some for warmth: the time of each, in nanoseconds. A partner begins when it has the
/// other's message before, so both begin together.
fn exchanges(end: &mut LeaderEnd<'_>, partner: usize, settings: &Settings) -> Result<Vec<f64>, Fault> {
    let mut times = Vec::with_capacity(settings.exchanges as usize);
    for round in 0..WARM_UP + settings.exchanges {
        let start = Instant::now();
        let other = end.start_receive(partner, SHORT)?;
        end.send(partner, SHORT)?;
        end.wait(other)?;
        if round >= WARM_UP {
            times.push(start.elapsed().as_nanos() as f64);
        }
    }
    Ok(times)
}

/// Answers messages, which the partner sends one behind the other.
pub(super) fn echo(end: &mut LeaderEnd<'_>, partner: usize, bytes: usize, count: u32) -> Result<(), Fault> {
    for _ in 0..count {
        end.receive(partner, bytes)?;
        end.send(partner, bytes)?;
    }
    Ok(())
}

/// Sends a burst; returns the times until the library had taken it over, and until the partner had acknowledged it.
fn burst(end: &mut LeaderEnd<'_>, partner: usize, settings: &Settings) -> Result<(f64, f64), Fault> {
    let acknowledgement = end.start_receive(partner, SHORT)?;
    let start = Instant::now();
    let mut tickets = Vec::with_capacity(settings.bursts as usize);
    for _ in 0..settings.bursts.max(2) {
        tickets.push(end.start_send(partner, SHORT)?);
    }
    let started = start.elapsed();
    tickets.into_iter().try_for_each(|ticket| end.wait(ticket))?;
    end.wait(acknowledgement)?;
    Ok((started.as_nanos() as f64, start.elapsed().as_nanos() as f64))
}

/// Takes a burst and acknowledges it; returns the time from the first message that is taken to the last.
fn take_burst(end: &mut LeaderEnd<'_>, partner: usize, settings: &Settings) -> Result<f64, Fault> {
    let start = Instant::now();
    for _ in 0..settings.bursts.max(2) {
        end.receive(partner, SHORT)?;
    }
    let taken = start.elapsed();
    end.send(partner, SHORT)?;
    Ok(taken.as_nanos() as f64)
}

/// The figures of single messages and of exchanges. Waits are those of exchanges: a partner that is alone busy waits for nobody.
fn of_messages(single: Vec<f64>, exchanges: Vec<f64>) -> Found {
    let (one_way_ns, exchange_ns) = (median(single.clone()), median(exchanges.clone()));
    let (usual, interrupted): (Vec<f64>, Vec<f64>) =
        exchanges.iter().partition(|&&time| time <= INTERRUPTED * exchange_ns);
    let mean = |times: &[f64]| if times.is_empty() { 0.0 } else { times.iter().sum::<f64>() / times.len() as f64 };
    Found {
        one_way_ns,
        spread_ns: median(single.iter().map(|time| (time - one_way_ns).abs()).collect()),
        exchange_ns,
        late_ns: (mean(&usual) - exchange_ns).max(0.0),
        tail_share: interrupted.len() as f64 / exchanges.len().max(1) as f64,
        tail_ns: (mean(&interrupted) - exchange_ns).max(0.0),
        ..Found::default()
    }
}

/// The middle value; 0 of none.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupted_messages_are_told_from_late_ones() {
        let mut times = vec![1000.0; 90];
        times.extend([1100.0; 8]);
        times.extend([21_000.0, 31_000.0]);
        let found = of_messages(vec![700.0, 600.0, 500.0], times);
        assert_eq!((found.one_way_ns, found.spread_ns), (600.0, 100.0));
        assert_eq!((found.exchange_ns, found.tail_share), (1000.0, 0.02));
        assert!((found.late_ns - 800.0 / 98.0).abs() < 1e-9 && (found.tail_ns - 25_000.0).abs() < 1e-9);
        assert_eq!(Found::of(found.figures()), found);
        assert_eq!(of_messages(Vec::new(), Vec::new()), Found::default());
    }
}
