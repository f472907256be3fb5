//! A sender that is stopped, not killed, at every step of its send holds others up only where it has claimed a ticket and
//! not published it, and then the readers alone; when it goes on, everything arrives.

use corecast_channel::mcast::Delivery;
use corecast_channel::mcast::bytes::Receiver;
use corecast_channel::{TryRecvError, TrySendError};
use corecast_testing::skipped;

use crate::steps::NOT_TRACED;
use crate::steps::mcast::{Call, IN_BLOCK, Multicast};
use crate::steps::scene::{Scene, Stage, check_whole, message, steps_that_matter};

/// All messages that are there now, with their senders and numbers.
fn drain(reader: &Receiver) -> Vec<(u8, u8)> {
    let mut received = Vec::new();
    loop {
        match reader.try_recv() {
            Ok(message) => received.push(check_whole(&message.to_vec())),
            Err(TryRecvError::Empty) => return received,
            Err(error) => panic!("a stopped process is not dead: {error}"),
        }
    }
}

/// Stops sender 1 after `steps` steps of its third message; true if the readers had to wait for it.
fn stop_after(scene: &Multicast, steps: u64) -> bool {
    let stage = Stage::new(scene.spec());
    let mut others = scene.prepare(&stage.region);
    let child = stage.child(|region| scene.play(region)).expect("there was one before");
    scene.approach(&mut others, &child);
    if !child.take_steps(steps) {
        return false;
    }
    child.leave_stopped();

    let tx = others.tx.as_mut().expect("there are two senders");
    let mut sent = others.sent;
    let mut send = || tx.try_send(&message(0, sent, IN_BLOCK)).map(|()| sent += 1);
    assert_eq!(send(), Ok(()), "a ticket that is claimed is passed by");
    let mut received: Vec<_> = others.readers.iter().map(drain).collect();
    let is_held_up = !received[0].contains(&(0, others.sent));
    if is_held_up {
        let full = std::iter::repeat_with(&mut send).find_map(Result::err);
        assert_eq!(full, Some(TrySendError::Full(())), "its slot comes round again");
    }

    child.resume();
    for (reader, received) in others.readers.iter().zip(&mut received) {
        received.extend(drain(reader));
    }
    assert!(received.iter().all(|order| *order == received[0]), "one order for all");
    let of = |who| received[0].iter().filter(move |message| message.0 == who).map(|message| message.1);
    assert!(of(1).eq(0..3) && of(0).eq(others.sent..sent), "each once, in order: {:?}", received[0]);
    drop(child);
    drop(others);
    stage.end();
    is_held_up
}

#[test]
fn a_sender_is_stopped_at_every_step() {
    let (delivery, call) = (Delivery::Gated, Call::Send(IN_BLOCK));
    let scene = Multicast { senders: 2, delivery, call, is_followed_at_once: false };
    let Some(steps) = steps_that_matter(&scene) else {
        return skipped("a sender stopped at every step", NOT_TRACED);
    };
    let held_up: Vec<_> = steps.iter().map(|&steps| stop_after(&scene, steps)).collect();
    let claimed = held_up.iter().position(|&held| held).expect("some step is behind the claim");
    let published = held_up.iter().rposition(|&held| held).expect("as above") + 1;
    assert!(claimed > 0 && published < held_up.len(), "before the claim and after the publication nobody waits");
    assert!(held_up[claimed..published].iter().all(|&held| held), "and in between all readers do");
}
