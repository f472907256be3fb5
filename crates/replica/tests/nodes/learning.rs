//! Learning over a tree among nodes of one process.

use std::time::{Duration, Instant};

use corecast_base::CpuId;
use corecast_machine::{CostMatrix, Cpu, Machine, Topology, pin};
use corecast_replica::placement::LearnTree;
use corecast_replica::{Config, Learning, Level, Node, Placement, Replicated};

use crate::counter::Counter;

/// Long enough for anything that happens at all.
const PATIENCE: Duration = Duration::from_secs(60);

fn config(placement: Placement) -> Config {
    Config::default().slots(8).window(1024).bulk_bytes(1 << 16).placement(placement).joining(PATIENCE)
}

fn join(config: &Config, group: &[Node<Counter>]) -> Node<Counter> {
    match group.first() {
        None => Replicated::create(config, Counter::default()).expect("there is memory"),
        Some(first) => Replicated::attach_fd(config, first.share().expect("there is /proc")).expect("the group lives"),
    }
}

/// This number of nodes, each with what `configured` makes of the configuration for its slot.
fn group(nodes: usize, configured: impl Fn(usize) -> Config) -> Vec<Node<Counter>> {
    let mut group = Vec::new();
    for slot in 0..nodes {
        group.push(join(&configured(slot), &group));
    }
    group
}

/// All nodes write at the same time, and see what they and others wrote.
fn all_write(group: &[Node<Counter>], each: u64) {
    std::thread::scope(|scope| {
        for node in group {
            scope.spawn(move || {
                let mut session = node.session().expect("a member");
                for _ in 0..each {
                    let (sum, index) = session.execute_timeout(&1, PATIENCE).expect("done");
                    let (seen, shown) = node.read(Level::Linearizable, &()).expect("fresh");
                    assert!(seen.0 >= sum && shown > index);
                }
            });
        }
    });
    for node in group {
        let (seen, _) = node.read(Level::Linearizable, &()).expect("fresh");
        assert_eq!(seen.0, each * group.len() as u64, "{:?}", node.status());
    }
}

/// Writes at the first node until it is so.
fn write_until(group: &[Node<Counter>], is_so: impl Fn() -> bool) {
    let until = Instant::now() + PATIENCE;
    let mut session = group[0].session().expect("a member");
    while !is_so() {
        let statuses = || group.iter().map(Node::status).collect::<Vec<_>>();
        assert!(Instant::now() < until, "{:#?}", statuses());
        session.execute_timeout(&0, PATIENCE).expect("done");
    }
}

fn relays(node: &Node<Counter>) -> u64 {
    node.status().counters.relays
}

/// All but the acceptor, which a busy machine may have replaced since the group was made.
fn learners(group: &[Node<Counter>]) -> impl Iterator<Item = &Node<Counter>> {
    let acceptor = group[0].status().acceptor;
    group.iter().filter(move |node| node.status().me != acceptor)
}

#[test]
fn a_chain_tells_everybody() {
    for placement in [Placement::Separate, Placement::Fused] {
        let chain = LearnTree::of_parents(&[None, Some(0), Some(1), Some(2), Some(3)]).expect("a chain");
        let group = group(5, |_| config(placement).learning(Learning::Tree(chain.clone())));
        all_write(&group, 60);
        write_until(&group, || learners(&group).all(|node| relays(node) > 0));
    }
}

#[test]
fn nodes_that_go_by_different_trees_lose_nothing() {
    let chain = LearnTree::of_parents(&[None, Some(0), Some(1), Some(2)]).expect("a chain");
    let star = LearnTree::of_parents(&[Some(3), Some(3), Some(3), None]).expect("a star");
    let small = LearnTree::of_parents(&[None, Some(0)]).expect("a pair");
    let ways = [Learning::Tree(chain), Learning::Direct, Learning::Tree(star), Learning::Tree(small)];
    let group = group(4, |slot| config(Placement::Separate).learning(ways[slot].clone()));
    all_write(&group, 60);
}

#[test]
fn a_relay_that_leaves_is_left_out_and_its_place_taken() {
    let chain = LearnTree::of_parents(&[None, Some(0), Some(1), Some(2)]).expect("a chain");
    let config = config(Placement::Separate).learning(Learning::Tree(chain));
    let mut group = group(4, |_| config.clone());
    all_write(&group, 10);
    group.remove(2).leave().expect("the others take note");
    let before = group[2].read(Level::Linearizable, &()).expect("fresh").0.0;
    let mut session = group[2].session().expect("a member");
    for n in 1..=50 {
        assert_eq!(session.execute_timeout(&1, PATIENCE).expect("done").0, before + n);
    }
    let come = join(&config, &group);
    let mut session = come.session().expect("a member");
    assert_eq!(session.execute_timeout(&1, PATIENCE).expect("done").0, before + 51);
}

/// A machine on which a message takes a sender as long as a receiver, so that a tree is worth it.
fn machine(cpus: &[CpuId]) -> Machine {
    let cpus: Vec<Cpu> = cpus.iter().map(|&cpu| Cpu::flat(cpu)).collect();
    let members = cpus.len();
    let mut machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
    let costs = CostMatrix::from_fn(members, |from, to| if from == to { 0.0 } else { 100.0 }).expect("costs");
    (machine.send, machine.receive) = (costs.clone(), costs);
    machine
}

#[test]
fn members_without_a_cpu_each_learn_directly_though_the_machine_is_known() {
    let cpu = pin::affinity().expect("an affinity").as_slice()[0];
    let group = std::thread::spawn(move || {
        pin::pin(cpu).expect("a CPU of ours").forever();
        group(3, |_| config(Placement::Separate).machine(&machine(&[cpu])))
    });
    let group = group.join().expect("the group is made");
    all_write(&group, 20);
    assert!(group.iter().all(|node| relays(node) == 0));
}

#[test]
fn members_bound_to_cpus_learn_over_a_planned_tree() {
    let cpus = pin::affinity().expect("an affinity").as_slice().to_vec();
    if cpus.len() < 8 {
        return corecast_testing::skipped("a planned learn tree", "it needs 8 CPUs");
    }
    let machine = machine(&cpus[..8]);
    let mut group: Vec<Node<Counter>> = Vec::new();
    for &cpu in &cpus[..8] {
        let (config, fd) = (config(Placement::Separate).machine(&machine), group.first().map(Node::share));
        let joined = std::thread::spawn(move || {
            pin::pin(cpu).expect("a CPU of ours").forever();
            match fd {
                None => Replicated::create(&config, Counter::default()),
                Some(fd) => Replicated::attach_fd(&config, fd.expect("there is /proc")),
            }
        });
        group.push(joined.join().expect("a node").expect("the group lives"));
    }
    all_write(&group, 60);
    write_until(&group, || group.iter().any(|node| relays(node) > 0));
}
