//! The service: takes clients, each in a thread of its own, until it is told to stop.

use std::fmt;
use std::io::{self, ErrorKind};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::Duration;

use corecast_machine::Machine;
use rustix::event::PollFlags;

use super::answer::{Answer, Refusal, RefusalKind};
use super::line::{Lines, Patience};
use super::options::Options;
use super::plan_service::PlanService;
use super::readiness::{Stopper, Woken, deadline, wait};
use super::session::Session;
use super::socket::{BindError, BoundSocket};

/// How long the service takes no clients after the system refused one, as when it is out of file descriptors.
const BREATH: Duration = Duration::from_millis(100);

/// A plan service that listens.
pub struct Server {
    socket: BoundSocket,
    stopper: Stopper,
    options: Options,
    service: PlanService,
}

impl Server {
    /// Listens at `path`, for plans of `machine` and of every machine that a client sends. Only this user may connect.
    /// A socket that a killed service left is replaced.
    ///
    /// # Errors
    ///
    /// If a service listens there already, something else is there, or the system refuses.
    pub fn bind(path: &Path, machine: Machine, options: Options) -> Result<Self, BindError> {
        let socket = BoundSocket::bind(path)?;
        let stopper = Stopper::new().map_err(|error| BindError::Io { path: path.to_owned(), error })?;
        Ok(Self { socket, stopper, options, service: PlanService::new(machine, options) })
    }

    /// Where it listens.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.socket.path()
    }

    /// A handle that ends it.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Serves clients until the [`Stopper`] is used; then ends their searches, answers what can be answered, and
    /// removes the socket.
    ///
    /// # Errors
    ///
    /// If the system refuses to wait for clients. Trouble with single clients ends those.
    pub fn serve(self) -> io::Result<()> {
        // Whatever ends the loop ends the clients too, or the scope would wait for them.
        thread::scope(|scope| {
            let outcome = self.take_clients(scope);
            self.stopper.stop();
            outcome
        })
    }

    fn take_clients<'scope>(&'scope self, scope: &'scope thread::Scope<'scope, '_>) -> io::Result<()> {
        loop {
            if wait(self.socket.listener(), PollFlags::IN, None, Some(&self.stopper))? == Woken::Stopped {
                return Ok(());
            }
            match self.socket.listener().accept() {
                Ok((stream, _)) => self.take(stream, scope),
                Err(error) if is_of_one_client(&error) => {}
                // No other client can be served meanwhile; a client that waits is taken later.
                Err(_) => {
                    if wait(self.socket.listener(), PollFlags::empty(), deadline(BREATH), Some(&self.stopper))?
                        == Woken::Stopped
                    {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn take<'scope>(&'scope self, stream: UnixStream, scope: &'scope thread::Scope<'scope, '_>) {
        let Some(client) = self.service.tally.admit(self.options.max_clients) else {
            return refuse(stream, self.options);
        };
        // A client that cannot get a thread is dropped, and sees the connection closed.
        let _ = thread::Builder::new().name("plan-client".to_owned()).spawn_scoped(scope, move || {
            let _client = client;
            if let Ok(session) = Session::new(stream, self.options, &self.stopper, &self.service) {
                session.serve();
            }
        });
    }
}

fn is_of_one_client(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::ConnectionAborted)
}

/// Tells a client beyond the limit that the service is busy, without waiting: only if the socket has room for the
/// answer.
fn refuse(stream: UnixStream, options: Options) {
    let message = format!("{} clients are served already", options.max_clients);
    let line = Answer::from(Refusal::new(RefusalKind::Busy, message)).line();
    if let Ok(mut lines) = Lines::over(stream) {
        // A client that cannot be told sees the connection closed.
        let _ = lines.send(&line, Patience { until: deadline(Duration::ZERO), stopper: None });
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({:?})", self.path())
    }
}
