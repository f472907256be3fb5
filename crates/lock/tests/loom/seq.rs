//! Models of the sequence lock, from both sides.

use corecast_base::sync::Arc;
use corecast_lock::Seq;
use loom::thread;

type Shared = Arc<Seq<[u64; 2]>>;

fn shared() -> (Shared, Shared) {
    let seq = Arc::new(Seq::new([0, 0]));
    (Arc::clone(&seq), seq)
}

/// Whole values that only grow.
fn reads_twice(mut read: impl FnMut() -> Option<[u64; 2]>) {
    let mut last = 0;
    for value in [read(), read()].into_iter().flatten() {
        assert_eq!(value[0], value[1], "torn");
        assert!(value[0] >= last, "{} after {last}", value[0]);
        last = value[0];
    }
}

fn writes_twice(seq: &Shared) {
    seq.write([1, 1]);
    seq.write([2, 2]);
}

#[test]
fn a_reader_beside_two_writes() {
    loom::model(|| {
        let (seq, theirs) = shared();
        let writer = thread::spawn(move || writes_twice(&theirs));
        reads_twice(|| Some(seq.read()));
        writer.join().expect("it writes");
        assert_eq!(seq.try_read(), Some([2, 2]));
    });
}

#[test]
fn a_writer_beside_two_tries() {
    loom::model(|| {
        let (seq, theirs) = shared();
        let reader = thread::spawn(move || reads_twice(|| theirs.try_read()));
        writes_twice(&seq);
        reader.join().expect("it reads");
    });
}

/// Writers exclude each other, and a reader of a value sees all that its writer did before.
#[test]
fn two_writers() {
    loom::model(|| {
        let (seq, theirs) = shared();
        let add = |seq: &Shared| seq.update(|value| value.map(|word| word + 1));
        let other = thread::spawn(move || add(&theirs));
        let mine = add(&seq);
        let theirs = other.join().expect("it adds");
        assert_ne!(mine, theirs);
        assert_eq!(seq.read(), [2, 2]);
    });
}
