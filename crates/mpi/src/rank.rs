//! Programs whose launcher starts a process for each member: ranks find those that share memory with them, and become members of
//! one node with them.
//!
//! **When to take it:** the program is an MPI program already, or the launcher leaves no choice. **When not:** otherwise; one MPI
//! process for each node ([`Cluster`](crate::Cluster)) takes a fraction of its processes, connections and memory, and survives
//! the death of members.
//!
//! The ranks of a node are those with the same running system and the same place to meet, as they themselves have found out.
//! `MPI_Comm_split_type` is not asked: MPICH 5 over UCX makes every rank a node of its own (mpich#7814), as Open MPI did with
//! some versions of PMIx (ompi#11585). Every rank then opens the memory of its node before any of them joins it.
//!
//! MPI promises that a message goes on while its sender is in any call of MPI. An operation of a group is none, so each member
//! lets MPI proceed now and then while it waits for others of its node: a long message of the program may be on its way to the
//! very rank that is missing. Members of groups that were split off do not, nor those of shrunk ones unless MPI survives the
//! death of a process, and neither do members that have moved to another thread where the program has initialised MPI for one.
//!
//! Where MPI survives the death of a process, a node that has lost its leader is led by its lowest rank that is left. All ranks
//! leave the lost ones behind together, so each has to shrink the group, or to end its process: the others wait for one that
//! has left the group and lives on.
//!
//! Several ranks of each node can share the messages of long slices: see [`Rank::lanes`].
//!
//! **Progress:** blocking, with a limit of time.

use std::fmt;
use std::sync::Arc;
use std::thread::{self, ThreadId};

use corecast_base::CpuSet;
use corecast_base::rendezvous::SocketDir;
use corecast_collective::Builder;
use corecast_collective::nodes::{Connection, Engine, Facts, Lanes, Member, SetupError, Survival};
use corecast_collective::processes::Invitation;
use corecast_machine::Machine;

use crate::candidate::{RankCandidate, turns};
use crate::cluster::{facts_of, home};
use crate::engine::MpiEngine;
use crate::error::OpenError;
use crate::launcher::Launcher;
use crate::library_info::LibraryInfo;
use crate::near_ranks;
use crate::set_up::{Limit, SetUp};

/// The longest slice that ranks tell each other, in bytes: longer ones do not fit into memory.
const MOST_BYTES: i64 = 1 << 56;

/// This rank's way into a group over all ranks.
pub struct Rank {
    invitation: Invitation,
    set_up: SetUp,
    limit: Limit,
    /// The nodes and the library.
    facts: Facts,
    /// The end of its node's engine or its lane's, if it leads one.
    engine: Option<MpiEngine>,
    /// Where the library survives the death of a process.
    candidate: Option<RankCandidate>,
    lanes: Lanes,
    /// The only thread that may call the library, if there is one.
    only_thread: Option<ThreadId>,
    /// The ranks of each node, in the order of the group.
    nodes: Vec<Vec<usize>>,
}

impl Rank {
    /// Finds, loads and checks the library, as [`Cluster::from_env`](crate::Cluster::from_env) does, and meets the ranks of this
    /// node. `detect` makes the model of the machine, such as `corecast::machine::detect`, and `builder` is given it with the
    /// number of these ranks and makes the group within the node; all of them have to make the same.
    ///
    /// Where the launcher has bound the ranks of a node to different CPUs, `detect` and `builder` run on a thread that may run on
    /// all of these, and members are planned for the CPUs of their ranks: the rank that makes the group would otherwise make it
    /// for the CPUs of its own, which all would share. Members and CPUs that the builder names do not count then, and each member
    /// stays as it is bound, unless the builder [pins](Builder::pin): then each is bound to one of the CPUs of its rank. Where
    /// the machine that was found lacks some of these CPUs, as a job may keep ranks from those of each other, nobody is bound,
    /// whatever the builder says.
    ///
    /// # Panics
    /// If `detect` or `builder` does.
    ///
    /// # Errors
    /// An [`OpenError`]; [`OpenError::Mixed`] names a rank that cannot open the memory of its node.
    pub fn from_env<E: fmt::Display>(
        detect: impl FnOnce() -> Result<Machine, E> + Send,
        builder: impl for<'m> FnOnce(&'m Machine, usize) -> Builder<'m> + Send,
    ) -> Result<Self, OpenError> {
        let dir = SocketDir::of_user();
        // Ranks compare the folder in which they meet, so each makes it first.
        let is_made = dir.make();
        let limit = Limit::from_env()?;
        let set_up = SetUp::of(Launcher::from_env(), limit, home(&dir))?;
        let homes: Vec<u64> = set_up.facts.iter().map(|facts| facts.home).collect();
        let nodes = nodes_of(&homes);
        let is_here = |ranks: &Vec<usize>| ranks.contains(&set_up.rank);
        let node = nodes.iter().position(is_here).expect("every rank has a node");
        let place = nodes[node].iter().position(|&rank| rank == set_up.rank).expect("it is there");
        let name = format!("mpi-{:016x}-{node}", set_up.facts[0].token);
        let masks: Vec<&CpuSet> = nodes[node].iter().map(|&rank| &set_up.facts[rank].cpus).collect();
        let met = is_made.map_err(|error| error.to_string()).and_then(|()| {
            near_ranks::on_their_cpus(&masks, |bound| {
                let machine = detect().map_err(|error| error.to_string())?;
                let founder = near_ranks::bound_to(builder(&machine, masks.len()), &machine, bound);
                Invitation::by_name(&dir, &name, &founder).map_err(|error| error.to_string())
            })
        });
        let invitation = invited(&set_up, met)?.rank(place);
        Self::lead_or_follow(set_up, limit, invitation, nodes, node)
    }

    /// The way of a rank that has met the others of its node.
    fn lead_or_follow(
        set_up: SetUp,
        limit: Limit,
        invitation: Invitation,
        nodes: Vec<Vec<usize>>,
        node: usize,
    ) -> Result<Self, OpenError> {
        let leaders: Vec<usize> = nodes.iter().map(|ranks| ranks[0]).collect();
        let comms = set_up.communicators(&leaders)?;
        let info = LibraryInfo::of(&set_up.session.library);
        let hosts = leaders.iter().map(|&rank| set_up.facts[rank].host.clone()).collect();
        let facts = facts_of(&info, node, hosts);
        let session = Arc::clone(&set_up.session);
        let candidate = match facts.survival {
            Survival::Nodes => {
                let operations = comms.as_ref().map_or(&[][..], |comms| &comms.operations);
                let comm = set_up.of_all()?;
                Some(RankCandidate::new(&session, comm, set_up.rank, &facts, &nodes, operations))
            }
            _ => None,
        };
        let only_thread = session.is_for_one_thread().then(|| thread::current().id());
        // Ranks that do not lead have nothing to close, and all ranks finalize together.
        session.end_at_exit();
        let engine = comms.map(|comms| MpiEngine::open(session, facts.clone(), comms)).transpose()?;
        Ok(Self { invitation, set_up, limit, facts, engine, candidate, lanes: Lanes::ONE, only_thread, nodes })
    }

    /// Lets several ranks of each node share the messages of long slices. All ranks have to call it, once, with the same lanes,
    /// of which no node has fewer ranks. Without it there is one lane; [`Lanes::of_nic`] chooses by a measured network.
    ///
    /// # Errors
    /// An [`OpenError`], the same at all ranks: [`OpenError::OtherLanes`] names a rank that has asked for other lanes,
    /// [`OpenError::TooFewRanks`] a node with fewer ranks.
    pub fn lanes(mut self, lanes: Lanes) -> Result<Self, OpenError> {
        self.set_up.renew_limit();
        // Both numbers of one rank in a word; lengths that no slice has count as the same.
        let length = i64::try_from(lanes.least_bytes()).map_or(MOST_BYTES, |bytes| bytes.min(MOST_BYTES));
        let word = length * (Lanes::MOST as i64 + 1) + lanes.count() as i64;
        if let Some(rank) = self.set_up.first_that_differs(word)? {
            let host = self.set_up.facts[rank].host.clone();
            return Err(OpenError::OtherLanes { rank, host, here: lanes });
        }
        if let Some(node) = self.nodes.iter().position(|ranks| ranks.len() < lanes.count()) {
            let (host, ranks) = (self.facts.hosts[node].clone(), self.nodes[node].len());
            return Err(OpenError::TooFewRanks { node, host, ranks, lanes: lanes.count() });
        }
        for lane in 1..lanes.count() {
            let leaders: Vec<usize> = self.nodes.iter().map(|ranks| ranks[lane]).collect();
            if let Some(comms) = self.set_up.communicators(&leaders)? {
                self.candidate.iter_mut().for_each(|candidate| candidate.lead_lane(&comms.operations));
                self.engine = Some(MpiEngine::open(Arc::clone(&self.set_up.session), self.facts.clone(), comms)?);
            }
        }
        Ok(Self { lanes, ..self })
    }

    /// The number of ranks that every node has: the most [lanes](Self::lanes) of the group, if [`Lanes::MOST`] is no less.
    #[must_use]
    pub fn most_lanes(&self) -> usize {
        self.nodes.iter().map(Vec::len).min().unwrap_or(1)
    }

    /// This process's rank in `MPI_COMM_WORLD`, which the group need not keep: in it, the ranks of a node follow each other.
    #[must_use]
    pub fn world_rank(&self) -> usize {
        self.set_up.rank
    }

    /// The ranks in `MPI_COMM_WORLD` of all members, in the order of the group.
    #[must_use]
    pub fn world_ranks(&self) -> Vec<usize> {
        self.nodes.concat()
    }

    /// Joins the group.
    ///
    /// # Errors
    /// As for [`Invitation::join`](corecast_collective::nodes::Invitation::join).
    pub fn join(self) -> Result<Member, SetupError> {
        let Self { invitation, set_up, limit, engine, candidate, lanes, only_thread, .. } = self;
        let engine = engine.map(|engine| Box::new(engine) as Box<dyn Engine>);
        let connection = Connection::from(engine).timeout(limit.duration()).lanes(lanes);
        let connection = match candidate {
            Some(candidate) => connection.candidate(candidate),
            None => connection,
        };
        let mut member = invitation.over(connection).join()?;
        member.near().call_while_waiting(turns(Arc::clone(&set_up.session.library), only_thread));
        Ok(member)
    }
}

impl fmt::Debug for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { invitation, set_up, facts, engine, lanes, .. } = self;
        f.debug_struct("Rank")
            .field("invitation", invitation)
            .field("leads", &engine.is_some())
            .field("world_rank", &set_up.rank)
            .field("node", &facts.node)
            .field("nodes", &facts.nodes())
            .field("lanes", lanes)
            .finish_non_exhaustive()
    }
}

/// The way into this rank's node, if every rank has found the one into its own.
fn invited(set_up: &SetUp, met: Result<Invitation, String>) -> Result<Invitation, OpenError> {
    let trouble = set_up.first_failed(met.is_err())?;
    let (reason, rank) = match (met, trouble) {
        (Ok(invitation), None) => return Ok(invitation),
        (met, trouble) => (met.err(), trouble.unwrap_or(set_up.rank)),
    };
    let own = reason.filter(|_| rank == set_up.rank);
    let reason = own.unwrap_or_else(|| "it cannot open the memory that they share".to_owned());
    Err(OpenError::Mixed { rank, host: set_up.facts[rank].host.clone(), reason })
}

/// The ranks of each node, by the homes of all ranks. Nodes are in the order of their lowest ranks, and ranks ascend.
fn nodes_of(homes: &[u64]) -> Vec<Vec<usize>> {
    let mut nodes: Vec<(u64, Vec<usize>)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for (rank, &home) in homes.iter().enumerate() {
        let place = *places.entry(home).or_insert_with(|| {
            nodes.push((home, Vec::new()));
            nodes.len() - 1
        });
        nodes[place].1.push(rank);
    }
    nodes.into_iter().map(|(_, ranks)| ranks).collect()
}

#[cfg(test)]
mod tests {
    use super::nodes_of;

    #[test]
    fn ranks_that_are_dealt_alternately_are_numbered_node_by_node() {
        assert_eq!(nodes_of(&[7, 9, 7, 9, 7]), [vec![0, 2, 4], vec![1, 3]]);
        assert_eq!(nodes_of(&[3, 3]), [vec![0, 1]]);
        assert_eq!(nodes_of(&[3, 4, 5]), [vec![0], vec![1], vec![2]]);
    }
}
