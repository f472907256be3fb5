//! Which lock suits my program? Threads count words into shared counters, and the lock is one type parameter.
//!
//! Run it with `cargo run --release --example swap_lock`. Each line is a lock, and what it took; times differ from run to
//! run.
#![allow(clippy::print_stdout, reason = "this is a program")]

use std::thread;
use std::time::Instant;

use corecast::lock::{Auto, Condvar, Mcs, Mutex, RawLock, Ticket, Word};

const THREADS: u64 = 4;
const WORDS: u64 = 50_000;

/// Where threads wait for each other before they begin.
#[derive(Default)]
struct Gate {
    there: Mutex<u64>,
    opened: Condvar,
}

impl Gate {
    fn pass(&self) {
        let mut there = self.there.lock();
        *there += 1;
        if *there == THREADS {
            self.opened.notify_all();
        }
        drop(self.opened.wait_while(there, |there| *there < THREADS));
    }
}

/// The program: it does not know which lock it uses.
fn count_words<L: RawLock>() -> u64 {
    let counters: [Mutex<u64, L>; 8] = std::array::from_fn(|_| Mutex::from(0));
    let start = Gate::default();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (counters, start) = (&counters, &start);
            scope.spawn(move || {
                start.pass();
                for word in 0..WORDS {
                    counters[((thread + word) % 8) as usize].with(|count| *count += 1);
                }
            });
        }
    });
    counters.into_iter().map(Mutex::into_inner).sum()
}

fn timed<L: RawLock>() {
    let start = Instant::now();
    let counted = count_words::<L>();
    assert_eq!(counted, THREADS * WORDS, "no word is lost, whatever the lock");
    println!("{:>7}: {counted} words in {:.1} ms", L::FACTS.name, start.elapsed().as_secs_f64() * 1e3);
}

fn main() {
    timed::<Auto>();
    timed::<Word>();
    timed::<Ticket>();
    timed::<Mcs>();
}
