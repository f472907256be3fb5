//! Sessions: the replies of the last requests of each, which are done in the order of their numbers.

use crate::Command;

/// The replies that are kept, one for each request that may be without an answer.
const KEPT: usize = Command::<()>::OUTSTANDING as usize;

/// One session. The replies stand at their request's number modulo [`KEPT`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Session<O> {
    /// The number of the last request that was done: so were all before it.
    pub(super) last: u32,
    /// Number of a request that was done, and its reply. Number 0 stands for none.
    pub(super) replies: [(u32, Option<O>); KEPT],
}

/// Whether a request was done.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Done<'s, O> {
    No,
    Yes(&'s O),
    /// Done, and the reply is gone: the client has said that it has it.
    Forgotten,
}

impl<O> Session<O> {
    pub(super) fn new() -> Self {
        Self { last: 0, replies: std::array::from_fn(|_| (0, None)) }
    }

    pub(super) fn done(&self, rid: u32) -> Done<'_, O> {
        if rid > self.last {
            return Done::No;
        }
        match &self.replies[rid as usize % KEPT] {
            (number, Some(reply)) if *number == rid => Done::Yes(reply),
            _ => Done::Forgotten,
        }
    }

    /// The number of the request that this session does next; `None` once it has done the one with the largest number.
    pub(super) fn next(&self) -> Option<u32> {
        self.last.checked_add(1)
    }

    /// Notes that a request is being done; its reply follows, or never if the state machine panics.
    pub(super) fn begin(&mut self, rid: u32) {
        debug_assert_eq!(self.next(), Some(rid), "requests are done in the order of their numbers");
        self.last = rid;
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
    fn a_request_without_a_reply_is_done_all_the_same() {
        let mut session = Session::<u32>::new();
        session.begin(1);
        assert_eq!((session.done(0), session.done(1), session.next()), (Done::Forgotten, Done::Forgotten, Some(2)));
    }

    #[test]
    fn numbers_near_the_end_do_not_wrap() {
        let mut session = Session { last: u32::MAX - 1, ..Session::new() };
        session.begin(u32::MAX);
        session.finish(u32::MAX, 1);
        assert_eq!((session.done(u32::MAX), session.next()), (Done::Yes(&1), None));
        assert_eq!(session.done(u32::MAX - 16), Done::Forgotten);
    }
}
