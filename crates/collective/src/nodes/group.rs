//! Groups over several nodes whose members at each node are threads of one process.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use corecast_base::sync::{Arc, Mutex};
use corecast_machine::pin;

use super::connection::Connection;
use super::ends::Ends;
use super::engine::Engine;
use super::error::SetupError;
use super::lanes::Lanes;
use super::leader::Leader;
use super::member::{HELD_BRIEFLY, Home, Member, Seat};
use super::news::News;
use super::numbering::Numbering;
use super::setup;
use crate::error::{BuildError, Error as NearError, RunError};
use crate::group::{Builder as NearBuilder, Group as NearGroup};

impl<'a> NearBuilder<'a> {
    /// Makes the group that is built one node's part of a group over several, which an engine connects. Each node's process does
    /// the same with its own end of the engine, and has any number of members.
    #[must_use]
    pub fn over(self, connection: impl Into<Connection>) -> Builder<'a> {
        let Connection { engine, limit, lanes, .. } = connection.into();
        Builder { near: self, engine, limit, lanes }
    }
}

/// Settings of a future group over several nodes.
pub struct Builder<'a> {
    near: NearBuilder<'a>,
    engine: Option<Box<dyn Engine>>,
    limit: Duration,
    lanes: Lanes,
}

impl Builder<'_> {
    /// Waits this long for the other nodes; by default as long as the [`Connection`] says.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Builds this node's part, and meets the other nodes.
    ///
    /// # Errors
    /// [`SetupError`].
    pub fn build(self) -> Result<Group, SetupError> {
        let near = self.near.build()?;
        let mut engine = self.engine.ok_or(SetupError::NoEngine)?;
        if self.lanes.count() > 1 {
            engine.close(false);
            return Err(SetupError::NoLane { member: 1, lanes: self.lanes.count() });
        }
        let numbering = match setup::meet(&mut *engine, near.size(), self.lanes, self.limit) {
            Ok(numbering) => Arc::new(numbering),
            Err(error) => {
                engine.close(false);
                return Err(error);
            }
        };
        let news = News::of_threads().map_err(BuildError::from)?;
        let seat = Seat { leader: Some(Leader::new(engine)), ..Seat::default() };
        Ok(Group { near, numbering, news, seat: Arc::new(Mutex::new(seat)) })
    }
}

impl fmt::Debug for Builder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("near", &self.near).field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// One node's part of a group over several nodes, with a thread for each member of the node.
pub struct Group {
    near: NearGroup,
    numbering: Arc<Numbering>,
    news: News,
    seat: Arc<Mutex<Seat>>,
}

impl Group {
    /// The number of members of all nodes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.numbering.members()
    }

    /// The number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.numbering.nodes()
    }

    /// The group within this node.
    #[must_use]
    pub fn near(&self) -> &NearGroup {
        &self.near
    }

    /// Runs `body` as every member of this node, each on a thread of its own, and returns their results by rank within the
    /// node. May be called again after it has returned, at all nodes alike.
    ///
    /// # Errors
    /// [`RunError`]; ranks in it are those within the node.
    pub fn run<R: Send>(&self, body: impl Fn(&mut Member) -> R + Sync) -> Result<Vec<R>, RunError> {
        let members = (0..self.near.size()).map(|local| self.join(local)).collect::<Result<Vec<_>, _>>()?;
        let body = &body;
        let outcomes: Vec<Result<R, RunError>> = thread::scope(|scope| {
            let threads: Vec<_> = members.into_iter().map(|me| scope.spawn(move || self.run_one(me, body))).collect();
            threads.into_iter().map(|thread| thread.join().expect("run_one catches panics")).collect()
        });
        outcomes.into_iter().collect()
    }

    /// Takes the place of the member of this rank within the node, for this thread or one that the member is sent to. The first
    /// one leads.
    ///
    /// # Errors
    /// As for [`Group::join`](NearGroup::join).
    pub fn join(&self, local: usize) -> Result<Member, NearError> {
        let near = self.near.join(local)?;
        let mut seat = self.seat.lock().expect(HELD_BRIEFLY);
        let leader = if local == 0 { seat.leader.take() } else { None };
        let ends = Ends::new(near, Arc::clone(&self.numbering), self.news.clone(), leader);
        let forms = seat.forms.unwrap_or(ends.forms);
        let far_plan = seat.far_plan.clone();
        let ends = Ends { operation: seat.operation, completed: seat.completed, forms, far_plan, ..ends };
        Ok(Member::new(ends, Home::Threads(Arc::clone(&self.seat))))
    }

    fn run_one<R>(&self, me: Member, body: &(impl Fn(&mut Member) -> R + Sync)) -> Result<R, RunError> {
        let rank = me.ends().near.rank();
        let _pinned = match self.near.is_pinned() {
            true => Some(pin::pin(self.near.cpus()[rank]).map_err(|reason| {
                me.ends().near.fail();
                RunError::Pin { rank, reason }
            })?),
            false => None,
        };
        let outcome = catch_unwind(AssertUnwindSafe(move || {
            // Moved in, so that unwinding drops it and tells the others.
            let mut me = me;
            body(&mut me)
        }));
        outcome.map_err(|panic| RunError::Panicked { rank, message: message_of(&*panic) })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let leader = self.seat.lock().map(|mut seat| seat.leader.take());
        if let Ok(Some(leader)) = leader {
            let is_clean = !leader.has_told;
            leader.close(is_clean);
        }
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ending = |count: usize| if count == 1 { "" } else { "s" };
        let (size, nodes) = (self.size(), self.nodes());
        let (members, ending) = (ending(size), ending(nodes));
        write!(f, "Group({size} member{members} on {nodes} node{ending}, {:?} on this one)", self.near)
    }
}

fn message_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a value that is no text".to_owned())
}
