//! From pairs to tiers: which nodes belong together, and what the messages among them cost.

use corecast_machine::clusters::levels;
use corecast_plan::cluster::{Parameter, Tier};

use super::gathered::PairCosts;
use super::pair::median;

/// A node's place in its network: the names of the parts that it is in, the outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    parts: Vec<String>,
}

impl Place {
    /// From a text with a dot between parts, padded with zeros. The last part names the node itself, and is left out.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let mut parts: Vec<String> = text.trim_end_matches('\0').split('.').map(str::to_owned).collect();
        parts.pop();
        Self { parts }
    }
}

/// Names and sizes of the tiers below that of all nodes, the smallest first: by places if all nodes have one, else by the
/// clusters that the costs of all pairs show. Parts that are no equal runs of nodes, each a multiple of the ones inside, are
/// left out.
pub(super) fn tiers_of(nodes: usize, places: &[Place], pairs: &[PairCosts]) -> Vec<(String, usize)> {
    let depth = places.iter().map(|place| place.parts.len()).min().unwrap_or(0);
    let partitions: Vec<(String, Vec<u32>)> = if depth > 0 {
        let name = |depth: usize| format!("part {} of the network's places", depth);
        (1..=depth).rev().map(|depth| (name(depth), by_place(places, depth))).collect()
    } else {
        let found = by_costs(nodes, pairs);
        found.into_iter().enumerate().map(|(i, level)| (format!("cluster {}", i + 1), level)).collect()
    };
    let mut tiers: Vec<(String, usize)> = Vec::new();
    for (name, partition) in partitions {
        let before = tiers.last().map_or(1, |(_, size)| *size);
        if let Some(size) = run_length(&partition).filter(|&size| size > before && size % before == 0 && size < nodes) {
            tiers.push((name, size));
        }
    }
    tiers
}

/// Nodes with the same first parts.
fn by_place(places: &[Place], depth: usize) -> Vec<u32> {
    let mut known: Vec<&[String]> = Vec::new();
    let number = |place: &'_ Place| place.parts[..depth].to_vec();
    let keys: Vec<Vec<String>> = places.iter().map(number).collect();
    keys.iter()
        .map(|key| {
            let at = known.iter().position(|other| *other == &key[..]).unwrap_or_else(|| {
                known.push(key);
                known.len() - 1
            });
            at as u32
        })
        .collect()
}

/// The clusters that costs show, if all pairs have met.
fn by_costs(nodes: usize, pairs: &[PairCosts]) -> Vec<Vec<u32>> {
    if pairs.len() < nodes * nodes.saturating_sub(1) {
        return Vec::new();
    }
    let mut costs = vec![0.0; nodes * nodes];
    for pair in pairs {
        costs[pair.from * nodes + pair.to] = pair.one_way_ns;
    }
    levels(nodes, &|a, b| costs[a * nodes + b])
}

/// The length of the runs if the parts are runs of equal length, the last one perhaps shorter.
fn run_length(partition: &[u32]) -> Option<usize> {
    let first = *partition.first()?;
    let length = partition.iter().take_while(|&&part| part == first).count();
    let mut seen = Vec::new();
    for run in partition.chunks(length) {
        if run.iter().any(|&part| part != run[0]) || seen.contains(&run[0]) {
            return None;
        }
        seen.push(run[0]);
    }
    Some(length)
}

/// A tier with the medians of these pairs.
pub(super) fn tier(name: &str, size: Option<u64>, pairs: &[&PairCosts], source: &str) -> Tier {
    let source = format!("{source}, {} pairs", pairs.len());
    let of = |get: fn(&PairCosts) -> f64| median(pairs.iter().map(|pair| get(pair)).collect());
    let measured = |value: f64| Parameter::measured(value, &source);
    let (send, receive) = (of(|pair| pair.send_ns), of(|pair| pair.receive_ns));
    let latency = (of(|pair| pair.one_way_ns) - send - receive).max(0.0);
    Tier {
        latency_ns: measured(latency),
        send_ns: measured(send),
        receive_ns: measured(receive),
        // A node's messages take some time: below a nanosecond these figures say nothing, and no cluster file has them.
        gap_ns: Some(measured(of(|pair| pair.gap_ns).max(1.0))),
        exchange_ns: Some(measured(of(|pair| pair.exchange_ns).max(1.0))),
        byte_ns: measured(of(|pair| pair.byte_ns)),
        spread_ns: Some(measured(of(|pair| pair.spread_ns))),
        ..Tier::assumed(name, size, latency, send, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(nodes: usize, cost: impl Fn(usize, usize) -> f64) -> Vec<PairCosts> {
        let mut pairs = Vec::new();
        for (from, to) in (0..nodes).flat_map(|a| (0..nodes).filter(move |&b| a != b).map(move |b| (a, b))) {
            pairs.push(PairCosts {
                from,
                to,
                one_way_ns: cost(from, to),
                spread_ns: 5.0,
                send_ns: 250.0,
                receive_ns: 300.0,
                gap_ns: 320.0,
                exchange_ns: 1900.0,
                byte_ns: 0.08,
                late_ns: 20.0,
                tail_share: 0.001,
                tail_ns: 9000.0,
            });
        }
        pairs
    }

    fn places(texts: &[&str]) -> Vec<Place> {
        texts.iter().map(|text| Place::of(text.as_bytes())).collect()
    }

    #[test]
    fn costs_show_tiers_where_all_pairs_have_met() {
        let cost = |a: usize, b: usize| if a / 4 == b / 4 { 1600.0 } else { 2400.0 };
        let all = pairs(8, cost);
        let none = places(&[""; 8]);
        assert_eq!(tiers_of(8, &none, &all), [("cluster 1".to_owned(), 4)]);
        assert_eq!(tiers_of(8, &none, &all[1..]), []);
        let spread = |a: usize, b: usize| if a % 2 == b % 2 { 1600.0 } else { 2400.0 };
        assert_eq!(tiers_of(8, &none, &pairs(8, spread)), [], "a tier is a run of nodes");
    }

    #[test]
    fn places_tell_tiers_without_costs() {
        let texts = ["s.a.x.n1", "s.a.x.n2", "s.a.y.n3", "s.a.y.n4", "s.b.z.n5", "s.b.z.n6"];
        let sizes: Vec<usize> = tiers_of(6, &places(&texts), &[]).into_iter().map(|(_, size)| size).collect();
        assert_eq!(sizes, [2, 4]);
        let mixed = ["s.a.n1", "s.b.n2", "s.a.n3", "s.b.n4"];
        assert_eq!(tiers_of(4, &places(&mixed), &[]), []);
    }

    #[test]
    fn a_tier_has_the_medians_of_its_pairs() {
        let all = pairs(4, |_, _| 1650.0);
        let tier = tier("all", None, &all.iter().collect::<Vec<_>>(), "today");
        assert_eq!((tier.latency_ns.value, tier.send_ns.value, tier.receive_ns.value), (1100.0, 250.0, 300.0));
        assert_eq!(tier.exchange_ns, Some(Parameter::measured(1900.0, "today, 12 pairs")));
        assert_eq!(tier.byte_ns, Parameter::measured(0.08, "today, 12 pairs"));
    }
}
