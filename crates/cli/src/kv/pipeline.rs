//! The operations of one client that are under way: gathered into batches, ordered, and replied to.
//!
//! A client that sends several operations at once has those that follow each other ordered as one command: each replica keeps
//! one reply for all, and the log has one entry. Long values go alone, as their bytes cost more than their order.

use corecast::replica::Batch;
use corecast::replica::kv::Op;

use super::command::{Told, tell_out};
use super::connection::Idle;
use super::deadline::Deadline;
use super::replica::{Replica, Session, Trouble};
use super::reply::Replies;

/// The most operations of a batch. Readers of a replica wait while it applies a batch, and more would save little.
const MOST: usize = 32;
/// The longest value that goes with others, in bytes. A batch with the longest keys is then shorter than the smallest arena.
const SHORT_BYTES: usize = 256;
/// The most keys of a deletion that goes with others.
const FEW_KEYS: usize = 1;

/// The operations of one client, and its session `S`, which it has from its first operation on.
#[derive(Debug)]
pub(super) struct Pipeline<S> {
    session: Option<S>,
    /// Operations that were not started.
    gathered: Batch<Op>,
    /// True if further short ones may be added to those.
    is_open: bool,
    /// The batches that were started: their numbers, and the number of operations of each.
    started: Vec<(u32, usize)>,
    /// How results are told: of the started operations, then of the gathered ones.
    told: Vec<Told>,
}

impl<S> Default for Pipeline<S> {
    fn default() -> Self {
        Self { session: None, gathered: Batch::new(), is_open: false, started: Vec::new(), told: Vec::new() }
    }
}

impl<S: Session> Pipeline<S> {
    /// True if nothing is under way.
    pub(super) fn is_empty(&self) -> bool {
        self.started.is_empty() && self.gathered.is_empty()
    }

    /// True if another batch may be started.
    pub(super) fn has_room(&self) -> bool {
        self.started.len() < S::OUTSTANDING
    }

    /// Gathers an operation. False if those before it have to be [started](Self::start) first.
    #[inline]
    pub(super) fn gather(&mut self, op: &Op, told: Told) -> bool {
        let is_short = is_short(op);
        let fits = self.gathered.is_empty() || self.is_open && is_short;
        if !fits {
            return false;
        }
        self.gathered.push(op);
        self.told.push(told);
        self.is_open = is_short && self.gathered.len() < MOST;
        true
    }

    /// Starts the gathered operations as one batch.
    ///
    /// After an error [`settle`](Self::settle) those before, and then [`fail`](Self::fail).
    pub(super) fn start<R: Replica<Session = S>>(
        &mut self,
        replica: &R,
        idle: &mut Idle<S>,
        deadline: &Deadline,
    ) -> Result<(), Trouble> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let count = self.gathered.len();
        let number = self.order(replica, idle, deadline);
        self.gathered.clear();
        self.started.push((number?, count));
        Ok(())
    }

    fn order<R: Replica<Session = S>>(
        &mut self,
        replica: &R,
        idle: &mut Idle<S>,
        deadline: &Deadline,
    ) -> Result<u32, Trouble> {
        let session = match self.session.take().or_else(|| idle.pop()) {
            Some(session) => session,
            None => replica.session(deadline)?,
        };
        self.session.insert(session).start(&self.gathered, deadline)
    }

    /// Waits for the results of all batches that were started, and replies.
    pub(super) fn settle(&mut self, replies: &mut Replies, deadline: &Deadline) {
        let all: usize = self.started.iter().map(|&(_, count)| count).sum();
        let mut told = self.told.drain(..all);
        let mut has_trouble = false;
        for (number, count) in self.started.drain(..) {
            let Some(session) = &mut self.session else { continue };
            let told = told.by_ref().take(count);
            match session.wait(number, deadline) {
                Ok(outs) => outs.iter().zip(told).for_each(|(out, told)| tell_out(out, told, replies)),
                Err(trouble) => {
                    told.for_each(|_| replies.error(format!("ERR {trouble}")));
                    has_trouble = true;
                }
            }
        }
        drop(told);
        if has_trouble {
            self.session = None;
        }
    }

    /// Replies with an error to operations that could not be started. Their session is not used any more.
    #[cold]
    pub(super) fn fail(&mut self, trouble: &Trouble, replies: &mut Replies) {
        self.session = None;
        self.told.drain(..).for_each(|_| replies.error(format!("ERR {trouble}")));
    }

    /// The session, for another client.
    pub(super) fn into_session(self) -> Option<S> {
        self.session
    }
}

/// True if the operation may go with others.
#[inline]
fn is_short(op: &Op) -> bool {
    match op {
        Op::Set { value, .. } | Op::Append { bytes: value, .. } => value.len() <= SHORT_BYTES,
        Op::CompareAndSet { old, new, .. } => old.len() + new.len() <= SHORT_BYTES,
        Op::Delete { keys } => keys.len() <= FEW_KEYS,
        Op::Increment { .. } => true,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use corecast::replica::Wire;
    use corecast::replica::kv::{Condition, Key, MAX_KEY_BYTES, Value};

    use super::super::local::Local;
    use super::*;

    fn set(key: usize, len: usize) -> Op {
        let key = Key::try_from(format!("{key}").as_str()).expect("short");
        Op::Set { key, value: Value::new(&vec![7; len]).expect("short"), condition: Condition::Always }
    }

    #[test]
    fn short_operations_go_together_and_long_ones_alone() {
        let (replica, mut pipeline) = (Local::default(), Pipeline::default());
        let deadline = Deadline::new(UnixStream::pair().expect("sockets").0);
        let lens = [3, 3, SHORT_BYTES + 1, SHORT_BYTES, 3, 5000];
        for (key, len) in lens.into_iter().enumerate() {
            let op = set(key, len);
            if !pipeline.gather(&op, Told::OkOrNothing) {
                pipeline.start(&replica, &mut Vec::new(), &deadline).expect("started");
                assert!(pipeline.gather(&op, Told::OkOrNothing), "nothing is before it");
            }
        }
        pipeline.start(&replica, &mut Vec::new(), &deadline).expect("started");
        let counts: Vec<usize> = pipeline.started.iter().map(|&(_, count)| count).collect();
        assert_eq!(counts, [2, 1, 2, 1]);
        let mut replies = Replies::default();
        pipeline.settle(&mut replies, &deadline);
        assert_eq!(replies.0, b"+OK\r\n".repeat(lens.len()));
        assert!(pipeline.is_empty() && pipeline.told.is_empty());
    }

    #[test]
    fn a_batch_has_a_limit_and_then_fits_the_smallest_arena() {
        let mut pipeline = Pipeline::<<Local as Replica>::Session>::default();
        let key = Key::new(&[b'k'; MAX_KEY_BYTES]).expect("allowed");
        let value = Value::new(&[7; SHORT_BYTES]).expect("short");
        let longest = Op::Set { key, value, condition: Condition::Always };
        while pipeline.gather(&longest, Told::OkOrNothing) {}
        assert_eq!(pipeline.gathered.len(), MOST);
        let mut bytes = Vec::new();
        pipeline.gathered.encode(&mut bytes);
        assert!(bytes.len() <= 64 << 10, "{} bytes", bytes.len());
    }
}
