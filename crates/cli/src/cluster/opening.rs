//! The failure of a command whose cluster cannot be opened.

use corecast::mpi::OpenError;

use crate::failure::Failure;

/// Bad input where the user named the wrong library or launcher, or started different programs; trouble of the environment where
/// the library, the network or a host is at fault.
pub(crate) fn open_failure(error: OpenError) -> Failure {
    match error {
        OpenError::Mpi(_) | OpenError::System { .. } | OpenError::SetupTimeout { .. } | OpenError::Mixed { .. } => {
            Failure::environment(error)
        }
        _ => Failure::input(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_library_is_bad_input_and_an_absent_host_is_trouble() {
        let wrong = OpenError::NoLibrary { tried: "libmpi.so.0".to_owned() };
        assert!(matches!(open_failure(wrong), Failure::Input { .. }));
        let [host, reason] = ["a", "no memory"].map(str::to_owned);
        assert!(matches!(open_failure(OpenError::Mixed { rank: 1, host, reason }), Failure::Environment { .. }));
    }
}
