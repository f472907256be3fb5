//! `corecast measure --cluster`: what messages between the nodes of this job cost, as a cluster file.
//!
//! Every process of the launcher runs it, one on each host. They measure together; the first one writes and tells the result.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::Path;
use std::thread;

use corecast::Machine;
use corecast::collective::nodes::network_costs::{self, NetworkCosts, Settings};
use corecast::collective::nodes::{Engine, Fault, Slot, Step};
use corecast::machine::{measure, model_file, pin};
use corecast::mpi::{Cluster, Launcher};
use corecast::plan::cluster::{self, ClusterModel, MachineKind, MachineSource, NodeRun, Tier};

use super::opening::open_failure;
use crate::failure::Failure;
use crate::machine_args::MachineArgs;
use crate::output::Output;
use crate::report::number::time;
use crate::{printable, table, target_folder};

/// The variable in which Slurm tells the place of a node in its network.
const PLACE_VARIABLE: &str = "SLURM_TOPOLOGY_ADDR";

/// The kind of machine that every node is taken to be.
const KIND: &str = "node";

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
    let (node, hosts) = (engine.facts().node, engine.facts().hosts.clone());
    let measured = match hosts.len() {
        1 => Err(alone()),
        _ => measured(&mut *engine, is_quick).map_err(told),
    };
    engine.close(measured.is_ok());
    let costs = measured?;
    if node != 0 {
        return Ok(());
    }
    if (0..hosts.len()).any(|node| place_among_equals(node, &hosts) > 0) {
        output.remark(
            "several processes of the launcher share a host, and each counts as a machine: expected one on each host",
        );
    }
    let machine = machine.model(output)?.machine;
    let model = model(&costs, &hosts, &machine, out)?;
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

fn alone() -> Failure {
    Failure::input("messages between nodes need two of them: there is one")
        .with_help("start it under the launcher, such as `mpirun --map-by ppr:1:node corecast measure --cluster`")
}

/// The number of a node among those before it that have told the same.
fn place_among_equals<T: PartialEq>(node: usize, told: &[T]) -> usize {
    told[..node].iter().filter(|&other| *other == told[node]).count()
}

/// The number of this node among those of the machine that it runs on: several hosts may be namespaces of one machine, and then
/// share its CPUs.
fn place_on_machine(engine: &mut dyn Engine) -> Result<usize, Fault> {
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
    let machines: Vec<&[u8]> = engine.room(into, bytes * nodes).chunks_exact(bytes).collect();
    Ok(place_among_equals(node, &machines))
}

fn measured(engine: &mut dyn Engine, is_quick: bool) -> Result<NetworkCosts, Fault> {
    let place_on_machine = place_on_machine(engine)?;
    // A leader that wanders between CPUs measures its own journeys, and two on one CPU its changes of context. One that may not
    // be bound is measured as it is.
    let cpus = pin::affinity().ok();
    let own = cpus.as_ref().and_then(|cpus| cpus.as_slice().iter().cycle().nth(place_on_machine).copied());
    let _bound = own.and_then(|cpu| pin::pin(cpu).ok());
    let place = std::env::var(PLACE_VARIABLE).unwrap_or_default();
    let exchanges = if is_quick { 100 } else { Settings::default().exchanges };
    network_costs::measure(engine, &Settings { exchanges, place, ..Settings::default() })
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
    hosts: &[String],
    machine: &Machine,
    out: Option<&Path>,
) -> Result<ClusterModel, Failure> {
    let source = format!("{} by corecast measure --cluster over {}", measure::date::now(), costs.engine);
    let file = machine_path(out.unwrap_or(Path::new("cluster.json")));
    let file = file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let run = NodeRun { kind: KIND.to_owned(), count: costs.nodes as u64, place: None, other: Default::default() };
    let model = ClusterModel {
        name: format!("{} of {}, the first {}", table::many(hosts.len(), "node"), machine.name, hosts[0]),
        machines: [(KIND.to_owned(), MachineKind::of(MachineSource::File(file)))].into(),
        nodes: vec![run],
        tiers: costs.tiers(&source),
        nic: None,
        arrival: Some(costs.arrival(&source)),
        other: Default::default(),
    };
    model.check().map_err(Failure::environment)?;
    Ok(model)
}

fn describe(model: &ClusterModel, costs: &NetworkCosts) -> String {
    let mut rows =
        table::table(&["tier", ">nodes", ">one way", ">L", ">o send", ">o receive", ">g", ">KiB", ">spread"]);
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
        "{}: {} over {}\n{}{arrival}every node is taken to be a machine as the first one is\n",
        printable::line(&model.name),
        table::many(costs.pairs.len(), "ordered pair"),
        printable::line(&costs.engine),
        table::text(&rows),
    )
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
        time(1024.0 * tier.byte_ns.value),
        value(&tier.spread_ns),
    ]
}

#[cfg(test)]
mod tests {
    use corecast::collective::nodes::local::Network;

    use super::*;

    #[test]
    fn nodes_on_one_host_are_numbered_there() {
        let hosts = ["a", "b", "a", "a"];
        assert_eq!([0, 1, 2, 3].map(|node| place_among_equals(node, &hosts)), [0, 0, 1, 2]);
    }

    #[test]
    fn nodes_of_one_machine_have_places_of_their_own() {
        let nodes = Network::of(3).engines().into_iter();
        let nodes: Vec<_> = nodes.map(|mut engine| thread::spawn(move || place_on_machine(&mut *engine))).collect();
        let places: Vec<_> = nodes.into_iter().map(|node| node.join().expect("no panic").expect("no fault")).collect();
        assert_eq!(places, [0, 1, 2]);
    }
}
