//! Readers that come and go by the thousand while others send and receive.

use corecast::base::rendezvous;
use corecast::base::sync::{AtomicBool, Ordering};
use corecast::channel::mcast::{self, Policy};

use super::roles;
use super::{NAME, PATIENCE, Stage, check, dir, message};

#[test]
fn a_thousand_join_and_leave_under_load() {
    let stage = Stage::new();
    let mut steady = roles::start("receive reliable", stage.path());
    let mut tx = mcast::bytes::sender(stage.region(), "mcast").expect("the only one");
    let is_done = AtomicBool::new(false);
    let sent = std::thread::scope(|scope| {
        let sender = scope.spawn(|| {
            let mut number = 0;
            // ORDERING: Relaxed, nothing but the flag is told
            while !is_done.load(Ordering::Relaxed) {
                tx.send_timeout(&message(number), PATIENCE).expect("nobody holds it for ever");
                number += 1;
            }
            drop(tx);
            number
        });
        for round in 0..1000 {
            // Every tenth is a participant of its own.
            let guest = (round % 10 == 0).then(|| rendezvous::connect(&dir(stage.path()), NAME).expect("a host"));
            let region = guest.as_ref().map_or(stage.region(), |guest| guest.region());
            let policy = [Policy::Reliable, Policy::Lossy][round % 2];
            let rx = mcast::bytes::receiver(region, "mcast", policy).expect("a place");
            for _ in 0..round % 4 {
                match rx.recv_timeout(PATIENCE) {
                    Ok(message) => drop(check(&message.to_vec())),
                    Err(error) => assert!(policy == Policy::Lossy && error.to_string().contains("missed"), "{error}"),
                }
            }
        }
        // ORDERING: Relaxed, nothing but the flag is told
        is_done.store(true, Ordering::Relaxed);
        sender.join().expect("the sender does not panic")
    });
    assert_eq!(steady.hear(), format!("{sent} 0"));
    steady.dismiss();
    assert_eq!(stage.region().participants().expect("not forked").len(), 1, "all seats are free again");
    stage.end();
}
