//! The status that a call returns.

use std::ffi::{CStr, c_char};

/// How a call ended. Unless it is CORECAST_OK, the outputs are unchanged, if the comment of the function does not say
/// otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
#[non_exhaustive]
pub enum Status {
    /// Done.
    Ok = 0,
    /// The channel is full, or a session has as many requests without a result as it may have.
    Full = 1,
    /// The channel is empty.
    Empty = 2,
    /// It did not happen in time.
    Timeout = 3,
    /// The other end said goodbye, and everything it sent has been received.
    Closed = 4,
    /// The process at the other end is gone and said nothing; everything it sent has been received. Of a group with state: all
    /// members are gone.
    Died = 5,
    /// The message is longer than the channel takes, or than the buffer, or an operation longer than its group takes.
    TooLarge = 6,
    /// The reader fell behind and missed messages. The next call goes on with the oldest one left.
    Lagged = 7,
    /// Another process wrote bytes that the protocol does not allow: stop trusting the region.
    Corrupt = 8,
    /// The object was made before fork(), and this is the child, which has to make its own.
    Forked = 9,
    /// An argument is not what the function takes; the message names it.
    InvalidArgument = 10,
    /// There is nothing with this name.
    NotFound = 11,
    /// There is something with this name already.
    Exists = 12,
    /// Another participant has this end, or all places for it are taken.
    Taken = 13,
    /// It is there, but of another kind, version or owner than expected, or damaged.
    Mismatch = 14,
    /// The system refused a request; the message says which.
    System = 15,
    /// A rule of use was broken, or the library has a bug; the message says which. The arguments of the call can only be
    /// destroyed.
    Panic = 16,
    /// All channels of the select have ended, or it has none.
    NoneLeft = 17,
    /// A member of the group is lost: corecast_member_lost says which one, the message why. The group has failed.
    Lost = 18,
    /// The process that held the lock is gone and may have left its change half done. **The caller has the lock** all the
    /// same.
    OwnerDied = 19,
    /// Members of the group called different operations, or one operation with different roots: the message names the calls
    /// of the members. The group has failed.
    OutOfStep = 20,
    /// The time was up, and the operation may have been done or not: corecast_replica_session_resume asks again.
    Unknown = 21,
    /// The session has ended. Requests without a result may have been done or not.
    Expired = 22,
    /// This node is no longer a member of its group.
    Expelled = 23,
    /// Too few of the nodes that the group began with live to agree on who leads.
    NoMajority = 24,
    /// The group has stopped: all replicas failed at the same operation. Of transactions: a participant died in the middle of its
    /// work.
    Poisoned = 25,
    /// The state of this replica differed from that of most others, so it was put out.
    Diverged = 26,
    /// This replica is behind and did not catch up in time. A read of its own state, as it is, still works.
    Lagging = 27,
    /// The attempt of a transaction is over: return from its body, which may be called again.
    Aborted = 28,
    /// Groups over several machines have no such operation, or nothing there can do it; the message says which.
    Unsupported = 29,
}

const NAMES: [&CStr; 30] = [
    c"ok",
    c"full",
    c"empty",
    c"timeout",
    c"closed",
    c"died",
    c"too large",
    c"lagged",
    c"corrupt",
    c"forked",
    c"invalid argument",
    c"not found",
    c"exists",
    c"taken",
    c"mismatch",
    c"system",
    c"panic",
    c"none left",
    c"lost",
    c"owner died",
    c"out of step",
    c"unknown outcome",
    c"expired",
    c"expelled",
    c"no majority",
    c"poisoned",
    c"diverged",
    c"lagging",
    c"aborted",
    c"unsupported",
];

c_functions! {
    /// A status in a word or two; "unknown" for a number that is none. The text is constant: do not free it.
    safe fn corecast_status_name(status: i32) => (*const c_char) {
        let name = usize::try_from(status).ok().and_then(|status| NAMES.get(status));
        name.copied().unwrap_or(c"unknown").as_ptr()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_has_its_name() {
        let name = |status| {
            // SAFETY: the function returns constant texts.
            unsafe { CStr::from_ptr(corecast_status_name(status)) }.to_str().expect("ASCII")
        };
        assert_eq!(name(Status::Ok as i32), "ok");
        assert_eq!(name(Status::Lagged as i32), "lagged");
        assert_eq!(name(Status::InvalidArgument as i32), "invalid argument");
        assert_eq!(name(Status::Panic as i32), "panic");
        assert_eq!(name(Status::NoneLeft as i32), "none left");
        assert_eq!(name(Status::Lost as i32), "lost");
        assert_eq!(name(Status::OwnerDied as i32), "owner died");
        assert_eq!(name(Status::OutOfStep as i32), "out of step");
        assert_eq!(name(Status::Unknown as i32), "unknown outcome");
        assert_eq!(name(Status::Lagging as i32), "lagging");
        assert_eq!(name(Status::Aborted as i32), "aborted");
        assert_eq!(name(Status::Unsupported as i32), "unsupported");
        assert_eq!([name(-1), name(30), name(i32::MAX)], ["unknown"; 3]);
    }
}
