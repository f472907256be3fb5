//! Participants that are processes: each is this program again, which is told what to do over a socket.
//!
//! A [`Child`] is the process as the harness sees it; [`attend`] is the other side. They exchange JSON, each text in a message
//! of its own, and descriptors come along. Every wait for a process ends: with its answer, with its end, or when the contender is
//! given up. A process ends when its parent does.

use std::io::{self, IoSlice, IoSliceMut, Stdin};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, Command, Stdio};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use rustix::process::{Pid, Signal, kill_process_group, set_parent_process_death_signal};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::harness::{Abort, Stamps};

/// The most descriptors of a message.
const MOST_FDS: usize = 4;
/// The longest message, which is the marks of a paced task, as text; a longer one is an error at both sides.
const MOST_BYTES: usize = 128 << 10;
/// How often is looked whether the contender was given up.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// The answer of a process.
#[derive(Debug, Serialize, Deserialize)]
pub enum Answer {
    /// It has what it needs.
    Ready,
    /// The task is done.
    Done(Stamps),
    /// Something else that the task found out.
    Told(serde_json::Value),
    /// It failed, and the process ends.
    Failed(String),
}

/// A process that takes part.
pub struct Child {
    /// Its name, in words.
    who: String,
    process: process::Child,
    /// Whether it has a process group of its own, with whatever it has started.
    leads_group: bool,
    control: OwnedFd,
    abort: Arc<Abort>,
}

impl Child {
    /// Starts the program and tells it what it is; `who` says that to people.
    ///
    /// # Errors
    /// A `Failure` in words: the operation, a process that takes part, or the system did not do its part.
    pub fn start(
        who: String,
        (program, arguments): (&Path, &[String]),
        assignment: &impl Serialize,
        fds: &[OwnedFd],
        abort: &Arc<Abort>,
    ) -> Result<Self, Failure> {
        let mut child = Self::spawn(who, (program, arguments), false, abort)?;
        child.tell(assignment, fds)?;
        Ok(child)
    }

    /// The same, in a process group of its own: whatever it has started is killed with it.
    ///
    /// # Errors
    /// A `Failure` in words: the operation, a process that takes part, or the system did not do its part.
    pub fn start_group(who: String, program: (&Path, &[String]), assignment: &impl Serialize) -> Result<Self, Failure> {
        let mut child = Self::spawn(who, program, true, &Arc::default())?;
        child.tell(assignment, &[])?;
        Ok(child)
    }

    fn spawn(
        who: String,
        (program, arguments): (&Path, &[String]),
        leads_group: bool,
        abort: &Arc<Abort>,
    ) -> Result<Self, Failure> {
        let (control, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(|error| Failure::while_doing("make a socket for a process")(error.into()))?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::from(theirs)).stdout(Stdio::null());
        if leads_group {
            command.process_group(0);
        }
        let process = command.spawn().map_err(|error| Failure::NoCrew(format!("{}: {error}", program.display())))?;
        Ok(Self { who, process, leads_group, control, abort: Arc::clone(abort) })
    }

    /// Sends it a message, with descriptors.
    ///
    /// # Errors
    /// [`Failure::Ended`] if it is gone, and the system's error.
    pub fn tell(&mut self, what: &impl Serialize, fds: &[OwnedFd]) -> Result<(), Failure> {
        send(&self.control, what, fds).map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => self.ended(),
            _ => Failure::while_doing("tell a process what to do")(error),
        })
    }

    /// Waits until it says that it has what it needs.
    ///
    /// # Errors
    /// Its own failure, its end, or an answer of another kind.
    pub fn await_ready(&mut self) -> Result<(), Failure> {
        match self.answer()? {
            Answer::Ready => Ok(()),
            other => Err(Failure::Refused(format!("{} was not ready but {other:?}", self.who))),
        }
    }

    /// Waits until its task is done; returns what it saw of it.
    ///
    /// # Errors
    /// As [`await_ready`](Self::await_ready).
    pub fn await_done(&mut self) -> Result<Stamps, Failure> {
        match self.answer()? {
            Answer::Done(timing) => Ok(timing),
            other => Err(Failure::Refused(format!("{} was not done but {other:?}", self.who))),
        }
    }

    /// Waits for what its task found out.
    ///
    /// # Errors
    /// As [`await_ready`](Self::await_ready).
    pub fn await_told<T: DeserializeOwned>(&mut self) -> Result<T, Failure> {
        match self.answer()? {
            Answer::Told(value) => serde_json::from_value(value).map_err(Failure::refused),
            other => Err(Failure::Refused(format!("{} told nothing but {other:?}", self.who))),
        }
    }

    /// Waits for what its task found out, and the descriptors that come with it.
    ///
    /// # Errors
    /// As [`await_ready`](Self::await_ready).
    pub fn await_handed<T: DeserializeOwned>(&mut self) -> Result<(T, Vec<OwnedFd>), Failure> {
        match self.answer_with_fds()? {
            (Answer::Told(value), fds) => Ok((serde_json::from_value(value).map_err(Failure::refused)?, fds)),
            (other, _) => Err(Failure::Refused(format!("{} handed over nothing but {other:?}", self.who))),
        }
    }

    /// Whether it has said something, or has ended.
    pub fn has_news(&self) -> bool {
        self.has_news_within(Timespec::default())
    }

    /// The same, waiting no longer than this for it.
    pub fn has_news_within(&self, longest: Timespec) -> bool {
        poll(&mut [PollFd::new(&self.control, PollFlags::IN)], Some(&longest)).is_ok_and(|ready| ready > 0)
    }

    /// The number that the system knows it by.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    fn answer(&mut self) -> Result<Answer, Failure> {
        self.answer_with_fds().map(|(answer, _)| answer)
    }

    fn answer_with_fds(&mut self) -> Result<(Answer, Vec<OwnedFd>), Failure> {
        let mut fds = [PollFd::new(&self.control, PollFlags::IN)];
        while poll(&mut fds, Some(&LOOK)).unwrap_or(0) == 0 {
            self.abort.check()?;
        }
        match receive(&self.control).map_err(Failure::while_doing("hear a process"))? {
            Some((Answer::Failed(text), _)) => Err(Failure::Refused(text)),
            Some(answer) => Ok(answer),
            None => Err(self.ended()),
        }
    }

    /// How it ended, when its end of the socket is closed.
    fn ended(&mut self) -> Failure {
        // A process that ends has its exit status before its descriptors are closed, and keeps it. One that goes on without
        // them is of no use.
        let _ = self.process.kill();
        let how = self.process.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        Failure::Ended(format!("{} ended: {how}", self.who))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It has nothing to lose, and may wait for a message that never comes. It has not been waited for unless it ended, and
        // then its group may be gone, or be those that it has left behind: nobody else gets its number before.
        if self.leads_group && matches!(self.process.try_wait(), Ok(None)) {
            let _ = kill_process_group(Pid::from_child(&self.process), Signal::KILL);
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The work of such a process, with standard input as the way to its parent, which hears of a failure.
///
/// # Errors
/// A `Failure` in words: the operation, a process that takes part, or the system did not do its part.
pub fn attend(serve: impl FnOnce(&Stdin) -> Result<(), Failure>) -> Result<(), Failure> {
    let control = io::stdin();
    // It may be polling memory when its parent is killed, and would do so for ever.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(Failure::refused)?;
    serve(&control).inspect_err(|failure| {
        // If the parent is gone there is nobody to tell.
        let _ = send(&control, &Answer::Failed(failure.to_string()), &[]);
    })
}

/// Answers the parent.
///
/// # Errors
/// If the parent is gone.
pub fn say(control: &impl AsFd, answer: &Answer) -> Result<(), Failure> {
    send(control, answer, &[]).map_err(Failure::refused)
}

/// Tells the parent what was found out.
///
/// # Errors
/// A `Failure` in words: the operation, a process that takes part, or the system did not do its part.
pub fn tell(control: &impl AsFd, what: &impl Serialize) -> Result<(), Failure> {
    hand(control, what, &[])
}

/// Tells the parent what was found out, with descriptors.
///
/// # Errors
/// A `Failure` in words: the operation, a process that takes part, or the system did not do its part.
pub fn hand(control: &impl AsFd, what: &impl Serialize, fds: &[OwnedFd]) -> Result<(), Failure> {
    let told = Answer::Told(serde_json::to_value(what).map_err(Failure::refused)?);
    send(control, &told, fds).map_err(Failure::refused)
}

/// The next that the parent says; `None` if it is gone.
///
/// # Errors
/// A `Failure` in words: the operation, a process that takes part, or the system did not do its part.
pub fn hear<T: DeserializeOwned>(control: &impl AsFd) -> Result<Option<(T, Vec<OwnedFd>)>, Failure> {
    receive(control).map_err(Failure::refused)
}

fn send(control: &impl AsFd, value: &impl Serialize, fds: &[OwnedFd]) -> io::Result<()> {
    let text = serde_json::to_vec(value)?;
    if text.len() > MOST_BYTES {
        return Err(too_long());
    }
    let borrowed: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FDS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !borrowed.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(&borrowed)) {
        return Err(io::Error::other("too many descriptors for a message"));
    }
    sendmsg(control, &[IoSlice::new(&text)], &mut ancillary, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// The next message; `None` if the other side is gone.
fn receive<T: DeserializeOwned>(control: &impl AsFd) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut text = vec![0; MOST_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FDS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut slices = [IoSliceMut::new(&mut text)];
    let received = rustix::io::retry_on_intr(|| recvmsg(control, &mut slices, &mut ancillary, RecvFlags::CMSG_CLOEXEC));
    let len = match received {
        Ok(message) if message.flags.contains(ReturnFlags::TRUNC) => return Err(too_long()),
        Ok(message) => message.bytes,
        Err(rustix::io::Errno::CONNRESET) => 0,
        Err(error) => return Err(error.into()),
    };
    let fds = ancillary
        .drain()
        .filter_map(|message| if let RecvAncillaryMessage::ScmRights(fds) = message { Some(fds) } else { None })
        .flatten()
        .collect();
    if len == 0 { Ok(None) } else { Ok(Some((serde_json::from_slice(&text[..len])?, fds))) }
}

#[cold]
fn too_long() -> io::Error {
    io::Error::other(format!("a message to or from a process is longer than {MOST_BYTES} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (OwnedFd, OwnedFd) {
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).expect("sockets")
    }

    #[test]
    fn a_message_that_is_too_long_is_told_and_not_cut() {
        let (one, other) = pair();
        let longest = "x".repeat(MOST_BYTES - 2);
        send(&one, &longest, &[]).expect("it fits with its quotes");
        assert_eq!(receive::<String>(&other).expect("whole").expect("there").0, longest);
        let words = format!("longer than {MOST_BYTES} bytes");
        let refused = send(&one, &(longest + "x"), &[]).expect_err("one more");
        assert!(refused.to_string().contains(&words), "{refused}");
        // A number that is one still, however much of it is cut off.
        let number = [b'1'; MOST_BYTES + 1];
        sendmsg(&one, &[IoSlice::new(&number)], &mut SendAncillaryBuffer::default(), SendFlags::NOSIGNAL)
            .expect("sent");
        let refused = receive::<serde_json::Value>(&other).expect_err("cut off");
        assert!(refused.to_string().contains(&words), "{refused}");
    }

    #[test]
    fn what_is_handed_over_comes_with_its_descriptors() {
        let (ours, theirs) = pair();
        let (kept, handed) = pair();
        hand(&theirs, &7, &[handed]).expect("sent");
        let (answer, fds) = receive::<Answer>(&ours).expect("whole").expect("there");
        assert!(matches!(answer, Answer::Told(value) if value == 7));
        send(&fds[0], &"by the descriptor", &[]).expect("sent");
        assert_eq!(receive::<String>(&kept).expect("whole").expect("there").0, "by the descriptor");
    }

    #[test]
    fn a_process_that_ended_is_named_with_its_exit_status() {
        let told = |words: &str| {
            let arguments = ["-c".to_owned(), words.to_owned()];
            let started = Child::start(
                "the process of rank 3".to_owned(),
                (Path::new("/bin/sh"), &arguments),
                &7,
                &[],
                &Arc::default(),
            );
            started.and_then(|mut child| child.await_ready()).expect_err("it answers nothing").to_string()
        };
        assert_eq!(told("exit 4"), "the process of rank 3 ended: exit status: 4");
        assert_eq!(told("kill -TERM $$"), "the process of rank 3 ended: signal: 15 (SIGTERM)");
    }
}
