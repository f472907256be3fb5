//! The cost of a message between two nodes, by tier and length.
//!
//! The model is LogGP's (Alexandrov, Ionescu, Schauser, Scheiman, LogGP: incorporating long messages into the LogP model, 1995):
//! the CPUs of both ends are busy for a while, the message is on its way, and each byte takes its time. Times are whole
//! picoseconds, so that the two ways to compute a tree's cost agree to the last digit.

use super::model::{ClusterModel, Nic, Tier};
use super::parameter::Parameter;
use super::postal::Hop;

/// Bytes that a message carries in a cache line, and a node's members at the cost of [`super::Near`].
pub(super) const LINE_BYTES: u64 = 56;

/// The longest time of a single message or piece, in picoseconds: a thousand seconds. A hundred of them can be added up.
const LONGEST_PS: f64 = 1e15;

/// Picoseconds; longer times than [`LONGEST_PS`] count as that.
pub(super) fn ps(ns: f64) -> u64 {
    (ns * 1000.0).round().clamp(0.0, LONGEST_PS) as u64
}

/// Nanoseconds.
pub(super) fn ns(ps: u64) -> f64 {
    ps as f64 / 1000.0
}

/// The message of one lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub(super) bytes: u64,
    /// The time for each byte, against that of a single lane.
    pub(super) slowdown: f64,
    /// Nanoseconds for each byte that a leader combines.
    pub(super) combine_byte_ns: f64,
    /// Nanoseconds that each message waits for its node on average.
    pub(super) wait_ns: f64,
}

/// Its costs on one tier.
#[derive(Clone, Copy, Debug)]
pub(super) struct TierCosts {
    /// A message down a tree.
    pub(super) down: Hop,
    /// A message up a tree: the step is that of the receiver, which combines.
    pub(super) up: Hop,
    /// An exchange of two nodes, with combining.
    pub(super) exchange_ps: u64,
}

impl TierCosts {
    pub(super) fn of(tier: &Tier, message: Message) -> Self {
        let value = |parameter: &Option<Parameter>| parameter.as_ref().map_or(0.0, |parameter| parameter.value);
        let (send, receive, gap) = (tier.send_ns.value, tier.receive_ns.value, value(&tier.gap_ns));
        let transfer = message.bytes as f64 * tier.byte_ns.value * message.slowdown;
        let combine = message.bytes as f64 * message.combine_byte_ns;
        let is_asked = tier.eager_bytes.as_ref().is_some_and(|eager| message.bytes as f64 > eager.value);
        let asking = if is_asked { value(&tier.rendezvous_ns) } else { 0.0 };
        let latency = send + tier.latency_ns.value + transfer + receive + asking + message.wait_ns;
        let exchange = tier.exchange_ns.as_ref().map_or(send + tier.latency_ns.value + receive, |cost| cost.value);
        let exchange = exchange + transfer + asking + message.wait_ns;
        let hop = |step: f64, latency: f64| Hop { step_ps: ps(step).max(1), latency_ps: ps(latency).max(1) };
        Self {
            down: hop(send.max(gap).max(transfer), latency),
            up: hop(receive.max(gap).max(transfer) + combine, latency + combine),
            exchange_ps: ps(exchange + combine),
        }
    }

    /// Those of every tier.
    pub(super) fn of_all(model: &ClusterModel, message: Message) -> Vec<Self> {
        model.tiers.iter().map(|tier| Self::of(tier, message)).collect()
    }
}

/// How much longer a byte takes with that many lanes at once; `None` where the curve has no such point.
pub(super) fn slowdown(nic: Option<&Nic>, lanes: u32) -> Option<f64> {
    let cost = |lanes| {
        let point = nic.into_iter().flat_map(|nic| &nic.curve).find(|(k, _)| *k == lanes);
        point.map(|(_, cost)| cost.value)
    };
    if lanes == 1 { Some(1.0) } else { Some(cost(lanes)? / cost(1)?) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;

    const MESSAGE: Message = Message { bytes: 8, slowdown: 1.0, combine_byte_ns: 0.0, wait_ns: 0.0 };

    #[test]
    fn long_messages_keep_both_ends_busy_and_ask_first() {
        let tier = Tier {
            eager_bytes: Some(Parameter::assumed(4096.0)),
            rendezvous_ns: Some(Parameter::assumed(2000.0)),
            gap_ns: Some(Parameter::assumed(300.0)),
            ..Tier::assumed("all", None, 1100.0, 250.0, 0.08)
        };
        let short = TierCosts::of(&tier, MESSAGE);
        assert_eq!(short.down, Hop { step_ps: 300_000, latency_ps: 1_600_640 });
        let long = Message { bytes: 65_536, combine_byte_ns: 0.1, ..MESSAGE };
        let long = TierCosts::of(&tier, long);
        assert_eq!(long.down, Hop { step_ps: 5_242_880, latency_ps: 1_600_000 + 2_000_000 + 5_242_880 });
        assert_eq!(long.up.step_ps - long.down.step_ps, 6_553_600);
        assert_eq!(long.exchange_ps, long.up.latency_ps);
    }

    #[test]
    fn an_exchange_takes_as_long_as_the_tier_says() {
        let tier = Tier::assumed("all", None, 1100.0, 250.0, 0.0);
        let message = Message { wait_ns: 100.0, ..MESSAGE };
        assert_eq!(TierCosts::of(&tier, message).exchange_ps, 1_700_000);
        let tier = Tier { exchange_ns: Some(Parameter::assumed(2500.0)), ..tier };
        let costs = TierCosts::of(&tier, message);
        assert_eq!((costs.exchange_ps, costs.down.latency_ps, costs.up.latency_ps), (2_600_000, 1_700_000, 1_700_000));
    }

    #[test]
    fn lanes_share_what_the_curve_says() {
        let curve = [(1, 1000.0), (2, 1200.0), (8, 8000.0)].map(|(lanes, ns)| (lanes, Parameter::assumed(ns))).to_vec();
        let nic = Nic { bytes: 65_536, curve, other: Map::new() };
        assert_eq!([1, 2, 3, 8].map(|lanes| slowdown(Some(&nic), lanes)), [Some(1.0), Some(1.2), None, Some(8.0)]);
        assert_eq!([1, 2].map(|lanes| slowdown(None, lanes)), [Some(1.0), None]);
    }
}
