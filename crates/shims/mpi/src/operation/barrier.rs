//! The barrier.

use std::ffi::c_int;

use crate::communicator::serve;
use crate::library::{Handle, Library, SUCCESS};

/// Waits for all ranks.
#[inline]
pub(crate) fn barrier(library: &'static Library, comm: Handle) -> Option<c_int> {
    serve(library, comm, |_| true, |served| served.member.barrier().map(|()| Some(SUCCESS)))
}
