//! Models of the shared form: the locks of a variable in one word or in several, and a bucket for each variable.

use corecast_base::sync::{Arc, AtomicU64, Mutex, Ordering, UnsafeCell};
use corecast_tm::Manager;
use corecast_tm::met::Met;
use corecast_tm::rule::{Claim, Reply, Request, Rule, Statuses};
use corecast_tm::slot::Slot;
use corecast_tm::status::ClientId;
use corecast_tm::wide_slot::WideSlot;
use loom::thread;

use super::world::{self, Board, Form};

/// The claim of a participant: of two keys, the other one is that which the requester does not have.
fn claim_of(board: &Board, by: Request) -> impl Fn(ClientId) -> Option<Claim> {
    move |client| Some(Claim { epoch: board.get(client).0, key: if client == by.client { by.key } else { 1 - by.key } })
}

/// Locks in one word each. Where `LOSES`, a requester loses every conflict, so that nobody loses a lock that it has.
struct Words<const LOSES: bool>([(Mutex<()>, AtomicU64); 2]);

impl<const LOSES: bool> Form for Words<LOSES> {
    fn new() -> Self {
        Self([0, 1].map(|_| (Mutex::new(()), AtomicU64::new(0))))
    }

    fn ask(&self, board: &Board, by: Request, var: u32, is_write: bool) -> Reply {
        let (bucket, word) = &self.0[var as usize];
        let rule = Rule::new(if LOSES { Manager::None } else { Manager::FairCm });
        let slot = Slot::of(word, by.client);
        let take = || if is_write { slot.try_write() } else { slot.try_read() };
        if take() {
            return Reply::Granted;
        }
        let _bucket = bucket.lock().expect("nobody panics here");
        if take() {
            return Reply::Granted;
        }
        slot.decide(&mut Met::default(), claim_of(board, by), |entry, met| {
            if is_write { entry.store(rule, met, board, by) } else { entry.load(rule, met, board, by) }
        })
    }

    fn release(&self, client: ClientId, _epoch: u64, var: u32, is_write: bool) {
        let slot = Slot::of(&self.0[var as usize].1, client);
        if is_write { slot.give_up() } else { slot.leave() }
    }

    fn release_stored(&self, client: ClientId, var: u32) {
        Slot::of(&self.0[var as usize].1, client).leave_written();
    }
}

/// Locks in two words each.
struct Buckets([(Mutex<()>, [AtomicU64; 2]); 2]);

impl Form for Buckets {
    fn new() -> Self {
        Self([0, 1].map(|_| (Mutex::new(()), [0, 0].map(AtomicU64::new))))
    }

    fn ask(&self, board: &Board, by: Request, var: u32, is_write: bool) -> Reply {
        let (bucket, words) = &self.0[var as usize];
        let (rule, slot) = (Rule::new(Manager::FairCm), WideSlot::of(words, by.client));
        let _bucket = bucket.lock().expect("nobody panics here");
        let is_free = if is_write { slot.try_write() } else { slot.try_read() };
        if is_free {
            return Reply::Granted;
        }
        slot.decide(&mut Met::default(), claim_of(board, by), |entry, met| {
            if is_write { entry.store(rule, met, board, by) } else { entry.load(rule, met, board, by) }
        })
    }

    fn release(&self, client: ClientId, _epoch: u64, var: u32, is_write: bool) {
        WideSlot::of(&self.0[var as usize].1, client).release(is_write);
    }

    fn release_stored(&self, client: ClientId, var: u32) {
        self.release(client, 0, var, true);
    }
}

#[test]
fn a_reader_gives_way() {
    world::a_reader_gives_way::<Words<false>>();
}

#[test]
fn a_writer_gives_way() {
    world::a_writer_gives_way::<Words<false>>();
}

#[test]
fn two_add() {
    world::two_add::<Words<false>>();
}

#[test]
fn a_reader_gives_way_in_a_wide_slot() {
    world::a_reader_gives_way::<Buckets>();
}

#[test]
fn a_writer_gives_way_in_a_wide_slot() {
    world::a_writer_gives_way::<Buckets>();
}

#[test]
fn two_add_in_wide_slots() {
    world::two_add::<Buckets>();
}

/// Locks, and something that is read and written under those of a variable without any check afterwards.
struct Guarded<F> {
    form: F,
    board: Board,
    value: UnsafeCell<u64>,
}

// SAFETY: the models find every access that is not ordered with the others
unsafe impl<F: Sync> Sync for Guarded<F> {}

impl<F: Form> Guarded<F> {
    /// The first three participants run their first attempts; the keys of the later ones are larger.
    fn new() -> Arc<Self> {
        let guarded = Self { form: F::new(), board: Board::new(), value: UnsafeCell::new(0) };
        (0..3).for_each(|client| guarded.board.of(ClientId(client)).begin(1));
        Arc::new(guarded)
    }

    fn ask(&self, client: u16, is_write: bool) -> bool {
        let by = Request { client: ClientId(client), epoch: 1, key: u64::from(client > 0) };
        self.form.ask(&self.board, by, 0, is_write) == Reply::Granted
    }

    fn read(&self) -> u64 {
        // SAFETY: the models find a write that is not ordered with this
        self.value.with(|value| unsafe { *value })
    }

    fn write(&self, new: u64) {
        // SAFETY: the models find an access that is not ordered with this
        self.value.with_mut(|value| unsafe { *value = new });
    }
}

/// A reader gives its lock back while its attempt goes on. The next writer, whom it would not give way to, comes behind its
/// reads.
fn reads_come_before_those_of_the_next_writer<F: Form>() {
    loom::model(|| {
        let guarded = Guarded::<F>::new();
        assert!(guarded.ask(0, false));
        let other = Arc::clone(&guarded);
        let other = thread::spawn(move || {
            if other.ask(1, true) {
                other.write(1);
            }
        });
        guarded.read();
        guarded.form.release(ClientId(0), 1, 0, false);
        other.join().expect("it ends");
    });
}

#[test]
fn reads_come_before_the_next_writer() {
    reads_come_before_those_of_the_next_writer::<Words<true>>();
}

#[test]
fn reads_come_before_the_next_writer_of_a_wide_slot() {
    reads_come_before_those_of_the_next_writer::<Buckets>();
}

/// A reader ends an attempt and begins another one, which reads the same variable, while a writer decides: the lock of the later
/// attempt is not taken for one that the earlier one left.
#[test]
fn a_lock_belongs_to_the_attempt_that_took_it() {
    loom::model(|| {
        let guarded = Guarded::<Words<true>>::new();
        assert!(guarded.ask(0, false));
        let other = Arc::clone(&guarded);
        let other = thread::spawn(move || {
            if other.ask(1, true) {
                other.write(1);
            }
        });
        let me = ClientId(0);
        guarded.board.of(me).give_up(1);
        guarded.form.release(me, 1, 0, false);
        guarded.board.of(me).begin(2);
        let by = Request { client: me, epoch: 2, key: 0 };
        if guarded.form.ask(&guarded.board, by, 0, false) == Reply::Granted {
            guarded.read();
            guarded.form.release(me, 2, 0, false);
        }
        other.join().expect("it ends");
    });
}

/// An attempt is given up, or has stored its values, and gives back its write lock: the next holder comes behind it.
fn writes_come_before_the_next_holder(leave: fn(Slot<'_>), is_write: bool) {
    loom::model(move || {
        let guarded = Guarded::<Words<true>>::new();
        assert!(guarded.ask(0, true));
        let other = Arc::clone(&guarded);
        let other = thread::spawn(move || match other.ask(1, is_write) {
            true if is_write => other.write(2),
            true => assert_eq!(other.read(), 1),
            false => {}
        });
        guarded.write(1);
        leave(Slot::of(&guarded.form.0[0].1, ClientId(0)));
        other.join().expect("it ends");
    });
}

#[test]
fn writes_come_before_the_next_holder_of_the_word() {
    let ways: [fn(Slot<'_>); 2] = [|slot| slot.leave_written(), |slot| slot.give_up()];
    for leave in ways {
        writes_come_before_the_next_holder(leave, false);
        writes_come_before_the_next_holder(leave, true);
    }
}

/// An attempt has committed and was killed before it gave its lock back. One that finds it out shares the lock with a third,
/// which sees the values as well.
#[test]
fn the_next_but_one_sees_what_the_decision_rested_on() {
    loom::model(|| {
        let guarded = Guarded::<Words<true>>::new();
        assert!(guarded.ask(0, true) && guarded.board.of(ClientId(0)).try_persist(1));
        let [second, third] = [1, 2].map(|client| {
            let other = Arc::clone(&guarded);
            thread::spawn(move || {
                if other.ask(client, false) {
                    assert_eq!(other.read(), 1);
                }
            })
        });
        guarded.write(1);
        guarded.board.of(ClientId(0)).commit(1);
        second.join().expect("it ends");
        third.join().expect("it ends");
    });
}

/// A writer leaves while another one decides: that one is told to ask again rather than given a lock that a third may have. The
/// writer leaves by an exchange here: loom lets a plain store come between the two halves of an exchange that read before it,
/// which no memory does.
#[test]
fn a_writer_that_leaves_during_a_decision() {
    loom::model(|| {
        let guarded = Guarded::<Words<true>>::new();
        assert!(guarded.ask(0, true) && guarded.board.of(ClientId(0)).try_persist(1));
        let [second, third] = [1, 2].map(|client| {
            let other = Arc::clone(&guarded);
            thread::spawn(move || {
                if other.ask(client, client == 2) {
                    if client == 2 { other.write(3) } else { _ = other.read() }
                }
            })
        });
        guarded.write(1);
        // ORDERING: Release, as in leave_written, which the other models run [packed-lock]
        guarded.form.0[0].1.swap(0, Ordering::Release);
        guarded.board.of(ClientId(0)).commit(1);
        second.join().expect("it ends");
        third.join().expect("it ends");
    });
}
