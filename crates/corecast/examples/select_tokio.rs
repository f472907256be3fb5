//! How does a task of tokio receive from channels without keeping a thread busy?
//!
//! Run it with `cargo run --release --example select_tokio`.
#![allow(clippy::print_stdout, reason = "this is a program")]

use std::thread;
use std::time::Duration;

use corecast::channel::select::{Armed, Notifier, Select, SelectError, Token};
use corecast::channel::ump::{self, Receiver};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Receives from any channel; the task sleeps until there is something.
async fn recv(
    select: &mut Select<Receiver<u64>>,
    notifier: &mut AsyncFd<Notifier>,
) -> Result<(Token, u64), SelectError> {
    loop {
        match select.try_recv() {
            Err(SelectError::Empty) => {}
            outcome => return outcome,
        }
        if notifier.get_mut().arm(select) == Armed::Waiting {
            let mut guard = notifier.ready(Interest::READABLE).await.expect("the runtime's driver runs");
            guard.clear_ready();
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut select = Select::new();
    let workers: Vec<_> = (1..=3_u64)
        .map(|worker| {
            let (mut tx, rx) = ump::channel::<u64>(64);
            select.add(rx);
            thread::spawn(move || (1..=1000).try_for_each(|n| tx.send(worker * n)))
        })
        .collect();
    let ticker = tokio::spawn(async {
        let mut ticks = tokio::time::interval(Duration::from_micros(200));
        for _ in 0..5 {
            ticks.tick().await;
        }
        "the other task went on meanwhile"
    });
    // SAFETY: a notifier has one descriptor, open for as long as it lives, and the runtime's registration owns it.
    let mut notifier = unsafe { AsyncFd::register_with_interest(select.notifier()?, Interest::READABLE)? };
    let mut sum = 0;
    loop {
        match recv(&mut select, &mut notifier).await {
            Ok((_, n)) => sum += n,
            Err(SelectError::Channel { .. }) => {}
            Err(_) => break,
        }
    }
    for worker in workers {
        worker.join().map_err(|_| "a worker panicked")??;
    }
    println!("received from three channels: {sum} (1 + 2 + 3 times 500500); {}", ticker.await?);
    Ok(())
}
