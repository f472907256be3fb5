//! The roles of other processes: this program, started with a role in its environment and a region.

use std::time::{Duration, Instant};

use corecast_base::region::SharedRegion;
use corecast_channel::mcast::{self, Policy};
use corecast_testing::actor::{Actor, Role, say};

use crate::mcast::readers::message;

/// Starts a process that attaches to the region.
pub(crate) fn start(role: &str, region: &SharedRegion) -> Actor {
    Actor::inheriting("mcast::roles::play", role, &region.share().expect("/proc is there"))
}

/// The role of this process, if it has one. As a test among others it has none.
#[test]
fn play() {
    let Some(role) = Role::of_this_process() else { return };
    let region = SharedRegion::from_fd(role.descriptor()).expect("the region of the test");
    match role.name.as_str() {
        "send 1000" => {
            let mut tx = mcast::bytes::sender(&region, "c").expect("a place");
            (0..1000).for_each(|number| tx.send(&message(1, number, len(number))).expect("sent"));
        }
        "send for ever" => {
            let who = region.me().index as u8;
            let mut tx = mcast::bytes::sender(&region, "c").expect("a place");
            say("sending");
            for number in 0.. {
                tx.send(&message(who, number, len(number))).expect("sent");
            }
        }
        "loan" => {
            let mut tx = mcast::bytes::sender(&region, "c").expect("a place");
            tx.send(&message(1, 0, 300)).expect("sent");
            let mut loan = tx.reserve(300).expect("it fits");
            loan.bytes().copy_from(&message(1, 1, 300));
            say("holding");
            stay();
        }
        "pin" | "deadline" => {
            let policy =
                if role.name == "pin" { Policy::Reliable } else { Policy::Deadline(Duration::from_millis(20)) };
            let rx = mcast::bytes::receiver(&region, "c", policy).expect("a place");
            say("there");
            let message = rx.recv().expect("sent");
            say("received");
            stay();
            drop(message);
        }
        other => panic!("no role {other}"),
    }
}

/// Does nothing until it is killed.
fn stay() {
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        std::thread::park_timeout(Duration::from_secs(1));
    }
}

/// Messages of all kinds, in slots and in blocks.
pub(crate) fn len(number: u32) -> usize {
    [20, 300, 48, 5][number as usize % 4]
}
