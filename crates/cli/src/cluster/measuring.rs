//! `corecast measure --cluster`: what messages between the nodes of this job cost, as a cluster file.
//!
//! Every process of the launcher runs it, one on each host or, for lanes, several. They measure together; the first one writes
//! and tells the result.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::thread;

use corecast::Machine;
use corecast::collective::nodes::network_costs::{self, NetworkCosts, Settings};
use corecast::collective::nodes::{Engine, Fault, Slot, Step};
use corecast::machine::{measure, model_file, pin};
use corecast::mpi::{Cluster, Launcher};
use corecast::plan::cluster::{self, ClusterModel, MachineSource, Tier};

use super::opening::open_failure;
use crate::failure::Failure;
use crate::machine_args::MachineArgs;
use crate::output::Output;
use crate::report::number::time;
use crate::{printable, table, target_folder};

/// The variable in which Slurm tells the place of a node in its network.
const PLACE_VARIABLE: &str = "SLURM_TOPOLOGY_ADDR";

/// Measures with all other processes of the launcher, and writes the result to `out` if there is one.
pub(crate) fn measure(
    machine: &MachineArgs,
    is_quick: bool,
    out: Option<&Path>,
    output: &Output,
) -> Result<(), Failure> {
    check_out(out, output)?;
    let cluster = Cluster::from_env().map_err(open_failure)?;
    let Some(mut engine) = cluster.into_engine() else {
        return Ok(());
    };
    let (node, first_host) = (engine.facts().node, engine.facts().hosts[0].clone());
    let measured = measured(&mut *engine, is_quick);
    engine.close(measured.is_ok());
    let costs = measured?;
    if node != 0 {
        return Ok(());
    }
    let machine = machine.model(output)?.machine;
    let model = model(&costs, &first_host, &machine, out)?;
    if let Some(path) = out {
        model_file::write(&machine, &machine_path(path))?;
        cluster::write(&model, path).map_err(Failure::environment)?;
    }
    if output.is_json() {
        return output.json_text(&cluster::render(&model).map_err(Failure::environment)?);
    }
    let written = out.map_or(String::new(), |path| format!("model written to {}\n", path.display()));
    output.text(&format!("{}{written}", describe(&model, &costs)))
}

/// That the result can be written: the model names the file of the machine, which is written beside it. The process that would
/// write it looks at the folder before it meets the others; its launcher ends them if there is none.
fn check_out(out: Option<&Path>, output: &Output) -> Result<(), Failure> {
    match out {
        None if output.is_json() => {
            Err(Failure::input("--cluster with --json needs --out FILE: the model names the machine's file beside it"))
        }
        Some(path) if Launcher::from_env().is_none_or(|launcher| launcher.rank == 0) => {
            Ok(target_folder::check("the model", path)?)
        }
        _ => Ok(()),
    }
}

fn alone(processes: usize) -> Failure {
    let why =
        if processes == 1 { "there is one".to_owned() } else { format!("all {processes} processes share a host") };
    Failure::input(format!("messages between nodes need two of them: {why}"))
        .with_help("start it under the launcher, such as `mpirun --map-by ppr:1:node corecast measure --cluster`")
}

/// Where a process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position {
    /// A number that all processes on its host have and no others.
    host: u64,
    /// Its number among the processes that share CPUs: several hosts may be namespaces of one machine. The first processes of
    /// all hosts come first, as they measure while the others sleep.
    seat: usize,
}

/// The positions of processes that tell their machine and their host.
fn positions(told: &[(u64, &str)]) -> Vec<Position> {
    let lane = |process: usize| told[..process].iter().filter(|&other| *other == told[process]).count();
    let rank = |process: usize| (lane(process), process);
    let position = |process: usize| {
        let mut hasher = DefaultHasher::new();
        told[process].hash(&mut hasher);
        let before = |&other: &usize| told[other].0 == told[process].0 && rank(other) < rank(process);
        Position { host: hasher.finish(), seat: (0..told.len()).filter(before).count() }
    };
    (0..told.len()).map(position).collect()
}

/// The positions of all processes.
fn gathered_positions(engine: &mut dyn Engine) -> Result<Vec<Position>, Fault> {
    let (node, nodes) = (engine.facts().node, engine.facts().nodes());
    let mut hasher = DefaultHasher::new();
    // A system that does not tell is one of its own.
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    hasher.write(boot.unwrap_or_else(|_| format!("node {node}")).as_bytes());
    let (from, into, bytes) = (Slot::outgoing(0), Slot::incoming(0), size_of::<u64>());
    engine.room(from, bytes).copy_from_slice(&hasher.finish().to_le_bytes());
    engine.room(into, bytes * nodes);
    let ticket = engine.start(Step::Gather { from, bytes, into })?;
    while !engine.poll(ticket)? {
        thread::yield_now();
    }
    let machines = engine.room(into, bytes * nodes).chunks_exact(bytes).map(|bytes| {
        let mut machine = [0; 8];
        machine.copy_from_slice(bytes);
        u64::from_le_bytes(machine)
    });
    let machines: Vec<u64> = machines.collect();
    let hosts = engine.facts().hosts.iter().map(String::as_str);
    Ok(positions(&machines.into_iter().zip(hosts).collect::<Vec<_>>()))
}

fn measured(engine: &mut dyn Engine, is_quick: bool) -> Result<NetworkCosts, Failure> {
    let positions = gathered_positions(engine).map_err(told)?;
    let Position { host, seat } = positions[engine.facts().node];
    if positions.iter().all(|other| other.host == host) {
        return Err(alone(positions.len()));
    }
    // A leader that wanders between CPUs measures its own journeys, and two on one CPU its changes of context. One that may not
    // be bound is measured as it is.
    let cpus = pin::affinity().ok();
    let own = cpus.as_ref().and_then(|cpus| cpus.as_slice().iter().cycle().nth(seat).copied());
    let _bound = own.and_then(|cpu| pin::pin(cpu).ok());
    let place = std::env::var(PLACE_VARIABLE).unwrap_or_default();
    let exchanges = if is_quick { 100 } else { Settings::default().exchanges };
    let settings = Settings { exchanges, place, host: Some(host), ..Settings::default() };
    network_costs::measure(engine, &settings).map_err(told)
}

/// A fault of the engine in words.
fn told(fault: Fault) -> Failure {
    let words = match fault {
        Fault::NodeLost { node } => format!("node {node} was lost"),
        Fault::Engine { class, text } => format!("the library reports {text} (class {class})"),
        other => format!("another node reports a fault: {other:?}"),
    };
    Failure::environment(format!("messages between nodes could not be measured: {words}"))
}

/// The file with the model of the machines, beside that of the cluster.
fn machine_path(cluster: &Path) -> std::path::PathBuf {
    cluster.with_extension("machine.json")
}

fn model(
    costs: &NetworkCosts,
    first_host: &str,
    machine: &Machine,
    out: Option<&Path>,
) -> Result<ClusterModel, Failure> {
    let source = format!("{} by corecast measure --cluster over {}", measure::date::now(), costs.engine);
    let file = machine_path(out.unwrap_or(Path::new("cluster.json")));
    let file = file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let name = format!("{} of {}, the first {first_host}", table::many(costs.nodes, "node"), machine.name);
    let model = costs.model(name, MachineSource::File(file), &source);
    model.check().map_err(Failure::environment)?;
    Ok(model)
}

fn describe(model: &ClusterModel, costs: &NetworkCosts) -> String {
    let mut rows = table::table(&[
        "tier",
        ">nodes",
        ">one way",
        ">L",
        ">o send",
        ">o receive",
        ">g",
        ">exchange",
        ">KiB",
        "?>spread",
    ]);
    for tier in &model.tiers {
        rows.add_row(row(tier));
    }
    let arrival = model.arrival.as_ref().map_or(String::new(), |arrival| {
        format!(
            "messages come {} late on average; {:.2} % were interrupted, for {}\n",
            time(arrival.mean_ns.value),
            100.0 * arrival.tail_share.value,
            time(arrival.tail_ns.value)
        )
    });
    format!(
        "{}: {} over {}\n{}{arrival}{}every node is taken to be a machine as the first one is\n",
        printable::line(&model.name),
        table::many(costs.pairs.len(), "ordered pair"),
        printable::line(&costs.engine),
        table::text(&rows),
        lanes(model),
    )
}

/// How lanes disturb each other, or why that is not known.
fn lanes(model: &ClusterModel) -> String {
    let Some(nic) = &model.nic else {
        return "lanes were not measured, as that takes several processes on each node, such as 4 with \
                `mpirun --map-by ppr:4:node`\n"
            .to_owned();
    };
    let one_ns = nic.curve.first().map_or(1.0, |(_, cost)| cost.value);
    let point = |(lanes, cost): &(u32, cluster::Parameter)| {
        format!("{} {} ({:.2} x)", table::many(*lanes as usize, "lane"), time(cost.value), cost.value / one_ns)
    };
    let points: Vec<String> = nic.curve.iter().map(point).collect();
    format!("{} KiB of each lane at once, until all have arrived: {}\n", nic.bytes >> 10, points.join(", "))
}

fn row(tier: &Tier) -> Vec<String> {
    let value = |parameter: &Option<cluster::Parameter>| {
        parameter.as_ref().map_or_else(|| "-".to_owned(), |parameter| time(parameter.value))
    };
    let one_way = tier.latency_ns.value + tier.send_ns.value + tier.receive_ns.value;
    vec![
        printable::line(&tier.name).into_owned(),
        tier.size.map_or_else(|| "all".to_owned(), |size| size.to_string()),
        time(one_way),
        time(tier.latency_ns.value),
        time(tier.send_ns.value),
        time(tier.receive_ns.value),
        value(&tier.gap_ns),
        value(&tier.exchange_ns),
        time(1024.0 * tier.byte_ns.value),
        value(&tier.spread_ns),
    ]
}

#[cfg(test)]
mod tests {
    use corecast::collective::nodes::local::Network;

    use super::*;

    #[test]
    fn processes_of_one_host_tell_one_number_and_first_ones_get_the_first_cpus() {
        // Two hosts that are namespaces of one machine, and one of another machine with the name of the first.
        let told = [(1, "a"), (1, "a"), (1, "b"), (1, "b"), (2, "a")];
        let positions = positions(&told);
        assert_eq!(positions.iter().map(|position| position.seat).collect::<Vec<_>>(), [0, 2, 1, 3, 0]);
        let hosts: Vec<u64> = positions.iter().map(|position| position.host).collect();
        assert_eq!((hosts[0], hosts[2]), (hosts[1], hosts[3]));
        assert!(hosts[0] != hosts[2] && hosts[0] != hosts[4] && hosts[2] != hosts[4]);
    }

    #[test]
    fn hosts_of_one_machine_have_seats_of_their_own() {
        let nodes = Network::of(3).engines().into_iter();
        let nodes: Vec<_> = nodes.map(|mut engine| thread::spawn(move || gathered_positions(&mut *engine))).collect();
        for node in nodes {
            let positions = node.join().expect("no panic").expect("no fault");
            assert_eq!(positions.iter().map(|position| position.seat).collect::<Vec<_>>(), [0, 1, 2]);
        }
    }

    #[test]
    fn a_single_host_is_refused() {
        let mut engine = Network::of(1).engines().remove(0);
        let failure = measured(&mut *engine, true).expect_err("there is nothing to measure");
        assert!(format!("{failure:?}").contains("there is one"), "{failure:?}");
        let failure = alone(3);
        assert!(format!("{failure:?}").contains("all 3 processes share a host"), "{failure:?}");
    }

    #[test]
    fn a_curve_or_its_absence_is_told() {
        let lanes_of = |points: &[(u32, f64)]| {
            let mut model = cluster::parse(include_str!("../../../../docs/examples/cluster.json")).expect("a model");
            let curve = points.iter().map(|&(k, ns)| (k, cluster::Parameter::measured(ns, "today"))).collect();
            let nic = cluster::Nic { bytes: 64 << 10, curve, other: Default::default() };
            model.nic = Some(nic).filter(|nic| !nic.curve.is_empty());
            lanes(&model)
        };
        let text = lanes_of(&[(1, 10_000.0), (2, 12_500.0)]);
        assert!(text.contains("1 lane 10") && text.contains("(1.25 x)"), "{text}");
        assert!(lanes_of(&[]).contains("not measured"));
    }
}
