//! The time of messages that several lanes of a host send at once: how much of a network interface one leader leaves unused.
//!
//! Hosts meet in pairs as in the tournament. The first leader of one names a time, at which all lanes that take part send a
//! message to their partners, which send it back; half of the time from the first begin to the last end counts. So lanes begin
//! together, and all clocks that are compared are of one host.

use std::time::Duration;

use corecast_base::Clock;
use corecast_base::sync::spin_hint;

use super::Settings;
use super::hosts::Hosts;
use super::leader_end::{LeaderEnd, words_of};
use super::pair::{echo, median};
use super::tournament::{partner, rounds};
use crate::nodes::Fault;

/// The length of each message, in bytes.
pub(super) const BYTES: usize = 64 << 10;
/// Messages of each lane before anything is timed.
const WARM_UP: u32 = 3;
/// The time until lanes begin: some that all have, and some for each message that names it.
const LEAD: Duration = Duration::from_micros(10);
const LEAD_OF_LANE: Duration = Duration::from_micros(2);
/// The record of a leader that has timed nothing.
const NOTHING: f64 = -1.0;

/// The numbers of lanes that are measured where every host has `lanes`: powers of two, and all. A single lane has no curve.
fn points(lanes: usize) -> Vec<usize> {
    if lanes < 2 {
        return Vec::new();
    }
    let powers = (0..usize::BITS).map(|power| 1 << power).take_while(|&point| point < lanes);
    powers.chain([lanes]).collect()
}

/// Numbers of lanes with the nanoseconds until a message of each has arrived, the medians of all pairs of hosts that met; none if
/// some host has a single leader. All leaders call it, and get the same.
pub(super) fn curve(end: &mut LeaderEnd<'_>, hosts: &Hosts, settings: &Settings) -> Result<Vec<(u32, f64)>, Fault> {
    let points = points(hosts.lanes());
    let (host, lane) = hosts.seat(end.facts().node);
    let mut records = Vec::new();
    for round in rounds(hosts.len(), settings.rounds as usize) {
        let other = partner(hosts.len(), round, host);
        for &lanes in &points {
            let meets = other.filter(|_| lane < lanes);
            end.rest(meets.is_none());
            end.gather(&[0; 8])?;
            let cost_ns = match meets {
                Some(other) if host < other => ask(end, hosts, (host, lane), other, lanes, settings)?,
                Some(other) => echo(end, hosts.leader(other, lane), BYTES, messages(settings)).map(|()| None)?,
                None => None,
            };
            records.extend_from_slice(&cost_ns.unwrap_or(NOTHING).to_le_bytes());
        }
    }
    end.rest(false);
    let all = if records.is_empty() { Vec::new() } else { end.gather(&records)? };
    Ok(medians(&points, &all))
}

/// Messages of a lane there and back.
fn messages(settings: &Settings) -> u32 {
    WARM_UP + (settings.exchanges / 20).max(10)
}

/// The medians of records, in each of which the points follow each other.
fn medians(points: &[usize], records: &[u8]) -> Vec<(u32, f64)> {
    let numbers: Vec<f64> = words_of(records).map(f64::from_bits).collect();
    let of_point = |(place, &lanes): (usize, &usize)| {
        let found: Vec<f64> =
            numbers.iter().skip(place).step_by(points.len()).copied().filter(|&cost_ns| cost_ns > 0.0).collect();
        (!found.is_empty()).then(|| (lanes as u32, median(found)))
    };
    points.iter().enumerate().filter_map(of_point).collect()
}

/// Sends as one of the lanes that begin together. The first one learns the time until all have arrived.
fn ask(
    end: &mut LeaderEnd<'_>,
    hosts: &Hosts,
    (host, lane): (usize, usize),
    other: usize,
    lanes: usize,
    settings: &Settings,
) -> Result<Option<f64>, Fault> {
    let clock = Clock::get();
    let partner = hosts.leader(other, lane);
    let mut times = Vec::new();
    for _ in 0..messages(settings) {
        if lane > 0 {
            let first = hosts.leader(host, 0);
            let [begin] = end.receive_words(first)?;
            let own = exchange(end, partner, begin)?;
            end.send_words(first, &own)?;
            continue;
        }
        let begin = clock.ticks() + clock.ticks_in(LEAD + LEAD_OF_LANE * lanes as u32);
        (1..lanes).try_for_each(|lane| end.send_words(hosts.leader(host, lane), &[begin]))?;
        let [mut first, mut last] = exchange(end, partner, begin)?;
        for lane in 1..lanes {
            let [begun, ended] = end.receive_words(hosts.leader(host, lane))?;
            (first, last) = (first.min(begun), last.max(ended));
        }
        times.push(clock.ns(last.saturating_sub(first)) / 2.0);
    }
    Ok(times.get(WARM_UP as usize..).map(|times| median(times.to_vec())))
}

/// A message there and back, not before that time of the clock: when it began, and when it was back.
fn exchange(end: &mut LeaderEnd<'_>, partner: usize, begin: u64) -> Result<[u64; 2], Fault> {
    let clock = Clock::get();
    let answer = end.start_receive(partner, BYTES)?;
    while clock.ticks() < begin {
        spin_hint();
    }
    let begun = clock.ticks();
    end.send(partner, BYTES)?;
    end.wait(answer)?;
    Ok([begun, clock.ticks()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_measured_by_powers_of_two_and_all_together() {
        assert_eq!(
            [0, 1, 2, 3, 4, 6].map(points),
            [vec![], vec![], vec![1, 2], vec![1, 2, 3], vec![1, 2, 4], vec![1, 2, 4, 6]]
        );
    }

    #[test]
    fn each_point_has_the_median_of_those_that_timed_it() {
        let records = [[10.0, 20.0], [NOTHING, 30.0], [12.0, 40.0], [14.0, NOTHING]];
        let bytes: Vec<u8> = records.iter().flatten().flat_map(|number: &f64| number.to_le_bytes()).collect();
        assert_eq!(medians(&[1, 2], &bytes), [(1, 12.0), (2, 30.0)]);
        assert_eq!(medians(&[1, 2], &[]), []);
        assert_eq!(medians(&[], &[]), []);
    }
}
