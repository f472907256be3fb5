//! A region under a name, which this process hosts or is ready to take over.

use std::fmt;
use std::io;
use std::mem;
use std::os::fd::OwnedFd;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};

use super::connection::Connection;
use super::error::RendezvousError;
use super::name_host::NameHost;
use super::name_lock::NameLock;
use super::request::{self, timespec};
use super::socket_dir::SocketName;
use crate::region::{SharedRegion, own_uid};
use crate::sync::{Arc, AtomicBool, Ordering};

/// The time limit of one question to a successor, and with it of the end of a hosted region.
const SUCCESSOR_ANSWER: Duration = Duration::from_millis(200);
/// The pause between two looks for a successor; doubled up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A region that is hosted under a name. This process hosts it, or takes over when the host ends. Its part ends when this
/// is dropped; clones of the [region](Self::region) live on.
pub struct HostedRegion {
    region: SharedRegion,
    shared: Arc<Shared>,
    /// `None` once it has been joined.
    thread: Option<JoinHandle<()>>,
}

/// The state shared with the thread.
#[derive(Debug)]
struct Shared {
    /// Readable when the thread shall end.
    stop: OwnedFd,
    /// True while this process hosts the name. Written by the thread.
    is_host: AtomicBool,
}

/// The task of the thread at the moment.
#[derive(Debug)]
enum Role {
    Host(NameHost),
    /// Connected to the host.
    Member(Connection),
}

#[derive(Debug)]
struct Service {
    socket: SocketName,
    region: SharedRegion,
    uids: Vec<u32>,
    shared: Arc<Shared>,
}

pub(super) fn begin_as_host(
    socket: SocketName,
    region: SharedRegion,
    uids: Vec<u32>,
    host: NameHost,
) -> Result<HostedRegion, RendezvousError> {
    begin(socket, region, uids, Role::Host(host))
}

pub(super) fn begin_as_member(
    socket: SocketName,
    region: SharedRegion,
    connection: Connection,
) -> Result<HostedRegion, RendezvousError> {
    begin(socket, region, vec![own_uid()], Role::Member(connection))
}

fn begin(
    socket: SocketName,
    region: SharedRegion,
    uids: Vec<u32>,
    role: Role,
) -> Result<HostedRegion, RendezvousError> {
    let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(socket.refused("serve"))?;
    let shared = Arc::new(Shared { stop, is_host: AtomicBool::new(matches!(role, Role::Host(_))) });
    let what = format!("start a thread for {socket}");
    let failed = |source: io::Error| RendezvousError::System { what, source };
    let service = Service { socket, region: region.clone(), uids, shared: Arc::clone(&shared) };
    let thread = thread::Builder::new().name("corecast-meet".to_owned()).spawn(|| service.run(role)).map_err(failed)?;
    Ok(HostedRegion { region, shared, thread: Some(thread) })
}

impl HostedRegion {
    /// The region.
    #[must_use]
    pub fn region(&self) -> &SharedRegion {
        &self.region
    }

    /// True if this process hosts the name at the moment.
    #[must_use]
    pub fn is_host(&self) -> bool {
        // ORDERING: Relaxed, the answer may be out of date as soon as it is given
        self.shared.is_host.load(Ordering::Relaxed)
    }
}

impl Drop for HostedRegion {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        if self.region.is_copy() {
            // The thread belongs to the parent.
            mem::forget(thread);
            return;
        }
        // A write to a counter that is 0 does not fail.
        let _ = rustix::io::write(&self.shared.stop, &1_u64.to_ne_bytes());
        // The panic hook has reported a panic there.
        let _ = thread.join();
    }
}

impl Service {
    fn run(self, mut role: Role) {
        loop {
            let connection = match role {
                Role::Host(mut host) => {
                    // ORDERING: Relaxed, see is_host: old news do no harm
                    self.shared.is_host.store(true, Ordering::Relaxed);
                    host.serve(&self.region, &self.uids, &self.shared.stop);
                    return host.close(&self.socket);
                }
                Role::Member(connection) => connection,
            };
            let is_stopped = self.is_stopped_while(&connection);
            drop(connection);
            match if is_stopped { None } else { self.succeed() } {
                Some(next) => role = next,
                // The host may have gone too, and left the name to this process. Successors that still want it create it
                // anew.
                None => return NameLock::remove_deserted(&self.socket),
            }
        }
    }

    /// Waits until this process ends its part (true) or the host ends (false).
    fn is_stopped_while(&self, connection: &Connection) -> bool {
        loop {
            let mut polled =
                [PollFd::new(&self.shared.stop, PollFlags::IN), PollFd::new(&***connection, PollFlags::empty())];
            if poll(&mut polled, None).is_err() {
                continue;
            }
            if !polled[0].revents().is_empty() {
                return true;
            }
            if !polled[1].revents().is_empty() {
                return false;
            }
        }
    }

    /// The next role after the end of the host: this process takes over, or connects to the successor. `None` if this
    /// process ends its part, or the name is that of another region now.
    fn succeed(&self) -> Option<Role> {
        let mut pause = FIRST_PAUSE;
        loop {
            // Otherwise another member took over, or the directory has trouble.
            if let Ok(Some(host)) = NameHost::open(&self.socket) {
                return Some(Role::Host(host));
            }
            if let Ok(answer) = request::once(&self.socket, SUCCESSOR_ANSWER) {
                let is_same = answer.generation == self.region.generation();
                return is_same.then_some(Role::Member(answer.connection));
            }
            let mut polled = [PollFd::new(&self.shared.stop, PollFlags::IN)];
            if poll(&mut polled, Some(&timespec(pause))).is_ok_and(|count| count > 0) {
                return None;
            }
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }
}

impl fmt::Debug for HostedRegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let role = if self.is_host() { "host" } else { "member" };
        write!(f, "HostedRegion({:?}, {role})", self.region)
    }
}
