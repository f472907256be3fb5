//! An end of a channel together with its loan, as one object: C has no lifetimes to keep the two apart.

use std::fmt;
use std::ptr::NonNull;

/// An end of a channel, and its loan to C until C gives that back: a message, or room for one.
///
/// The end lies in a box of its own, and only the loan points into it, so that moving this object leaves the loan where it
/// is.
pub(crate) struct Lending<E: 'static, L: Default> {
    lent: L,
    /// From a box, and back into one at the end.
    end: NonNull<E>,
}

impl<E, L: Default> Lending<E, L> {
    pub(crate) fn new(end: E) -> Self {
        Self { lent: L::default(), end: NonNull::from(Box::leak(Box::new(end))) }
    }

    /// The end, when everything lent has been given back.
    #[inline]
    pub(crate) fn end(&mut self) -> &mut E {
        self.give_back();
        // SAFETY: it lives as long as this object, and the loan that borrowed it is gone.
        unsafe { self.end.as_mut() }
    }

    /// Lends the result of `lend`, in the place of the loan before.
    ///
    /// # Safety
    /// - `lend` keeps the reference only in its result.
    #[inline]
    pub(crate) unsafe fn lend<F>(&mut self, lend: impl FnOnce(&'static mut E) -> Result<L, F>) -> Result<&mut L, F> {
        self.give_back();
        // SAFETY: nothing else borrows it: the loan before is gone, and the new one goes before the end is used again, or
        // freed.
        let end = unsafe { &mut *self.end.as_ptr() };
        self.lent = lend(end)?;
        Ok(&mut self.lent)
    }

    /// Lends one thing more of an end that lends several at a time.
    ///
    /// # Safety
    /// - `lend` keeps the reference only in the loans.
    /// - The end is never lent by [`lend`](Self::lend).
    #[inline]
    pub(crate) unsafe fn lend_more<R>(&mut self, lend: impl FnOnce(&'static E, &mut L) -> R) -> R {
        // SAFETY: all loans share it, and it is not borrowed otherwise before they are given back.
        lend(unsafe { &*self.end.as_ptr() }, &mut self.lent)
    }

    /// The loan.
    #[inline]
    pub(crate) fn lent(&mut self) -> &mut L {
        &mut self.lent
    }

    /// Takes everything back.
    #[inline]
    pub(crate) fn give_back(&mut self) {
        self.lent = L::default();
    }

    /// The end alone.
    pub(crate) fn into_end(mut self) -> E {
        self.give_back();
        let end = self.end;
        std::mem::forget(self);
        // SAFETY: from a box, which nothing else frees, as this object is forgotten.
        *unsafe { Box::from_raw(end.as_ptr()) }
    }
}

impl<E, L: Default> Drop for Lending<E, L> {
    fn drop(&mut self) {
        self.give_back();
        // SAFETY: from a box, and borrowed no more.
        drop(unsafe { Box::from_raw(self.end.as_ptr()) });
    }
}

// SAFETY: as the box and the loan that it consists of.
unsafe impl<E: Send, L: Default + Send> Send for Lending<E, L> {}

impl<E, L: Default> fmt::Debug for Lending<E, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lending").finish_non_exhaustive()
    }
}
