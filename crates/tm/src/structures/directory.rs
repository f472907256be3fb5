//! Words that are written once, when a structure is made, and found by their first block: how another process learns where the
//! parts of a structure are.

use crate::error::RunError;
use crate::participant::Participant;
use crate::tm::Tm;
use crate::tvar::{MAX_BLOCK_WORDS, TBlock};
use crate::value::Value;

/// Words in a block; the last word of a block is the link to the next one.
const WORDS: usize = MAX_BLOCK_WORDS - 1;

type Page = TBlock<u64, MAX_BLOCK_WORDS>;

/// Writes the words down; returns the root.
pub(super) fn write(tm: &Tm, words: &[u64]) -> Result<u32, RunError> {
    let mut next: Option<Page> = None;
    for part in words.chunks(WORDS).rev() {
        let mut page = [0; MAX_BLOCK_WORDS];
        page[..part.len()].copy_from_slice(part);
        page[WORDS] = next.to_word();
        next = Some(tm.new_block(page)?);
    }
    Ok(next.expect("a structure has at least one part").index())
}

/// The first `count` words that were written down.
pub(super) fn read(tm: &Tm, participant: &mut Participant, root: u32, count: usize) -> Result<Vec<u64>, RunError> {
    let first: Page = tm.block(root)?;
    participant.run(|tx| {
        let (mut words, mut next) = (Vec::with_capacity(count + WORDS), Some(first));
        while let Some(page) = next.filter(|_| words.len() < count) {
            let page = tx.read_block(page)?;
            words.extend_from_slice(&page[..WORDS]);
            next = Value::from_word(page[WORDS]);
        }
        words.truncate(count);
        Ok(words)
    })
}
