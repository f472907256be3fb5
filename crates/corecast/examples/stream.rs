//! How fast do two threads of mine stream values, and is every one of them whole?
//!
//! Run it with `cargo run --release --example stream`.
#![allow(clippy::print_stdout, reason = "this is a program")]

use std::thread;
use std::time::Instant;

use corecast::channel::ump;

const COUNT: u64 = 20_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut tx, mut rx) = ump::channel::<[u64; 7]>(1024);
    let began = Instant::now();
    let receiver = thread::spawn(move || {
        let mut expected = 0;
        while let Ok(message) = rx.recv() {
            assert!(message == [expected; 7], "message {expected} is torn, lost or out of order");
            expected += 1;
        }
        expected
    });
    for number in 0..COUNT {
        tx.send([number; 7])?;
    }
    drop(tx);
    let received = receiver.join().map_err(|_| "the receiver found a broken message")?;
    let ns = began.elapsed().as_nanos() as f64 / received as f64;
    println!("{received} messages of 56 bytes, {ns:.1} ns each");
    Ok(())
}
