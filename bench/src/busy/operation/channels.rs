//! Messages of 56 bytes between threads, over the channels of `corecast bench channels`.

use std::sync::Arc;

use super::candidate::{Bodies, Candidate, of_std, ours, rival};
use crate::channels::{Wire, fan, pair};
use corecast_race::contender::Setting;
use corecast_race::harness::Abort;

/// The payload of a message: all that fits into one slot of `ump`.
const BYTES: usize = 56;
/// A ring without waiting of its own in a loop that only polls, for tens of seconds at least.
const SPINNING: Option<u32> = Some(u32::MAX);
/// The same in a loop that yields after each look.
const YIELDING: Option<u32> = Some(0);

/// The senders and the receivers of each message.
#[derive(Clone, Copy, Debug)]
enum Traffic {
    /// Member 0 asks, and waits for the answer.
    RoundTrip,
    /// Member 0 sends to all others.
    Stream,
}

/// Of `ump` and queues.
pub(super) fn round_trips() -> Vec<Candidate> {
    of("ump", Traffic::RoundTrip)
}

/// The same.
pub(super) fn streams() -> Vec<Candidate> {
    of("ump", Traffic::Stream)
}

/// Of `mcast`, and queues to each reader.
pub(super) fn multicasts() -> Vec<Candidate> {
    of("mcast", Traffic::Stream)
}

fn of(own: &'static str, traffic: Traffic) -> Vec<Candidate> {
    let mut all = ours(over(own, traffic, None));
    all.push(of_std(over("std-sync-channel", traffic, None)));
    all.push(rival("crossbeam-channel", true, over("crossbeam-channel", traffic, None)));
    all.push(rival("rtrb-spin", false, over("rtrb", traffic, SPINNING)));
    all.push(rival("rtrb-yield", false, over("rtrb", traffic, YIELDING)));
    all
}

/// The members' bodies over this channel.
fn over(
    carrier: &'static str,
    traffic: Traffic,
    polls: Option<u32>,
) -> impl Fn(&Setting<'_>, &Arc<Abort>) -> Bodies + Clone + 'static {
    move |setting, abort| {
        let wire = Wire::new(BYTES, setting.participants() - 1, setting.oversubscribed, setting.wait);
        let wake_ns = setting.machine.extended.wake_ns.map(|ns| ns as u64);
        let wire = Wire { polls, wake_ns, ..wire };
        match traffic {
            Traffic::RoundTrip => pair(carrier, &wire, true, abort),
            Traffic::Stream => fan(carrier, &wire, abort),
        }
    }
}
