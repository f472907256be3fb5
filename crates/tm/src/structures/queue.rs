//! A queue: values come out in the order in which they went in.

use crate::error::RunError;
use crate::tm::Tm;
use crate::tvar::TBlock;
use crate::tx::{Abort, Tx};
use crate::value::Value;

/// A node: {value, link to the next}.
type Link = TBlock<u64, 2>;

/// A queue without a bound but that of the instance. A copy is the same queue.
#[derive(Debug, Clone, Copy)]
pub struct Queue {
    /// The links to the first node and to the last one, each with a lock of its own; both in the root block.
    root: TBlock<u64, 2>,
    first: TBlock<Option<Link>, 1>,
    last: TBlock<Option<Link>, 1>,
}

impl Queue {
    /// An empty queue.
    ///
    /// # Errors
    /// [`RunError::Full`].
    pub fn new(tm: &Tm) -> Result<Self, RunError> {
        let (first, last) = (tm.new_block([None])?, tm.new_block([None])?);
        let root = tm.new_block([u64::from(first.index()), u64::from(last.index())])?;
        Ok(Self { root, first, last })
    }

    /// The queue with this root, in another process than that which made it.
    ///
    /// # Errors
    /// [`RunError`].
    pub fn open(tm: &Tm, participant: &mut crate::Participant, root: u32) -> Result<Self, RunError> {
        let root: TBlock<u64, 2> = tm.block(root)?;
        let [first, last] = participant.run(|tx| tx.read_block(root))?;
        Ok(Self { root, first: tm.block(first as u32)?, last: tm.block(last as u32)? })
    }

    /// By which another process [opens](Self::open) it.
    #[must_use]
    pub fn root(&self) -> u32 {
        self.root.index()
    }

    /// Adds a value at the end.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    pub fn push(&self, tx: &mut Tx<'_>, value: u64) -> Result<(), Abort> {
        let node = tx.new_block([value, 0])?;
        let [last] = tx.read_block_for_update(self.last)?;
        match last {
            Some(last) => {
                let [before, _] = tx.read_block_for_update(last)?;
                tx.write_block(last, [before, node.to_word()])?;
            }
            None => tx.write_block(self.first, [Some(node)])?,
        }
        tx.write_block(self.last, [Some(node)])
    }

    /// Takes the first value out, if there is one.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    pub fn pop(&self, tx: &mut Tx<'_>) -> Result<Option<u64>, Abort> {
        let [first] = tx.read_block_for_update(self.first)?;
        let Some(node) = first else { return Ok(None) };
        let [value, next] = tx.read_block(node)?;
        let next = Option::<Link>::from_word(next);
        tx.write_block(self.first, [next])?;
        if next.is_none() {
            tx.write_block(self.last, [None])?;
        }
        tx.free_block(node)?;
        Ok(Some(value))
    }

    /// Whether there is no value.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    pub fn is_empty(&self, tx: &mut Tx<'_>) -> Result<bool, Abort> {
        let [first] = tx.read_block(self.first)?;
        Ok(first.is_none())
    }
}
