//! The requests of a session as its thread sees them: their numbers, the answers that have come, and the end of the session.

use std::fmt;
use std::sync::Arc;

use super::mailbox::{Content, Letter, Mailbox};
use super::reply::Reply;
use crate::error::ExecuteError;
use crate::{Command, Index, Wire};

/// The number of a request within its session.
pub type Rid = u32;

/// The most requests of a session that have no answer.
const MOST: usize = Command::<()>::OUTSTANDING as usize;

/// The last number after which a session goes on as another one, once it has no request: a million before the numbers end.
pub(crate) const LAST_BEFORE_RENEWAL: Rid = Rid::MAX - (1 << 20);

/// A request without an answer that the caller has seen, and the answer if it has come.
struct Open {
    rid: Rid,
    reply: Option<Reply>,
}

/// The requests of one session.
pub(crate) struct Outstanding {
    mailbox: Arc<Mailbox>,
    /// The count of letters taken from the mailbox.
    taken: u64,
    letters: Vec<Letter>,
    last: Rid,
    /// By number modulo [`MOST`]: all are among the last [`MOST`] numbers.
    open: [Option<Open>; MOST],
    is_expired: bool,
}

impl Outstanding {
    /// Of a session whose results come to this mailbox.
    pub(crate) fn new(mailbox: Arc<Mailbox>) -> Self {
        let open = std::array::from_fn(|_| None);
        Self { mailbox, taken: 0, letters: Vec::new(), last: 0, open, is_expired: false }
    }

    /// The number of the last request; 0 is the opening.
    pub(crate) fn last(&self) -> Rid {
        self.last
    }

    /// # Errors
    /// [`ExecuteError`] if the session takes no further request now.
    pub(crate) fn check_room(&self) -> Result<(), ExecuteError> {
        if self.is_expired {
            return Err(ExecuteError::SessionExpired);
        }
        // The place of the next one is that of the oldest which may be open.
        let is_free = self.last.checked_add(1).is_some_and(|next| self.open[place(next)].is_none());
        if !is_free {
            return Err(ExecuteError::Full(Command::<()>::OUTSTANDING));
        }
        Ok(())
    }

    /// True if the numbers of the session come to their end, and all results were taken.
    #[inline]
    pub(crate) fn is_to_be_renewed(&self) -> bool {
        self.last > LAST_BEFORE_RENEWAL && self.open.iter().all(Option::is_none)
    }

    /// Acts as if all requests up to this one were done.
    #[cfg(test)]
    pub(crate) fn skip_to(&mut self, last: Rid) {
        self.last = last;
    }

    /// The number of the next request, for which there is room.
    pub(crate) fn next_rid(&mut self) -> Rid {
        self.last += 1;
        self.last
    }

    /// Takes note of a request that is handed in, and of its answer if it has come at once.
    #[inline]
    pub(crate) fn note(&mut self, rid: Rid, reply: Option<Reply>) {
        self.open[place(rid)] = Some(Open { rid, reply });
    }

    /// The requests whose answers were not taken.
    pub(crate) fn rids(&self) -> impl Iterator<Item = Rid> + '_ {
        let oldest = self.last.saturating_sub(MOST as Rid - 1);
        (oldest..=self.last).filter(|&rid| self.find(rid).is_some())
    }

    #[inline]
    fn find(&self, rid: Rid) -> Option<&Open> {
        self.open[place(rid)].as_ref().filter(|open| open.rid == rid)
    }

    /// The answer to a request, if it has come; it is taken.
    #[inline]
    pub(crate) fn look(&mut self, rid: Rid) -> Option<Result<Reply, ExecuteError>> {
        if self.mailbox.count() != self.taken {
            self.take_letters();
        }
        let is_open = match self.find(rid) {
            Some(Open { reply: Some(_), .. }) => {
                return self.open[place(rid)].take().and_then(|open| open.reply).map(Ok);
            }
            open => open.is_some(),
        };
        match () {
            () if self.is_expired => Some(Err(ExecuteError::SessionExpired)),
            () if !is_open => Some(Err(ExecuteError::Unknown { rid })),
            () => None,
        }
    }

    fn take_letters(&mut self) {
        self.mailbox.take(&mut self.letters);
        for letter in self.letters.drain(..) {
            self.taken += 1;
            match letter.content {
                Content::Expired => self.is_expired = true,
                Content::Done(reply) => {
                    let open = self.open[place(letter.rid)].as_mut();
                    if let Some(open) = open.filter(|open| open.rid == letter.rid) {
                        open.reply = Some(reply);
                    }
                }
            }
        }
    }
}

/// Where the request with this number is kept.
#[inline]
fn place(rid: Rid) -> usize {
    rid as usize % MOST
}

/// The index and the output of a reply.
pub(crate) fn decode<O: Wire>(reply: &Reply) -> Result<(O, Index), ExecuteError> {
    let (index, out) = reply.as_ref().split_first_chunk::<8>().expect("a reply begins with its index");
    let out = O::decode(out).expect("the state machine decodes what it has encoded");
    Ok((out, Index::from_le_bytes(*index)))
}

impl fmt::Debug for Outstanding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} requests", self.last)
    }
}
