//! The values in queues of one type: the bytes themselves if they are few, a shared block if they are many.

use std::sync::Arc;

use super::super::wire::Wire;
use super::Ends;
use corecast_race::harness::Abort;

/// The most bytes that travel inside the queue. Beyond, copying costs more than a block that is shared.
pub(super) const INLINE_BYTES: usize = 1024;
/// The bytes that fill one line together with the word that a queue keeps beside each message.
const LINE_BYTES: usize = 56;

/// A message as a value.
pub(super) trait Payload: Clone + Default + Send + Sync + 'static {
    /// The state that the sender keeps between messages.
    type Pen: Send + 'static;

    /// A pen for messages of this wire.
    fn pen(wire: &Wire) -> Self::Pen;

    /// A message whose bytes `write` writes.
    fn write(pen: &mut Self::Pen, write: impl FnOnce(&mut [u8])) -> Self;

    /// The `len` bytes of the message.
    fn bytes(&self, len: usize) -> &[u8];
}

/// At most `N` bytes, in place, aligned as words are.
#[derive(Clone, Copy, Debug)]
#[repr(align(8))]
pub(super) struct Inline<const N: usize>([u8; N]);

impl<const N: usize> Default for Inline<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> Payload for Inline<N> {
    type Pen = usize;

    fn pen(wire: &Wire) -> usize {
        wire.bytes
    }

    #[inline(always)]
    fn write(len: &mut usize, write: impl FnOnce(&mut [u8])) -> Self {
        let mut message = Self([0; N]);
        write(&mut message.0[..*len]);
        message
    }

    #[inline(always)]
    fn bytes(&self, len: usize) -> &[u8] {
        &self.0[..len]
    }
}

impl From<u64> for Inline<8> {
    #[inline(always)]
    fn from(word: u64) -> Self {
        Self(word.to_ne_bytes())
    }
}

impl From<Inline<8>> for u64 {
    #[inline(always)]
    fn from(word: Inline<8>) -> Self {
        Self::from_ne_bytes(word.0)
    }
}

/// A block that all receivers share. The sender writes a block again once the last receiver has let go of it, so that no
/// message costs an allocation: the best that a user of such a queue can do.
#[derive(Clone, Debug, Default)]
pub(super) struct Block(Option<Arc<[u8]>>);

/// The sender's blocks, used in turns.
pub(super) struct Blocks {
    len: usize,
    blocks: Vec<Arc<[u8]>>,
    turn: usize,
}

impl Payload for Block {
    type Pen = Blocks;

    fn pen(wire: &Wire) -> Blocks {
        // Enough blocks to fill the queue, one under each receiver's eyes, and one under the pen.
        let blocks = wire.depth + wire.receivers + 1;
        Blocks { len: wire.bytes, blocks: (0..blocks).map(|_| vec![0; wire.bytes].into()).collect(), turn: 0 }
    }

    #[inline]
    fn write(pen: &mut Blocks, write: impl FnOnce(&mut [u8])) -> Self {
        let turn = pen.turn;
        pen.turn = (turn + 1) % pen.blocks.len();
        if Arc::get_mut(&mut pen.blocks[turn]).is_none() {
            pen.blocks[turn] = vec![0; pen.len].into();
        }
        write(Arc::get_mut(&mut pen.blocks[turn]).expect("a block of which nobody has another handle"));
        Self(Some(Arc::clone(&pen.blocks[turn])))
    }

    #[inline]
    fn bytes(&self, _len: usize) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}

/// A queue that is made for messages of any type.
pub(super) trait ForPayload {
    /// Makes it for this one.
    fn open<P: Payload>(&self, wire: &Wire, abort: &Arc<Abort>) -> Ends;
}

/// Makes it for the smallest type that holds the wire's messages.
pub(super) fn for_payload(maker: &impl ForPayload, wire: &Wire, abort: &Arc<Abort>) -> Ends {
    match wire.bytes {
        0..=8 => maker.open::<Inline<8>>(wire, abort),
        9..=LINE_BYTES => maker.open::<Inline<LINE_BYTES>>(wire, abort),
        57..=64 => maker.open::<Inline<64>>(wire, abort),
        65..=128 => maker.open::<Inline<128>>(wire, abort),
        129..=512 => maker.open::<Inline<512>>(wire, abort),
        513..=INLINE_BYTES => maker.open::<Inline<INLINE_BYTES>>(wire, abort),
        _ => maker.open::<Block>(wire, abort),
    }
}

/// A place in a ring that is written and read where it lies.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Slot {
    few: [u8; FEW_BYTES],
    many: Box<[u8]>,
}

/// The bytes in the ring itself: with the handle to the rest they fill two lines.
const FEW_BYTES: usize = 112;

impl Slot {
    /// A place for messages of `len` bytes.
    pub(super) fn of(len: usize) -> Self {
        Self { few: [0; FEW_BYTES], many: vec![0; if len > FEW_BYTES { len } else { 0 }].into() }
    }

    #[inline(always)]
    pub(super) fn bytes(&self, len: usize) -> &[u8] {
        if len > FEW_BYTES { &self.many } else { &self.few[..len] }
    }

    #[inline(always)]
    pub(super) fn bytes_mut(&mut self, len: usize) -> &mut [u8] {
        if len > FEW_BYTES { &mut self.many } else { &mut self.few[..len] }
    }
}
