//! Where the parts of an instance lie in its section, in bytes, each part on lines of its own.

use corecast_base::LINE_BYTES;

use crate::config::Config;

/// The sizes of blocks of variables: 1, 2, 4 and 8 words.
pub(crate) const CLASSES: usize = 4;

/// Lines of the header: poison, stop, the end of what was ever allocated, and the heads of the free lists.
pub(crate) const POISON: usize = 0;
pub(crate) const STOP: usize = 1;
pub(crate) const ALLOCATED: usize = 2;
pub(crate) const HEADS: usize = 3;
const HEADER_LINES: usize = HEADS + CLASSES;
/// The stride of a [`CacheLine`](corecast_base::CacheLine).
const LINE: usize = 128;

/// Offsets of the parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) header_lines: usize,
    pub(crate) lines_at: usize,
    pub(crate) values_at: usize,
    pub(crate) free_at: usize,
    pub(crate) locks_at: usize,
    pub(crate) lock_words: usize,
    pub(crate) bucket_locks_at: usize,
    pub(crate) logs_at: usize,
    pub(crate) log_words: usize,
    pub(crate) bytes: usize,
}

impl Layout {
    pub(crate) fn new(config: &Config) -> Self {
        let variables = config.variables as usize;
        let up = |bytes: usize| bytes.next_multiple_of(LINE);
        let lines_at = HEADER_LINES * LINE;
        let values_at = lines_at + config.participants * LINE;
        let free_at = up(values_at + variables * 8);
        let locks_at = up(free_at + variables * 8);
        let lock_words = if config.is_shared { variables * config.lock_words() } else { 0 };
        let bucket_locks_at = up(locks_at + lock_words * 8);
        let buckets = if config.is_shared { config.buckets as usize } else { 0 };
        let logs_at = bucket_locks_at + buckets * LINE;
        let log_words = if config.log_entries == 0 { 0 } else { up(8 + config.log_entries as usize * 16) / 8 };
        let bytes = logs_at + config.participants * log_words * 8;
        let header_lines = HEADER_LINES;
        Self {
            header_lines,
            lines_at,
            values_at,
            free_at,
            locks_at,
            lock_words,
            bucket_locks_at,
            logs_at,
            log_words,
            bytes,
        }
    }
}

const _: () = assert!(LINE >= LINE_BYTES && LINE % LINE_BYTES == 0);
