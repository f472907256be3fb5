//! Waiting for a socket with a deadline, and for the end of a service at the same time.
//!
//! The end is a socket too: it reads as closed for every waiter once it was raised, so that one call waits for both.

use std::io;
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Ends a service, from any thread, once and for all.
#[derive(Clone, Debug)]
pub struct Stopper {
    ends: Arc<(UnixStream, UnixStream)>,
}

/// Why a wait is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Woken {
    /// The socket can be read, written or accepted from.
    Ready,
    /// The service ends.
    Stopped,
    /// The deadline has passed.
    TimedOut,
}

impl Stopper {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { ends: Arc::new(UnixStream::pair()?) })
    }

    /// Ends the service: it takes no more clients, stops its searches, and returns from
    /// [`Server::serve`](super::Server::serve). May be called more than once.
    pub fn stop(&self) {
        // The only error is that it is shut down already.
        let _ = self.ends.0.shutdown(Shutdown::Both);
    }

    /// True if the service ends or the client at the other end of the stream is gone: both ways closed, not only the
    /// one that a client closes which has no more to ask.
    pub(super) fn is_raised_or_gone(&self, stream: &UnixStream) -> bool {
        let mut fds = [PollFd::new(&self.ends.1, PollFlags::empty()), PollFd::new(stream, PollFlags::empty())];
        poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }
}

/// Waits until the socket is ready for `what`, but not beyond `until`, nor beyond the end of the service.
pub(super) fn wait(
    socket: &impl AsFd,
    what: PollFlags,
    until: Option<Instant>,
    stopper: Option<&Stopper>,
) -> io::Result<Woken> {
    loop {
        let mut fds = vec![PollFd::new(socket, what)];
        fds.extend(stopper.map(|stopper| PollFd::new(&stopper.ends.1, PollFlags::empty())));
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        match poll(&mut fds, left.map(timespec).as_ref()) {
            Ok(0) => return Ok(Woken::TimedOut),
            Ok(_) if fds.get(1).is_some_and(|stop| !stop.revents().is_empty()) => return Ok(Woken::Stopped),
            Ok(_) => return Ok(Woken::Ready),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// The deadline of something that may take so long from now on; none if that is beyond what the clock can say.
pub(super) fn deadline(timeout: Duration) -> Option<Instant> {
    Instant::now().checked_add(timeout)
}

fn timespec(left: Duration) -> Timespec {
    let most = Timespec { tv_sec: i64::from(i32::MAX), tv_nsec: 0 };
    Timespec::try_from(left).unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_wakes_all_and_stays() {
        let stopper = Stopper::new().expect("sockets");
        let (near, far) = UnixStream::pair().expect("sockets");
        let wait_until = |until| wait(&near, PollFlags::IN, until, Some(&stopper)).expect("waited");
        assert_eq!(wait_until(Some(Instant::now())), Woken::TimedOut);
        assert!(!stopper.is_raised_or_gone(&near));
        stopper.clone().stop();
        assert_eq!((wait_until(None), wait_until(None)), (Woken::Stopped, Woken::Stopped));
        assert!(stopper.is_raised_or_gone(&near));
        drop(far);
    }

    #[test]
    fn a_client_with_no_more_to_ask_is_not_gone() {
        let stopper = Stopper::new().expect("sockets");
        let (near, far) = UnixStream::pair().expect("sockets");
        far.shutdown(Shutdown::Write).expect("half closed");
        assert!(!stopper.is_raised_or_gone(&near));
        drop(far);
        assert!(stopper.is_raised_or_gone(&near));
    }
}
