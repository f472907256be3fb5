//! The one message from a host to a guest: a descriptor of the region, and what it is.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};

const MAGIC: u64 = u64::from_le_bytes(*b"cc-meet1");
const BYTES: usize = 24;

/// The data beside the descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Packet {
    /// The generation of the region.
    pub(super) generation: u64,
    /// True if no other process has this open file, so that locks on it belong to its receiver alone.
    pub(super) has_own_file: bool,
}

impl Packet {
    fn encode(self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let words = [MAGIC, self.generation, self.has_own_file.into()];
        for (chunk, word) in bytes.chunks_mut(8).zip(words) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; BYTES] = bytes.try_into().ok()?;
        let word = |i: usize| bytes[8 * i..].first_chunk().map_or(0, |chunk| u64::from_le_bytes(*chunk));
        (word(0) == MAGIC && word(2) <= 1).then(|| Self { generation: word(1), has_own_file: word(2) == 1 })
    }
}

/// Sends it without waiting.
pub(super) fn send(socket: &impl AsFd, packet: Packet, file: &impl AsFd) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let files = [file.as_fd()];
    let has_room = control.push(SendAncillaryMessage::ScmRights(&files));
    debug_assert!(has_room, "there is space for one descriptor");
    let bytes = packet.encode();
    sendmsg(socket, &[IoSlice::new(&bytes)], &mut control, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives it without waiting.
pub(super) fn receive(socket: &impl AsFd) -> io::Result<(Packet, OwnedFd)> {
    let mut bytes = [0; BYTES + 1];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let received = recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, flags)?;
    let mut files: Vec<OwnedFd> = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            files.extend(received);
        }
    }
    if received.bytes == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let packet = Packet::decode(&bytes[..received.bytes]);
    match (packet, files.pop()) {
        (Some(packet), Some(file)) if files.is_empty() => Ok((packet, file)),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "not the message of a host")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::net::UnixDatagram;

    use super::*;

    #[test]
    fn a_packet_brings_its_descriptor() {
        let (one, other) = UnixDatagram::pair().expect("sockets");
        let file = tempfile::tempfile().expect("a file");
        file.set_len(77).expect("space");
        let packet = Packet { generation: 9, has_own_file: true };
        send(&one, packet, &file).expect("room");
        let (received, same) = receive(&other).expect("sent above");
        assert_eq!((received, File::from(same).metadata().expect("a file").len()), (packet, 77));
        assert_eq!(receive(&other).expect_err("nothing").kind(), io::ErrorKind::WouldBlock);
    }

    #[test]
    fn other_messages_are_told_apart() {
        let (one, other) = UnixDatagram::pair().expect("sockets");
        let good = Packet { generation: 9, has_own_file: false }.encode();
        for message in [&good[..], &good[..23], &[0; 100]] {
            one.send(message).expect("room");
            assert_eq!(receive(&other).expect_err("no descriptor").kind(), io::ErrorKind::InvalidData);
        }
    }
}
