//! Our own stores over messages: `kv::Compact`, replicated among nodes that share no state.

use corecast::machine::model_file;
use corecast::plan::Problem;
use corecast::plan::shape::Shape;
use corecast::replica::kv::{Compact, CompactOut, CompactSet};
use corecast::replica::net::{Config, Group, Node, Session, Spread};
use corecast::replica::{Level, StateMachine};

use super::host::{Client, Entrance, Host, Setting, Value};
use super::load::MOST_KEYS;
use super::series::{NetSeries, Way};
use corecast_race::failure::Failure;

/// The machine over which shapes make their trees: the paper's, with 8 NUMA nodes of 4 CPUs, and a larger one for more members.
const MODELS: [&str; 2] = [
    include_str!("../../../machines/models/paper-barcelona-8x4-32.json"),
    include_str!("../../../machines/models/aws-graviton2-64.json"),
];
/// The node that accepts in the beginning, from which the tree begins.
const ACCEPTOR: usize = 1;

/// Nodes of one process.
pub(super) struct NetReplicas {
    nodes: Vec<Node<Compact>>,
    group: Group<Compact>,
}

/// A group of this number of members.
pub(super) fn create<S: StateMachine>(series: &NetSeries, setting: &Setting) -> Result<Group<S>, Failure> {
    let spread = match series.way {
        Way::Sequential => Spread::Sequential,
        Way::Tree(shape) => Spread::Tree(tree(shape, setting.members)?),
        Way::Ring => Spread::Ring,
    };
    let config = Config::new(setting.members).wait(setting.wait).spread(spread).link_bytes(64 << 10);
    Group::create(&config).map_err(Failure::refused)
}

/// The parents of members spread over the model of a machine.
fn tree(shape: &dyn Shape, members: usize) -> Result<Vec<Option<usize>>, Failure> {
    for model in MODELS {
        let machine = model_file::parse(model).map_err(Failure::refused)?;
        let all = machine.cpu_set();
        let cpus = all.as_slice();
        if members > cpus.len() {
            continue;
        }
        let chosen = (0..members).map(|rank| cpus[rank * cpus.len() / members]).collect();
        let problem = Problem::new(&machine, &chosen).map_err(Failure::refused)?;
        let tree = shape.build(&problem, Some(ACCEPTOR.min(members - 1)));
        return Ok((0..members).map(|member| tree.parent(member)).collect());
    }
    Err(Failure::Refused(format!("no model has CPUs for {members} members")))
}

fn state() -> Result<Compact, Failure> {
    Compact::with_capacity(MOST_KEYS).map_err(Failure::while_doing("make a store"))
}

impl NetReplicas {
    /// A group whose members are threads of this process.
    pub(super) fn open(series: &NetSeries, setting: &Setting) -> Result<Box<dyn Host>, Failure> {
        let group = create(series, setting)?;
        let node = |slot| group.join(slot, state()?).map_err(Failure::refused);
        let nodes = (0..setting.members).map(node).collect::<Result<_, _>>()?;
        Ok(Box::new(Self { nodes, group }))
    }

    /// A group of which this process has the first member only.
    pub(super) fn open_first(series: &NetSeries, setting: &Setting) -> Result<Box<dyn Host>, Failure> {
        let group = create(series, setting)?;
        let nodes = vec![group.join(0, state()?).map_err(Failure::refused)?];
        Ok(Box::new(Self { nodes, group }))
    }

    /// One more member, of this process, in the group of another one.
    pub(super) fn join(setting: &Setting, entrance: Entrance) -> Result<Box<dyn Host>, Failure> {
        let fd = entrance.fd.ok_or_else(|| Failure::Refused("no descriptor of a group came".to_owned()))?;
        let group = Group::attach_fd(&Config::new(setting.members), fd).map_err(Failure::refused)?;
        let nodes = vec![group.join_next(state()?).map_err(Failure::refused)?];
        Ok(Box::new(Self { nodes, group }))
    }
}

impl Host for NetReplicas {
    fn client(&self, rank: usize) -> Result<Box<dyn Client + '_>, Failure> {
        let node = &self.nodes[rank % self.nodes.len()];
        let session = node.session().map_err(Failure::refused)?;
        Ok(Box::new(NetClient { node, session }))
    }

    fn entrance(&self) -> Result<Entrance, Failure> {
        let fd = self.group.share().map_err(Failure::while_doing("share a group"))?;
        Ok(Entrance { fd: Some(fd), path: None })
    }
}

/// Reads wait for a barrier in the log.
struct NetClient<'a> {
    node: &'a Node<Compact>,
    session: Session<Compact>,
}

impl Client for NetClient<'_> {
    #[inline(always)]
    fn get(&mut self, key: u64) -> Result<Option<Value>, Failure> {
        match self.node.read(Level::Linearizable, &key.to_le_bytes()) {
            Ok((value, _)) => Ok(value),
            Err(error) => Err(Failure::refused(error)),
        }
    }

    fn set(&mut self, key: u64, value: Value) -> Result<(), Failure> {
        match self.session.execute(&CompactSet { key: key.to_le_bytes(), value }) {
            Ok((CompactOut::Done, _)) => Ok(()),
            Ok((CompactOut::Full, _)) => Err(Failure::Wrong(format!("there is no room for key {key}"))),
            Err(error) => Err(Failure::refused(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replica::play;
    use crate::replica::series::NET;
    use corecast::base::wait::Wait;
    use corecast::machine::pin;

    #[test]
    fn every_way_keeps_a_store() {
        let cpus = pin::affinity().expect("own mask").iter().collect();
        let setting = Setting { members: 5, clients: 2, cpus, wait: Wait::Adaptive };
        for series in NET {
            let host = NetReplicas::open(series, &setting).expect("there is memory");
            play::check(&setting, &*host).unwrap_or_else(|failure| panic!("{}: {failure}", series.name));
        }
    }

    #[test]
    fn trees_begin_at_the_acceptor() {
        for members in [2, 8, 28, 33, 64] {
            for series in NET {
                let Way::Tree(shape) = series.way else { continue };
                let parents = tree(shape, members).expect("a model has room");
                assert_eq!((parents.len(), parents[ACCEPTOR]), (members, None), "{}", series.name);
            }
        }
        assert!(tree(&corecast::plan::shape::Binary, 65).is_err());
    }
}
