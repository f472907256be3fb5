//! Ends in other processes, some of which are killed.

use std::time::{Duration, Instant};

use corecast_base::region::{RegionPlan, SharedRegion};
use corecast_channel::OpenChannelError;
use corecast_channel::mcast::{self, AddEndError, Config, Delivery, Policy};
use corecast_channel::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
use rustix::process::{Pid, Signal, WaitOptions, waitpid};

use crate::mcast::readers::{check, message};
use crate::mcast::roles::{len, start};

/// Long enough for anything that happens at all.
const PATIENCE: Duration = Duration::from_secs(20);

fn region(config: Config) -> SharedRegion {
    let plan = mcast::bytes::spec(config).declare(RegionPlan::new(), "c").expect("a plan");
    SharedRegion::memfd(&plan).expect("memory")
}

fn config() -> Config {
    Config { slots: 8, block_bytes: 300, readers: 4, ..Config::default() }
}

#[test]
fn a_region_among_threads_carries_messages() {
    let plan = mcast::bytes::spec(config()).declare(RegionPlan::new(), "c").expect("a plan");
    let region = SharedRegion::heap(&plan).expect("memory");
    let rx = mcast::bytes::receiver(&region, "c", Policy::Reliable).expect("a place");
    let mut tx = mcast::bytes::sender(&region, "c").expect("a place");
    assert!(
        matches!(mcast::bytes::sender(&region, "c"), Err(OpenChannelError::Taken { end: "sender", by, .. }) if by == region.me())
    );
    assert!(matches!(mcast::bytes::sender(&region, "d"), Err(OpenChannelError::NoChannel(_))));
    let refused =
        mcast::bytes::receiver(&region, "c", Policy::Lossy).map(drop).expect_err("the channel never overwrites");
    assert_eq!(refused, OpenChannelError::Policy { name: "c".to_owned(), policy: Policy::Lossy });
    assert_eq!(refused.to_string(), "channel 'c' never overwrites: its readers are reliable, not Lossy");
    for number in 0..100 {
        tx.send(&message(0, number, len(number))).expect("room");
        let got = rx.recv().expect("sent");
        assert!(got.bytes().as_slice().is_none(), "no slices into what strangers may write");
        assert_eq!(check(&got.to_vec()), (0, number));
    }
    drop(tx);
    assert_eq!(rx.recv().map(|_| ()), Err(RecvError::Closed));
}

#[test]
fn another_process_sends_to_two_readers() {
    let region = region(config());
    let readers = [0, 1].map(|_| mcast::bytes::receiver(&region, "c", Policy::Reliable).expect("a place"));
    let actor = start("send 1000", &region);
    let threads = readers.map(|rx| {
        std::thread::spawn(move || {
            for number in 0..1000 {
                assert_eq!(check(&rx.recv_timeout(PATIENCE).expect("sent").to_vec()), (1, number));
            }
            assert_eq!(rx.recv_timeout(PATIENCE).map(|_| ()), Err(RecvTimeoutError::Failed(RecvError::Closed)));
        })
    });
    actor.dismiss();
    threads.into_iter().for_each(|thread| thread.join().expect("a reader does not panic"));
}

#[test]
fn the_death_of_the_only_sender_is_told_and_a_loan_was_never_sent() {
    let region = region(config());
    let rx = mcast::bytes::receiver(&region, "c", Policy::Reliable).expect("a place");
    let mut actor = start("loan", &region);
    assert_eq!(actor.hear(), "holding");
    actor.kill();
    assert_eq!(check(&rx.recv_timeout(PATIENCE).expect("sent before").to_vec()), (1, 0));
    assert_eq!(rx.recv_timeout(PATIENCE).map(|_| ()), Err(RecvTimeoutError::Failed(RecvError::Died)));
    let mut successor = mcast::bytes::sender(&region, "c").expect("the place is free");
    successor.send(&message(2, 7, 300)).expect("room");
    assert_eq!(check(&rx.recv_timeout(PATIENCE).expect("sent").to_vec()), (2, 7));
}

/// Kills senders at any time under a stream, and looks at every byte that arrives before and after.
fn kill_senders(senders: usize, rounds: u32) {
    let region = region(Config { senders, ..config() });
    let rx = mcast::bytes::receiver(&region, "c", Policy::Reliable).expect("a place");
    fastrand::seed(42);
    for round in 0..rounds {
        let mut actors: Vec<_> = (0..senders).map(|_| start("send for ever", &region)).collect();
        actors.iter_mut().for_each(|actor| assert_eq!(actor.hear(), "sending"));
        let mut last = [None; 256];
        let mut receive = |enough: u32| {
            let mut received = 0;
            while received < enough {
                match rx.recv_timeout(PATIENCE) {
                    Ok(message) => {
                        let (who, number) = check(&message.to_vec());
                        let before = last[usize::from(who)].replace(number);
                        assert!(
                            before.is_none_or(|before| number == before + 1),
                            "round {round}: {before:?}, {number}"
                        );
                        received += 1;
                    }
                    Err(RecvTimeoutError::Failed(RecvError::Died)) => return,
                    Err(error) => panic!("round {round}: {error}"),
                }
            }
        };
        for actor in actors {
            receive(fastrand::u32(1..60));
            actor.kill();
        }
        receive(u32::MAX);
    }
    let mut tx = mcast::bytes::sender(&region, "c").expect("all places are free");
    for number in 0..100 {
        tx.send(&message(0, number, len(number))).expect("all blocks are there");
        assert_eq!(check(&rx.recv_timeout(PATIENCE).expect("sent").to_vec()), (0, number));
    }
}

#[test]
fn a_single_sender_may_die_at_any_time() {
    kill_senders(1, 15);
}

#[test]
fn several_senders_may_die_at_any_time() {
    kill_senders(3, 8);
}

#[test]
fn a_dead_reader_holds_no_sender_back_and_a_stopped_one_does() {
    let region = region(config());
    let mut tx = mcast::bytes::sender(&region, "c").expect("a place");
    let mut actor = start("pin", &region);
    assert_eq!(actor.hear(), "there");
    (0..8).for_each(|number| tx.send(&message(0, number, 20)).expect("room"));
    assert_eq!(actor.hear(), "received");
    actor.signal(Signal::STOP);
    let wait = tx.send_timeout(&message(0, 8, 20), Duration::from_millis(200));
    assert!(matches!(wait, Err(SendTimeoutError::Timeout(()))), "a stopped reader is not dead: {wait:?}");
    actor.kill();
    tx.send_timeout(&message(0, 8, 20), PATIENCE).expect("a dead one is");
    let start = Instant::now();
    while let Err(error) = tx.try_send(&message(0, 9, 20)) {
        assert!(matches!(error, TrySendError::Full(())) && start.elapsed() < PATIENCE, "{error}");
    }
}

#[test]
fn a_stopped_reader_with_a_deadline_is_left_behind() {
    let region = region(Config { delivery: Delivery::Overwrite, ..config() });
    let mut tx = mcast::bytes::sender(&region, "c").expect("a place");
    let mut actor = start("deadline", &region);
    assert_eq!(actor.hear(), "there");
    tx.send(&message(0, 0, 20)).expect("room");
    assert_eq!(actor.hear(), "received");
    actor.signal(Signal::STOP);
    (1..30).for_each(|number| tx.send_timeout(&message(0, number, len(number)), PATIENCE).expect("it is left behind"));
}

#[test]
fn a_sleeper_in_this_process_is_woken_from_another_one() {
    for wait in [corecast_base::wait::Wait::Park, corecast_base::wait::Wait::Adaptive] {
        let region = region(Config { wait, ..config() });
        let rx = mcast::bytes::receiver(&region, "c", Policy::Reliable).expect("a place");
        let actor = start("send 1000", &region);
        (0..1000).for_each(|number| assert_eq!(check(&rx.recv_timeout(PATIENCE).expect("sent").to_vec()).1, number));
        actor.dismiss();
    }
}

#[test]
fn a_forked_child_gets_an_error_and_disturbs_no_end() {
    let region = region(Config { senders: 3, ..config() });
    let mut tx = mcast::bytes::sender(&region, "c").expect("a place");
    let rx = mcast::bytes::receiver(&region, "c", Policy::Reliable).expect("a place");
    // SAFETY: the child calls the two ends, which take no lock there, and ends without unwinding.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let is_told = tx.try_send(b"x") == Err(SendError::Forked(()).into())
            && matches!(tx.reserve(1), Err(SendError::Forked(())))
            && matches!(tx.clone_sender(), Err(AddEndError::Forked))
            && matches!(tx.subscribe(Policy::Reliable), Err(AddEndError::Forked))
            && matches!(rx.try_recv(), Err(TryRecvError::Failed(RecvError::Forked)))
            && matches!(rx.recv(), Err(RecvError::Forked))
            && matches!(mcast::bytes::sender(&region, "c"), Err(OpenChannelError::Forked(_)));
        drop((tx, rx));
        // SAFETY: ends the child, running nothing of this program.
        unsafe { libc::_exit(i32::from(!is_told)) };
    }
    let (_, status) = waitpid(Pid::from_raw(child), WaitOptions::empty()).expect("our child").expect("waited for");
    assert_eq!(status.exit_status(), Some(0));
    tx.send(b"still mine").expect("there is room");
    assert_eq!(rx.recv().expect("sent").to_vec(), b"still mine");
}
