//! Sessions: the replies of the last requests of each.

use crate::Command;

/// The replies that are kept, one for each request that may be without an answer.
const KEPT: usize = Command::<()>::OUTSTANDING as usize;

/// One session. The replies stand at their request's number modulo [`KEPT`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Session<O> {
    /// The largest number of a request that was done.
    pub(super) last: u32,
    /// Number of a request that was done, and its reply. Number 0 stands for none.
    pub(super) replies: [(u32, Option<O>); KEPT],
}

/// Whether a request was done.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Done<'s, O> {
    No,
    Yes(&'s O),
    /// Done, or given up by its client, and the reply is gone: the client has said that it has it.
    Forgotten,
}

impl<O> Session<O> {
    pub(super) fn new() -> Self {
        Self { last: 0, replies: std::array::from_fn(|_| (0, None)) }
    }

    pub(super) fn done(&self, rid: u32) -> Done<'_, O> {
        match &self.replies[rid as usize % KEPT] {
            (number, Some(reply)) if *number == rid => Done::Yes(reply),
            (number, _) if *number == rid => Done::Forgotten,
            _ if u64::from(rid) + KEPT as u64 <= u64::from(self.last) => Done::Forgotten,
            _ => Done::No,
        }
    }

    /// Notes that a request is being done; its reply follows, or never if the state machine panics.
    pub(super) fn begin(&mut self, rid: u32) {
        self.last = self.last.max(rid);
        self.replies[rid as usize % KEPT] = (rid, None);
    }

    pub(super) fn finish(&mut self, rid: u32, reply: O) {
        self.replies[rid as usize % KEPT] = (rid, Some(reply));
    }
}

#[cfg(test)]
mod tests {
    use super::{Done, Session};

    #[test]
    fn sixteen_replies_are_kept() {
        let mut session = Session::new();
        for rid in 1..=20 {
            assert_eq!(session.done(rid), Done::No);
            session.begin(rid);
            session.finish(rid, rid * 10);
        }
        assert_eq!(session.done(4), Done::Forgotten);
        assert_eq!(session.done(5), Done::Yes(&50));
        assert_eq!(session.done(21), Done::No);
    }

    #[test]
    fn requests_may_be_done_out_of_order() {
        let mut session = Session::new();
        session.begin(3);
        session.finish(3, 30);
        assert_eq!(session.done(1), Done::No);
        session.begin(1);
        session.finish(1, 10);
        assert_eq!((session.done(3), session.done(1), session.done(2)), (Done::Yes(&30), Done::Yes(&10), Done::No));
        assert_eq!(session.last, 3);
    }

    #[test]
    fn numbers_near_the_end_do_not_wrap() {
        let mut session = Session::new();
        session.begin(u32::MAX);
        session.finish(u32::MAX, 1);
        assert_eq!(session.done(u32::MAX), Done::Yes(&1));
        assert_eq!(session.done(u32::MAX - 16), Done::Forgotten);
        assert_eq!(session.done(u32::MAX - 15), Done::No);
    }
}
