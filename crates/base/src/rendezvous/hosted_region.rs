//! A process that hosts a name, or would take over.

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

/// How long one question to an heir may take, and with it the end of a meeting.
const SUCCESSOR_ANSWER: Duration = Duration::from_millis(200);
/// Between two looks for an heir; doubled up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// This process' part in a meeting at a name: it hosts it, or takes over when the host ends. Ends when it is dropped; clones
/// of its [region](Self::region) live on.
pub struct HostedRegion {
    region: SharedRegion,
    shared: Arc<Shared>,
    /// `None` when it has been waited for.
    thread: Option<JoinHandle<()>>,
}

/// What a meeting shares with its thread.
#[derive(Debug)]
struct Shared {
    /// Readable when the thread is to end.
    stop: OwnedFd,
    /// True while this process hosts the name. The thread writes.
    is_host: AtomicBool,
}

/// What the thread does at the moment.
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
    /// The region that is met in.
    #[must_use]
    pub fn region(&self) -> &SharedRegion {
        &self.region
    }

    /// True if this process hosts the name at the moment.
    #[must_use]
    pub fn is_host(&self) -> bool {
        // ORDERING: Relaxed, news of a thread that may be old when it is told
        self.shared.is_host.load(Ordering::Relaxed)
    }
}

impl Drop for HostedRegion {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        if self.region.is_copy() {
            // The thread is the parent's.
            mem::forget(thread);
            return;
        }
        // Writing to a counter that is 0 does not fail.
        let _ = rustix::io::write(&self.shared.stop, &1_u64.to_ne_bytes());
        // A panic there has been told by the panic hook.
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
                // The host may have gone too, and left the name to us. Heirs that still want it make it anew.
                None => return NameLock::remove_deserted(&self.socket),
            }
        }
    }

    /// Waits until the meeting ends here (true) or the host ends (false).
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

    /// What comes after the end of the host: its place, or a connection to whoever took it; `None` if the meeting ends here,
    /// or the name is that of another region now.
    fn succeed(&self) -> Option<Role> {
        let mut pause = FIRST_PAUSE;
        loop {
            // Otherwise somebody took over, or the directory has trouble.
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
