//! Meeting at a name: processes find the memory they share over a local socket.
//!
//! One process [hosts](host) a [memfd region](SharedRegion::memfd) under a name; others [`connect`] to it and get a
//! descriptor of their own, and with it a seat. Take it among processes that are not each other's children; those can
//! inherit a descriptor ([`SharedRegion::share`]). Nothing of it lies in a file system but a socket and a lock file.
//!
//! How it works: the host holds the lock of `NAME.lock` and listens on `NAME.sock`. Whoever connects is asked for nothing:
//! the kernel tells his user, and he gets the descriptor in one message that never waits, so that nobody can keep the host
//! from serving others. The connection stays open. When it ends, the host is gone, and the member that gets the lock hosts
//! the same region under the same name; the others connect to it. So a name can be found for as long as any member keeps its
//! [`Meeting`], and channels go on undisturbed all the time. Each meeting has one thread that sleeps in `poll`.
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
mod desk;
mod error;
mod gc;
mod knock;
mod meeting;
mod name_lock;
mod names;
mod packet;
mod socket_dir;

pub use error::MeetError;
pub use gc::gc;
pub use meeting::Meeting;
pub use names::names;
pub use socket_dir::SocketDir;

use std::time::Duration;

use crate::region::{Observer, SharedRegion, check_region_name};

/// Hosts a memfd region under a name, for processes of this user. The name is one of a region; as the path of a socket,
/// `DIRECTORY/NAME.sock`, has at most 103 bytes, it has to be shorter than that of a file.
///
/// # Errors
/// [`MeetError`]; `Exists` if a living process hosts this name, `PathTooLong` if the path is, `Unshareable` if the region is
/// no memfd.
pub fn host(dir: &SocketDir, name: &str, region: SharedRegion) -> Result<Meeting, MeetError> {
    host_for(dir, name, region, &[crate::region::own_uid()])
}

/// The same for processes of these users; the directory must let them in ([`SocketDir::open_to_group`]). A member that takes
/// over lets in its own user.
///
/// # Errors
/// As for [`host`].
pub fn host_for(dir: &SocketDir, name: &str, region: SharedRegion, uids: &[u32]) -> Result<Meeting, MeetError> {
    check_region_name(name)?;
    region.check_shareable().map_err(MeetError::Unshareable)?;
    let place = dir.make_place(name)?;
    let desk = desk::Desk::open(&place)?.ok_or_else(|| MeetError::Exists(place.to_string()))?;
    meeting::begin_as_host(place, region, uids.to_vec(), desk)
}

/// Takes a seat in the region that is hosted under this name.
///
/// # Errors
/// [`MeetError`]; `NotFound` if nobody hosts it, `TimedOut` if the host does not answer within seconds.
pub fn connect(dir: &SocketDir, name: &str) -> Result<Meeting, MeetError> {
    check_region_name(name)?;
    let place = dir.find_place(name)?;
    let answer = knock::patiently(&place)?;
    let region = SharedRegion::from_received(answer.file, answer.has_own_file, &place.to_string(), place.owner())?;
    meeting::begin_as_member(place, region, answer.connection)
}

/// Looks at the region that is hosted under this name without taking a seat. Asks the host once, for at most `patience`.
///
/// # Errors
/// As for [`connect`].
pub fn observe(dir: &SocketDir, name: &str, patience: Duration) -> Result<Observer, MeetError> {
    check_region_name(name)?;
    let place = dir.find_place(name)?;
    let answer = knock::once(&place, patience)?;
    Ok(SharedRegion::observe_received(&answer.file, answer.has_own_file, &place.to_string(), place.owner())?)
}
