//! Makes a [`Machine`] of the results, with doubts in words.

use corecast_base::CpuId;

use super::curves::Curves;
use super::date;
use super::error::MeasureError;
use super::gauge::Gauge;
use super::pairs::Pairs;
use super::single_costs::SingleCosts;
use super::stats::Summary;
use super::visit::{Batches, Costs};
use crate::cost_matrix::CostMatrix;
use crate::curve::Curve;
use crate::extended::Extended;
use crate::fingerprint::Fingerprint;
use crate::machine::{Machine, Provenance};
use crate::topology::Topology;
use crate::unit::Unit;

/// A spread wider than this part of the cost is a doubt.
const WIDE: f64 = 0.25;
/// More pairs than that are counted instead of named.
const MOST_NAMED: usize = 8;
/// The store buffer counts as full when the next send costs this part of one in a stream.
const FULL: f64 = 0.8;

/// Results that need one CPU only.
#[derive(Debug)]
pub(super) struct Alone<'a> {
    /// The CPUs that were measured.
    pub(super) topology: &'a Topology,
    pub(super) gauge: Gauge,
    pub(super) singles: SingleCosts,
}

/// Results between CPUs.
#[derive(Debug)]
pub(super) struct Between {
    pub(super) probe: String,
    pub(super) batches: Batches,
    pub(super) pairs: Pairs,
    pub(super) curves: Curves,
    pub(super) notes: Vec<String>,
    pub(super) warnings: Vec<String>,
}

impl Alone<'_> {
    /// The machine of a single CPU: nothing to measure, so costs stay assumed.
    pub(super) fn into_machine(self) -> Machine {
        let mut machine = Machine::from_topology(self.topology);
        self.describe(&mut machine);
        let cpus: Vec<String> = machine.cpus.iter().map(|cpu| cpu.id.to_string()).collect();
        machine.extended.warnings.insert(
            0,
            format!(
                "only CPU {} can be used, so no cost between CPUs could be measured: all are assumed",
                cpus.join(", ")
            ),
        );
        machine
    }

    /// Writes down what does not depend on pairs.
    fn describe(&self, machine: &mut Machine) {
        let fingerprint = Fingerprint::of_this_machine(self.topology);
        machine.name = format!("{}, CPUs {}", fingerprint.cpu_model, fingerprint.cpus);
        machine.extended = Extended {
            wake_ns: self.singles.wake_ns,
            yield_ns: Some(self.singles.yield_ns),
            pause_ns: Some(self.singles.pause_ns),
            fingerprint: Some(fingerprint.id()),
            measured_at: Some(date::now()),
            notes: vec![format!(
                "clock: steps of {:.1} ns, {:.1} ns per look",
                self.gauge.granularity_ns, self.gauge.look_ns
            )],
            warnings: self.warnings(),
            ..Extended::default()
        };
    }

    fn warnings(&self) -> Vec<String> {
        let cpus = self.topology.cpus.len();
        let short_of = self.topology.quota.filter(|&quota| quota < cpus as f64);
        let quota = short_of.map(|quota| {
            format!(
                "this process may use the time of {quota} CPUs only, and {cpus} were measured: the kernel stops it now and \
                 then, which medians survive and users will feel"
            )
        });
        let clock = (!self.gauge.is_monotonic).then(|| "the clock went backwards on one CPU".to_owned());
        quota.into_iter().chain(clock).collect()
    }
}

impl Between {
    /// The measured machine.
    pub(super) fn into_machine(self, alone: &Alone<'_>) -> Result<Machine, MeasureError> {
        let mut machine = Machine::from_topology(alone.topology);
        alone.describe(&mut machine);
        machine.unit = Unit::Ns;
        machine.provenance = Provenance {
            kind: "measured".to_owned(),
            source: format!("corecast {}, probe: {}", env!("CARGO_PKG_VERSION"), self.probe),
            groups: alone.topology.source.clone(),
            ..Provenance::default()
        };
        machine.send = self.matrix(|costs, way| costs.send[way].median)?;
        machine.receive = self.matrix(|costs, way| costs.receive[way].median)?;
        let inferred_nodes = inferred_nodes(&machine);
        let ids: Vec<CpuId> = machine.cpus.iter().map(|cpu| cpu.id).collect();
        let extended = &mut machine.extended;
        extended.bounce = Some(self.matrix(|costs, _| costs.bounce.median)?);
        extended.send_spread = Some(self.matrix(|costs, way| costs.send[way].mad)?);
        extended.receive_spread = Some(self.matrix(|costs, way| costs.receive[way].mad)?);
        extended.notes.extend(inferred_nodes);
        extended.warnings.extend(self.wide_spreads(&ids));
        extended.warnings.extend(self.changing_regimes(&ids));
        extended.notes.extend(self.how_it_was_taken(ids.len()));
        extended.notes.extend(self.notes);
        extended.warnings.extend(self.warnings);
        extended.fan_out = Some(self.curves.fan_out);
        extended.fan_in = Some(self.curves.fan_in);
        extended.readers = Some(self.curves.readers);
        extended.fetch_add = Some(self.curves.fetch_add);
        machine.check().map_err(MeasureError::Machine)?;
        Ok(machine)
    }

    /// `cost(pair, way)`: way 0 is from the lower position to the higher one.
    fn matrix(&self, cost: impl Fn(&Costs, usize) -> f64) -> Result<CostMatrix, MeasureError> {
        let cpus = self.pairs.positions();
        let mut rows = vec![vec![0.0; cpus]; cpus];
        for (a, b) in self.pairs.all() {
            let costs = self.pairs.costs((a, b));
            rows[a][b] = cost(&costs, 0);
            rows[b][a] = cost(&costs, 1);
        }
        CostMatrix::from_rows(rows).map_err(MeasureError::Costs)
    }

    fn wide_spreads(&self, ids: &[CpuId]) -> Vec<String> {
        let mut wide = Vec::new();
        for (a, b) in self.pairs.all() {
            let costs = self.pairs.costs((a, b));
            let ways = [(a, b, 0), (b, a, 1)];
            for (from, to, way) in ways {
                let mut doubt = |what: &str, cost: Summary| {
                    if cost.relative_spread() > WIDE {
                        wide.push(format!(
                            "the {what} cost from CPU {} to CPU {} is uncertain: {:.1} ns, give or take {:.1}",
                            ids[from], ids[to], cost.median, cost.mad
                        ));
                    }
                };
                doubt("send", costs.send[way]);
                doubt("receive", costs.receive[way]);
            }
        }
        shortened(wide, "further costs are as uncertain")
    }

    fn changing_regimes(&self, ids: &[CpuId]) -> Vec<String> {
        let changing = self.pairs.all().filter_map(|(a, b)| {
            let (low, high) = self.pairs.regimes((a, b))?;
            Some(format!(
                "CPU {} and CPU {} have two regimes: a hand-over takes now {low:.0} ns, now {high:.0} ns",
                ids[a], ids[b]
            ))
        });
        shortened(changing.collect(), "further pairs have two regimes")
    }

    fn how_it_was_taken(&self, cpus: usize) -> Vec<String> {
        let Batches { stream, each, trips, channels, .. } = &self.batches;
        let followed_ns = self.pairs.typical(|costs| costs.followed);
        let mut notes = vec![
            format!(
                "send: per message of a stream of {} dealt to {channels} channels, until the last one is visible to all; \
                 {followed_ns:.1} ns (median) of a stream of {stream} through one channel whose receiver reads along",
                each * channels
            ),
            format!("receive: per message already there, {channels} channels with one each, read one after the other"),
            format!("bounce: half a round trip of a bare line, {trips} trips"),
            format!("each cost: median over {} or more visits of the pair", self.pairs.least_visits()),
            format!(
                "fan_out, fan_in, readers, fetch_add: seen from the first CPU, with those that follow it; fan_out over more \
                 channels than the {} others: several to each",
                cpus - 1
            ),
            "fan_out: until the core could go on; fan_in: messages already there, whose lines come at the same time"
                .to_owned(),
            "readers: a write and its way to the last reader, as a round trip less half of one with the farthest reader alone; \
             fetch_add: until each CPU has had a turn"
                .to_owned(),
        ];
        notes.extend(self.dealt_in(cpus - 1));
        notes.extend(self.store_buffer());
        notes.push(format!("sends in a row until the last one is visible: {}", listed(&self.curves.visible)));
        notes
    }

    /// The fan-in curve without the points that have fewer senders than messages, which are not fan-in.
    fn dealt_in(&self, senders: usize) -> Option<String> {
        let dealt = &self.curves.dealt_in;
        (!dealt.is_empty()).then(|| {
            format!(
                "fan_in ends at {senders}: there are no more senders; messages that they sent several of: {}",
                listed(dealt)
            )
        })
    }

    /// The number of sends in a row after which the store buffer hides nothing any more.
    fn store_buffer(&self) -> Option<String> {
        let stream_ns = self.pairs.typical(|costs| costs.send);
        let next_ns = |pair: &[(u32, f64)]| (pair[1].1 - pair[0].1) / f64::from(pair[1].0 - pair[0].0);
        let full = self.curves.fan_out.windows(2).position(|pair| next_ns(pair) >= FULL * stream_ns);
        let said = match full {
            Some(0) => "in a burst they are no cheaper".to_owned(),
            Some(at) => format!("in a burst they are cheaper up to {} in a row", self.curves.fan_out[at].0),
            None => {
                format!("in a burst they are cheaper, and {} in a row do not fill it", self.curves.fan_out.last()?.0)
            }
        };
        Some(format!("store buffer: sends of a stream cost {stream_ns:.1} ns each; {said}"))
    }
}

/// Adds a note if clusters of measured costs stand in for nodes.
fn inferred_nodes(machine: &Machine) -> Option<String> {
    let nodes = if machine.known_groups().is_some() { None } else { machine.measured_nodes() };
    let clusters = nodes?.into_iter().max()? + 1;
    Some(format!(
        "no NUMA nodes, packages or third-level caches are known: {clusters} clusters of measured costs stand in"
    ))
}

fn listed(curve: &Curve) -> String {
    curve.iter().map(|(count, cost_ns)| format!("{count} {cost_ns:.1} ns")).collect::<Vec<_>>().join(", ")
}

/// The first few, and how many there are beyond.
fn shortened(mut texts: Vec<String>, rest: &str) -> Vec<String> {
    let beyond = texts.len().saturating_sub(MOST_NAMED);
    texts.truncate(MOST_NAMED);
    texts.extend((beyond > 0).then(|| format!("{beyond} {rest}")));
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Cpu;

    #[test]
    fn clusters_that_stand_in_for_nodes_are_told() {
        let cpus: Vec<Cpu> = (0..4).map(|id| Cpu::flat(CpuId::new(id))).collect();
        let mut machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        machine.provenance.kind = "measured".to_owned();
        assert_eq!(inferred_nodes(&machine), None, "all are equally far");
        let cost = |i: usize, j: usize| [[0.0, 20.0], [90.0, 90.0]][usize::from(i / 2 != j / 2)][usize::from(i != j)];
        machine.receive = CostMatrix::from_fn(4, cost).expect("costs");
        assert!(inferred_nodes(&machine).expect("clusters").contains(": 2 clusters of measured costs stand in"));
        machine.cpus.iter_mut().for_each(|cpu| cpu.package = Some(0));
        assert_eq!(inferred_nodes(&machine), None, "the package is known");
    }
}
