//! POSIX message queues; long messages travel in pieces of the system's limit.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process;
use std::sync::Arc;

use corecast::base::sync::{AtomicU64, Ordering};

use super::super::ends::{ByteRecv, ByteSend, Inlet, Reader, Receiving, Sending};
use super::super::wire::Wire;
use super::{Carrier, Ends, Inlets, Seed, Traits};
use corecast_race::contender::Unfit;
use corecast_race::failure::Failure;
use corecast_race::harness::Abort;

pub(super) struct PosixQueue;

/// Numbers the queues of this process, so that no two have one name in the moment between making and unlinking them.
static QUEUES: AtomicU64 = AtomicU64::new(0);

struct Out {
    queues: Vec<OwnedFd>,
    message: Vec<u8>,
    piece: usize,
}

struct In {
    queue: OwnedFd,
    message: Vec<u8>,
    piece: usize,
}

impl Carrier for PosixQueue {
    fn name(&self) -> &'static str {
        "posix-queue"
    }

    fn about(&self) -> &'static str {
        "a POSIX message queue for each receiver, as deep and in pieces as long as the system's limits; sleeps"
    }

    fn traits(&self) -> Traits {
        Traits::UNICAST.among_processes()
    }

    fn open(&self, wire: &Wire, _abort: &Arc<Abort>) -> Result<Ends, Unfit> {
        let piece = piece_bytes(wire);
        let depth = wire.depth.min(limit("msg_max", 10));
        let queues: io::Result<Vec<OwnedFd>> = (0..wire.receivers).map(|_| create(depth, piece)).collect();
        let queues = queues.map_err(|error| Unfit(format!("mq_open: {error} (ulimit -q, fs.mqueue)")))?;
        let seed = |queue: &OwnedFd| Ok(Seed { fds: vec![queue.try_clone()?], word: 0 });
        let seeds: io::Result<Vec<Seed>> = queues.iter().map(seed).collect();
        let seeds = seeds.map_err(|error| Unfit(error.to_string()))?;
        let out = Out { queues, message: vec![0; wire.bytes], piece };
        Ok(Ends { outlet: Box::new(Sending(out)), inlets: Inlets::Anywhere(seeds) })
    }

    fn attach(&self, wire: &Wire, seed: Seed, _abort: &Arc<Abort>) -> Result<Box<dyn Inlet>, Unfit> {
        let queue = seed.fds.into_iter().next().ok_or_else(|| Unfit("a seed without a queue".to_owned()))?;
        Ok(Box::new(Receiving(In { queue, message: vec![0; wire.bytes], piece: piece_bytes(wire) })))
    }
}

/// The length of a piece: the message, or what the system allows.
fn piece_bytes(wire: &Wire) -> usize {
    wire.bytes.clamp(1, limit("msgsize_max", 8192))
}

/// A limit of the system for queues of everybody.
fn limit(name: &str, usual: usize) -> usize {
    let text = std::fs::read_to_string(format!("/proc/sys/fs/mqueue/{name}"));
    text.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(usual).max(1)
}

/// A queue without a name, which therefore goes with its last descriptor.
fn create(depth: usize, piece: usize) -> io::Result<OwnedFd> {
    // ORDERING: Relaxed, only that the numbers differ matters
    let number = QUEUES.fetch_add(1, Ordering::Relaxed);
    let name = CString::new(format!("/corecast-bench-{}-{number}", process::id())).map_err(io::Error::other)?;
    // SAFETY: a struct of integers, for which all zeros is a value.
    let mut attributes: libc::mq_attr = unsafe { std::mem::zeroed() };
    attributes.mq_maxmsg = depth as _;
    attributes.mq_msgsize = piece as _;
    let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
    let mode: libc::mode_t = 0o600;
    // SAFETY: the name ends with a zero, and mode and attributes follow because of O_CREAT.
    let queue = unsafe { libc::mq_open(name.as_ptr(), flags, mode, &raw mut attributes) };
    if queue < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: on Linux a queue is a descriptor; this one is fresh, and nobody else's.
    let queue = unsafe { OwnedFd::from_raw_fd(queue) };
    // SAFETY: the name ends with a zero.
    let unlinked = unsafe { libc::mq_unlink(name.as_ptr()) };
    if unlinked < 0 { Err(io::Error::last_os_error()) } else { Ok(queue) }
}

fn send(queue: &OwnedFd, piece: &[u8]) -> io::Result<()> {
    loop {
        // SAFETY: the piece is as long as is said.
        let status = unsafe { libc::mq_send(queue.as_raw_fd(), piece.as_ptr().cast(), piece.len(), 0) };
        if status == 0 {
            return Ok(());
        }
        not_a_signal(io::Error::last_os_error())?;
    }
}

fn receive(queue: &OwnedFd, piece: &mut [u8]) -> io::Result<usize> {
    loop {
        // SAFETY: there is room for the number of bytes given; no priority is asked for.
        let len = unsafe {
            libc::mq_receive(queue.as_raw_fd(), piece.as_mut_ptr().cast(), piece.len(), std::ptr::null_mut())
        };
        if let Ok(len) = usize::try_from(len) {
            return Ok(len);
        }
        not_a_signal(io::Error::last_os_error())?;
    }
}

/// The error, unless a signal came between.
fn not_a_signal(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::Interrupted { Ok(()) } else { Err(error) }
}

impl ByteSend for Out {
    fn send(&mut self, write: impl FnOnce(&mut [u8])) -> Result<(), Failure> {
        write(&mut self.message);
        for part in self.message.chunks(self.piece) {
            self.queues.iter().try_for_each(|queue| send(queue, part)).map_err(Failure::refused)?;
        }
        Ok(())
    }
}

impl ByteRecv for In {
    fn recv<R: Reader>(&mut self, _most: u64, reader: &mut R) -> Result<(), Failure> {
        // Into the place of a whole piece each time, as the kernel demands; the last one may be shorter.
        let (len, mut at) = (self.message.len(), 0);
        self.message.resize(len.next_multiple_of(self.piece), 0);
        while at < len {
            at += receive(&self.queue, &mut self.message[at..at + self.piece]).map_err(Failure::refused)?;
        }
        reader.read(&self.message[..len]);
        self.message.truncate(len);
        Ok(())
    }
}
