//! The way of one process into a group over several nodes.

use std::time::Duration;

use corecast_base::sync::Arc;

use super::connection::Connection;
use super::ends::Ends;
use super::engine::Engine;
use super::error::{Error, SetupError};
use super::lanes::{self, LaneEnd};
use super::leader::Leader;
use super::member::{Home, Member};
use super::news::News;
use super::numbering::Numbering;
use super::setup;
use super::{FaultKind, FaultWord};
use crate::error::{Error as NearError, Loss};
use crate::member::Member as NearMember;
use crate::processes::Invitation as NearInvitation;

impl NearInvitation {
    /// Joins a group of this node as a part of a group over several nodes. The first member of each node gives its end of an
    /// engine, which connects the nodes; the others give `None`.
    #[must_use]
    pub fn over(self, connection: impl Into<Connection>) -> Invitation {
        Invitation { near: self, connection: connection.into() }
    }
}

/// The way of one process into a group over several nodes.
pub struct Invitation {
    near: NearInvitation,
    connection: Connection,
}

impl Invitation {
    /// Waits this long for the members of this node, and as long for the other nodes; by default as long as the [`Connection`]
    /// says.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.connection.limit = limit;
        self
    }

    /// Joins the group, and returns when all members of this node have joined and all nodes have met.
    ///
    /// # Errors
    /// [`SetupError`]: at the first member of a node the reason, at the others that the group has failed. A place once taken
    /// stays taken.
    pub fn join(self) -> Result<Member, SetupError> {
        let Connection { mut engine, limit, candidate, lanes } = self.connection;
        let joined = self.near.timeout(limit).join().map_err(SetupError::from).and_then(|mut near| {
            let news = News::lay_out(&mut near).map_err(Error::Near)?;
            lanes::agree(&mut near, lanes, engine.is_some())?;
            Ok((near, news))
        });
        let (mut near, news) = joined.inspect_err(|_| give_up(engine.take()))?;
        let lane = engine.take_if(|_| near.rank() > 0 && near.rank() < lanes.count()).map(Leader::new);
        let met = match (near.rank(), engine) {
            (0, Some(mut engine)) => match setup::meet(&mut *engine, near.size(), lanes, limit) {
                Ok(numbering) => Ok(Some((numbering, Leader::new(engine)))),
                Err(error) => {
                    engine.close(false);
                    Err(error)
                }
            },
            (0, None) => Err(SetupError::NoEngine),
            (_, _) => Ok(None),
        };
        let met = met.inspect_err(|_| {
            news.publish(word_of_engine(0));
            near.ends_mut().core.fail(0, Loss::Elsewhere);
        })?;
        let mut ends = match met {
            Some((numbering, leader)) => lead(near, numbering, news, leader)?,
            None => {
                let numbering = share(&mut near, None).map_err(Error::Near)?;
                Ends::new(near, Arc::new(numbering), news, None)
            }
        };
        ends.lane_end = LaneEnd { lanes, leader: lane };
        Ok(Member::new(ends, candidate.map_or(Home::Own, Home::Candidate)))
    }
}

/// The ends of the leader, once its node has the numbering. If a member of the node is lost before that, the leader tells the
/// other nodes, which have met this one and would wait for it.
fn lead(near: NearMember, numbering: Numbering, news: News, leader: Leader) -> Result<Ends, SetupError> {
    let mut ends = Ends::new(near, Arc::new(numbering.clone()), news, Some(leader));
    match share(&mut ends.near, Some(numbering)) {
        Ok(_) => Ok(ends),
        Err(error) => {
            let error = ends.failed(error);
            ends.leader.take().into_iter().for_each(|leader| leader.close(false));
            Err(error.into())
        }
    }
}

/// A leader whose node does not come tells the other nodes, which wait for it.
fn give_up(engine: Option<Box<dyn Engine>>) {
    let Some(mut engine) = engine else { return };
    let node = engine.facts().node as u32;
    engine.tell(word_of_engine(node));
    engine.close(false);
}

/// The word of a node that does not take part.
fn word_of_engine(node: u32) -> FaultWord {
    FaultWord { epoch: 0, node, kind: FaultKind::Engine { class: 0 } }
}

impl std::fmt::Debug for Invitation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Invitation").field("near", &self.near).finish_non_exhaustive()
    }
}

/// Gives the leader's numbering to all members of its node.
pub(super) fn share(near: &mut NearMember, numbering: Option<Numbering>) -> Result<Numbering, NearError> {
    let (mut counts, mut text) =
        numbering.as_ref().map_or((Vec::new(), Vec::new()), |of| (of.counts(), of.text().into_bytes()));
    let mut lens = [counts.len() as u64, text.len() as u64];
    near.broadcast(0, &mut lens)?;
    counts.resize(lens[0] as usize, 0);
    text.resize(lens[1] as usize, 0);
    near.broadcast_slice(0, &mut counts)?;
    near.broadcast_slice(0, &mut text)?;
    let told = || Numbering::told(&counts, std::str::from_utf8(&text).ok()?);
    numbering.or_else(told).ok_or(NearError::Corrupt)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::thread;

    use corecast_base::CpuId;
    use corecast_machine::{Cpu, Machine, Topology};

    use super::super::lanes::Lanes;
    use super::super::local::Network;
    use super::*;
    use crate::Group;
    use crate::processes::Founding;

    const PATIENCE: Duration = Duration::from_secs(60);

    fn machine() -> Machine {
        Machine::from_topology(&Topology { cpus: vec![Cpu::flat(CpuId::new(0))], ..Topology::default() })
    }

    #[test]
    fn a_member_that_is_lost_while_its_node_is_numbered_is_named_to_other_nodes() {
        let machine = machine();
        let found = |members: usize| {
            let builder = Group::builder(&machine).members(members).pin(false).plan_folder(None).race_folder(None);
            builder.found().expect("founded")
        };
        let (first, second) = (found(2), found(1));
        let place = |founding: &Founding, rank: usize| {
            let fd = founding.share().expect("a descriptor");
            NearInvitation::of_fd(fd).expect("attached").rank(rank)
        };
        let mut engines = Network::of(2).engines().into_iter();
        let mut engine = || engines.next().expect("one for each node");
        let (near, far) = (engine(), engine());
        let (leader, follower, other) = (place(&first, 0), place(&first, 1), place(&second, 0));
        thread::scope(|scope| {
            let leader = scope.spawn(|| leader.over(near).timeout(PATIENCE).join());
            let lost = scope.spawn(|| {
                catch_unwind(AssertUnwindSafe(|| {
                    let mut near = follower.timeout(PATIENCE).join().expect("all have joined");
                    News::lay_out(&mut near).expect("nothing has failed");
                    lanes::agree(&mut near, Lanes::ONE, false).expect("nothing has failed");
                    // Its place is given up while this is on its way.
                    resume_unwind(Box::new("as the test says"))
                }))
            });
            // The leader waits for this node until the follower is lost.
            assert!(lost.join().expect("it was caught").is_err());
            match other.over(far).timeout(PATIENCE).join() {
                Ok(mut me) => {
                    let told = me.start().barrier().and_then(|mut barrier| barrier.finish_timeout(PATIENCE));
                    assert_eq!(told, Err(Error::MemberLost { rank: 1, node: 0, loss: Loss::Panicked }));
                }
                // The word was faster than the end of the meeting.
                Err(error) => {
                    assert!(matches!(error, SetupError::Operation(Error::NodeLost { node: 0, .. })), "{error}")
                }
            }
            let error = leader.join().expect("no panic").expect_err("a member is lost");
            assert!(matches!(error, SetupError::Operation(Error::MemberLost { rank: 1, node: 0, .. })), "{error}");
        });
    }

    #[test]
    fn a_node_whose_members_do_not_come_ends_the_waiting_of_others() {
        let machine = machine();
        let builder = Group::builder(&machine).members(2).pin(false).plan_folder(None).race_folder(None);
        let (alone, other) = (builder.clone().found().expect("founded"), builder.members(1).found().expect("founded"));
        let place = |founding: &Founding| {
            NearInvitation::of_fd(founding.share().expect("a descriptor")).expect("attached").rank(0)
        };
        let mut engines = Network::of(2).engines().into_iter();
        let mut engine = || engines.next().expect("one for each node");
        let refused = place(&alone).over(engine()).timeout(Duration::ZERO).join();
        assert!(matches!(refused, Err(SetupError::Join(_))), "{refused:?}");
        let told = place(&other).over(engine()).timeout(PATIENCE).join();
        assert!(matches!(told, Err(SetupError::Operation(Error::NodeLost { node: 0, .. }))), "{told:?}");
    }
}
