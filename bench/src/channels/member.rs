//! Receivers that are processes: each is this program again, which is told what to do over a socket.
//!
//! For the harness such a receiver is a [`Body`] like any other: a [`Proxy`], whose thread sleeps while the process works.
//! The process says what it saw in its own ticks, which are everybody's where the clock is the CPU's counter. It is told of
//! a task, and has answered, before the participants meet to begin it, so that waking it up is not part of what is timed.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use corecast::base::{Clock, CpuId};
use corecast::machine::pin;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use rustix::process::{Signal, set_parent_process_death_signal};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::bodies::Sink;
use super::contender::{Seed, carrier};
use super::wire::Wire;
use crate::contender::Body;
use crate::failure::Failure;
use crate::harness::{Abort, Task, Timing, cpu_time_of_this_thread};

/// The most descriptors of a seed.
const MOST_FDS: usize = 4;
/// The longest message of the socket: the marks of a paced task, as text.
const MOST_BYTES: usize = 128 << 10;
/// How often a proxy looks whether its contender was given up.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// What a process is told first.
#[derive(Debug, Serialize, Deserialize)]
struct Assignment {
    contender: String,
    wire: Wire,
    word: u64,
    cpu: Option<u32>,
}

/// What a process answers.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    /// Attached, or about to begin the task.
    Ready,
    /// The task is done.
    Done(Timing),
    /// It failed, and the process ends.
    Failed(String),
}

/// A receiver in another process.
pub(super) struct Proxy {
    process: Child,
    control: OwnedFd,
    abort: Arc<Abort>,
    timing: Timing,
}

impl Proxy {
    /// Starts the program and gives it the seed.
    pub(super) fn start(
        (program, arguments): (&Path, &[String]),
        contender: &str,
        (wire, seed): (&Wire, Seed),
        cpu: Option<CpuId>,
        abort: &Arc<Abort>,
    ) -> Result<Self, Failure> {
        let (control, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(Failure::refused)?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::from(theirs)).stdout(Stdio::null());
        let process = command.spawn().map_err(|error| Failure::NoCrew(format!("{}: {error}", program.display())))?;
        let mut proxy = Self { process, control, abort: Arc::clone(abort), timing: Timing::default() };
        let cpu = cpu.map(CpuId::get);
        let assignment = Assignment { contender: contender.to_owned(), wire: *wire, word: seed.word, cpu };
        send(&proxy.control, &assignment, &seed.fds).map_err(Failure::refused)?;
        proxy.await_ready()?;
        Ok(proxy)
    }

    fn await_ready(&mut self) -> Result<(), Failure> {
        match self.answer()? {
            Answer::Ready => Ok(()),
            other => Err(Failure::Refused(format!("a receiving process was not ready but {other:?}"))),
        }
    }

    fn await_done(&mut self) -> Result<(), Failure> {
        match self.answer()? {
            Answer::Done(timing) => self.timing = timing,
            other => return Err(Failure::Refused(format!("a receiving process was not done but {other:?}"))),
        }
        Ok(())
    }

    fn answer(&mut self) -> Result<Answer, Failure> {
        let mut fds = [PollFd::new(&self.control, PollFlags::IN)];
        while poll(&mut fds, Some(&LOOK)).unwrap_or(0) == 0 {
            self.abort.check()?;
        }
        match receive(&self.control).map_err(Failure::refused)? {
            Some((Answer::Failed(text), _)) => Err(Failure::Refused(text)),
            Some((answer, _)) => Ok(answer),
            None => Err(Failure::Refused("a receiving process ended".to_owned())),
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // It has nothing to lose, and may wait for a message that never comes.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Body for Proxy {
    fn run(&mut self, _iterations: u64) -> Result<(), Failure> {
        self.await_done()
    }

    fn check(&mut self, _rounds: u64) -> Result<(), Failure> {
        self.await_done()
    }

    fn paced(&mut self, _begin: u64, _count: u64, _every: u64) -> Result<Vec<u64>, Failure> {
        self.await_done()?;
        Ok(std::mem::take(&mut self.timing.marks))
    }

    fn ready(&mut self, task: Task) -> Result<(), Failure> {
        send(&self.control, &task, &[]).map_err(Failure::refused)?;
        self.await_ready()
    }

    fn amend(&mut self, timing: &mut Timing) {
        timing.cpu = self.timing.cpu;
        timing.missed = self.timing.missed;
        if Clock::get().is_counter() {
            timing.end = self.timing.end;
        }
    }
}

/// What a receiving process does: attaches to the channel that it is told of on standard input, and does the tasks that
/// follow until there are no more. For the hidden subcommand of a program that races channels among processes.
///
/// # Errors
/// Why the process cannot go on; its parent has been told.
pub fn member() -> Result<(), Failure> {
    let control = io::stdin();
    serve(&control).inspect_err(|failure| {
        // If the parent is gone there is nobody to tell.
        let _ = send(&control, &Answer::Failed(failure.to_string()), &[]);
    })
}

fn serve(control: &impl AsFd) -> Result<(), Failure> {
    // It may be polling memory when its parent is killed, and would do so for ever.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(Failure::refused)?;
    let Some((assignment, fds)) = receive::<Assignment>(control).map_err(Failure::refused)? else { return Ok(()) };
    let Assignment { contender, wire, word, cpu } = assignment;
    if let Some(cpu) = cpu {
        pin::pin(CpuId::new(cpu)).map_err(Failure::refused)?.forever();
    }
    let carrier = carrier(&contender).ok_or_else(|| Failure::Refused(format!("no contender '{contender}'")))?;
    let inlet = carrier.attach(&wire, Seed { fds, word }, &Arc::default()).map_err(Failure::refused)?;
    let mut sink = Sink::new(inlet);
    say(control, &Answer::Ready)?;
    while let Some((task, _)) = receive::<Task>(control).map_err(Failure::refused)? {
        say(control, &Answer::Ready)?;
        let timing = perform(&mut sink, task)?;
        say(control, &Answer::Done(timing))?;
    }
    Ok(())
}

fn perform(sink: &mut Sink, task: Task) -> Result<Timing, Failure> {
    let (clock, cpu) = (Clock::get(), cpu_time_of_this_thread());
    let mut timing = Timing { start: clock.ticks(), ..Timing::default() };
    match task {
        Task::Check { rounds } => sink.check(rounds)?,
        Task::Batch { iterations } => sink.run(iterations)?,
        Task::Paced { count, every } => timing.marks = sink.paced(0, count, every)?,
        other => return Err(Failure::Refused(format!("a receiver cannot do {other:?}"))),
    }
    timing.end = clock.ticks();
    timing.cpu = cpu_time_of_this_thread().saturating_sub(cpu);
    sink.amend(&mut timing);
    Ok(timing)
}

fn say(control: &impl AsFd, answer: &Answer) -> Result<(), Failure> {
    send(control, answer, &[]).map_err(Failure::refused)
}

fn send(control: &impl AsFd, value: &impl Serialize, fds: &[OwnedFd]) -> io::Result<()> {
    let text = serde_json::to_vec(value)?;
    let borrowed: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FDS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !borrowed.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(&borrowed)) {
        return Err(io::Error::other("a seed with too many descriptors"));
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
