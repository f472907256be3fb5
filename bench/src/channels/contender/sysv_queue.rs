//! System V message queues; long messages travel in pieces of the system's limit.

use std::io;
use std::sync::Arc;

use super::super::ends::{ByteRecv, ByteSend, Inlet, Reader, Receiving, Sending};
use super::super::wire::Wire;
use super::{Carrier, Ends, Inlets, Seed, Traits};
use corecast_race::contender::Unfit;
use corecast_race::failure::Failure;
use corecast_race::harness::Abort;

pub(super) struct SysvQueue;

/// The kernel's longest piece, if it cannot be asked.
const USUAL_PIECE: usize = 8192;
/// The type of all messages.
const KIND: libc::c_long = 1;
const KIND_BYTES: usize = size_of::<libc::c_long>();

/// A queue of the kernel, by number.
#[derive(Clone, Copy)]
struct Queue(libc::c_int);

struct Out {
    queues: Vec<Queue>,
    message: Vec<u8>,
    /// The kind, then a piece.
    piece: Vec<u8>,
}

struct In {
    queue: Queue,
    message: Vec<u8>,
    piece: Vec<u8>,
}

impl Carrier for SysvQueue {
    fn name(&self) -> &'static str {
        "sysv-queue"
    }

    fn about(&self) -> &'static str {
        "a System V message queue for each receiver, in pieces of at most the system's limit; sleeps"
    }

    fn traits(&self) -> Traits {
        Traits::UNICAST.among_processes()
    }

    fn open(&self, wire: &Wire, _abort: &Arc<Abort>) -> Result<Ends, Unfit> {
        // The queues live in `Out` from the first on, so that a later refusal removes the earlier ones.
        let mut out = Out { queues: Vec::new(), message: vec![0; wire.bytes], piece: piece() };
        for _ in 0..wire.receivers {
            out.queues.push(Queue::create().map_err(|error| Unfit(format!("msgget: {error}")))?);
        }
        let seeds = out.queues.iter().map(|queue| Seed { fds: Vec::new(), word: queue.0 as u64 }).collect();
        Ok(Ends { outlet: Box::new(Sending(out)), inlets: Inlets::Anywhere(seeds) })
    }

    fn attach(&self, wire: &Wire, seed: Seed, _abort: &Arc<Abort>) -> Result<Box<dyn Inlet>, Unfit> {
        let queue = Queue(seed.word as libc::c_int);
        Ok(Box::new(Receiving(In { queue, message: vec![0; wire.bytes], piece: piece() })))
    }

    fn clear_away(&self, word: u64) {
        Queue(word as libc::c_int).remove();
    }
}

/// Room for the kind and the longest piece.
fn piece() -> Vec<u8> {
    let limit = std::fs::read_to_string("/proc/sys/kernel/msgmax").ok().and_then(|text| text.trim().parse().ok());
    let mut piece = vec![0; KIND_BYTES + limit.unwrap_or(USUAL_PIECE).clamp(1, 1 << 16)];
    piece[..KIND_BYTES].copy_from_slice(&KIND.to_ne_bytes());
    piece
}

impl Queue {
    fn create() -> io::Result<Self> {
        // SAFETY: takes and returns numbers.
        let id = unsafe { libc::msgget(libc::IPC_PRIVATE, libc::IPC_CREAT | 0o600) };
        if id < 0 { Err(io::Error::last_os_error()) } else { Ok(Self(id)) }
    }

    /// Sends the kind and the piece that follows it.
    fn send(self, piece: &[u8]) -> io::Result<()> {
        loop {
            // SAFETY: `piece` is the kind and then the number of bytes given.
            let status = unsafe { libc::msgsnd(self.0, piece.as_ptr().cast(), piece.len() - KIND_BYTES, 0) };
            if let Some(outcome) = outcome(status as isize) {
                return outcome.map(drop);
            }
        }
    }

    /// Receives the kind and a piece after it; returns the length of the piece.
    fn receive(self, piece: &mut [u8]) -> io::Result<usize> {
        loop {
            // SAFETY: `piece` has room for the kind and then the number of bytes given.
            let len = unsafe { libc::msgrcv(self.0, piece.as_mut_ptr().cast(), piece.len() - KIND_BYTES, 0, 0) };
            if let Some(outcome) = outcome(len) {
                return outcome;
            }
        }
    }

    fn remove(self) {
        // SAFETY: takes numbers; a thread that waits at the queue gets an error.
        unsafe { libc::msgctl(self.0, libc::IPC_RMID, std::ptr::null_mut()) };
    }
}

/// The return value of a call; `None` if a signal came between.
fn outcome(status: isize) -> Option<io::Result<usize>> {
    let error = match usize::try_from(status) {
        Ok(len) => return Some(Ok(len)),
        Err(_) => io::Error::last_os_error(),
    };
    (error.kind() != io::ErrorKind::Interrupted).then_some(Err(error))
}

impl Drop for Out {
    fn drop(&mut self) {
        self.queues.iter().for_each(|queue| queue.remove());
    }
}

impl ByteSend for Out {
    fn send(&mut self, write: impl FnOnce(&mut [u8])) -> Result<(), Failure> {
        write(&mut self.message);
        let most = self.piece.len() - KIND_BYTES;
        for part in self.message.chunks(most) {
            let piece = &mut self.piece[..KIND_BYTES + part.len()];
            piece[KIND_BYTES..].copy_from_slice(part);
            self.queues.iter().try_for_each(|queue| queue.send(piece)).map_err(Failure::refused)?;
        }
        Ok(())
    }
}

impl ByteRecv for In {
    fn recv<R: Reader>(&mut self, _most: u64, reader: &mut R) -> Result<(), Failure> {
        let most = self.piece.len() - KIND_BYTES;
        for part in self.message.chunks_mut(most) {
            let len = self.queue.receive(&mut self.piece).map_err(Failure::refused)?;
            if len != part.len() {
                return Err(Failure::Wrong(format!("a piece of {len} bytes, expected {}", part.len())));
            }
            part.copy_from_slice(&self.piece[KIND_BYTES..][..len]);
        }
        reader.read(&self.message);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use corecast::base::wait::Wait;

    use super::*;

    #[test]
    fn queues_of_a_process_that_was_killed_are_cleared_away() {
        let wire = Wire::new(100, 2, true, Wait::Adaptive);
        let Ends { outlet, inlets } = SysvQueue.open(&wire, &Arc::default()).expect("queues");
        // A process that is killed drops nothing.
        std::mem::forget(outlet);
        let Inlets::Anywhere(seeds) = inlets else { unreachable!("queues have numbers") };
        for Seed { word, .. } in seeds {
            let (queue, mut piece) = (Queue(word as libc::c_int), piece());
            queue.send(&piece[..KIND_BYTES + 1]).expect("it is still there");
            SysvQueue.clear_away(word);
            queue.receive(&mut piece).expect_err("it is gone");
        }
    }
}
