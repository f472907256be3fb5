//! Receiving from many channels: fairness, subsets, sleeping, ends that leave, event loops.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use corecast_base::region::{RegionPlan, SharedRegion};
use corecast_base::wait::{CpuSharing, Wait, Waiter};
use corecast_channel::RecvError;
use corecast_channel::ff;
use corecast_channel::mcast::{self, Policy};
use corecast_channel::select::{Armed, MAX_CHANNELS, Mixed, Notifier, Select, SelectError, Selectable, Subset, Token};
use corecast_channel::ump::{self, Config, Receiver, Sender};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, WaitOptions, waitpid};

/// `count` channels whose receivers are in one Select.
fn channels(count: usize, wait: Wait) -> (Vec<Sender<u64>>, Vec<Token>, Select<Receiver<u64>>) {
    let config = Config { slots: 64, wait, ..Config::default() };
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..count).map(|_| ump::channel_with::<u64>(config.clone())).unzip();
    let mut select = Select::with_waiter(Waiter::new(wait, CpuSharing::unpinned(2), None));
    let tokens = receivers.into_iter().map(|receiver| select.add(receiver)).collect();
    (senders, tokens, select)
}

#[test]
fn full_channels_are_served_in_turn() {
    let (mut senders, tokens, mut select) = channels(5, Wait::Spin);
    let mut served = Vec::new();
    for _ in 0..5 * 40 {
        senders.iter_mut().for_each(|sender| while sender.try_send(1).is_ok() {});
        served.push(select.try_recv().expect("all channels are full").0);
    }
    let mut turns: Vec<(Token, usize)> = Vec::new();
    for token in served {
        match turns.last_mut() {
            Some((last, count)) if *last == token => *count += 1,
            _ => turns.push((token, 1)),
        }
    }
    let order: Vec<Token> = turns.iter().map(|(token, _)| *token).collect();
    assert_eq!(order[..5], tokens[..], "each once in a round");
    assert!(turns[..6].iter().all(|(_, count)| *count == 31), "{turns:?}");
}

#[test]
fn every_message_arrives_once_and_in_order_from_each_channel() {
    const EACH: u64 = 5_000;
    for wait in [Wait::Adaptive, Wait::Park, Wait::Yield] {
        let (senders, tokens, mut select) = channels(3, wait);
        let threads: Vec<_> = senders
            .into_iter()
            .map(|mut sender| thread::spawn(move || (0..EACH).for_each(|n| sender.send(n).expect("it is received"))))
            .collect();
        let mut next: BTreeMap<Token, u64> = tokens.into_iter().map(|token| (token, 0)).collect();
        loop {
            match select.recv() {
                Ok((token, n)) => {
                    let expected = next.get_mut(&token).expect("a token of ours");
                    assert_eq!(n, *expected);
                    *expected += 1;
                }
                Err(SelectError::Channel { token, error }) => {
                    assert_eq!((next[&token], error), (EACH, RecvError::Closed))
                }
                Err(error) => break assert_eq!(error, SelectError::NoneLeft),
            }
        }
        assert!(next.values().all(|&count| count == EACH), "{next:?}");
        threads.into_iter().for_each(|sender| sender.join().expect("a sender does not panic"));
    }
}

#[test]
fn a_subset_is_all_that_is_looked_at() {
    let (mut senders, tokens, mut select) = channels(70, Wait::Park);
    senders[3].send(3).expect("open");
    senders[69].send(69).expect("open");
    let last: Subset = [tokens[69], tokens[68]].into_iter().collect();
    assert_eq!(select.recv_from(&last).expect("there"), (tokens[69], 69));
    assert_eq!(select.try_recv_from(&last).unwrap_err(), SelectError::Empty);
    let none = Subset::default();
    assert_eq!(select.try_recv_from(&none).unwrap_err(), SelectError::NoneLeft);
    assert_eq!(select.recv_timeout(&last, Duration::from_millis(3)).unwrap_err(), SelectError::Timeout);
    assert_eq!(select.try_recv().expect("there"), (tokens[3], 3));
}

#[test]
fn a_message_on_any_channel_wakes_the_sleeper() {
    let (mut senders, tokens, mut select) = channels(100, Wait::Park);
    for round in 0..200_usize {
        let at = round * 37 % 100;
        thread::scope(|scope| {
            scope.spawn(|| senders[at].send(round as u64).expect("open"));
            assert_eq!(select.recv().expect("one sends"), (tokens[at], round as u64));
        });
    }
}

#[test]
fn an_end_given_back_goes_on_alone_and_its_number_is_given_again() {
    let (mut senders, tokens, mut select) = channels(2, Wait::Park);
    let mut first = select.remove(tokens[0]).expect("it is there");
    assert!(select.remove(tokens[0]).is_none());
    senders[0].send(1).expect("open");
    assert_eq!(first.recv(), Ok(1));
    assert_eq!(select.try_recv().unwrap_err(), SelectError::Empty);
    assert_eq!(select.add(first), tokens[0]);
    senders[0].send(2).expect("open");
    assert_eq!(select.recv().expect("there"), (tokens[0], 2));
    assert_eq!(select.all(), tokens.into_iter().collect());
}

#[test]
fn a_descriptor_becomes_readable_when_a_channel_has_something() {
    let (mut senders, tokens, mut select) = channels(3, Wait::Adaptive);
    let mut notifier = select.notifier().expect("an eventfd and a thread");
    let wait = |notifier: &Notifier, limit_ms: i64| {
        let limit = Timespec { tv_sec: 0, tv_nsec: limit_ms * 1_000_000 };
        poll(&mut [PollFd::new(notifier, PollFlags::IN)], Some(&limit)).expect("poll works")
    };
    assert_eq!(notifier.arm(&mut select), Armed::Waiting);
    assert_eq!(wait(&notifier, 5), 0, "nothing was sent");
    for round in 0..50 {
        thread::scope(|scope| {
            scope.spawn(|| senders[2].send(round).expect("open"));
            if notifier.arm(&mut select) == Armed::Waiting {
                assert_eq!(wait(&notifier, 900), 1);
            }
            assert_eq!(select.try_recv().expect("it woke us"), (tokens[2], round));
        });
    }
}

#[test]
#[should_panic(expected = "at most 4096 channels")]
fn too_many_channels_break_a_rule() {
    let (_senders, _, mut select) = channels(MAX_CHANNELS, Wait::Spin);
    select.add(ump::channel(4).1);
}

/// One channel of each kind, in memory of this process and in a shared region, so that the sleeper has two parkers.
#[test]
fn a_sleeper_is_woken_by_channels_of_any_kind_and_memory() {
    let plan = RegionPlan::new();
    let plan = ump::bytes::spec(Config::default()).declare(plan, "work").expect("a good name");
    let plan = mcast::bytes::spec(mcast::Config::default()).declare(plan, "news").expect("a good name");
    let region = SharedRegion::memfd(&plan).expect("a region");
    let there = SharedRegion::from_fd(region.share().expect("a descriptor")).expect("the same region");

    let (mut ump_here, end) = ump::bytes::channel(Config::default());
    let mut select: Select<Mixed> = Select::new();
    let mut tokens = vec![select.add(end.into())];
    let (mut mcast_here, source) = mcast::bytes::channel(mcast::Config::default());
    tokens.push(select.add(source.subscribe(Policy::Reliable).expect("a free place").into()));
    tokens.push(select.add(ump::bytes::receiver(&region, "work").expect("it is free").into()));
    tokens.push(select.add(mcast::bytes::receiver(&region, "news", Policy::Reliable).expect("it is free").into()));
    let mut ump_there = ump::bytes::sender(&there, "work").expect("it is free");
    let mut mcast_there = mcast::bytes::sender(&there, "news").expect("it is free");

    for round in 0..40_u8 {
        let message = [round; 9];
        thread::scope(|scope| {
            scope.spawn(|| {
                match round % 4 {
                    0 => ump_here.send(&message),
                    1 => mcast_here.send(&message),
                    2 => ump_there.send(&message),
                    _ => mcast_there.send(&message),
                }
                .expect("the receiver stays");
            });
            let (token, received) = select.recv().expect("one sends");
            assert_eq!((token, received.bytes().to_vec()), (tokens[usize::from(round % 4)], message.to_vec()));
        });
    }
}

/// One of each kind that can be in a region, with the receivers in a Select of its own.
fn of_each_kind(region: &SharedRegion) -> (Select<Mixed>, Select<Mixed>, Select<ff::Receiver>) {
    let (mut ump, mut mcast, mut ff) = (Select::new(), Select::new(), Select::new());
    ump.add(ump::bytes::receiver(region, "ump").expect("the end is free").into());
    mcast.add(mcast::bytes::receiver(region, "mcast", Policy::Reliable).expect("a place is free").into());
    ff.add(ff::receiver(region, "ff").expect("the end is free"));
    (ump, mcast, ff)
}

fn is_told<R: Selectable>(select: &mut Select<R>, notifier: &mut Notifier) -> bool {
    notifier.arm(select) == Armed::Ready
        && matches!(select.try_recv(), Err(SelectError::Channel { error: RecvError::Forked, .. }))
        && matches!(select.recv(), Err(SelectError::NoneLeft))
}

#[test]
fn a_forked_child_gets_an_error_and_disturbs_no_end() {
    let plan = ump::bytes::spec(Config::default()).declare(RegionPlan::new(), "ump").expect("a plan");
    let plan = mcast::bytes::spec(mcast::Config::default()).declare(plan, "mcast").expect("a plan");
    let plan = ff::spec(ff::Config::default()).declare(plan, "ff").expect("a plan");
    let region = SharedRegion::memfd(&plan).expect("memory");
    let mut tx = ump::bytes::sender(&region, "ump").expect("the end is free");
    let (mut ump, mut mcast, mut ff) = of_each_kind(&region);
    let mut notifiers =
        [ump.notifier(), mcast.notifier(), ff.notifier()].map(|notifier| notifier.expect("a descriptor and a thread"));
    assert_eq!(notifiers[0].arm(&mut ump), Armed::Waiting);
    // SAFETY: the child calls ends that take no lock there, and ends without unwinding.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let are_told = is_told(&mut ump, &mut notifiers[0])
            && is_told(&mut mcast, &mut notifiers[1])
            && is_told(&mut ff, &mut notifiers[2]);
        drop((notifiers, ump, mcast, ff));
        // SAFETY: ends the child, running nothing of this program.
        unsafe { libc::_exit(i32::from(!are_told)) };
    }
    let (_, status) = waitpid(Pid::from_raw(child), WaitOptions::empty()).expect("our child").expect("waited for");
    assert_eq!(status.exit_status(), Some(0));
    tx.send(b"still here").expect("there is room");
    let limit = Timespec { tv_sec: 20, tv_nsec: 0 };
    assert_eq!(poll(&mut [PollFd::new(&notifiers[0], PollFlags::IN)], Some(&limit)), Ok(1));
    assert!(ump.try_recv().is_ok());
}
