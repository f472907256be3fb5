//! Participants that run transactions, and the accesses of a transaction.

use std::cell::{RefCell, RefMut};
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use corecast::tm::{Abort, Participant, Role, TVar, Tm, Tx};

use super::instance::TmInstance;
use crate::argument::required;
use crate::error::Failure;
use crate::status::Status;

/// A participant that runs transactions, for one thread at a time.
#[derive(Debug)]
pub struct TmParticipant {
    tm: Tm,
    /// Borrowed while a transaction runs: its body may have C call with the same participant.
    participant: RefCell<Participant>,
}

/// One attempt of a transaction: for the body that got it, until that returns.
#[derive(Debug)]
pub struct Transaction<'a, 'b> {
    tm: &'a Tm,
    tx: &'a mut Tx<'b>,
    /// The answer to an access that found the attempt over.
    abort: Option<Abort>,
}

/// The body of a transaction. Returns 0 to commit, and another number to give up, so that nothing is written. It must return once
/// an access has returned CORECAST_ABORTED; what it returns then does not matter. It may be called several times.
pub type TmBody = Option<unsafe extern "C" fn(tx: *mut Transaction<'_, '_>, context: *mut c_void) -> c_int>;

/// A body gave up: leaves the library's `run` as a panic does, which writes nothing.
struct GivenUp(c_int);

impl TmParticipant {
    fn open(tm: &TmInstance, id: u32) -> Result<Self, Failure> {
        tm.check_role(id, false)?;
        match tm.0.participant(id as usize)? {
            Role::Application(participant) => Ok(Self { tm: tm.0.clone(), participant: RefCell::new(participant) }),
            role => unreachable!("{role:?} is no application"),
        }
    }

    /// The participant, unless a transaction of it is under way.
    fn idle(&self) -> Result<RefMut<'_, Participant>, Failure> {
        let is_inside =
            |_| Failure::new(Status::Panic, "transactions do not nest: one of this participant is under way");
        self.participant.try_borrow_mut().map_err(is_inside)
    }

    /// Runs a transaction, and returns what its body returned in the attempt that counts.
    ///
    /// # Safety
    /// - `body` may be called with `context`, as often as it takes.
    unsafe fn run(&self, body: TmBody, context: *mut c_void) -> Result<c_int, Failure> {
        let (body, tm, mut participant) = (required(body, "body")?, &self.tm, self.idle()?);
        let attempt = |tx: &mut Tx<'_>| {
            let mut transaction = Transaction { tm, tx, abort: None };
            // SAFETY: the caller's promise; the attempt is C's until the body returns.
            let outcome = unsafe { body(&raw mut transaction, context) };
            match transaction.abort {
                Some(abort) => Err(abort),
                None if outcome == 0 => Ok(()),
                None => resume_unwind(Box::new(GivenUp(outcome))),
            }
        };
        match catch_unwind(AssertUnwindSafe(|| participant.run(attempt))) {
            Ok(result) => Ok(result.map(|()| 0)?),
            Err(panic) => match panic.downcast::<GivenUp>() {
                Ok(given_up) => Ok(given_up.0),
                Err(panic) => resume_unwind(panic),
            },
        }
    }
}

impl Transaction<'_, '_> {
    fn access<R>(
        &mut self,
        word: u32,
        access: impl FnOnce(&mut Tx<'_>, TVar<u64>) -> Result<R, Abort>,
    ) -> Result<R, Failure> {
        match self.tx.var(word) {
            Ok(var) => {
                let result = access(self.tx, var);
                self.keep(result)
            }
            // The attempt is over, whatever the body makes of that; the instance says why.
            Err(abort) => {
                self.abort = Some(abort);
                self.tm.var::<u64>(word)?;
                unreachable!("the attempt was told that there is no word {word}")
            }
        }
    }

    fn keep<R>(&mut self, result: Result<R, Abort>) -> Result<R, Failure> {
        result.map_err(|abort| {
            self.abort = Some(abort);
            Failure::new(Status::Aborted, "the attempt is over: return from the body")
        })
    }
}

c_functions! {
    /// Takes the place of a participant that is no server. CORECAST_TAKEN if another one has it.
    safe fn corecast_tm_participant_open(tm: &TmInstance, id: u32) -> (participant: new TmParticipant) {
        TmParticipant::open(tm, id)?
    }

    /// Leaves the instance, while no transaction of this participant runs; NULL is none.
    closing fn corecast_tm_participant_close(participant: TmParticipant);

    /// Runs a transaction: calls `body` until an attempt commits, or gives up. `outcome` is what the body returned then, 0 if it
    /// was committed. Transactions do not nest: a call by the body is CORECAST_PANIC, and runs nothing. CORECAST_POISONED if a
    /// participant was killed in the middle of its work, CORECAST_CLOSED if the servers have ended, CORECAST_FULL if the body
    /// made more words than there are.
    unsafe fn corecast_tm_run(
        participant: &TmParticipant,
        body: TmBody,
        context: *mut c_void
    ) -> (outcome: c_int) {
        // SAFETY: C passes a function and what that expects.
        unsafe { participant.run(body, context) }?
    }

    /// The number of transactions that the participant has committed, and of attempts that were aborted. CORECAST_PANIC in the
    /// body of a transaction of it.
    safe fn corecast_tm_participant_counts(participant: &TmParticipant) -> (commits: u64, aborts: u64) {
        let counts = participant.idle()?.counts();
        (counts.commits, counts.aborts())
    }

    /// The value of one word as the last commit left it, outside transactions: a round trip where values are with the servers.
    /// Several such values need not belong together. CORECAST_PANIC in the body of a transaction of this participant.
    safe fn corecast_tm_participant_load(participant: &TmParticipant, word: u32) -> (value: u64) {
        let var = participant.tm.var::<u64>(word)?;
        participant.idle()?.load(var)?
    }

    /// Adds to one word, modulo 2^64: a transaction of its own, of one round trip by messages. `old` is the value before. Of
    /// CORECAST_CLOSED and CORECAST_POISONED by messages it is not known whether the word was changed. CORECAST_PANIC in the body
    /// of a transaction of this participant.
    safe fn corecast_tm_fetch_add(participant: &TmParticipant, word: u32, delta: u64) -> (old: u64) {
        let var = participant.tm.var(word)?;
        participant.idle()?.fetch_add(var, delta)?
    }

    /// Stores one word; else as corecast_tm_fetch_add.
    safe fn corecast_tm_swap(participant: &TmParticipant, word: u32, value: u64) -> (old: u64) {
        let var = participant.tm.var(word)?;
        participant.idle()?.swap(var, value)?
    }

    /// The value of a word. As of every access: CORECAST_ABORTED if the attempt is over. CORECAST_INVALID_ARGUMENT if there is
    /// no such word: corecast_tm_run then writes nothing and returns the same, whatever else the body does.
    safe fn corecast_tx_read(tx: &mut Transaction<'_, '_>, word: u32) -> (value: u64) {
        tx.access(word, |tx, var| tx.read(var))?
    }

    /// The value of a word that this transaction is going to write: no other transaction comes in between.
    safe fn corecast_tx_read_for_update(tx: &mut Transaction<'_, '_>, word: u32) -> (value: u64) {
        tx.access(word, |tx, var| tx.read_for_update(var))?
    }

    /// Writes a word when the transaction commits; later reads of this transaction see it at once.
    safe fn corecast_tx_write(tx: &mut Transaction<'_, '_>, word: u32, value: u64) {
        tx.access(word, |tx, var| tx.write(var, value))?
    }

    /// Gives the read lock of a word back before the end: others may write it from now on, and this transaction is not aborted
    /// for that.
    safe fn corecast_tx_release(tx: &mut Transaction<'_, '_>, word: u32) {
        tx.access(word, |tx, var| tx.release(var))?
    }

    /// A word that nobody else knows, with this value. It goes if the transaction is not committed.
    safe fn corecast_tx_new_word(tx: &mut Transaction<'_, '_>, value: u64) -> (word: u32) {
        let made = tx.tx.new_var(value);
        tx.keep(made)?.index()
    }

    /// Gives a word back if the transaction commits; nobody may use it any more.
    safe fn corecast_tx_free_word(tx: &mut Transaction<'_, '_>, word: u32) {
        tx.access(word, |tx, var| tx.free(var))?
    }
}
