//! Models of what participants leave in the region: freed blocks, logs, and places that others take.

use corecast_base::sync::{Arc, AtomicU64, UnsafeCell};
use corecast_tm::free_list::FreeList;
use corecast_tm::log::Log;
use corecast_tm::seat::Seat;
use corecast_tm::slot::Slot;
use corecast_tm::status::{ClientId, State, Status};
use corecast_tm::stored::StoredWord;
use loom::thread;

/// Two blocks, what is in them, and the list of those that are free.
struct Blocks {
    head: AtomicU64,
    links: [AtomicU64; 2],
    contents: [UnsafeCell<u64>; 2],
}

// SAFETY: the models find every access that is not ordered with the others
unsafe impl Sync for Blocks {}

impl Blocks {
    fn new() -> Arc<Self> {
        let contents = [UnsafeCell::new(0), UnsafeCell::new(0)];
        Arc::new(Self { head: AtomicU64::new(0), links: [0, 0].map(AtomicU64::new), contents })
    }

    fn list(&self) -> FreeList<'_> {
        FreeList::of(&self.head, &self.links)
    }

    fn write(&self, block: u32) {
        // SAFETY: the models find an access that is not ordered with this
        self.contents[block as usize].with_mut(|content| unsafe { *content += 1 });
    }

    /// Takes all free blocks, and tells which.
    fn drain(&self) -> Vec<u32> {
        let mut blocks: Vec<u32> = std::iter::from_fn(|| self.list().pop()).collect();
        blocks.sort_unstable();
        blocks
    }
}

/// One owner is done with a block while another one looks for one, and finds what the first did to it.
#[test]
fn a_freed_block_goes_to_one_owner() {
    loom::model(|| {
        let blocks = Blocks::new();
        blocks.list().push(1);
        let other = Arc::clone(&blocks);
        let other = thread::spawn(move || {
            let taken = other.list().pop();
            taken.inspect(|block| other.write(*block))
        });
        blocks.write(0);
        blocks.list().push(0);
        let taken = other.join().expect("it ends").expect("there was one");
        assert_eq!(blocks.drain(), [1 - taken]);
    });
}

/// A block goes and comes back while another one is about to take it.
#[test]
fn a_block_that_came_back_is_noticed() {
    loom::model(|| {
        let blocks = Blocks::new();
        [1, 0].into_iter().for_each(|block| blocks.list().push(block));
        let other = Arc::clone(&blocks);
        let other = thread::spawn(move || other.list().pop().inspect(|block| other.write(*block)));
        let (first, second) = (blocks.list().pop(), blocks.list().pop());
        let mine: Vec<u32> = first.into_iter().chain(second).collect();
        mine.iter().for_each(|block| blocks.write(*block));
        mine.iter().take(1).for_each(|block| blocks.list().push(*block));
        let mut all: Vec<u32> = other.join().expect("it ends").into_iter().chain(blocks.drain()).collect();
        all.extend(&mine[mine.len().min(1)..]);
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 2, "each block is somewhere");
    });
}

/// A process leaves a participant, and another one takes it: its epochs go on from there, and its log is nobody else's.
#[test]
fn a_place_is_taken_as_it_was_left() {
    loom::model(|| {
        let words = Arc::new([1, 0].map(AtomicU64::new));
        let other = Arc::clone(&words);
        let other = thread::spawn(move || {
            let (seat, status) = (Seat::of(&other[0]), Status::of(&other[1]));
            let has_taken = seat.try_take(2);
            if has_taken {
                assert_eq!(status.read(), (1, State::Committed));
            }
            has_taken
        });
        let (seat, status) = (Seat::of(&words[0]), Status::of(&words[1]));
        status.begin(1);
        status.give_up(1);
        seat.leave(0);
        let has_taken = other.join().expect("it ends");
        assert_eq!(seat.owner(), if has_taken { 2 } else { 0 });
    });
}

/// One that sees an attempt persist finds its log whole.
#[test]
fn the_log_of_an_attempt_that_persists_is_whole() {
    loom::model(|| {
        let words = Arc::new([0; 4].map(AtomicU64::new));
        let other = Arc::clone(&words);
        let other = thread::spawn(move || {
            let status = Status::of(&other[3]);
            if status.read() == (1, State::Persisting) {
                let entries = Log::of(&other[..3]).read(1).expect("it is of this epoch");
                assert_eq!(entries.collect::<Vec<_>>(), [(7, 5)]);
            }
        });
        Status::of(&words[3]).begin(1);
        Log::of(&words[..3]).write(1, 1, [(7, 5)].into_iter());
        assert!(Status::of(&words[3]).try_persist(1));
        other.join().expect("it ends");
    });
}

/// An owner is killed after it gave a lock back, and before its status said that it had ended: the value that the next holder
/// stored stays. The end of the owner's thread is the kernel's evidence of its death.
#[test]
fn what_is_stored_once_is_not_stored_again() {
    loom::model(|| {
        // A log, a status, a lock and a value.
        let words = Arc::new([0; 6].map(AtomicU64::new));
        let (me, next) = (ClientId(0), ClientId(1));
        Status::of(&words[3]).begin(1);
        assert!(Slot::of(&words[4], me).try_write());
        let owner = Arc::clone(&words);
        let owner = thread::spawn(move || {
            let (log, status) = (Log::of(&owner[..3]), Status::of(&owner[3]));
            let (slot, value) = (Slot::of(&owner[4], me), StoredWord::of(&owner[5]));
            log.write(1, 1, [(0, 1)].into_iter());
            assert!(status.try_persist(1));
            value.store(1);
            log.clear(1);
            slot.leave_written();
        });
        let (slot, value) = (Slot::of(&words[4], next), StoredWord::of(&words[5]));
        let has_stored = slot.try_write();
        if has_stored {
            value.store(2);
        }
        owner.join().expect("it ends");
        let entries = Log::of(&words[..3]).read(1).expect("it is of this epoch");
        entries.for_each(|(_, entry)| value.store(entry));
        if has_stored {
            assert_eq!(value.load(), 2);
        }
    });
}
