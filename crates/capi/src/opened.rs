//! An object that C has made of a member, and holds with the member's place in the group.

use std::fmt;
use std::sync::Arc;

use corecast::Member as Place;

use crate::error::Failure;
use crate::home::{GroupFailure, Home};
use crate::lending::Lending;
use crate::member::Member;

/// A member's place, with the object made of it. Dropping it ends the object, and brings the place back.
pub(crate) struct Opened<L: 'static> {
    /// `None` only while it is dropped.
    lending: Option<Lending<Box<Place>, Option<L>>>,
    home: Arc<Home>,
}

impl<L> Opened<L> {
    /// Makes an object of a member.
    ///
    /// # Safety
    /// - `open` keeps the reference only in its result.
    pub(crate) unsafe fn open<E: GroupFailure>(
        member: &mut Member,
        open: impl FnOnce(&'static mut Place) -> Result<L, E>,
    ) -> Result<Self, Failure> {
        let home = Arc::clone(member.home());
        let lending = Lending::new(member.take_place()?);
        // From here on dropping it brings the place back.
        let mut opened = Self { lending: Some(lending), home };
        let lending = opened.lending.as_mut().expect(HELD);
        // SAFETY: the caller's promise.
        let lent = unsafe { lending.lend(|place| open(place).map(Some)) };
        lent.map_err(|error| opened.home.failure(error))?;
        Ok(opened)
    }

    /// Uses it, if it has not been ended.
    #[inline]
    pub(crate) fn with<R, E: GroupFailure>(&mut self, body: impl FnOnce(&mut L) -> Result<R, E>) -> Result<R, Failure> {
        let lent = self.lending.as_mut().expect(HELD).lent().as_mut().ok_or_else(ended)?;
        body(lent).map_err(|error| self.home.failure(error))
    }

    /// Ends it by an operation that uses it up.
    pub(crate) fn end<R, E: GroupFailure>(&mut self, body: impl FnOnce(L) -> Result<R, E>) -> Result<R, Failure> {
        let lent = self.lending.as_mut().expect(HELD).lent().take().ok_or_else(ended)?;
        body(lent).map_err(|error| self.home.failure(error))
    }
}

const HELD: &str = "the place is brought back only when this is dropped";

#[cold]
fn ended() -> Failure {
    Failure::new(crate::status::Status::InvalidArgument, "it has been ended, and can only be closed")
}

impl<L> Drop for Opened<L> {
    fn drop(&mut self) {
        let lending = self.lending.take().expect(HELD);
        self.home.bring_back(lending.into_end());
    }
}

impl<L> fmt::Debug for Opened<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").finish_non_exhaustive()
    }
}
