//! The lines that are measured: a fresh one for each sample, in an order that no prefetcher guesses.
//!
//! 64 MiB lie in strides of 2048 lines. Samples take the strides in turn, in each a page not taken before and in it a line
//! at random; no page serves two samples of a case, and of each pair of lines, which prefetchers fetch together, one is
//! left alone. The first lines of every page are nobody's: a look at one makes sure that the page's translation is known.

use std::thread;

use corecast::base::sync::{AtomicU64, Ordering};
use corecast::base::{CacheLine, CpuId, PlaceSlice};
use corecast::machine::pin;
use fastrand::Rng;

use super::instruction;
use corecast_race::failure::Failure;

/// The operand: the first word of a line, those of 16 bytes the second one too, which stays 0.
pub(super) type Line = CacheLine<[AtomicU64; 2]>;

const PAGE_BYTES: usize = 4096;
const PAIR_BYTES: usize = size_of::<Line>();
const PAGE_PAIRS: usize = PAGE_BYTES / PAIR_BYTES;
const STRIDE_BYTES: usize = 2048 * 64;
const STRIDE_PAGES: usize = STRIDE_BYTES / PAGE_BYTES;
const MEMORY_BYTES: usize = 64 << 20;
const STRIDES: usize = MEMORY_BYTES / STRIDE_BYTES;
/// Pairs at the begin of a page in which no line is measured.
const UNMEASURED: usize = 4;

/// The most samples that find a page each.
pub(super) const MOST_SAMPLES: usize = MEMORY_BYTES / PAGE_BYTES;

/// The memory, and which line belongs to which sample.
#[derive(Debug)]
pub(super) struct Lines {
    memory: PlaceSlice<Line>,
    /// Where the first page begins.
    start: usize,
    /// For each sample its page and the pair in it.
    order: Vec<(usize, usize)>,
}

impl Lines {
    /// Memory that nobody has touched.
    pub(super) fn untouched(samples: usize, random: &mut Rng) -> Self {
        assert!(samples <= MOST_SAMPLES, "a page for each sample");
        let memory = PlaceSlice::<Line>::zeroed((MOST_SAMPLES + 1) * PAGE_PAIRS);
        let into_page = memory.as_ptr().addr() % PAGE_BYTES;
        let start = (PAGE_BYTES - into_page) % PAGE_BYTES / PAIR_BYTES;
        let mut pages: Vec<usize> = (0..MOST_SAMPLES).collect();
        pages.chunks_mut(STRIDE_PAGES).for_each(|stride| random.shuffle(stride));
        let page = |sample: usize| pages[sample % STRIDES * STRIDE_PAGES + sample / STRIDES];
        let order = (0..samples).map(|sample| (page(sample), random.usize(UNMEASURED..PAGE_PAIRS))).collect();
        Self { memory, start, order }
    }

    /// How many samples there are lines for.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// The line of a sample.
    pub(super) fn line(&self, sample: usize) -> &Line {
        let (page, pair) = self.order[sample];
        &self.memory[self.start + page * PAGE_PAIRS + pair]
    }

    /// The word of a sample's line.
    pub(super) fn word(&self, sample: usize) -> &AtomicU64 {
        &self.line(sample)[0]
    }

    /// Lets a thread on this CPU touch every page first, so that the system puts them near it, if no policy says otherwise.
    pub(super) fn touch_on(&self, cpu: CpuId) -> Result<(), Failure> {
        let touch = || {
            let _pinned = pin::pin(cpu).map_err(Failure::refused)?;
            for page in 0..MOST_SAMPLES {
                // ORDERING: Relaxed, the thread ends before anybody else looks
                self.memory[self.start + page * PAGE_PAIRS][0].store(0, Ordering::Relaxed);
            }
            Ok(())
        };
        thread::scope(|scope| scope.spawn(touch).join()).expect("touching memory does not panic")
    }

    /// Makes sure that the calling thread's core knows where the page of a sample's line is.
    pub(super) fn know_page(&self, sample: usize) {
        let (page, _) = self.order[sample];
        // ORDERING: Relaxed, only the look itself matters
        self.memory[self.start + page * PAGE_PAIRS][0].load(Ordering::Relaxed);
    }

    /// Writes what every line holds in the beginning, and puts all out of the caches where that is possible.
    pub(super) fn reset(&self) {
        for sample in 0..self.len() {
            let word = self.word(sample);
            // ORDERING: Relaxed, participants meet before anybody else looks
            word.store(initial(sample), Ordering::Relaxed);
            instruction::flush(word);
        }
    }
}

/// The first value of the line of a sample: no two the same, and room for what is written later.
pub(super) fn initial(sample: usize) -> u64 {
    (sample as u64 + 1) << 8
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_sample_has_a_page_and_the_next_one_is_in_the_next_stride() {
        let lines = Lines::untouched(MOST_SAMPLES, &mut Rng::with_seed(3));
        let page = |sample| std::ptr::from_ref(lines.word(sample)).addr() / PAGE_BYTES;
        let pages: HashSet<usize> = (0..lines.len()).map(page).collect();
        assert_eq!(pages.len(), MOST_SAMPLES);
        let first = pages.iter().min().expect("pages");
        let stride = |sample| (page(sample) - first) / STRIDE_PAGES;
        assert!((0..lines.len()).all(|sample| stride(sample) == sample % STRIDES));
    }

    #[test]
    fn a_reset_leaves_the_values_that_samples_begin_with() {
        let lines = Lines::untouched(100, &mut Rng::with_seed(3));
        lines.word(7).store(5, Ordering::Relaxed);
        lines.reset();
        assert!((0..100).all(|sample| lines.word(sample).load(Ordering::Relaxed) == initial(sample)));
    }
}
