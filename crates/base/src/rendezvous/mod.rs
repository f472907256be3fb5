//! Names for shared memory: processes find a region over a local socket.
//!
//! One process [hosts](host) a [memfd region](SharedRegion::memfd) under a name. Others [`connect`] to it and get a
//! descriptor of their own, and with it a participant slot. Take it among processes that are not each other's children;
//! children can inherit a descriptor ([`SharedRegion::share`]). The file system holds only a socket and a lock file.
//!
//! How it works: the host holds the lock of `NAME.lock` and listens on `NAME.sock`. It asks a guest for nothing: the kernel
//! tells the guest's user, and the guest gets the descriptor in one message that never waits, so that no guest can keep the
//! host from serving others. The connection stays open. When it ends, the host is gone. The member that gets the lock then
//! hosts the same region under the same name, and the others connect to it. So the name can be found for as long as any
//! member keeps its [`HostedRegion`], and channels go on undisturbed all the time. Each hosted region has one thread that
//! sleeps in `poll`.
//!
//! ```
//! use corecast_base::region::{Liveness, RegionPlan, SharedRegion};
//! use corecast_base::rendezvous::{self, SocketDir};
//! # let temporary = tempfile::tempdir()?;
//! # let dir = SocketDir::at(temporary.path().join("sockets"));
//! # /*
//! let dir = SocketDir::of_user();
//! # */
//! let plan = RegionPlan::new().add("news", 1, [0; 6], 4096)?;
//! let host = rendezvous::host(&dir, "example", SharedRegion::memfd(&plan)?)?;
//! // In another process:
//! let guest = rendezvous::connect(&dir, "example")?;
//! assert_eq!(guest.region().liveness(host.region().me()), Liveness::Alive);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod connection;
mod credentials;
mod error;
mod gc;
mod hosted_region;
mod name_host;
mod name_lock;
mod names;
mod packet;
mod request;
mod socket_dir;

pub use error::RendezvousError;
pub use gc::gc;
pub use hosted_region::HostedRegion;
pub use names::names;
pub use socket_dir::SocketDir;

use std::time::{Duration, Instant};

use name_host::NameHost;
use request::ANSWER_PATIENCE;
use socket_dir::SocketName;

use crate::region::{Observer, SharedRegion, check_region_name};

/// The pauses between two attempts to connect to a name without a host; each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);
/// The attempts to take the lock of a name.
const HOSTING_TRIES: usize = 4;
/// The least time that a host which is there gets for its answer, also from a caller that does not wait for one to come.
const LEAST_ANSWER_PATIENCE: Duration = Duration::from_millis(100);

/// Hosts a memfd region under a name, for processes of this user. The rules for names are those of regions. As the path of
/// a socket, `DIRECTORY/NAME.sock`, has at most 103 bytes, the name has to be shorter than that of a file.
///
/// # Errors
/// [`RendezvousError`]; `Exists` if another process hosts this name, `PathTooLong` if the path is too long, `Unshareable`
/// if the region is not a memfd.
pub fn host(dir: &SocketDir, name: &str, region: SharedRegion) -> Result<HostedRegion, RendezvousError> {
    host_for(dir, name, region, &[crate::region::own_uid()])
}

/// As [`host`], for processes of these users; the directory must let them in ([`SocketDir::open_to_group`]). A member that
/// takes over lets in its own user only.
///
/// # Errors
/// As for [`host`].
pub fn host_for(
    dir: &SocketDir,
    name: &str,
    region: SharedRegion,
    uids: &[u32],
) -> Result<HostedRegion, RendezvousError> {
    check_region_name(name)?;
    region.check_shareable().map_err(RendezvousError::Unshareable)?;
    let socket = dir.make_socket_name(name)?;
    let host = host_unless_taken(&socket)?.ok_or_else(|| RendezvousError::Exists(socket.to_string()))?;
    hosted_region::begin_as_host(socket, region, uids.to_vec(), host)
}

/// Hosts a name unless another process keeps its lock: `gc` takes that of a name without a host for a moment.
fn host_unless_taken(socket: &SocketName) -> Result<Option<NameHost>, RendezvousError> {
    for _ in 1..HOSTING_TRIES {
        if let Some(host) = NameHost::open(socket)? {
            return Ok(Some(host));
        }
        std::thread::sleep(FIRST_PAUSE);
    }
    NameHost::open(socket)
}

/// Joins the region that is hosted under this name.
///
/// # Errors
/// [`RendezvousError`]; `NotFound` if no process hosts it, `TimedOut` if the host does not answer within seconds.
pub fn connect(dir: &SocketDir, name: &str) -> Result<HostedRegion, RendezvousError> {
    connect_within(dir, name, ANSWER_PATIENCE)
}

fn connect_within(dir: &SocketDir, name: &str, patience: Duration) -> Result<HostedRegion, RendezvousError> {
    check_region_name(name)?;
    let socket = dir.find_socket_name(name)?;
    let answer = request::until_answered(&socket, patience)?;
    let region = SharedRegion::from_received(answer.file, answer.has_own_file, &socket.to_string(), socket.owner())?;
    hosted_region::begin_as_member(socket, region, answer.connection)
}

/// As [`connect`], waiting for at most `timeout` until a process hosts the name. A host that is there is given 100 ms to answer,
/// also with less time than that, or none.
///
/// ```
/// use std::time::Duration;
/// use corecast_base::region::{RegionPlan, SharedRegion};
/// use corecast_base::rendezvous::{self, SocketDir};
/// # let temporary = tempfile::tempdir()?;
/// # let dir = SocketDir::at(temporary.path().join("sockets"));
/// let plan = RegionPlan::new().add("news", 1, [0; 6], 4096)?;
/// std::thread::scope(|scope| {
///     let guest = scope.spawn(|| rendezvous::connect_timeout(&dir, "late", Duration::from_secs(10)));
///     let _host = rendezvous::host(&dir, "late", SharedRegion::memfd(&plan)?)?;
///     guest.join().expect("no panic")?;
///     Ok::<(), Box<dyn std::error::Error>>(())
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As for [`connect`]; `NotFound` if no process hosted the name in time.
pub fn connect_timeout(dir: &SocketDir, name: &str, timeout: Duration) -> Result<HostedRegion, RendezvousError> {
    let begin = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        let left = timeout.saturating_sub(begin.elapsed());
        match connect_within(dir, name, left.clamp(LEAST_ANSWER_PATIENCE, ANSWER_PATIENCE)) {
            Err(RendezvousError::NotFound(_)) if !left.is_zero() => {}
            outcome => return outcome,
        }
        std::thread::sleep(pause.min(left));
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
}

/// Looks at the region that is hosted under this name without joining it. Asks the host once, for at most `patience`.
///
/// # Errors
/// As for [`connect`].
pub fn observe(dir: &SocketDir, name: &str, patience: Duration) -> Result<Observer, RendezvousError> {
    check_region_name(name)?;
    let socket = dir.find_socket_name(name)?;
    let answer = request::once(&socket, patience)?;
    Ok(SharedRegion::observe_received(&answer.file, answer.has_own_file, &socket.to_string(), socket.owner())?)
}
