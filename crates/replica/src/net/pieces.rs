//! Messages in pieces: a message that is longer than a channel takes goes through it one piece after another.
//!
//! A piece ends with a byte that says whether it is the first, and whether it is the last. A first piece discards what came of
//! a message that was given up.

use std::collections::VecDeque;

use super::wire::LogCopy;

const FIRST: u8 = 1;
const LAST: u8 = 2;

/// An outbox in which as many bytes wait for room takes no more messages; one with fewer takes a message of any length.
const MOST_BYTES: usize = 64 << 20;

/// The way a channel took a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    /// It took it.
    Yes,
    /// It has no room.
    Full,
    /// There is no other end any more.
    Gone,
}

/// Whether an outbox takes a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// It does.
    Yes,
    /// One that says the same waits there already.
    Waits,
    /// Too much waits there.
    No,
}

/// Messages for one channel that found no room yet.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    queue: VecDeque<(Option<LogCopy>, Box<[u8]>)>,
    /// The bytes of the first message that are sent.
    sent: usize,
    bytes: usize,
    /// The number of pieces that have found room after all.
    pieces: u64,
    piece: Vec<u8>,
}

impl Outbox {
    /// Whether it takes a message. The protocol asks again for what was lost.
    pub(super) fn room_for(&self, copy: Option<LogCopy>) -> Room {
        match () {
            () if copy.is_some() && self.queue.iter().any(|(waiting, _)| *waiting == copy) => Room::Waits,
            () if self.bytes >= MOST_BYTES => Room::No,
            () => Room::Yes,
        }
    }

    /// Puts a message at the end, if too many do not wait already.
    pub(super) fn push(&mut self, copy: Option<LogCopy>, message: &[u8]) -> Room {
        let room = self.room_for(copy);
        if room == Room::Yes {
            self.bytes += message.len();
            self.queue.push_back((copy, message.into()));
        }
        room
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Gives everything up.
    pub(super) fn clear(&mut self) {
        *self = Self { pieces: self.pieces, ..Self::default() };
    }

    /// The number of pieces that it has sent.
    pub(super) fn pieces(&self) -> u64 {
        self.pieces
    }

    /// Sends pieces of at most `max_len` bytes, with `trailer` behind each, as long as there is room. The result is that of the
    /// last attempt; `Yes` if nothing waits any more.
    pub(super) fn flush(&mut self, max_len: usize, trailer: &[u8], mut send: impl FnMut(&[u8]) -> Sent) -> Sent {
        while let Some((_, message)) = self.queue.front() {
            let end = message.len().min(self.sent + max_len - trailer.len() - 1);
            self.piece.clear();
            self.piece.extend_from_slice(&message[self.sent..end]);
            self.piece.extend_from_slice(trailer);
            self.piece.push(flags(self.sent == 0, end == message.len()));
            match send(&self.piece) {
                Sent::Yes => {}
                no => return no,
            }
            self.pieces += 1;
            self.sent = end;
            if end == message.len() {
                self.bytes -= end;
                self.sent = 0;
                self.queue.pop_front();
            }
        }
        Sent::Yes
    }
}

/// The flags of a message in one piece.
pub(super) const WHOLE: u8 = FIRST | LAST;

fn flags(is_first: bool, is_last: bool) -> u8 {
    (u8::from(is_first) * FIRST) | (u8::from(is_last) * LAST)
}

/// The pieces of one sender, put together.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    bytes: Vec<u8>,
    /// True if the bytes are those of a message that was taken.
    is_whole: bool,
    /// The number of pieces that were not the last of their message.
    parts: u64,
}

impl Assembly {
    /// The number of pieces so far that more have to follow.
    pub(super) fn parts(&self) -> u64 {
        self.parts
    }

    /// Takes a piece without its flags, and its flags; the message, if it is whole now.
    pub(super) fn take(&mut self, piece: &[u8], flags: u8) -> Option<&[u8]> {
        let is_orphan = flags & FIRST == 0 && (self.is_whole || self.bytes.is_empty());
        if flags & FIRST != 0 || self.is_whole {
            self.bytes.clear();
        }
        self.is_whole = false;
        self.parts += u64::from(flags & LAST == 0);
        if is_orphan {
            // The rest of a message whose beginning was given up or never seen.
            return None;
        }
        self.bytes.extend_from_slice(piece);
        if flags & LAST == 0 {
            return None;
        }
        self.is_whole = true;
        Some(&self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::one_paxos::Message;

    fn take<'a>(assembly: &'a mut Assembly, piece: &[u8], trailer: usize) -> Option<&'a [u8]> {
        let (&flags, rest) = piece.split_last().expect("a piece has flags");
        assembly.take(&rest[..rest.len() - trailer], flags)
    }

    #[test]
    fn messages_of_all_lengths_come_through_narrow_channels() {
        for max_len in [3, 8, 64] {
            let (mut outbox, mut assembly, mut got) = (Outbox::default(), Assembly::default(), Vec::new());
            let messages: Vec<Vec<u8>> = (1..100).map(|len| (0..len).collect()).collect();
            assert!(messages.iter().all(|message| outbox.push(None, message) == Room::Yes));
            let mut room = 0;
            // Every third attempt finds the channel full.
            while !outbox.is_empty() {
                outbox.flush(max_len, &[9], |piece| {
                    room += 1;
                    if room % 3 == 0 {
                        return Sent::Full;
                    }
                    assert!(piece.len() <= max_len && piece[piece.len() - 2] == 9);
                    got.extend(take(&mut assembly, piece, 1).map(<[u8]>::to_vec));
                    Sent::Yes
                });
            }
            assert!(got.iter().map(Vec::as_slice).eq(messages));
            assert_eq!(outbox.bytes, 0);
        }
    }

    #[test]
    fn a_copy_of_the_log_waits_once_and_a_full_outbox_takes_none() {
        let copy = |epoch| LogCopy::of(&Message::<()>::Former { epoch, former: None });
        let mut outbox = Outbox::default();
        assert_eq!([1, 1, 2].map(|epoch| outbox.push(copy(epoch), b"former")), [Room::Yes, Room::Waits, Room::Yes]);
        assert_eq!([outbox.push(None, b"any"), outbox.push(None, b"any")], [Room::Yes; 2]);
        outbox.flush(64, &[], |_| Sent::Yes);
        assert_eq!(outbox.push(copy(1), &vec![0; MOST_BYTES + 1]), Room::Yes, "of any length");
        assert_eq!([copy(1), copy(2), None].map(|copy| outbox.push(copy, b"")), [Room::Waits, Room::No, Room::No]);
    }

    #[test]
    fn a_message_that_was_given_up_leaves_nothing() {
        let mut assembly = Assembly::default();
        assert_eq!(assembly.take(b"middle", 0), None);
        assert_eq!(assembly.take(b"end", LAST), None);
        assert_eq!(assembly.take(b"given up", FIRST), None);
        assert_eq!(assembly.take(b"whole", FIRST | LAST), Some(&b"whole"[..]));
        assert_eq!(assembly.take(b"end", LAST), None);
        assert_eq!(assembly.take(b"a", FIRST), None);
        assert_eq!(assembly.take(b"b", LAST), Some(&b"ab"[..]));
    }
}
