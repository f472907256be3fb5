//! The roles of other processes: this program, started with a role in its environment.

use std::path::Path;
use std::time::Duration;

use corecast::base::region::{RegionDir, SharedRegion};
use corecast::base::rendezvous::{self, HostedRegion};
use corecast::channel::RecvError;
use corecast::channel::mcast::{self, Policy};
use corecast::channel::ump;
use corecast_testing::actor::{Actor, Role, say};

use super::{NAME, check, dir, message};

/// Starts a process that meets the others in this folder, and waits until it has its end.
pub(super) fn start(role: &str, folder: &Path) -> Actor {
    let mut actor = Actor::start("processes::roles::play", role, folder.to_str().expect("a folder of this test"));
    assert_eq!(actor.hear(), "ready");
    actor
}

/// Not a test: what this program does when it is an actor.
#[test]
fn play() {
    let Some(role) = Role::of_this_process() else { return };
    let folder = Path::new(&role.place);
    match role.name.as_str() {
        "send ump" => send_ump(&meet(folder)),
        "send mcast" => send_mcast(&meet(folder)),
        "receive ump" => receive_ump(&meet(folder)),
        "receive reliable" => receive_mcast(&meet(folder), Policy::Reliable),
        "receive by a deadline" => receive_mcast(&meet(folder), Policy::Deadline(Duration::from_millis(1))),
        "sit in a named region" => sit(folder),
        other => panic!("no such role: {other}"),
    }
}

fn meet(folder: &Path) -> HostedRegion {
    rendezvous::connect(&dir(folder), NAME).expect("a host")
}

/// Sends for ever.
fn send_ump(meeting: &HostedRegion) {
    let mut tx = ump::bytes::sender(meeting.region(), "ump").expect("the last one is dead");
    say("ready");
    for number in 0.. {
        tx.send(&message(number)).expect("a receiver");
    }
}

/// Sends for ever.
fn send_mcast(meeting: &HostedRegion) {
    let mut tx = mcast::bytes::sender(meeting.region(), "mcast").expect("the last one is dead");
    say("ready");
    for number in 0.. {
        tx.send(&message(number)).expect("nothing is wrong");
    }
}

/// Receives for ever.
fn receive_ump(meeting: &HostedRegion) {
    let mut rx = ump::bytes::receiver(meeting.region(), "ump").expect("the first one");
    say("ready");
    for number in 0.. {
        assert_eq!(check(&rx.recv().expect("a sender").to_vec()), number);
    }
}

/// Receives until the channel is closed, and says how many messages that were and how many it missed.
fn receive_mcast(meeting: &HostedRegion, policy: Policy) {
    let rx = mcast::bytes::receiver(meeting.region(), "mcast", policy).expect("a place");
    say("ready");
    let (mut received, mut missed, mut next) = (0_u64, 0, None);
    loop {
        match rx.recv() {
            Ok(message) => {
                let number = check(&message.to_vec());
                assert_eq!(number, next.unwrap_or(number), "nothing is left out unless it is said");
                (received, next) = (received + 1, Some(number + 1));
            }
            Err(RecvError::Lagged { missed: some }) => {
                missed += some;
                next = next.map(|next| next + some);
            }
            Err(RecvError::Closed) => return say(&format!("{received} {missed}")),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Does nothing, in a region with a name.
fn sit(folder: &Path) {
    let _region = SharedRegion::open(&RegionDir::at(folder.join("regions")), NAME).expect("a region");
    say("ready");
    loop {
        std::thread::park();
    }
}
