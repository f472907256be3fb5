//! The version of the service's protocol.

/// The version of the protocol: the value of `corecast-plan` in every request and answer.
pub const VERSION: u64 = 1;
