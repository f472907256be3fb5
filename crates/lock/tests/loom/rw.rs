//! Models of the reader-writer locks, from both sides.

use corecast_base::sync::Arc;
use corecast_lock::{RawRwLock, RawRwTimed, RawRwUpgrade, RwLock, for_each_rw_lock};
use loom::thread;

type Shared<L> = Arc<RwLock<u32, L>>;
type Step<L> = fn(&RwLock<u32, L>) -> u32;

/// Two threads do one step each at the same time; the steps say how often they added.
fn both<L: RawRwLock + 'static>(mine: Step<L>, theirs: Step<L>) {
    loom::model(move || {
        let lock: Shared<L> = Arc::new(RwLock::from(0));
        let shared = Arc::clone(&lock);
        let other = thread::spawn(move || theirs(&shared));
        let added = mine(&lock) + other.join().expect("it ends");
        assert_eq!(lock.with_read(|value| *value), added);
        assert!(lock.try_write().is_some(), "something was left behind");
    });
}

fn writes<L: RawRwLock>(lock: &RwLock<u32, L>) -> u32 {
    lock.with_write(|value| *value += 1);
    1
}

fn writes_twice<L: RawRwLock>(lock: &RwLock<u32, L>) -> u32 {
    writes(lock) + writes(lock)
}

fn reads<L: RawRwLock>(lock: &RwLock<u32, L>) -> u32 {
    lock.with_read(|value| assert!(*value < 3));
    0
}

fn reads_twice<L: RawRwLock>(lock: &RwLock<u32, L>) -> u32 {
    reads(lock) + reads(lock)
}

fn tries_to_write<L: RawRwLock>(lock: &RwLock<u32, L>) -> u32 {
    lock.try_write().map_or(0, |mut value| (*value += 1, 1).1)
}

fn tries_to_read<L: RawRwLock>(lock: &RwLock<u32, L>) -> u32 {
    lock.try_read().map_or(0, |value| (assert!(*value < 3), 0).1)
}

/// Writes, reads on, and finds what it wrote.
fn downgrades<L: RawRwLock>(lock: &RwLock<u32, L>) -> u32 {
    let mut writer = lock.write();
    *writer += 1;
    let wrote = *writer;
    assert_eq!(*writer.downgrade(), wrote);
    1
}

/// Comes with a limit that has passed.
fn gives_up<L: RawRwTimed>(lock: &RwLock<u32, L>) -> u32 {
    drop(lock.try_read_for(std::time::Duration::ZERO));
    lock.try_write_for(std::time::Duration::ZERO).map_or(0, |mut value| (*value += 1, 1).1)
}

/// Reads, and writes if nobody else reads.
fn upgrades<L: RawRwUpgrade>(lock: &RwLock<u32, L>) -> u32 {
    let reader = lock.read();
    let read = *reader;
    let Ok(mut writer) = reader.try_upgrade() else { return 0 };
    assert_eq!(*writer, read, "somebody wrote in between");
    *writer += 1;
    1
}

macro_rules! every {
    ($($variant:ident = $number:literal: $lock:ty,)*) => {
        $(
            #[allow(non_snake_case, reason = "the registry's names")]
            mod $variant {
                use super::*;

                #[test]
                fn two_writers() {
                    both::<$lock>(writes, writes);
                }

                #[test]
                fn a_reader_between_two_writes_and_a_writer_between_two_reads() {
                    both::<$lock>(reads, writes_twice);
                    both::<$lock>(writes, reads_twice);
                }

                #[test]
                fn tries_of_both_kinds() {
                    both::<$lock>(tries_to_write, writes_twice);
                    both::<$lock>(tries_to_read, writes_twice);
                    both::<$lock>(tries_to_write, reads);
                    both::<$lock>(tries_to_write, tries_to_write);
                }

                #[test]
                fn a_writer_becomes_a_reader() {
                    both::<$lock>(downgrades, reads);
                    both::<$lock>(downgrades, writes);
                    both::<$lock>(tries_to_write, downgrades);
                }

                #[test]
                fn one_gives_up() {
                    both::<$lock>(gives_up, reads);
                    both::<$lock>(gives_up, writes);
                }
            }
        )*
    };
}

for_each_rw_lock!(every);

macro_rules! upgradable {
    ($($lock:ident)*) => {
        mod a_reader_becomes_a_writer {
            use super::*;

            $(
                #[test]
                #[allow(non_snake_case, reason = "the registry's names")]
                fn $lock() {
                    both::<corecast_lock::$lock>(upgrades, reads);
                    both::<corecast_lock::$lock>(upgrades, writes);
                    both::<corecast_lock::$lock>(upgrades, upgrades);
                }
            )*
        }
    };
}

upgradable!(RwTtas RwSpread);

mod spread {
    //! The lock whose readers have lines of their own, from the moment in which they have.
    use corecast_lock::{RwSpread, Setup};

    use super::*;

    type Lock = RwLock<u32, RwSpread>;

    fn spread() -> Shared<RwSpread> {
        let lock: Shared<RwSpread> = Arc::new(RwLock::for_setup(0, &Setup::of_threads(2)));
        drop((lock.read(), lock.read()));
        assert!(lock.raw().is_spread());
        lock
    }

    /// As [`super::both`], of a lock that is spread.
    fn both(mine: Step<RwSpread>, theirs: Step<RwSpread>) {
        loom::model(move || {
            let lock = spread();
            let shared = Arc::clone(&lock);
            let other = thread::spawn(move || theirs(&shared));
            let added = mine(&lock) + other.join().expect("it ends");
            assert_eq!(lock.with_read(|value| *value), added);
            assert!(lock.try_write().is_some(), "something was left behind");
        });
    }

    /// Folds the lock if nobody has read yet.
    fn writes_and_reads(lock: &Lock) -> u32 {
        writes(lock) + reads(lock)
    }

    #[test]
    fn a_reader_between_two_writes_and_a_writer_between_two_reads() {
        both(reads, writes_twice);
        both(writes, reads_twice);
    }

    #[test]
    fn tries_of_both_kinds() {
        both(tries_to_write, reads);
        both(tries_to_read, writes_twice);
        both(tries_to_write, tries_to_write);
    }

    #[test]
    fn it_folds_and_readers_that_meet_spread_it_again() {
        both(writes_and_reads, reads_twice);
        both(writes_and_reads, writes_and_reads);
    }

    /// A reader that saw the lock spread counts itself on a line when it is folded.
    #[test]
    fn a_late_reader_beside_two_writers() {
        loom::model(|| {
            let lock = spread();
            let others = [writes, reads].map(|step: Step<RwSpread>| {
                let theirs = Arc::clone(&lock);
                thread::spawn(move || step(&theirs))
            });
            let added = writes(&lock) + others.map(|other| other.join().expect("it ends")).iter().sum::<u32>();
            assert_eq!(lock.with_read(|value| *value), added);
        });
    }

    #[test]
    fn a_writer_becomes_a_reader_and_a_reader_a_writer() {
        both(downgrades, reads);
        both(downgrades, writes);
        both(upgrades, reads);
        both(upgrades, writes);
    }

    #[test]
    fn one_gives_up() {
        both(gives_up, reads);
        both(gives_up, writes);
    }
}

/// A reader that came during one writer's turn goes in before the next writer, and neither waits for ever, though a try has
/// drawn a ticket in between.
#[test]
fn phases_alternate() {
    loom::model(|| {
        let lock: Shared<corecast_lock::RwPhase> = Arc::new(RwLock::from(0));
        let theirs = Arc::clone(&lock);
        let writer = lock.write();
        let reader = thread::spawn(move || reads(&theirs));
        drop(writer);
        let added = tries_to_write(&lock) + writes(&lock);
        reader.join().expect("it reads");
        assert_eq!(lock.with_read(|value| *value), added);
    });
}

/// Two writers and a reader: the second writer comes after the first one's bits.
#[test]
fn two_writers_and_a_reader_take_turns() {
    loom::model(|| {
        let lock: Shared<corecast_lock::RwPhase> = Arc::new(RwLock::from(0));
        let others = [writes, reads].map(|step| {
            let theirs = Arc::clone(&lock);
            thread::spawn(move || step(&theirs))
        });
        let added = writes(&lock) + others.map(|other| other.join().expect("it ends")).iter().sum::<u32>();
        assert_eq!(lock.with_read(|value| *value), added);
    });
}
