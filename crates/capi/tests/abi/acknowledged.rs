//! Acknowledged broadcasts through the C interface.

use std::ffi::c_void;
use std::ptr;
use std::sync::Barrier;

use corecast_c::acknowledged::follower::*;
use corecast_c::acknowledged::root::*;
use corecast_c::acknowledged::{AckConfig, AckEdges, AckOn, AckVariant};
use corecast_c::group::*;
use corecast_c::member::*;
use corecast_c::message::Message;
use corecast_c::status::Status;

use crate::calling::{Out, bytes, object, output, owned, status, words};
use crate::members::{group, run};

/// All zeroes but the size.
fn config() -> AckConfig {
    AckConfig {
        size: size_of::<AckConfig>(),
        longest_bytes: 0,
        root: 0,
        variant: 0,
        edges: 0,
        arity: 0,
        window: 0,
        ack_on: 0,
        companion: 0,
    }
}

fn open_root(me: &mut Member, config: &AckConfig, root: Out<'_, *mut AckRoot>) -> Status {
    // SAFETY: a configuration with its size.
    unsafe { corecast_ack_root_open(Some(me), config, root) }
}

fn open_follower(me: &mut Member, config: &AckConfig, follower: Out<'_, *mut AckFollower>) -> Status {
    // SAFETY: a configuration with its size.
    unsafe { corecast_ack_follower_open(Some(me), config, follower) }
}

fn publish(root: *mut AckRoot, event: &[u8], number: Out<'_, u64>) -> Status {
    // SAFETY: bytes and their number.
    unsafe { corecast_ack_root_publish(Some(object(root)), event.as_ptr().cast(), event.len(), number) }
}

fn try_publish(root: *mut AckRoot, event: &[u8], number: Out<'_, u64>) -> Status {
    // SAFETY: bytes and their number.
    unsafe { corecast_ack_root_try_publish(Some(object(root)), event.as_ptr().cast(), event.len(), number) }
}

/// The bytes of the event with this number.
fn event(number: u64, longest: usize) -> Vec<u8> {
    vec![number as u8; (17 * number as usize) % (longest + 1)]
}

/// Publishes some events, and ends the broadcast.
fn lead(me: &mut Member, config: &AckConfig, longest: usize) {
    const EVENTS: u64 = 300;
    let root = output(|root| open_root(me, config, root));
    for number in 1..=EVENTS {
        assert_eq!(output(|found| publish(root, &event(number, longest), found)), number);
    }
    assert_eq!(corecast_ack_root_wait(Some(object(root)), EVENTS), Status::Ok);
    assert_eq!(output(|number| corecast_ack_root_acked(Some(object(root)), number)), EVENTS);
    assert_eq!(corecast_ack_root_wait_timeout_ns(Some(object(root)), EVENTS, 0), Status::Ok);
    assert_eq!(corecast_ack_root_wait(Some(object(root)), EVENTS + 1), Status::InvalidArgument);
    assert_eq!(words(), format!("argument 'number': is {}, not 0 to {EVENTS}", EVENTS + 1));
    assert_eq!(corecast_ack_root_finish(Some(object(root))), Status::Ok);
    assert_eq!(corecast_ack_root_finish(Some(object(root))), Status::InvalidArgument);
    corecast_ack_root_close(owned(root));
}

/// The last event that was processed, and the longest there are.
struct Last(u64, usize);

unsafe extern "C" fn process(last: *mut c_void, number: u64, data: *const c_void, len: usize) {
    // SAFETY: the context of the calls below.
    let last = unsafe { last.cast::<Last>().as_mut() }.expect("given");
    // SAFETY: that many bytes, as the header says.
    let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), len) };
    assert_eq!((number, bytes), (last.0 + 1, event(number, last.1).as_slice()));
    last.0 = number;
}

fn follow(me: &mut Member, config: &AckConfig, longest: usize) {
    let follower = output(|follower| open_follower(me, config, follower));
    let to = || Some(object(follower));
    let mut last = Last(0, longest);
    // One by one at first, as they come, and then all that are there.
    for _ in 0..50 {
        let mut number = std::mem::MaybeUninit::uninit();
        let message: Message = output(|message| corecast_ack_follower_recv(to(), Some(&mut number), message));
        // SAFETY: written together with the message.
        last.0 = unsafe { number.assume_init() };
        assert_eq!(bytes(message), event(last.0, longest));
    }
    assert_eq!(corecast_ack_follower_flush(to()), Status::Ok);
    let end = loop {
        let context = ptr::from_mut(&mut last).cast();
        let mut count = std::mem::MaybeUninit::uninit();
        // SAFETY: a function that takes this context.
        let told = unsafe { corecast_ack_follower_try_drain(to(), Some(process), context, Some(&mut count)) };
        if told != Status::Empty && told != Status::Ok {
            break told;
        }
        // SAFETY: the same.
        let told = unsafe { corecast_ack_follower_drain(to(), Some(process), context, Some(&mut count)) };
        if told != Status::Ok {
            break told;
        }
    };
    assert_eq!((end, last.0), (Status::Closed, 300), "{}", words());
    corecast_ack_follower_close(owned(follower));
}

#[test]
fn events_of_any_length_are_processed_in_order_and_acknowledged() {
    let graphs = [AckVariant::Auto, AckVariant::Tree, AckVariant::OrderedRing];
    for (longest, variant) in [(48, graphs[0]), (496, graphs[1]), (4088, graphs[2])] {
        for edges in [AckEdges::Counters, AckEdges::Messages, AckEdges::TasksFifo] {
            let (longest_bytes, ack_on) = (longest as u32, AckOn::Processed as u32);
            let (variant, edges) = (variant as u32, edges as u32);
            let config = AckConfig { longest_bytes, root: 1, variant, edges, window: 20, ack_on, ..config() };
            let group = group(3);
            run(group, |me| {
                match corecast_member_rank(Some(me)) {
                    1 => lead(me, &config, longest),
                    _ => follow(me, &config, longest),
                }
                assert_eq!(corecast_member_barrier(Some(me)), Status::Ok);
            });
            corecast_group_destroy(owned(group));
        }
    }
}

#[test]
fn the_window_bounds_what_is_on_its_way() {
    let config = AckConfig { window: 2, ..config() };
    let group = group(2);
    let published = Barrier::new(2);
    run(group, |me| {
        if corecast_member_rank(Some(me)) == 0 {
            let root = output(|root| open_root(me, &config, root));
            assert_eq!(output(|number| try_publish(root, b"a", number)), 1);
            assert_eq!(output(|number| try_publish(root, b"b", number)), 2);
            assert_eq!(status(|number| try_publish(root, b"c", number)), Status::Full);
            assert_eq!(corecast_ack_root_wait_timeout_ns(Some(object(root)), 1, 1000), Status::Timeout);
            assert_eq!(status(|number| publish(root, &[0; 49], number)), Status::TooLarge);
            assert_eq!(words(), "an event has at most 48 bytes, not 49");
            published.wait();
            assert_eq!(corecast_ack_root_finish(Some(object(root))), Status::Ok);
            corecast_ack_root_close(owned(root));
        } else {
            let follower = output(|follower| open_follower(me, &config, follower));
            let to = || Some(object(follower));
            published.wait();
            let mut told = Vec::new();
            let end = loop {
                let mut number = std::mem::MaybeUninit::uninit();
                let mut message = std::mem::MaybeUninit::uninit();
                match corecast_ack_follower_try_recv(to(), Some(&mut number), Some(&mut message)) {
                    // SAFETY: written, as it succeeded.
                    Status::Ok => told.push(bytes(unsafe { message.assume_init() })),
                    Status::Empty => std::thread::yield_now(),
                    other => break other,
                }
            };
            assert_eq!((end, told), (Status::Closed, vec![b"a".to_vec(), b"b".to_vec()]));
            corecast_ack_follower_close(owned(follower));
        }
    });
    corecast_group_destroy(owned(group));
}

#[test]
fn members_who_do_not_agree_are_told() {
    let group = group(2);
    run(group, |me| {
        let is_root = corecast_member_rank(Some(me)) == 0;
        let mut open = |config: &AckConfig, as_root| match as_root {
            true => status(|root| open_root(me, config, root)),
            false => status(|follower| open_follower(me, config, follower)),
        };
        let other = AckConfig { window: if is_root { 3 } else { 4 }, ..config() };
        assert_eq!(open(&other, is_root), Status::Mismatch);
        let longer = AckConfig { longest_bytes: if is_root { 48 } else { 49 }, ..config() };
        assert_eq!(open(&longer, is_root), Status::Mismatch);
        assert_eq!(open(&config(), true), if is_root { Status::Mismatch } else { Status::InvalidArgument });
        for wrong in [AckConfig { arity: 5000, ..config() }, AckConfig { window: 5000, ..config() }] {
            assert_eq!(open(&wrong, is_root), Status::InvalidArgument);
        }
        let tree = AckVariant::Tree as u32;
        assert_eq!(open(&AckConfig { variant: tree, companion: 1, ..config() }, is_root), Status::InvalidArgument);
        assert_eq!(open(&AckConfig { root: 2, ..config() }, is_root), Status::InvalidArgument);
        // These count as if the member had not called.
        assert_eq!(open(&AckConfig { longest_bytes: 4089, ..config() }, is_root), Status::TooLarge);
        for wrong in [
            AckConfig { variant: 4, ..config() },
            AckConfig { edges: 4, ..config() },
            AckConfig { ack_on: 2, ..config() },
            AckConfig { companion: 2, ..config() },
            AckConfig { size: 1, ..config() },
        ] {
            assert_eq!(open(&wrong, is_root), Status::InvalidArgument);
            assert!(words().starts_with("argument 'config"), "{}", words());
        }
        assert_eq!(corecast_member_barrier(Some(me)), Status::Ok, "the group has not failed");
    });
    corecast_group_destroy(owned(group));
}

#[test]
fn an_end_closed_before_the_end_makes_the_group_fail() {
    for leaver in 0..2 {
        let group = group(2);
        let opened = Barrier::new(2);
        run(group, |me| {
            let (rank, config) = (corecast_member_rank(Some(me)), config());
            if rank == 0 {
                let root = output(|root| open_root(me, &config, root));
                opened.wait();
                let told = if rank == leaver { Status::Ok } else { corecast_ack_root_finish(Some(object(root))) };
                assert_eq!(told, if rank == leaver { Status::Ok } else { Status::Lost });
                corecast_ack_root_close(owned(root));
            } else {
                let follower = output(|follower| open_follower(me, &config, follower));
                opened.wait();
                if rank != leaver {
                    let mut number = std::mem::MaybeUninit::uninit();
                    let told = status(|message| {
                        corecast_ack_follower_recv(Some(object(follower)), Some(&mut number), message)
                    });
                    assert_eq!(told, Status::Lost);
                }
                corecast_ack_follower_close(owned(follower));
            }
            assert_eq!(corecast_member_barrier(Some(me)), Status::Lost);
            assert_eq!(corecast_member_lost(Some(me)), leaver as i32);
        });
        corecast_group_destroy(owned(group));
    }
}

#[test]
fn wrong_arguments_are_named() {
    assert_eq!(corecast_ack_root_finish(None), Status::InvalidArgument);
    assert_eq!(words(), "argument 'root': is NULL");
    assert_eq!(corecast_ack_follower_flush(None), Status::InvalidArgument);
    assert_eq!(words(), "argument 'follower': is NULL");
    corecast_ack_root_close(None);
    corecast_ack_follower_close(None);
    let group = group(1);
    let me = output(|member| corecast_group_join(Some(object(group)), 0, member));
    let root = output(|root| open_root(object(me), &config(), root));
    // SAFETY: NULL is refused.
    let told = status(|number| unsafe { corecast_ack_root_publish(Some(object(root)), ptr::null(), 1, number) });
    assert_eq!((told, words()), (Status::InvalidArgument, "argument 'data': is NULL".to_owned()));
    assert_eq!(corecast_ack_root_acked(Some(object(root)), None), Status::InvalidArgument);
    assert_eq!(corecast_ack_root_finish(Some(object(root))), Status::Ok, "nobody else is there");
    corecast_ack_root_close(owned(root));
    corecast_member_leave(owned(me));
    corecast_group_destroy(owned(group));
}
