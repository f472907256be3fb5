//! The threads that plan.

use std::sync::OnceLock;

use crate::failure::Failure;

/// Starts them, once: where the system refuses them, planning would panic later.
pub fn start() -> Result<(), Failure> {
    static STARTED: OnceLock<Result<(), String>> = OnceLock::new();
    let started = STARTED.get_or_init(|| {
        let built = rayon::ThreadPoolBuilder::new().build_global();
        built.map_err(|error| format!("cannot start the threads that plan: {error}"))
    });
    started.clone().map_err(Failure::environment)
}
