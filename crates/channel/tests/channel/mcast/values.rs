//! Values of one type, looked at where they are.

use std::sync::Arc;
use std::time::Duration;

use corecast_channel::mcast::{self, Config};
use corecast_channel::select::{Select, SelectError};
use corecast_channel::{RecvError, SendTimeoutError, TrySendError};

#[test]
fn readers_look_at_the_same_values_which_are_dropped_once() {
    let counted = Arc::new(());
    let (mut tx, source) = mcast::channel::<(u32, Arc<()>)>(4);
    let (a, b) = (source.subscribe().expect("a place"), source.subscribe().expect("a place"));
    for number in 0..4 {
        tx.try_send((number, Arc::clone(&counted))).expect("room");
    }
    let Err(TrySendError::Full((4, _))) = tx.try_send((4, Arc::clone(&counted))) else { panic!("the ring is full") };
    let first = a.recv().expect("sent");
    assert!(std::ptr::eq(&*first, &*b.recv().expect("sent")), "nothing is copied");
    let second = a.recv().expect("sent");
    assert_eq!((first.0, second.0), (0, 1));
    drop(first);
    tx.try_send((4, Arc::clone(&counted))).expect("both have released the first");
    assert_eq!(Arc::strong_count(&counted), 5, "the first was dropped when its place was reused");
    drop(second);
    let numbers: Vec<u32> = std::iter::from_fn(|| b.try_recv().ok().map(|value| value.0)).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    drop((tx, a, b));
    assert_eq!(Arc::strong_count(&counted), 5, "the source keeps the channel");
    drop(source);
    assert_eq!(Arc::strong_count(&counted), 1);
}

#[test]
fn several_senders_and_readers_of_values_agree_on_the_order() {
    let (tx, source) = mcast::channel_with::<(usize, u32)>(Config { slots: 4, senders: 3, ..Config::default() });
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let rx = source.subscribe().expect("a place");
            std::thread::spawn(move || {
                let mut seen = Vec::new();
                loop {
                    match rx.recv() {
                        Ok(value) => seen.push(*value),
                        Err(RecvError::Closed) => return seen,
                        Err(error) => panic!("{error}"),
                    }
                }
            })
        })
        .collect();
    let mut senders = vec![tx];
    senders.extend((1..3).map(|_| source.sender().expect("a place")));
    let sending: Vec<_> = senders
        .into_iter()
        .enumerate()
        .map(|(who, mut tx)| {
            std::thread::spawn(move || (0..3000).for_each(|number| tx.send((who, number)).expect("sent")))
        })
        .collect();
    sending.into_iter().for_each(|sender| sender.join().expect("a sender does not panic"));
    let orders: Vec<_> = readers.into_iter().map(|reader| reader.join().expect("a reader does not panic")).collect();
    assert_eq!(orders[0], orders[1]);
    for who in 0..3 {
        assert!(orders[0].iter().filter(|value| value.0 == who).map(|value| value.1).eq(0..3000));
    }
}

#[test]
fn a_value_that_finds_no_room_in_time_comes_back() {
    let (mut tx, source) = mcast::channel::<String>(2);
    let rx = source.subscribe().expect("a place");
    tx.send("a".to_owned()).expect("room");
    tx.send("b".to_owned()).expect("room");
    let late = tx.send_timeout("c".to_owned(), Duration::from_millis(1));
    assert_eq!(late, Err(SendTimeoutError::Timeout("c".to_owned())));
    assert_eq!(rx.recv().expect("sent").as_str(), "a");
}

#[test]
fn a_select_receives_from_multicast_channels_too() {
    let (mut tx, source) = mcast::channel::<u32>(2);
    let (mut other, others) = mcast::channel::<u32>(2);
    let mut select = Select::new();
    let a = select.add(source.subscribe().expect("a place"));
    let b = select.add(others.subscribe().expect("a place"));
    let sender = std::thread::spawn(move || {
        for number in 0..100 {
            tx.send(number).expect("sent");
            other.send(number).expect("sent");
        }
    });
    let mut received = [(a, 0), (b, 0)];
    let mut ended = Vec::new();
    loop {
        match select.recv() {
            Ok((token, value)) => {
                let (_, next) = received.iter_mut().find(|(of, _)| *of == token).expect("one of the two");
                assert_eq!(*value, *next);
                *next += 1;
            }
            Err(SelectError::Channel { token, error }) => ended.push((token, error)),
            Err(error) => break assert_eq!(error, SelectError::NoneLeft),
        }
    }
    sender.join().expect("the sender does not panic");
    assert_eq!(received, [(a, 100), (b, 100)]);
    ended.sort_by_key(|(token, _)| *token);
    assert_eq!(ended, [(a, RecvError::Closed), (b, RecvError::Closed)]);
}

#[test]
fn a_select_reports_missed_messages_once() {
    let config = Config { slots: 4, delivery: mcast::Delivery::Overwrite, ..Config::default() };
    let (mut tx, source) = mcast::bytes::channel(config);
    let mut select = Select::new();
    let token = select.add(source.subscribe(mcast::Policy::Lossy).expect("a place"));
    (0..10_u8).for_each(|number| tx.try_send(&[number]).expect("nobody is waited for"));
    let error = RecvError::Lagged { missed: 7 };
    assert_eq!(select.try_recv().map(drop), Err(SelectError::Channel { token, error }));
    assert_eq!(select.try_recv().map(|(_, message)| message.to_vec()), Ok(vec![7]));
}
