//! Whether a participant of a region is still there.
//!
//! Death needs evidence from the kernel: the lock of the participant's record is free, although nobody said goodbye. A
//! time-out is none (a stopped process is not dead), and neither is `kill(pid, 0)` (zombies look alive, and numbers
//! differ between namespaces).

/// What is known of a participant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Liveness {
    /// It is there, though it may be stopped or hang.
    Alive,
    /// It said goodbye.
    Left,
    /// It ended without saying goodbye, or its seat has been taken by another since.
    Dead,
}
