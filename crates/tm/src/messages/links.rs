//! The channels between applications and servers: two for each pair.

use std::sync::{Mutex, MutexGuard, PoisonError};

use corecast_base::region::{RegionPlan, RegionPlanError, SharedRegion};
use corecast_channel::ump::bytes::{self, Receiver, Sender};
use corecast_channel::ump::{self};

use crate::config::Config;
use crate::crash_point;
use crate::error::OpenError;

/// A client has one request under way, and some that need no reply.
const SLOTS: usize = 16;

/// An application's ends at one server.
#[derive(Debug)]
pub(crate) struct ClientEnds {
    pub(super) requests: Sender,
    pub(super) replies: Receiver,
}

/// A server's ends at one application.
#[derive(Debug)]
pub(crate) struct ServerEnds {
    pub(super) requests: Receiver,
    pub(super) replies: Sender,
}

/// The ends that no participant has taken yet.
#[derive(Debug)]
pub(crate) enum Links {
    /// Among threads; by server, and then by application.
    Threads(Mutex<Vec<Vec<Pair>>>),
    /// In a region, where ends are opened by name.
    Region(SharedRegion),
}

/// Both ends, until each is taken.
pub(crate) type Pair = (Option<ClientEnds>, Option<ServerEnds>);

fn lock(pairs: &Mutex<Vec<Vec<Pair>>>) -> MutexGuard<'_, Vec<Vec<Pair>>> {
    pairs.lock().unwrap_or_else(PoisonError::into_inner)
}

fn config(config: &Config) -> ump::Config {
    ump::Config { slots: SLOTS, wait: config.wait, ..ump::Config::default() }
}

fn names(server: usize, application: usize) -> [String; 2] {
    [format!("tm.q.{application}.{server}"), format!("tm.a.{application}.{server}")]
}

/// Declares the channels of an instance among processes.
///
/// # Errors
/// [`RegionPlanError`] if there are more than a region takes.
pub(crate) fn declare(mut plan: RegionPlan, of: &Config) -> Result<RegionPlan, RegionPlanError> {
    let spec = bytes::spec(config(of));
    for (server, application) in pairs(of) {
        for name in names(server, application) {
            plan = spec.declare(plan, &name)?;
        }
    }
    Ok(plan)
}

fn pairs(config: &Config) -> impl Iterator<Item = (usize, usize)> {
    let applications = config.applications().count();
    (0..config.servers()).flat_map(move |server| (0..applications).map(move |application| (server, application)))
}

impl Links {
    /// The channels among the threads of this process.
    pub(crate) fn threads(of: &Config) -> Self {
        let applications = of.applications().count();
        let pair = || {
            let ((asking, asked), (replying, replied)) = (bytes::channel(config(of)), bytes::channel(config(of)));
            let client = ClientEnds { requests: asking, replies: replied };
            (Some(client), Some(ServerEnds { requests: asked, replies: replying }))
        };
        let servers = (0..of.servers()).map(|_| (0..applications).map(|_| pair()).collect());
        Self::Threads(Mutex::new(servers.collect()))
    }

    /// The ends of an application, by server.
    pub(super) fn of_client(&self, of: &Config, application: usize) -> Result<Vec<ClientEnds>, OpenError> {
        let open = |server: usize| match self {
            Self::Threads(pairs) => {
                let mut pairs = lock(pairs);
                pairs[server][application].0.take().ok_or(OpenError::Taken(application))
            }
            Self::Region(region) => {
                let [request, reply] = names(server, application);
                let replies = bytes::receiver(region, &reply)?;
                crash_point::here("linked");
                let requests = bytes::sender(region, &request)?;
                crash_point::here("linked");
                Ok(ClientEnds { requests, replies })
            }
        };
        (0..of.servers()).map(open).collect()
    }

    /// The ends of a server, by application.
    pub(super) fn of_server(&self, of: &Config, server: usize) -> Result<Vec<ServerEnds>, OpenError> {
        let open = |application: usize| match self {
            Self::Threads(pairs) => {
                let mut pairs = lock(pairs);
                pairs[server][application].1.take().ok_or(OpenError::Taken(server))
            }
            Self::Region(region) => {
                let [request, reply] = names(server, application);
                let requests = bytes::receiver(region, &request)?;
                crash_point::here("linked");
                let replies = bytes::sender(region, &reply)?;
                crash_point::here("linked");
                Ok(ServerEnds { requests, replies })
            }
        };
        (0..of.applications().count()).map(open).collect()
    }

    /// Drops the ends that nobody has taken, so that those at the other ends see them closed.
    pub(crate) fn close(&self) {
        if let Self::Threads(pairs) = self {
            lock(pairs).iter_mut().flatten().for_each(|pair| *pair = (None, None));
        }
    }
}
