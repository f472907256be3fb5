//! The nodes of a program, opened from the environment that its launcher made.

use std::fmt;
use std::hash::{DefaultHasher, Hasher};
use std::os::linux::fs::MetadataExt;
use std::time::Duration;

use corecast_base::rendezvous::SocketDir;
use corecast_base::small_file;
use corecast_collective::nodes::{Connection, Engine, Facts, Survival};
use corecast_collective::processes::RANK_VARIABLE;

use crate::engine::MpiEngine;
use crate::error::OpenError;
use crate::launcher::Launcher;
use crate::library_info::LibraryInfo;
use crate::set_up::{Limit, SetUp};

/// The nodes of this program: see the [crate](crate).
#[derive(Debug)]
pub struct Cluster {
    engine: Option<MpiEngine>,
    launcher: Option<Launcher>,
    library: Option<LibraryInfo>,
    /// The limit of opening it, which members that do not lead wait for as well.
    limit: Duration,
}

impl Cluster {
    /// Finds and loads the MPI library, initialises it, checks that it belongs to the launcher, and that all nodes run the same
    /// corecast on the same library. All processes that the launcher has started have to call it.
    ///
    /// A member of `corecast run` other than member 0 opens nothing: its node's leader is member 0.
    ///
    /// # Errors
    /// An [`OpenError`] that names the trouble; it is returned within `CORECAST_MPI_TIMEOUT` seconds, 60 by default. A group over
    /// the cluster waits as long for members and nodes, unless it is given another limit.
    pub fn from_env() -> Result<Self, OpenError> {
        Self::open(Limit::from_env()?)
    }

    /// As [`from_env`](Self::from_env), within this time, whatever the environment says.
    ///
    /// # Errors
    /// An [`OpenError`].
    pub fn from_env_timeout(limit: Duration) -> Result<Self, OpenError> {
        Self::open(Limit::of(limit))
    }

    fn open(limit: Limit) -> Result<Self, OpenError> {
        if is_follower() {
            return Ok(Self { engine: None, launcher: None, library: None, limit: limit.duration() });
        }
        let launcher = Launcher::from_env();
        // Every rank is a node, wherever it runs.
        let set_up = SetUp::of(launcher, limit, 0)?;
        let library = LibraryInfo::of(&set_up.session.library);
        let every_rank: Vec<usize> = (0..set_up.facts.len()).collect();
        let comms = set_up.communicators(&every_rank)?.expect("every rank is a leader");
        let hosts = set_up.facts.iter().map(|facts| facts.host.clone()).collect();
        let engine = MpiEngine::open(set_up.session, facts_of(&library, set_up.rank, hosts), comms)?;
        Ok(Self { engine: Some(engine), launcher, library: Some(library), limit: limit.duration() })
    }

    /// The nodes; `None` at members that are no leaders.
    #[must_use]
    pub fn facts(&self) -> Option<&Facts> {
        self.engine.as_ref().map(Engine::facts)
    }

    /// The library; `None` at members that are no leaders.
    #[must_use]
    pub fn library(&self) -> Option<&LibraryInfo> {
        self.library.as_ref()
    }

    /// The launcher that started this process, if it told rank and size.
    #[must_use]
    pub fn launcher(&self) -> Option<Launcher> {
        self.launcher
    }

    /// The engine, for a group over several nodes; `None` at members that are no leaders.
    #[must_use]
    pub fn into_engine(self) -> Option<Box<dyn Engine>> {
        self.engine.map(|engine| Box::new(engine) as Box<dyn Engine>)
    }

    /// Ends this node's part: see [`Engine::close`].
    pub fn close(self, is_clean: bool) {
        if let Some(engine) = self.into_engine() {
            engine.close(is_clean);
        }
    }
}

impl From<Cluster> for Connection {
    /// With the limit of opening the cluster.
    fn from(cluster: Cluster) -> Self {
        let limit = cluster.limit;
        Self::from(cluster.into_engine()).timeout(limit)
    }
}

impl fmt::Display for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(facts), Some(library)) = (self.facts(), self.library()) else {
            return f.write_str("a member whose leader is member 0 of its node");
        };
        write!(f, "node {} of {} on {}: {library}", facts.node, facts.nodes(), facts.hosts[facts.node])?;
        match self.launcher {
            Some(launcher) => write!(f, "; started by {launcher}"),
            None => f.write_str("; no launcher told a size"),
        }
    }
}

/// The facts of a node among those on these hosts.
pub(crate) fn facts_of(library: &LibraryInfo, node: usize, hosts: Vec<String>) -> Facts {
    let mut facts = Facts::new(node, hosts, format!("{}, {} ABI", library.version, library.abi));
    facts.survival = if library.mortality.is_none() { Survival::Nodes } else { Survival::Members };
    facts
}

/// True for members of `corecast run` whose node's leader is another one.
fn is_follower() -> bool {
    std::env::var(RANK_VARIABLE).is_ok_and(|rank| rank.trim().parse::<usize>().is_ok_and(|rank| rank > 0))
}

/// A number for the running system and the folder where its processes meet, which has to be there: without it, containers with
/// folders of their own would pass for one node. Namespaces differ rank by rank in containers, so they are no part of it.
pub(crate) fn home(dir: &SocketDir) -> u64 {
    let mut hasher = DefaultHasher::new();
    let boot = small_file::read("/proc/sys/kernel/random/boot_id".as_ref(), 100).unwrap_or_default();
    hasher.write(boot.as_bytes());
    if let Ok(place) = std::fs::metadata(dir.path()) {
        hasher.write_u64(place.st_dev());
        hasher.write_u64(place.st_ino());
    }
    hasher.finish()
}
