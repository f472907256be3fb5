//! The CPU of each participant, planned from a machine's model: which of them serve is given by their numbers, so the plan
//! says where those sit.
//!
//! Every application asks every server, as variables are dealt to servers by a hash. With as many requests between each two
//! of them the sum of all distances is least if every cluster has its share of the servers, and no application is then far
//! from all of them. A server never shares a core with an application if another server can be there or the other half can be
//! left free: it polls, and would take half of the core from a client that it keeps waiting. With more participants than CPUs
//! servers are dealt to different CPUs as long as there are some.
//!
//! ```
//! use corecast_machine::source::{DiscoveryRequest, discover};
//! use corecast_machine::Machine;
//! use corecast_tm::placement::Placement;
//!
//! let request = DiscoveryRequest { synthetic: Some("pack:2 core:6 pu:1".into()), ..DiscoveryRequest::default() };
//! let machine = Machine::from_topology(&discover(&request)?);
//! let placement = Placement::new(&machine, &machine.cpu_set(), 12, Some(3))?;
//! let cpus: Vec<u32> = placement.servers().iter().map(|server| server.cpu.get()).collect();
//! assert_eq!(cpus, [0, 1, 6, 7], "two of four for each package");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeSet;

use corecast_base::{CpuId, CpuSet};
use corecast_machine::{Cpu, Machine};
use corecast_plan::{Problem, ProblemError};

/// Where a server sits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSeat {
    /// The participant's number.
    pub participant: usize,
    /// Its CPU.
    pub cpu: CpuId,
    /// Why there, in words.
    pub why: String,
}

/// One of this number of participants is a server unless another number is asked for: the best share in the paper.
pub const SERVERS_EVERY: usize = 3;

/// See the [module](self).
#[derive(Debug, Clone)]
pub struct Placement {
    /// The participants in the order of their numbers, with what a message between two of them costs.
    problem: Problem,
    servers: Vec<ServerSeat>,
    every: Option<usize>,
    numbered_round_trip: Option<f64>,
}

impl Placement {
    /// Participants on these CPUs of a machine, of which every `every`-th is a server; none is in the shared form.
    ///
    /// # Errors
    /// [`ProblemError`] if there is no CPU, the machine lacks one of them, or its model does not hold together.
    ///
    /// # Panics
    /// If there is no participant, or every participant is a server.
    #[track_caller]
    pub fn new(
        machine: &Machine,
        cpus: &CpuSet,
        participants: usize,
        every: Option<usize>,
    ) -> Result<Self, ProblemError> {
        assert!(participants > 0, "there are participants");
        assert!(every != Some(1), "a server has applications");
        let slots = slots(&Problem::new(machine, cpus)?, machine, participants);
        let by_slot = Problem::of_members(machine, &slots)?;
        let servers = every.map_or(0, |every| participants.div_ceil(every));
        let chooser = Chooser::new(&by_slot, machine);
        let mut chosen = chooser.choose(servers);
        chosen.sort_unstable();
        let seated = seated(&chosen, participants, every);
        let why =
            |&slot: &usize| ServerSeat { participant: seated[slot], cpu: slots[slot], why: chooser.why(&chosen, slot) };
        let seats = chosen.iter().map(why).collect();
        let mut order: Vec<usize> = (0..participants).collect();
        order.sort_by_key(|&slot| seated[slot]);
        let problem = Problem::of_members(machine, &order.iter().map(|&slot| slots[slot]).collect::<Vec<_>>())?;
        let numbered_round_trip = mean_round_trip(&by_slot, every);
        Ok(Self { problem, servers: seats, every, numbered_round_trip })
    }

    /// The CPU of a participant.
    ///
    /// # Panics
    /// If there is none with this number.
    #[must_use]
    #[track_caller]
    pub fn cpu(&self, participant: usize) -> CpuId {
        self.problem.cpu(participant)
    }

    /// The CPU of each participant.
    #[must_use]
    pub fn cpus(&self) -> &[CpuId] {
        self.problem.cpus()
    }

    /// Whether a participant serves.
    #[must_use]
    pub fn is_server(&self, participant: usize) -> bool {
        is_server(participant, self.every)
    }

    /// The servers, in the order of their numbers.
    #[must_use]
    pub fn servers(&self) -> &[ServerSeat] {
        &self.servers
    }

    /// The participants, with what a message between two of them costs.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The cost of a request and its reply, the mean over all applications and servers, in the unit of the model; `None` without
    /// servers or applications.
    #[must_use]
    pub fn round_trip(&self) -> Option<f64> {
        mean_round_trip(&self.problem, self.every)
    }

    /// The same if participants sat on the CPUs in the order of their numbers.
    #[must_use]
    pub fn numbered_round_trip(&self) -> Option<f64> {
        self.numbered_round_trip
    }
}

fn is_server(participant: usize, every: Option<usize>) -> bool {
    every.is_some_and(|every| participant % every == 0)
}

/// A CPU for each participant, near ones first, cores before their second halves; several for each CPU if they are few.
fn slots(all: &Problem, machine: &Machine, participants: usize) -> Vec<CpuId> {
    let levels = levels(all, machine);
    let thread =
        |member: usize| all.siblings()[..member].iter().filter(|&&other| other == all.siblings()[member]).count();
    let cluster = |member: usize| levels.iter().map(|level| level[member]).collect::<Vec<_>>();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_cached_key(|&member| (thread(member), cluster(member), member));
    // Those that are taken lie cluster by cluster.
    order.truncate(participants);
    order.sort_by_cached_key(|&member| (cluster(member), member));
    order.into_iter().cycle().take(participants).map(|member| all.cpu(member)).collect()
}

/// The clusters of members, by what costs show, by packages and by last-level caches, the coarsest first.
fn levels(problem: &Problem, machine: &Machine) -> Vec<Vec<u32>> {
    let cpu = |&cpu: &CpuId| &machine.cpus[machine.position(cpu).expect("the problem is of this machine")];
    let known = |of: fn(&Cpu) -> Option<u32>| {
        problem.cpus().iter().map(|id| of(cpu(id))).collect::<Option<Vec<u32>>>().into_iter()
    };
    let mut levels = problem.levels();
    levels.extend(known(|cpu| cpu.package).chain(known(|cpu| cpu.l3)));
    let clusters = |level: &Vec<u32>| level.iter().collect::<BTreeSet<_>>().len();
    levels.retain(|level| clusters(level) > 1);
    levels.sort_by_cached_key(clusters);
    levels.dedup();
    levels
}

/// The number of the participant in each slot: servers in those that were chosen, in their order, and applications in the others.
fn seated(chosen: &[usize], participants: usize, every: Option<usize>) -> Vec<usize> {
    let (servers, applications): (Vec<usize>, Vec<usize>) = (0..participants).partition(|&id| is_server(id, every));
    let (mut servers, mut applications) = (servers.into_iter(), applications.into_iter());
    let next = |slot| if chosen.binary_search(&slot).is_ok() { servers.next() } else { applications.next() };
    (0..participants).map(next).map(|id| id.expect("as many slots were chosen as there are servers")).collect()
}

fn mean_round_trip(problem: &Problem, every: Option<usize>) -> Option<f64> {
    let (servers, clients): (Vec<usize>, Vec<usize>) = (0..problem.len()).partition(|&id| is_server(id, every));
    let trips = clients.iter().flat_map(|&client| servers.iter().map(move |&server| (client, server)));
    let trips: Vec<f64> =
        trips.map(|(client, server)| problem.message(client, server) + problem.message(server, client)).collect();
    (!trips.is_empty()).then(|| trips.iter().sum::<f64>() / trips.len() as f64)
}

/// Chooses the slots of servers.
struct Chooser<'a> {
    problem: &'a Problem,
    /// The coarsest first; the clusters that are more than a core.
    levels: Vec<Vec<u32>>,
}

impl<'a> Chooser<'a> {
    fn new(problem: &'a Problem, machine: &Machine) -> Self {
        let is_above_cores = |level: &Vec<u32>| {
            let pairs = level.iter().zip(problem.siblings());
            pairs.clone().any(|(cluster, core)| pairs.clone().any(|other| other.0 == cluster && other.1 != core))
        };
        Self { problem, levels: levels(problem, machine).into_iter().filter(is_above_cores).collect() }
    }

    fn choose(&self, servers: usize) -> Vec<usize> {
        let all: Vec<usize> = (0..self.problem.len()).collect();
        self.of(&all, servers, &self.levels)
    }

    /// This number of those slots: each cluster has its share.
    fn of(&self, slots: &[usize], servers: usize, levels: &[Vec<u32>]) -> Vec<usize> {
        let Some((level, finer)) = levels.split_first() else { return self.near(slots, servers) };
        let clusters = grouped(slots, |slot| level[slot]);
        let sizes: Vec<usize> = clusters.iter().map(Vec::len).collect();
        let shares = shares(servers, &sizes);
        clusters.iter().zip(shares).flat_map(|(cluster, share)| self.of(cluster, share, finer)).collect()
    }

    /// Of slots that are all as near: whole cores first, on CPUs that differ, and the nearest to all.
    fn near(&self, slots: &[usize], servers: usize) -> Vec<usize> {
        let mut chosen = Vec::new();
        let mut cores = grouped(slots, |slot| self.problem.siblings()[slot]);
        while chosen.len() < servers {
            let left = servers - chosen.len();
            // A core that can be taken whole, or else the smallest, where the fewest applications share it.
            let fits = |core: &Vec<usize>| (core.len() > left, if core.len() > left { core.len() } else { 0 });
            let at = (0..cores.len()).min_by_key(|&at| (fits(&cores[at]), self.distance(&cores[at])));
            let mut core = cores.swap_remove(at.expect("there are more slots than servers"));
            core.truncate(left);
            chosen.extend(core);
            cores.sort_unstable();
        }
        chosen
    }

    /// The sum of the distances of a core from all participants, as a whole number that can be compared; equal ones are equal.
    fn distance(&self, core: &[usize]) -> u64 {
        let all = 0..self.problem.len();
        let sum: f64 = all.filter(|slot| !core.contains(slot)).map(|slot| self.problem.message(core[0], slot)).sum();
        // Differences below a hundredth say nothing.
        (sum / self.problem.len() as f64).round().max(0.0) as u64
    }

    /// Why a server sits in this slot.
    fn why(&self, chosen: &[usize], slot: usize) -> String {
        let problem = self.problem;
        let is_server = |other: usize| chosen.contains(&other);
        let cluster: Vec<usize> = match self.levels.first() {
            Some(level) => (0..problem.len()).filter(|&other| level[other] == level[slot]).collect(),
            None => (0..problem.len()).collect(),
        };
        let servers = cluster.iter().filter(|&&other| is_server(other)).count();
        let (cluster, all) = (cluster.len(), problem.len());
        let near = match cluster == all {
            true => format!("one of {servers} among {all} participants that are all as near"),
            false => {
                format!(
                    "one of {servers} in a cluster with {cluster} of the {all} participants: each cluster has its share"
                )
            }
        };
        let core = problem.siblings()[slot];
        let beside: Vec<usize> = (0..all).filter(|&other| other != slot && problem.siblings()[other] == core).collect();
        let company = match beside.iter().filter(|&&other| !is_server(other)).count() {
            _ if beside.is_empty() => "nobody else on its core".to_owned(),
            0 => "only servers on its core".to_owned(),
            1 => "an application on its core, as every core is taken".to_owned(),
            applications => format!("{applications} applications on its core, as every core is taken"),
        };
        format!("{near}; {company}")
    }
}

/// Those with the same key together, in the order of the first of each.
fn grouped(slots: &[usize], key: impl Fn(usize) -> u32) -> Vec<Vec<usize>> {
    let mut groups: Vec<(u32, Vec<usize>)> = Vec::new();
    for &slot in slots {
        match groups.iter_mut().find(|(known, _)| *known == key(slot)) {
            Some((_, group)) => group.push(slot),
            None => groups.push((key(slot), vec![slot])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// The part of each cluster by its size; what remains goes to those with the largest remainders, the first ones of equal ones.
fn shares(servers: usize, sizes: &[usize]) -> Vec<usize> {
    let all: usize = sizes.iter().sum();
    let mut shares: Vec<usize> = sizes.iter().map(|size| servers * size / all).collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(servers * sizes[at] % all));
    let rest = servers - shares.iter().sum::<usize>();
    order.iter().take(rest).for_each(|&at| shares[at] += 1);
    shares
}

#[cfg(test)]
mod tests {
    use corecast_machine::source::{DiscoveryRequest, discover};

    use super::*;

    fn machine(synthetic: &str) -> Machine {
        let request = DiscoveryRequest { synthetic: Some(synthetic.to_owned()), ..DiscoveryRequest::default() };
        Machine::from_topology(&discover(&request).expect("it is well written"))
    }

    fn placement(synthetic: &str, participants: usize, every: usize) -> Placement {
        let machine = machine(synthetic);
        Placement::new(&machine, &machine.cpu_set(), participants, Some(every)).expect("there are CPUs")
    }

    fn servers(placement: &Placement) -> Vec<u32> {
        placement.servers().iter().map(|server| server.cpu.get()).collect()
    }

    #[test]
    fn each_cluster_has_its_share_of_the_servers() {
        let placement = placement("pack:4 core:6 pu:1", 24, 3);
        assert_eq!(servers(&placement), [0, 1, 6, 7, 12, 13, 18, 19]);
        let mut cpus: Vec<u32> = placement.cpus().iter().map(|cpu| cpu.get()).collect();
        cpus.sort_unstable();
        assert_eq!(cpus, (0..24).collect::<Vec<_>>(), "every CPU has one participant");
        for (number, server) in placement.servers().iter().enumerate() {
            assert_eq!((server.participant, placement.cpu(server.participant)), (3 * number, server.cpu));
            assert!(placement.is_server(server.participant) && !placement.is_server(server.participant + 1));
            assert!(server.why.contains("2 in a cluster with 6 of the 24"), "{}", server.why);
        }
        assert!(placement.round_trip() <= placement.numbered_round_trip(), "{placement:?}");
    }

    #[test]
    fn no_server_shares_a_core_with_an_application_where_that_can_be() {
        let placement = placement("pack:1 core:6 pu:2", 12, 3);
        let of_server = |server: &ServerSeat| placement.problem().siblings()[server.participant];
        for server in placement.servers() {
            assert!(server.why.ends_with("only servers on its core"), "{}", server.why);
            let core = of_server(server);
            let beside = (0..12).filter(|&other| placement.problem().siblings()[other] == core);
            assert!(beside.into_iter().all(|other| placement.is_server(other)), "{placement:?}");
        }
    }

    #[test]
    fn few_participants_have_cores_of_their_own_and_many_share_cpus() {
        let few = placement("pack:1 core:4 pu:2", 4, 2);
        assert!(few.servers().iter().all(|server| server.why.ends_with("nobody else on its core")), "{few:?}");
        let many = placement("pack:1 core:2 pu:1", 6, 3);
        assert_eq!((many.servers().len(), many.cpus().len()), (2, 6));
        let machine = machine("pack:1 core:2 pu:1");
        let shared = Placement::new(&machine, &machine.cpu_set(), 3, None).expect("there are CPUs");
        assert_eq!((shared.servers().len(), shared.round_trip()), (0, None));
    }

    #[test]
    fn shares_go_by_size_and_the_rest_by_remainder() {
        assert_eq!(shares(4, &[6, 6]), [2, 2]);
        assert_eq!(shares(3, &[6, 6]), [2, 1]);
        assert_eq!(shares(3, &[8, 4, 4]), [1, 1, 1]);
        assert_eq!(shares(0, &[2, 3]), [0, 0]);
    }
}
