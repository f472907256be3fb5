//! The parts of all members at all of them: a few members show each other theirs.
//!
//! All members [show](super::exchange) each other chunk after chunk, and copy those of the others. A value is written once and
//! read once by each other member, and no member waits for a value for which another member has yet to wait.
//!
//! Every part begins with a chunk, even of no values, and every chunk tells the length and type of the part, so members that
//! differ find out.

use corecast_channel::Plain;

use super::exchange::{CHUNK_BYTES, Exchange, Word};
use crate::core::Core;
use crate::error::Error;

/// The progress of an allgather at one member.
#[derive(Debug, Default)]
pub(crate) struct Allgathering {
    /// Chunks done.
    chunks: usize,
    /// True if this member has shown the chunk at hand.
    is_shown: bool,
    /// The members whose chunks have come.
    heard: usize,
}

impl Allgathering {
    /// Copies this member's `own` values and those of all others to `all`, by rank, which has room for as many of each. If a
    /// wait ends at a limit, another call goes on where it ended.
    pub(crate) fn go_on<T: Plain>(
        &mut self,
        core: &mut Core,
        exchange: &mut Exchange,
        own: &[T],
        all: &mut [T],
    ) -> Result<(), Error> {
        let len = own.len();
        let chunk_len = (CHUNK_BYTES / size_of::<T>().max(1)).max(1);
        while self.chunks == 0 || self.chunks * chunk_len < len {
            let first = self.chunks * chunk_len;
            let places = first..len.min(first + chunk_len);
            if !self.is_shown {
                exchange.show(core, len, &own[places.clone()]);
                *self = Self { is_shown: true, heard: 0, ..*self };
            }
            exchange.wait(core, Word::Shown, &mut self.heard)?;
            exchange.compare(core)?;
            for rank in 0..core.members {
                let theirs = &mut all[rank * len..][places.clone()];
                if rank == core.rank {
                    theirs.copy_from_slice(&own[places.clone()]);
                } else {
                    exchange.read(rank, 0, theirs);
                }
            }
            exchange.advance();
            *self = Self { chunks: self.chunks + 1, is_shown: false, heard: 0 };
        }
        Ok(())
    }
}
