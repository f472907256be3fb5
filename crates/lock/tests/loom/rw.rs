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

mod a_reader_that_may_write {
    //! The reader that waits until it writes, by the calls of the lock itself: the safe front has none.
    use corecast_lock::{RawRwUpgradable, RwWord, Setup};
    use loom::cell::UnsafeCell;

    use super::*;

    struct Guarded<L> {
        lock: L,
        value: UnsafeCell<u32>,
    }

    // SAFETY: the value is only reached under the lock, as the steps below call it.
    unsafe impl<L: Sync> Sync for Guarded<L> {}

    impl<L: RawRwUpgradable> Guarded<L> {
        /// The value, for a reader or the writer.
        fn read(&self) -> u32 {
            // SAFETY: the caller reads or writes; the model finds a writer that is there too.
            self.value.with(|value| unsafe { *value })
        }

        /// Adds one, as the writer.
        fn add(&self) {
            // SAFETY: the caller writes; the model finds anyone else who is there.
            self.value.with_mut(|value| unsafe { *value += 1 });
        }

        fn writes(&self) -> u32 {
            self.lock.write();
            self.add();
            // SAFETY: the writer of the first line.
            unsafe { self.lock.unlock_write() };
            1
        }

        fn reads(&self) -> u32 {
            let reader = self.lock.read();
            assert!(self.read() < 3);
            // SAFETY: the reader of the first line.
            unsafe { self.lock.unlock_read(reader) };
            0
        }

        fn upgrades(&self) -> u32 {
            self.lock.read_upgradable();
            let before = self.read();
            // SAFETY: the reader of the first line.
            unsafe { self.lock.upgrade() };
            assert_eq!(self.read(), before, "another thread wrote in between");
            self.add();
            // SAFETY: the writer that it became.
            unsafe { self.lock.unlock_write() };
            1
        }

        fn tries(&self) -> u32 {
            if !self.lock.try_read_upgradable() {
                return 0;
            }
            // SAFETY: the reader that the try made.
            let writes = unsafe { self.lock.try_upgrade() };
            if writes {
                self.add();
                // SAFETY: the writer that it became.
                unsafe { self.lock.downgrade_to_upgradable() };
            }
            let _ = self.read();
            // SAFETY: the upgradable reader that it is or was made again.
            unsafe { self.lock.unlock_upgradable() };
            u32::from(writes)
        }

        fn reads_on(&self) -> u32 {
            self.lock.read_upgradable();
            let before = self.read();
            // SAFETY: the reader of the first line.
            let reader = unsafe { self.lock.downgrade_upgradable() };
            assert_eq!(self.read(), before, "another thread wrote beside a reader");
            // SAFETY: the reader that it became.
            unsafe { self.lock.unlock_read(reader) };
            0
        }
    }

    type Step<L> = fn(&Guarded<L>) -> u32;

    /// Two threads do one step each at the same time; the steps say how often they added.
    fn both<L: RawRwUpgradable + 'static>(mine: Step<L>, theirs: Step<L>) {
        loom::model(move || {
            let guarded = Arc::new(Guarded { lock: L::new(&Setup::of_threads(2)), value: UnsafeCell::new(0) });
            let shared = Arc::clone(&guarded);
            let other = thread::spawn(move || theirs(&shared));
            let added = mine(&guarded) + other.join().expect("it ends");
            assert!(guarded.lock.try_write(), "something was left behind");
            assert_eq!(guarded.read(), added);
        });
    }

    fn it_writes_after_all_others<L: RawRwUpgradable + 'static>() {
        both::<L>(Guarded::upgrades, Guarded::writes);
        both::<L>(Guarded::upgrades, Guarded::reads);
        both::<L>(Guarded::upgrades, Guarded::upgrades);
    }

    fn it_tries_and_reads_again<L: RawRwUpgradable + 'static>() {
        both::<L>(Guarded::tries, Guarded::writes);
        both::<L>(Guarded::tries, Guarded::reads);
        both::<L>(Guarded::tries, Guarded::tries);
    }

    fn it_becomes_a_plain_reader<L: RawRwUpgradable + 'static>() {
        both::<L>(Guarded::reads_on, Guarded::writes);
        both::<L>(Guarded::reads_on, Guarded::upgrades);
    }

    macro_rules! upgradable {
        ($($lock:ident)*) => {
            mod each {
                $(
                    #[allow(non_snake_case, reason = "the registry's names")]
                    mod $lock {
                        use corecast_lock::$lock;

                        #[test]
                        fn it_writes_after_all_others() {
                            super::super::it_writes_after_all_others::<$lock>();
                        }

                        #[test]
                        fn it_tries_and_reads_again() {
                            super::super::it_tries_and_reads_again::<$lock>();
                        }

                        #[test]
                        fn it_becomes_a_plain_reader() {
                            super::super::it_becomes_a_plain_reader::<$lock>();
                        }
                    }
                )*
            }
        };
    }

    upgradable!(RwPhase RwWord);

    /// Readers that read again, deadlines and hand-overs of the lock of one word.
    mod of_one_word {
        use std::time::Instant;

        use corecast_lock::{RawRwLock, RwAccess};

        use super::*;

        type Word = Guarded<RwWord>;

        fn reads_again(guarded: &Word) -> u32 {
            guarded.lock.read();
            let before = guarded.read();
            guarded.lock.hold(RwAccess::ReadAgain, None);
            assert_eq!(guarded.read(), before, "another thread wrote beside a reader");
            for _ in 0..2 {
                // SAFETY: both readers are of this thread.
                unsafe { guarded.lock.unlock_read(()) };
            }
            0
        }

        fn hands_over(guarded: &Word) -> u32 {
            guarded.lock.write();
            guarded.add();
            // SAFETY: the writer of the first line.
            unsafe { guarded.lock.unlock_write_or_hand_over(|| true) };
            1
        }

        fn hands_over_upgradable(guarded: &Word) -> u32 {
            guarded.lock.read_upgradable();
            let _ = guarded.read();
            // SAFETY: the reader of the first line.
            unsafe { guarded.lock.unlock_upgradable_or_hand_over(|| true) };
            0
        }

        /// Becomes a writer if it can at once, and gives up while it has a writer's turn if not.
        fn gives_up(guarded: &Word) -> u32 {
            guarded.lock.read_upgradable();
            // SAFETY: the reader of the first line.
            let writes = unsafe { guarded.lock.upgrade_until(Some(Instant::now())) };
            if writes {
                guarded.add();
                // SAFETY: the writer that it became.
                unsafe { guarded.lock.unlock_write() };
            } else {
                // SAFETY: the reader that it still is.
                unsafe { guarded.lock.unlock_upgradable() };
            }
            u32::from(writes)
        }

        #[test]
        fn a_reader_that_reads_again_does_not_wait_for_a_writer_that_waits_for_it() {
            both::<RwWord>(reads_again, Guarded::writes);
            both::<RwWord>(reads_again, Guarded::upgrades);
        }

        #[test]
        fn a_lock_that_is_handed_over_is_held() {
            both::<RwWord>(hands_over, Guarded::writes);
            both::<RwWord>(hands_over, Guarded::reads);
            both::<RwWord>(hands_over, Guarded::upgrades);
            both::<RwWord>(hands_over_upgradable, Guarded::writes);
            both::<RwWord>(hands_over_upgradable, Guarded::upgrades);
        }

        #[test]
        fn an_upgrade_that_gives_up_lets_others_in() {
            both::<RwWord>(gives_up, Guarded::reads);
            both::<RwWord>(gives_up, Guarded::writes);
        }

        /// Two threads, while this one does its step.
        fn three(mine: Step<RwWord>, theirs: [Step<RwWord>; 2]) {
            loom::model(move || {
                let guarded = Arc::new(Guarded { lock: RwWord::new(&Setup::of_threads(3)), value: UnsafeCell::new(0) });
                let others = theirs.map(|step| {
                    let shared = Arc::clone(&guarded);
                    thread::spawn(move || step(&shared))
                });
                let added = mine(&guarded) + others.map(|other| other.join().expect("it ends")).iter().sum::<u32>();
                assert!(guarded.lock.try_write(), "something was left behind");
                assert_eq!(guarded.read(), added);
            });
        }

        /// One is woken or is to sleep while the other one comes.
        #[test]
        fn a_third_thread_comes_while_one_is_woken() {
            three(Guarded::writes, [Guarded::writes, Guarded::tries]);
            three(hands_over, [Guarded::writes, Guarded::reads]);
        }
    }
}
