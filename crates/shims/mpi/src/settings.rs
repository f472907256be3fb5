//! The settings of this object beside those that all preload objects share.
//!
//! All ranks must have the same ones, as they decide which calls are served; launchers pass the environment on. Ranks of which
//! one has another limit find out when a communicator is set up, and pass all its calls on. Nothing can find out that one rank
//! has another `CORECAST_MPI_AFTER`, or no object at all: such a program may hang.
//!
//! | variable | meaning |
//! |---|---|
//! | `CORECAST_MPI_LIMIT` | the longest message that is served, in bytes |
//! | `CORECAST_MPI_AFTER` | the calls on a communicator that pass before it is set up |

use std::ffi::CStr;
use std::sync::OnceLock;

use corecast_preload::{Family, Settings as Shared, variable};

use crate::lengths::LIMIT_BYTES;

/// The longest limit, in bytes.
const MOST_BYTES: usize = 1 << 20;
/// The calls that pass by default before a communicator is set up. To set one up takes tens of milliseconds on a busy machine,
/// which communicators that live for a few calls would not win back.
const AFTER: u32 = 100;

/// The wishes of the environment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// False if all calls are passed on.
    pub(crate) serves: bool,
    /// The longest message that is served, in bytes.
    pub(crate) limit_bytes: usize,
    /// The calls on a communicator that pass before it is set up.
    pub(crate) after: u32,
}

impl Settings {
    /// The settings, read once.
    pub(crate) fn get() -> &'static Self {
        static SETTINGS: OnceLock<Settings> = OnceLock::new();
        SETTINGS.get_or_init(|| Self {
            serves: Shared::get().serves(Family::Mpi),
            limit_bytes: number(c"CORECAST_MPI_LIMIT").map_or(LIMIT_BYTES, |bytes| bytes.min(MOST_BYTES)),
            after: number(c"CORECAST_MPI_AFTER").map_or(AFTER, |calls| calls.min(u32::MAX as usize) as u32),
        })
    }
}

/// The value of a variable that is a number. Another text counts as not set: a preload object has nobody to tell.
fn number(name: &CStr) -> Option<usize> {
    std::str::from_utf8(variable(name)?).ok()?.trim().parse().ok()
}
