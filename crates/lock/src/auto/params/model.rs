//! The costs of a model, where no window is ever over and so none is looked at.

use super::Params;

static ASSUMED: Params = Params::ASSUMED;

pub(super) fn get() -> &'static Params {
    &ASSUMED
}

pub(super) fn set(_params: Params) {}
