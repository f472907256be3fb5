//! The settings that every search gets.

use crate::effort::Effort;
use crate::limits::Limits;

/// The settings that every search gets.
#[derive(Clone, Copy)]
pub(crate) struct Settings<'a> {
    pub(crate) effort: Effort,
    pub(crate) seed: u64,
    pub(crate) limits: Limits,
    /// The part of the effort's work that one search may do; 1 is all of it.
    pub(crate) share: f64,
    pub(crate) stop: &'a (dyn Fn() -> bool + Sync),
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Self { effort: Effort::default(), seed: 0, limits: Limits::default(), share: 1.0, stop: &|| false }
    }
}
