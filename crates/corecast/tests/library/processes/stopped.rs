//! Stopped is not dead: a sender waits for a reliable reader, and leaves behind one with a deadline, which is told so.

use std::time::Duration;

use corecast::channel::{SendTimeoutError, mcast};
use rustix::process::Signal;

use super::roles;
use super::{PATIENCE, Stage, message};

#[test]
fn a_reliable_reader_holds_the_sender_until_it_goes_on() {
    let stage = Stage::new();
    let mut tx = mcast::bytes::sender(stage.region(), "mcast").expect("the only one");
    let mut reader = roles::start("receive reliable", stage.path());
    reader.stop();
    let mut number = 0;
    let mut send = |timeout| tx.send_timeout(&message(number), timeout).map(|()| number += 1);
    while send(Duration::from_millis(100)).is_ok() {}
    assert_eq!(send(Duration::from_millis(100)), Err(SendTimeoutError::Timeout(())));
    reader.signal(Signal::CONT);
    send(PATIENCE).expect("it makes room");
    (0..100).for_each(|_| send(PATIENCE).expect("it makes room"));
    drop(tx);
    assert_eq!(reader.hear(), format!("{number} 0"));
    reader.dismiss();
    stage.end();
}

#[test]
fn a_reader_with_a_deadline_is_left_behind_and_counts_what_it_missed() {
    let stage = Stage::new();
    let mut tx = mcast::bytes::sender(stage.region(), "mcast").expect("the only one");
    let mut reader = roles::start("receive by a deadline", stage.path());
    let mut reliable = roles::start("receive reliable", stage.path());
    reader.stop();
    (0..100).for_each(|number| tx.send_timeout(&message(number), PATIENCE).expect("nobody holds it for long"));
    reader.signal(Signal::CONT);
    (100..200).for_each(|number| tx.send_timeout(&message(number), PATIENCE).expect("nobody holds it for long"));
    drop(tx);
    assert_eq!(reliable.hear(), "200 0");
    let said = reader.hear();
    let (received, missed) = said.split_once(' ').expect("two numbers");
    let [received, missed] = [received, missed].map(|number| number.parse::<u64>().expect("a number"));
    // It joined before the first message, so that each was received or missed.
    assert!(received + missed == 200 && missed >= 92, "{received} received and {missed} missed of 200");
    reader.dismiss();
    reliable.dismiss();
    stage.end();
}
