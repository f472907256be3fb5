//! UDP over the loopback device: messages are lost when a receiver's buffer is full, and the losses are counted.
//!
//! A datagram carries the message's number and the piece's, and at most what one may hold. After a block the sender says
//! how many messages there were, again and again until each receiver has accounted for all of them.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use corecast::base::sync::{Ordering, yield_now};
use rustix::net::sockopt::set_socket_recv_buffer_size;

use super::super::ends::{ByteRecv, ByteSend, Inlet, Reader, Receiving, Sending};
use super::super::wire::Wire;
use super::shared_memory::{LINE_BYTES, SharedMemory};
use super::{Carrier, Ends, Inlets, Seed, Traits};
use corecast_race::contender::Unfit;
use corecast_race::failure::Failure;
use corecast_race::harness::Abort;

pub(super) struct Udp;

/// The number of the message, and that of the piece.
const HEAD_BYTES: usize = 16;
/// The most a datagram holds over IPv4, less the head.
const PIECE_BYTES: usize = 65_507 - HEAD_BYTES;
/// The piece's number of a datagram that says how many messages there were.
const SETTLED: u64 = u64::MAX;
/// The bytes asked for the receivers' buffers; the system may grant less.
const BUFFER_BYTES: usize = 4 << 20;
/// From one such datagram to the next.
const AGAIN: Duration = Duration::from_micros(200);

struct Out {
    to: Vec<UdpSocket>,
    /// A word of each receiver: the messages it has accounted for.
    accounts: SharedMemory,
    message: Vec<u8>,
    datagram: Vec<u8>,
    sent: u64,
    abort: Arc<Abort>,
}

struct In {
    from: UdpSocket,
    accounts: SharedMemory,
    receiver: usize,
    datagram: Vec<u8>,
    message: Vec<u8>,
    /// The next message that the reader will be told of.
    next: u64,
    /// All messages before this one were received or are lost.
    known: u64,
    /// Whether message `known` is there, whole.
    is_whole: bool,
    /// The message whose pieces are being put together, and how many are.
    pieces: (u64, u64),
}

impl Carrier for Udp {
    fn name(&self) -> &'static str {
        "udp"
    }

    fn about(&self) -> &'static str {
        "UDP over loopback to each receiver, in datagrams of at most 65507 bytes; sleeps; drops what does not fit"
    }

    fn traits(&self) -> Traits {
        Traits::UNICAST.among_processes().lossy()
    }

    fn open(&self, wire: &Wire, abort: &Arc<Abort>) -> Result<Ends, Unfit> {
        let (accounts, mut seeds) = SharedMemory::create(wire.receivers * LINE_BYTES, wire.receivers)?;
        let mut to = Vec::with_capacity(wire.receivers);
        for seed in &mut seeds {
            let (sending, receiving) = connect().map_err(|error| Unfit(error.to_string()))?;
            to.push(sending);
            seed.fds.push(receiving);
        }
        let (message, datagram) = (vec![0; wire.bytes], Vec::with_capacity(HEAD_BYTES + PIECE_BYTES));
        let out = Out { to, accounts, message, datagram, sent: 0, abort: Arc::clone(abort) };
        Ok(Ends { outlet: Box::new(Sending(out)), inlets: Inlets::Anywhere(seeds) })
    }

    fn attach(&self, wire: &Wire, mut seed: Seed, _abort: &Arc<Abort>) -> Result<Box<dyn Inlet>, Unfit> {
        let accounts = SharedMemory::of(&seed)?;
        let socket = seed.fds.pop().ok_or_else(|| Unfit("a seed without a socket".to_owned()))?;
        Ok(Box::new(Receiving(In {
            from: UdpSocket::from(socket),
            accounts,
            receiver: seed.word as usize,
            datagram: vec![0; HEAD_BYTES + PIECE_BYTES],
            message: vec![0; wire.bytes],
            next: 0,
            known: 0,
            is_whole: false,
            pieces: (0, 0),
        })))
    }
}

fn connect() -> io::Result<(UdpSocket, OwnedFd)> {
    let from = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    set_socket_recv_buffer_size(&from, BUFFER_BYTES)?;
    let to = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    to.connect(from.local_addr()?)?;
    from.connect(to.local_addr()?)?;
    Ok((to, from.into()))
}

impl Out {
    fn write_datagram(&mut self, number: u64, piece: u64) {
        self.datagram.clear();
        self.datagram.extend_from_slice(&number.to_le_bytes());
        self.datagram.extend_from_slice(&piece.to_le_bytes());
    }
}

impl ByteSend for Out {
    fn send(&mut self, write: impl FnOnce(&mut [u8])) -> Result<(), Failure> {
        write(&mut self.message);
        for piece in 0..self.message.len().div_ceil(PIECE_BYTES) {
            self.write_datagram(self.sent, piece as u64);
            let bytes = self.message.chunks(PIECE_BYTES).nth(piece).unwrap_or_default();
            self.datagram.extend_from_slice(bytes);
            for to in &self.to {
                to.send(&self.datagram).map_err(Failure::refused)?;
            }
        }
        self.sent += 1;
        Ok(())
    }

    fn settle(&mut self, sent: u64) -> Result<(), Failure> {
        self.write_datagram(sent, SETTLED);
        for (receiver, to) in self.to.iter().enumerate() {
            let account = self.accounts.word(receiver * LINE_BYTES);
            // ORDERING: Relaxed, the number publishes nothing but itself
            while account.load(Ordering::Relaxed) < sent {
                self.abort.check()?;
                to.send(&self.datagram).map_err(Failure::refused)?;
                let again = Instant::now() + AGAIN;
                // ORDERING: Relaxed, the number publishes nothing but itself
                while account.load(Ordering::Relaxed) < sent && Instant::now() < again {
                    yield_now();
                }
            }
        }
        Ok(())
    }
}

impl In {
    /// Takes in datagrams until something is known about the next message.
    fn learn(&mut self) -> Result<(), Failure> {
        while self.known == self.next && !self.is_whole {
            let len = self.from.recv(&mut self.datagram).map_err(Failure::refused)?;
            let word = |at: usize| self.datagram[at..at + 8].try_into().map(u64::from_le_bytes);
            let (Ok(number), Ok(piece)) = (word(0), word(8)) else { continue };
            match piece {
                SETTLED => self.known = self.known.max(number),
                _ => self.put_together(number, piece, len),
            }
        }
        Ok(())
    }

    fn put_together(&mut self, number: u64, piece: u64, len: usize) {
        if piece == 0 {
            self.pieces = (number, 0);
        }
        let at = piece as usize * PIECE_BYTES;
        if self.pieces != (number, piece) || len < HEAD_BYTES || at + len - HEAD_BYTES > self.message.len() {
            // A piece before this one was lost, and with it the message.
            return;
        }
        let end = at + len - HEAD_BYTES;
        self.message[at..end].copy_from_slice(&self.datagram[HEAD_BYTES..len]);
        self.pieces.1 += 1;
        if end == self.message.len() {
            (self.known, self.is_whole) = (number, true);
        }
    }
}

impl ByteRecv for In {
    fn recv<R: Reader>(&mut self, most: u64, reader: &mut R) -> Result<(), Failure> {
        self.learn()?;
        let lost = (self.known - self.next).min(most);
        if lost > 0 {
            reader.miss(lost);
            self.next += lost;
        } else {
            reader.read(&self.message);
            self.next += 1;
            (self.known, self.is_whole) = (self.next, false);
        }
        // ORDERING: Relaxed, the number publishes nothing but itself
        self.accounts.word(self.receiver * LINE_BYTES).store(self.next, Ordering::Relaxed);
        Ok(())
    }
}
