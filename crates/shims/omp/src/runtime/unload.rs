//! Libraries that are closed: another one may come to lie at the same place, and mean another runtime by the same calls.

use std::ffi::{c_int, c_void};

/// As the loader's function of this name, which it calls.
///
/// # Safety
/// - As the loader's.
#[unsafe(no_mangle)]
unsafe extern "C" fn dlclose(library: *mut c_void) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { corecast_preload::unload(library) }
}
