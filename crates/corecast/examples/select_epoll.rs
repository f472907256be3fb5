//! How does my event loop wait for channels and for file descriptors at once, without a library?
//!
//! Run it with `cargo run --release --example select_epoll`.
#![allow(clippy::print_stdout, reason = "this is a program")]

use std::os::fd::AsFd;
use std::thread;

use corecast::channel::select::{Armed, Select, SelectError};
use corecast::channel::ump;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::pipe::pipe;

const CHANNELS: EventData = EventData::new_u64(0);
const PIPE: EventData = EventData::new_u64(1);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut select = Select::new();
    let workers: Vec<_> = (1..=3_u64)
        .map(|worker| {
            let (mut tx, rx) = ump::channel::<u64>(64);
            select.add(rx);
            thread::spawn(move || (1..=1000).try_for_each(|n| tx.send(worker * n)))
        })
        .collect();
    let (reader, writer) = pipe()?;
    rustix::io::write(&writer, b"x")?;

    let mut notifier = select.notifier()?;
    let events = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(&events, notifier.as_fd(), CHANNELS, EventFlags::IN)?;
    epoll::add(&events, reader.as_fd(), PIPE, EventFlags::IN)?;
    let (mut sum, mut bytes) = (0, 0);
    let mut ready = Vec::with_capacity(8);
    loop {
        // Receive all there is; only then ask to be told of more, and only then sleep.
        match select.try_recv() {
            Ok((_, n)) => sum += n,
            Err(SelectError::Channel { .. }) => {}
            Err(SelectError::NoneLeft) => break,
            Err(_) => {
                if notifier.arm(&mut select) == Armed::Waiting {
                    epoll::wait(&events, rustix::buffer::spare_capacity(&mut ready), None)?;
                }
            }
        }
        for _ in ready.drain(..).filter(is_of_pipe) {
            bytes += rustix::io::read(&reader, &mut [0; 16])?;
        }
    }
    for worker in workers {
        worker.join().map_err(|_| "a worker panicked")??;
    }
    println!("received from three channels: {sum} (1 + 2 + 3 times 500500); from the pipe: {bytes} byte");
    Ok(())
}

fn is_of_pipe(event: &Event) -> bool {
    // Copied, as the kernel's events are packed.
    let data = event.data;
    data == PIPE
}
