//! A replica in shared memory, as the server asks it.

use std::time::Duration;

use corecast::replica::kv::{Answer, Op, Out, Query, Store};
use corecast::replica::{Batch, Batched, ExecuteError, Level, Node, ReadError, Session as NodeSession, Status};

use super::replica::{Replica, Session, Standing, Trouble};

/// How long an operation or a question may take. A change of roles takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

impl Replica for Node<Batched<Store>> {
    type Session = NodeSession<Batched<Store>>;

    fn session(&self) -> Result<Self::Session, Trouble> {
        Ok(Self::session(self)?)
    }

    #[inline]
    fn read(&self, query: &Query) -> Result<Answer, Trouble> {
        let (answer, _) = self.read_timeout(Level::Linearizable, query, PATIENCE)?;
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
    fn start(&mut self, ops: &Batch<Op>) -> Result<u32, Trouble> {
        Ok(self.queue(ops)?)
    }

    #[inline]
    fn wait(&mut self, number: u32) -> Result<Batch<Out>, Trouble> {
        let (outs, _) = self.wait_timeout(number, PATIENCE)?;
        Ok(outs)
    }
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
