//! How the lock spreads and folds, seen from inside.

use super::*;

fn spread() -> RwSpread {
    let lock = RwSpread::new(&Setup::of_threads(4));
    let first = lock.read();
    for meeting in 0..MEETINGS {
        assert!(!lock.is_spread(), "after {meeting}");
        let second = lock.read();
        assert!(matches!(second.0, Place::Word));
        lock.leave(second);
    }
    assert!(lock.is_spread());
    assert!(!lock.try_write(), "one is still counted in the word");
    lock.leave(first);
    lock
}

fn write(lock: &RwSpread) {
    lock.write();
    // SAFETY: written above.
    unsafe { lock.unlock_write() };
}

#[test]
fn readers_that_meet_often_spread_it_and_are_seen_on_their_lines() {
    let lock = spread();
    let reader = lock.read();
    assert!(matches!(reader.0, Place::Line(_)));
    assert!(!lock.try_write() && !lock.write_until(Instant::now()));
    lock.leave(reader);
    assert!(lock.try_write() && lock.try_read().is_none());
}

#[test]
fn a_writer_folds_it_when_nobody_has_read_for_long() {
    let lock = spread();
    lock.leave(lock.read());
    write(&lock);
    // SAFETY: nobody else has the lock.
    lock.quiet.with_mut(|quiet| unsafe { &mut *quiet }.forget());
    lock.leave(lock.read());
    write(&lock);
    assert!(lock.is_spread(), "somebody has read since the last write");
    // SAFETY: nobody else has the lock.
    lock.quiet.with_mut(|quiet| unsafe { &mut *quiet }.forget());
    write(&lock);
    assert!(!lock.is_spread());
    let (first, second) = (lock.read(), lock.read());
    assert!(matches!((first.0, second.0), (Place::Word, Place::Word)) && !lock.is_spread());
    lock.leave(first);
    lock.leave(second);
    assert!(lock.try_write());
}

#[test]
fn the_only_reader_of_a_line_may_write_and_reads_on_if_it_is_not_alone() {
    let lock = spread();
    let (first, second) = (lock.read(), lock.read());
    // SAFETY: read above.
    assert!(!unsafe { lock.try_upgrade(first) });
    lock.leave(second);
    assert!(!lock.try_write(), "the first one reads on");
    // SAFETY: read above.
    assert!(unsafe { lock.try_upgrade(first) } && lock.try_read().is_none());
    // SAFETY: it has become a writer.
    unsafe { lock.unlock_write() };
    assert!(lock.try_write());
}

#[test]
#[should_panic(expected = "a lock has fewer than 2^29 readers")]
fn more_readers_than_can_be_counted_are_refused() {
    let lock = RwSpread::new(&Setup::of_threads(1));
    lock.word.store(MOST_READERS, Ordering::Relaxed);
    lock.read();
}

#[test]
#[should_panic(expected = "a lock has fewer than 2^29 readers")]
fn more_readers_than_can_be_counted_on_a_line_are_refused() {
    let lock = RwSpread::new(&Setup::of_threads(1));
    let lines: Box<[Line]> = (0..lock.seats).map(|_| Line::default()).collect();
    lines.iter().for_each(|line| line.store(MOST_READERS.into(), Ordering::Relaxed));
    lock.enter_line(&lines);
}
