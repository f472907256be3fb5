//! The home of a member's place in its group: an object made of the member takes the place from here, and brings it back.
//!
//! A coordinator, a stream, an operation that was started: each borrows its member in Rust. C has two pointers, and may end
//! them in any order, so the place itself moves: out of the member, into the object, and back here when the object is
//! closed, from where the member takes it at its next call.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use corecast::Member as Place;
use corecast::collective::Error;
use corecast::collective::acknowledged::AckError;
use corecast::collective::nodes::Error as FarError;

use crate::error::Failure;

/// The state that a member and the objects made of it share.
#[derive(Debug, Default)]
pub(crate) struct Home {
    returned: Mutex<Option<Box<Place>>>,
    /// The member that was lost, once there is one: all later operations name the same.
    lost: OnceLock<usize>,
}

impl Home {
    pub(crate) fn take_back(&self) -> Option<Box<Place>> {
        self.returned().take()
    }

    pub(crate) fn bring_back(&self, place: Box<Place>) {
        *self.returned() = Some(place);
    }

    fn returned(&self) -> MutexGuard<'_, Option<Box<Place>>> {
        // No panic leaves it half changed.
        self.returned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn lost(&self) -> Option<usize> {
        self.lost.get().copied()
    }

    /// Keeps the rank of the lost member, if that is the error.
    #[cold]
    pub(crate) fn failure<E: GroupFailure>(&self, error: E) -> Failure {
        if let Some(Error::MemberLost { rank, .. }) = error.of_group() {
            let _ = self.lost.set(rank);
        }
        error.into()
    }
}

impl Home {
    /// The same for a group over several machines. A lost node is named by the message only.
    #[cold]
    pub(crate) fn far_failure(&self, error: FarError) -> Failure {
        if let FarError::MemberLost { rank, .. } = error {
            let _ = self.lost.set(rank);
        }
        error.into()
    }
}

/// An error of an operation of a group.
pub(crate) trait GroupFailure: Into<Failure> {
    /// The group's own error in it.
    fn of_group(&self) -> Option<Error>;
}

impl GroupFailure for Error {
    fn of_group(&self) -> Option<Error> {
        Some(*self)
    }
}

impl GroupFailure for AckError {
    fn of_group(&self) -> Option<Error> {
        if let Self::Group(error) = self { Some(*error) } else { None }
    }
}
