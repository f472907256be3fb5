//! Whether a participant of a region is alive.
//!
//! Death needs evidence from the kernel: the lock of the participant's record is free, although the participant did not say
//! goodbye. A time-out is no evidence (a stopped process is not dead), and neither is `kill(pid, 0)` (zombies look alive,
//! and process numbers differ between namespaces).

/// The state of a participant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Liveness {
    /// It lives, though it may be stopped or hang.
    Alive,
    /// It said goodbye.
    Left,
    /// It ended without saying goodbye, or another participant has taken its slot since.
    Dead,
}
