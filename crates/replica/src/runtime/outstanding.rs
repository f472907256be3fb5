//! The requests of a session as its thread sees them: their numbers, the answers that have come, and the end of the session.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::mailbox::{Content, Letter, Mailbox};
use crate::error::ExecuteError;
use crate::{Command, Index, Wire};

/// The number of a request within its session.
pub type Rid = u32;

/// An index and an encoded output.
pub(crate) type Reply = Arc<[u8]>;

/// The requests of one session.
pub(crate) struct Outstanding<B> {
    mailbox: Arc<Mailbox>,
    /// The count of letters taken from the mailbox.
    taken: u64,
    letters: Vec<Letter>,
    last: Rid,
    /// Requests without an answer that the caller has seen, and the answer if it has come.
    open: BTreeMap<Rid, (Command<B>, Option<Reply>)>,
    is_expired: bool,
}

impl<B: Clone> Outstanding<B> {
    /// Of a session whose results come to this mailbox.
    pub(crate) fn new(mailbox: Arc<Mailbox>) -> Self {
        Self { mailbox, taken: 0, letters: Vec::new(), last: 0, open: BTreeMap::new(), is_expired: false }
    }

    /// The number of the last request; 0 is the opening.
    pub(crate) fn last(&self) -> Rid {
        self.last
    }

    /// # Errors
    /// [`ExecuteError`] if the session takes no further request now.
    pub(crate) fn check_room(&self) -> Result<(), ExecuteError> {
        if self.is_expired || self.last == Rid::MAX {
            return Err(ExecuteError::SessionExpired);
        }
        let most = Command::<B>::OUTSTANDING;
        let oldest = self.open.first_key_value().map(|(&rid, _)| rid);
        if oldest.is_some_and(|oldest| self.last + 1 - oldest >= most) {
            return Err(ExecuteError::Full(most));
        }
        Ok(())
    }

    /// The number of the next request, for which there is room.
    pub(crate) fn next_rid(&mut self) -> Rid {
        self.last += 1;
        self.last
    }

    /// Takes note of a request that is handed in, once more or for the first time.
    pub(crate) fn note(&mut self, command: &Command<B>) {
        self.open.entry(command.rid).or_insert_with(|| (command.clone(), None));
    }

    /// The request with this number, unless its answer was taken.
    pub(crate) fn get(&self, rid: Rid) -> Option<&Command<B>> {
        self.open.get(&rid).map(|(command, _)| command)
    }

    /// The requests whose answers were not taken.
    pub(crate) fn rids(&self) -> impl Iterator<Item = Rid> + '_ {
        self.open.keys().copied()
    }

    /// The answer to a request, if it has come; it is taken.
    #[inline]
    pub(crate) fn look(&mut self, rid: Rid) -> Option<Result<Reply, ExecuteError>> {
        if self.mailbox.count() != self.taken {
            self.take_letters();
        }
        if let Some((_, Some(_))) = self.open.get(&rid) {
            let (_, reply) = self.open.remove(&rid).expect("it was found just now");
            return reply.map(Ok);
        }
        if self.is_expired {
            return Some(Err(ExecuteError::SessionExpired));
        }
        if !self.open.contains_key(&rid) {
            return Some(Err(ExecuteError::Unknown { rid }));
        }
        None
    }

    fn take_letters(&mut self) {
        self.mailbox.take(&mut self.letters);
        for letter in self.letters.drain(..) {
            self.taken += 1;
            match letter.content {
                Content::Expired => self.is_expired = true,
                Content::Done(reply) => {
                    if let Some((_, answer)) = self.open.get_mut(&letter.rid) {
                        *answer = Some(reply);
                    }
                }
            }
        }
    }
}

/// The index and the output of a reply.
pub(crate) fn decode<O: Wire>(reply: &[u8]) -> Result<(O, Index), ExecuteError> {
    let (index, out) = reply.split_first_chunk::<8>().expect("a reply begins with its index");
    let out = O::decode(out).expect("the state machine decodes what it has encoded");
    Ok((out, Index::from_le_bytes(*index)))
}

impl<B> fmt::Debug for Outstanding<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} requests", self.last)
    }
}
