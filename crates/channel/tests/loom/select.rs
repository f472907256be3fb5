//! Receiving from two channels: no wake-up is lost, whichever sends, and whichever leaves.

use std::time::Duration;

use corecast_base::wait::{CpuSharing, Wait, Waiter};
use corecast_channel::select::{Select, SelectError};
use corecast_channel::ump::{self, Config};
use loom::thread;

fn config() -> Config {
    Config { slots: 4, wait: Wait::Park, wake_cost: Some(Duration::ZERO), ..Config::default() }
}

#[test]
fn a_sleeper_misses_neither_channel() {
    loom::model(|| {
        let mut select = Select::with_waiter(Waiter::new(Wait::Park, CpuSharing::pinned(2, 1), Some(Duration::ZERO)));
        let senders: Vec<_> = (0..2)
            .map(|n| {
                let (mut sender, receiver) = ump::channel_with::<u64>(config());
                select.add(receiver);
                thread::spawn(move || sender.send(n).expect("the receiver stays"))
            })
            .collect();
        let (mut sum, mut ended) = (0, 0);
        while ended < 2 {
            match select.recv() {
                Ok((token, n)) => {
                    assert_eq!(token.index() as u64, n);
                    sum += n + 1;
                }
                Err(SelectError::Channel { .. }) => ended += 1,
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(sum, 3, "both messages arrived before the ends were told");
        senders.into_iter().for_each(|sender| sender.join().expect("a sender ends"));
    });
}
