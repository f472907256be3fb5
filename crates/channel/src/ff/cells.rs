//! The memory that the two ends of a word channel share.

use corecast_base::sync::{AtomicU32, AtomicU64, Ordering};
use corecast_base::wait::WakeWord;
use corecast_base::{CacheLine, Place, PlaceSlice, Shareable};

use super::{Config, LINE_CELLS, Probe, Slip};

pub(super) const SENDER_GONE: u32 = 1;
pub(super) const RECEIVER_GONE: u32 = 2;

/// Cells that move together.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Line([AtomicU64; LINE_CELLS]);

// SAFETY: an array of atomic integers, laid out as C does, of which any bytes are a value.
unsafe impl Shareable for Line {}

/// The words beside the cells, a line each.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Control {
    /// The ends that are gone. Each end sets its bit once.
    pub(super) gone: CacheLine<AtomicU32>,
    /// Words that were sent when the sender last flushed. Written by the sender, read by a receiver that finds part of a
    /// line.
    pub(super) flushed: CacheLine<AtomicU64>,
    /// In regions, the participant that sends: 0 for none yet. Changed by the opener of the end, read by the receiver.
    pub(super) sender: CacheLine<AtomicU64>,
    /// In regions, the participant that receives: 0 for none yet. Changed by the opener of the end, read by the sender.
    pub(super) receiver: CacheLine<AtomicU64>,
}

// SAFETY: lines of one atomic integer each, laid out as C does, of which zeroes and any other bytes are values.
unsafe impl Shareable for Control {}

/// The memory that both ends reach.
#[derive(Debug)]
pub(super) struct Shared {
    /// Each cell is filled by the sender and emptied by the receiver: 0 is empty.
    pub(super) lines: PlaceSlice<Line>,
    pub(super) control: Place<Control>,
    pub(super) slip: Slip,
    pub(super) probe: Probe,
    /// The sender wakes the receiver here after a word.
    pub(super) data_wake: WakeWord,
    /// The receiver wakes the sender here after each line that it has emptied.
    pub(super) room_wake: WakeWord,
}

impl Shared {
    /// Cells among threads.
    pub(super) fn new(config: &Config, cells: usize, data_wake: WakeWord, room_wake: WakeWord) -> Self {
        let line = || Line(std::array::from_fn(|_| AtomicU64::new(0)));
        let lines = PlaceSlice::new((0..cells / LINE_CELLS).map(|_| line()).collect());
        let control = Place::new(Control::default());
        Self { lines, control, slip: config.slip, probe: config.probe, data_wake, room_wake }
    }

    /// The cell of the `n`-th word ever sent, from 0.
    #[inline(always)]
    pub(super) fn cell(&self, n: u64) -> &AtomicU64 {
        let line = (n / LINE_CELLS as u64) as usize & (self.lines.len() - 1);
        &self.lines[line].0[n as usize % LINE_CELLS]
    }

    /// Marks an end as gone.
    pub(super) fn leave(&self, end: u32) {
        // ORDERING: Release, pairs with the Acquire in is_gone: a thread that sees this end gone sees all it did [left]
        self.control.gone.fetch_or(end, Ordering::Release);
    }

    #[inline(always)]
    pub(super) fn is_gone(&self, end: u32) -> bool {
        // ORDERING: Acquire, pairs with the Release in leave [left]
        self.control.gone.load(Ordering::Acquire) & end != 0
    }
}

/// The first word of the line behind that of word `n`.
#[inline(always)]
pub(super) fn line_end(n: u64) -> u64 {
    (n / LINE_CELLS as u64 + 1) * LINE_CELLS as u64
}
