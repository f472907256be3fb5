//! Two participants, two variables, and the steps of a transaction as the design has them.

use corecast_base::sync::{Arc, AtomicU64, spin_hint};
use corecast_tm::rule::{Reply, Request, Statuses};
use corecast_tm::status::{ClientId, State, Status, Why};
use corecast_tm::stored::StoredWord;
use loom::thread;

/// The statuses.
pub(crate) struct Board([AtomicU64; 3]);

impl Board {
    pub(crate) fn new() -> Self {
        Self([0, 0, 0].map(AtomicU64::new))
    }

    pub(crate) fn of(&self, client: ClientId) -> Status<'_> {
        Status::of(&self.0[client.index()])
    }
}

impl Statuses for Board {
    fn get(&self, client: ClientId) -> (u64, State) {
        self.of(client).read()
    }

    fn try_abort(&self, client: ClientId, epoch: u64, why: Why) -> bool {
        self.of(client).try_abort(epoch, why)
    }
}

/// Where the locks are.
pub(crate) trait Form: Send + Sync + 'static {
    fn new() -> Self;

    fn ask(&self, board: &Board, by: Request, var: u32, is_write: bool) -> Reply;

    /// Gives back what the attempt holds of a variable.
    fn release(&self, client: ClientId, epoch: u64, var: u32, is_write: bool);

    /// Gives back the write lock of an attempt that has stored its values, and still persists.
    fn release_stored(&self, client: ClientId, var: u32);
}

pub(crate) struct World<F> {
    board: Board,
    values: [AtomicU64; 2],
    form: F,
    keys: [u64; 2],
}

/// Attempts of a transaction, in a model.
const ATTEMPTS: u64 = 2;
/// Times that an attempt asks again.
const RETRIES: usize = 2;
const VARS: [u32; 2] = [0, 1];

/// A participant.
struct Client<'a, F> {
    world: &'a World<F>,
    me: ClientId,
    epoch: u64,
}

impl<F: Form> Client<'_, F> {
    fn status(&self) -> Status<'_> {
        self.world.board.of(self.me)
    }

    fn begin(&mut self) {
        self.epoch += 1;
        self.status().begin(self.epoch);
    }

    /// Whether the attempt has the lock.
    fn lock(&self, var: u32, is_write: bool) -> bool {
        let by = Request { client: self.me, epoch: self.epoch, key: self.world.keys[self.me.index()] };
        for _ in 0..RETRIES {
            match self.world.form.ask(&self.world.board, by, var, is_write) {
                Reply::Granted => return true,
                Reply::Refused(_) => return false,
                Reply::Retry => spin_hint(),
            }
            if !self.status().is_running(self.epoch) {
                return false;
            }
        }
        false
    }

    /// The value that a closure gets to see.
    fn read(&self, var: u32, is_write: bool) -> Option<u64> {
        if !self.lock(var, is_write) {
            return None;
        }
        let value = StoredWord::of(&self.world.values[var as usize]).load();
        self.status().is_running(self.epoch).then_some(value)
    }

    /// Reads both, the second variable first.
    fn read_both(&mut self, is_write: bool) -> Option<u64> {
        let second = self.read(1, is_write)?;
        let first = self.read(0, is_write)?;
        assert_eq!(first, second, "a closure sees a torn state");
        Some(first)
    }

    fn release(&self, is_write: bool) {
        VARS.iter().for_each(|var| self.world.form.release(self.me, self.epoch, *var, is_write));
    }

    /// Runs a transaction that reads both; true if it committed.
    fn reads(&mut self) -> bool {
        (0..ATTEMPTS).any(|_| {
            self.begin();
            let is_done = self.read_both(false).is_some() && self.status().try_commit_reads(self.epoch);
            self.end(is_done, false)
        })
    }

    /// Runs a transaction that adds one to both; true if it committed.
    fn adds(&mut self) -> bool {
        (0..ATTEMPTS).any(|_| {
            self.begin();
            let is_done = self.read_both(true).is_some_and(|value| self.persists(value + 1));
            self.end(is_done, true)
        })
    }

    /// Runs a transaction that sets both without a look at them; true if it committed.
    fn sets(&mut self, value: u64) -> bool {
        (0..ATTEMPTS).any(|_| {
            self.begin();
            let is_done = self.lock(0, true) && self.lock(1, true) && self.persists(value);
            self.end(is_done, true)
        })
    }

    fn persists(&self, value: u64) -> bool {
        if !self.status().try_persist(self.epoch) {
            return false;
        }
        self.world.values.iter().for_each(|word| StoredWord::of(word).store(value));
        VARS.iter().for_each(|var| self.world.form.release_stored(self.me, *var));
        self.status().commit(self.epoch);
        true
    }

    fn end(&self, is_done: bool, is_write: bool) -> bool {
        if !is_done {
            self.status().give_up(self.epoch);
        }
        self.release(is_write);
        is_done
    }
}

impl<F: Form> World<F> {
    fn new(keys: [u64; 2]) -> Self {
        Self { board: Board::new(), values: [AtomicU64::new(0), AtomicU64::new(0)], form: F::new(), keys }
    }

    fn client(&self, number: u16) -> Client<'_, F> {
        Client { world: self, me: ClientId(number), epoch: 0 }
    }
}

/// The work of a participant; tells whether it committed.
trait Work<F>: Fn(Client<'_, F>) -> bool + Copy + Send + Sync + 'static {}

impl<F, T: Fn(Client<'_, F>) -> bool + Copy + Send + Sync + 'static> Work<F> for T {}

/// Two participants; `check` gets which of them committed, and the value at the end.
fn both<F: Form>(keys: [u64; 2], first: impl Work<F>, second: impl Work<F>, check: fn([bool; 2], u64)) {
    loom::model(move || {
        let world = Arc::new(World::<F>::new(keys));
        let other = Arc::clone(&world);
        let other = thread::spawn(move || second(other.client(1)));
        let first = first(world.client(0));
        let committed = [first, other.join().expect("it ends")];
        let mut last = world.client(0);
        last.epoch = 100;
        let value = (0..ATTEMPTS).find_map(|_| {
            last.begin();
            last.read_both(false)
        });
        check(committed, value.expect("nobody is in the way"));
    });
}

/// A reader, and a writer whom it must give way to.
pub(crate) fn a_reader_gives_way<F: Form>() {
    both::<F>(
        [0, 1],
        |mut writer| writer.sets(1),
        |mut reader| reader.reads(),
        |[writes, _], value| {
            assert!(writes);
            assert_eq!(value, 1);
        },
    );
}

/// A writer, and a reader whom it must give way to.
pub(crate) fn a_writer_gives_way<F: Form>() {
    both::<F>(
        [1, 0],
        |mut writer| writer.adds(),
        |mut reader| reader.reads(),
        |[writes, _], value| {
            assert_eq!(value, u64::from(writes));
        },
    );
}

/// Two that read and write: no write is lost.
pub(crate) fn two_add<F: Form>() {
    both::<F>(
        [0, 1],
        |mut one| one.adds(),
        |mut one| one.adds(),
        |committed, value| {
            assert_eq!(value, committed.map(u64::from).iter().sum());
        },
    );
}

/// The locks of a transaction that committed are still there when its owner runs the next one.
pub(crate) fn a_late_release<F: Form>() {
    both::<F>(
        [0, 1],
        |mut writer| {
            writer.begin();
            let is_done = writer.lock(0, true) && writer.lock(1, true) && writer.persists(1);
            writer.epoch += 1;
            writer.status().begin(writer.epoch);
            writer.epoch -= 1;
            writer.release(true);
            writer.status().give_up(writer.epoch + 1);
            is_done
        },
        |mut reader| reader.reads(),
        |[writes, _], value| assert_eq!(value, u64::from(writes)),
    );
}
