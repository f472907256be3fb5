//! Killed at any time: what was sent is whole, the others are told within their time, and nothing is left.

use std::time::Duration;

use corecast::base::region::{RegionDir, RegionPlan, SharedRegion, gc};
use corecast::channel::mcast::{self, Policy};
use corecast::channel::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TrySendError, ump};
use corecast_testing::actor::Actor;

use super::roles;
use super::{PATIENCE, Stage, check, eventually, message};

/// Kills one sender after the other under a stream that `next` receives: a number, or how it ended.
fn kill_senders(role: &str, stage: &Stage, mut next: impl FnMut() -> Result<u64, RecvTimeoutError>) {
    let mut random = fastrand::Rng::with_seed(4);
    for round in 0..12 {
        let actor = roles::start(role, stage.path());
        let before_kill = random.u64(0..400);
        for number in 0..before_kill {
            assert_eq!(next(), Ok(number), "round {round}");
        }
        actor.kill();
        // The messages that it had committed come first, without a gap.
        let ended = (before_kill..).find_map(|number| next().map(|got| assert_eq!(got, number)).err());
        assert_eq!(ended, Some(RecvTimeoutError::Failed(RecvError::Died)), "round {round}");
    }
}

#[test]
fn senders_of_ump_one_after_the_other() {
    let stage = Stage::new();
    let mut rx = ump::bytes::receiver(stage.region(), "ump").expect("the only one");
    kill_senders("send ump", &stage, || Ok(check(&rx.recv_timeout(PATIENCE)?.to_vec())));
    drop(rx);
    stage.end();
}

#[test]
fn senders_of_mcast_one_after_the_other() {
    let stage = Stage::new();
    let rx = mcast::bytes::receiver(stage.region(), "mcast", Policy::Reliable).expect("a place");
    kill_senders("send mcast", &stage, || Ok(check(&rx.recv_timeout(PATIENCE)?.to_vec())));
    drop(rx);
    stage.end();
}

#[test]
fn the_receiver_of_ump() {
    let stage = Stage::new();
    let mut tx = ump::bytes::sender(stage.region(), "ump").expect("the only one");
    let actor = roles::start("receive ump", stage.path());
    (0..500).for_each(|number| tx.send(&message(number)).expect("a receiver"));
    actor.kill();
    let ended = (500..).find_map(|number| tx.send_timeout(&message(number), PATIENCE).err());
    assert_eq!(ended, Some(SendTimeoutError::Failed(SendError::Died(()))));
    assert_eq!(tx.try_send(&message(3)), Err(TrySendError::Failed(SendError::Died(()))));
    drop(tx);
    stage.end();
}

#[test]
fn readers_of_mcast_under_a_stream() {
    let stage = Stage::new();
    let mut tx = mcast::bytes::sender(stage.region(), "mcast").expect("the only one");
    let mut survivor = roles::start("receive reliable", stage.path());
    let mut random = fastrand::Rng::with_seed(5);
    let mut number = 0;
    for _ in 0..8 {
        let actor = roles::start("receive reliable", stage.path());
        for step in 0..random.u64(1..300) + 300 {
            if step == 200 {
                actor.stop(); // So that it holds messages, and the sender back, when it dies.
            }
            match tx.send_timeout(&message(number), if step < 200 { PATIENCE } else { Duration::ZERO }) {
                Ok(()) => number += 1,
                Err(error) => assert_eq!(error, SendTimeoutError::Timeout(())),
            }
        }
        actor.kill();
        tx.send_timeout(&message(number), PATIENCE).expect("the dead hold nobody back");
        number += 1;
    }
    drop(tx);
    assert_eq!(survivor.hear(), format!("{number} 0"));
    survivor.dismiss();
    stage.end();
}

#[test]
fn all_who_sit_in_a_named_region() {
    // In memory, where regions belong.
    let folder = tempfile::tempdir_in("/dev/shm").expect("memory");
    let dir = RegionDir::at(folder.path().join("regions"));
    let files = || std::fs::read_dir(dir.path()).expect("ours").count();
    let region = SharedRegion::named(&dir, super::NAME, &RegionPlan::new()).expect("a free name");
    let actors = [(); 2].map(|()| roles::start("sit in a named region", folder.path()));
    drop(region);
    assert_eq!((files(), gc(&dir).expect("ours").len()), (1, 0), "two live there");
    actors.into_iter().for_each(Actor::kill);
    assert_eq!((gc(&dir).expect("ours").len(), files()), (1, 0));

    let region = SharedRegion::named(&dir, super::NAME, &RegionPlan::new()).expect("a free name");
    roles::start("sit in a named region", folder.path()).kill();
    eventually("the dead one is seen", || region.reap(|_| ()).is_ok_and(|done| done));
    drop(region);
    assert_eq!(files(), 0, "the last one to leave takes the name away, even if others died before");
}
