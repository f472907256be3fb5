//! A replica in shared memory, as the server asks it.

use std::time::Duration;

use corecast::replica::kv::{Answer, Op, Out, Query, Store};
use corecast::replica::{Batch, Batched, ExecuteError, Level, Node, ReadError, Session as NodeSession, Status};

use super::deadline::Deadline;
use super::replica::{Replica, Session, Standing, Trouble};

impl Replica for Node<Batched<Store>> {
    type Session = NodeSession<Batched<Store>>;

    fn session(&self, deadline: &Deadline) -> Result<Self::Session, Trouble> {
        // Each call opens a session of its own, so a wait cut into pieces might open none.
        Ok(self.session_timeout(deadline.left())?)
    }

    #[inline]
    fn read(&self, query: &Query, deadline: &Deadline) -> Result<Answer, Trouble> {
        let read = |limit| self.read_timeout(Level::Linearizable, query, limit);
        // Nearly always this replica has applied everything, and no clock is looked at.
        let (answer, _) = match read(Duration::ZERO) {
            Err(ReadError::Lagging { .. }) => {
                deadline.retry(read, |error| matches!(error, ReadError::Lagging { .. }))?
            }
            result => result?,
        };
        Ok(answer)
    }

    fn standing(&self) -> Standing {
        let status = self.status();
        Standing { is_leader: status.is_member && status.leader == status.me, ended: status.ended }
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let Status { me, epoch, leader, acceptor, applied, commit, stable, visible, members, counters, .. } =
            self.status();
        let members: Vec<String> = members.iter().map(ToString::to_string).collect();
        vec![
            ("node", me.to_string()),
            ("members", members.join(",")),
            ("leader", leader.to_string()),
            ("acceptor", acceptor.to_string()),
            ("epoch", epoch.to_string()),
            ("applied", applied.to_string()),
            ("commit", commit.to_string()),
            ("stable", stable.to_string()),
            ("visible", visible.to_string()),
            ("role_changes", counters.role_changes.to_string()),
            ("rejoins", counters.rejoins.to_string()),
        ]
    }
}

impl Session for NodeSession<Batched<Store>> {
    const OUTSTANDING: usize = 16;

    #[inline]
    fn start(&mut self, ops: &Batch<Op>, deadline: &Deadline) -> Result<u32, Trouble> {
        Ok(deadline.retry(|limit| self.queue_timeout(ops, limit), is_late)?)
    }

    #[inline]
    fn wait(&mut self, number: u32, deadline: &Deadline) -> Result<Batch<Out>, Trouble> {
        let (outs, _) = deadline.retry(|limit| self.wait_timeout(number, limit), is_late)?;
        Ok(outs)
    }
}

/// True if only the time was too short.
fn is_late(error: &ExecuteError) -> bool {
    matches!(error, ExecuteError::Unknown { .. } | ExecuteError::NoRoom)
}

impl From<ExecuteError> for Trouble {
    fn from(error: ExecuteError) -> Self {
        Self(error.to_string())
    }
}

impl From<ReadError> for Trouble {
    fn from(error: ReadError) -> Self {
        Self(error.to_string())
    }
}
