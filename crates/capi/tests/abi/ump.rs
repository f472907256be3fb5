//! Messages from one thread to another.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;

use corecast_c::message::Message;
use corecast_c::region::corecast_region_close;
use corecast_c::status::Status;
use corecast_c::ump::corecast_ump_create;
use corecast_c::ump::receiver::*;
use corecast_c::ump::sender::*;

use crate::calling::{Out, bytes, heap_region, object, output, owned, status, ump_config, words};

type Ends = (*mut UmpSender, *mut UmpReceiver);

fn channel() -> Ends {
    let mut sender = MaybeUninit::uninit();
    let config = ump_config();
    // SAFETY: a configuration with its size.
    let receiver = output(|receiver| unsafe { corecast_ump_create(&raw const config, Some(&mut sender), receiver) });
    // SAFETY: a call that succeeds writes its outputs.
    (unsafe { sender.assume_init() }, receiver)
}

fn close((sender, receiver): Ends) {
    corecast_ump_sender_close(owned(sender));
    corecast_ump_receiver_close(owned(receiver));
}

fn try_send(sender: *mut UmpSender, message: &[u8]) -> Status {
    // SAFETY: bytes and their number.
    unsafe { corecast_ump_sender_try_send(Some(object(sender)), message.as_ptr().cast(), message.len()) }
}

fn try_recv(receiver: *mut UmpReceiver) -> Message {
    output(|message| corecast_ump_receiver_try_recv(Some(object(receiver)), message))
}

#[test]
fn messages_arrive_in_order_and_stay_until_released() {
    let (sender, receiver) = channel();
    for message in [&b"one"[..], b"", &[7; 900]] {
        assert_eq!(try_send(sender, message), Status::Ok);
    }
    let first = try_recv(receiver);
    assert_eq!(bytes(first), b"one");
    assert_eq!(corecast_ump_receiver_release(Some(object(receiver))), Status::Ok);
    assert_eq!(try_recv(receiver).len, 0);
    assert_eq!(bytes(try_recv(receiver)), [7; 900], "receiving releases the one before");
    let empty = status(|message| corecast_ump_receiver_try_recv(Some(object(receiver)), message));
    assert_eq!((empty, words().as_str()), (Status::Empty, "the channel is empty"));
    let late = status(|message| corecast_ump_receiver_recv_timeout_ns(Some(object(receiver)), 1000, message));
    assert_eq!(late, Status::Timeout);
    close((sender, receiver));
}

#[test]
fn a_message_that_does_not_fit_is_refused() {
    let (sender, receiver) = channel();
    let longest = output(|bytes| corecast_ump_sender_longest(Some(object(sender)), bytes));
    assert_eq!(longest, 16 * 64 - 8, "a quarter of 64 slots");
    assert_eq!(try_send(sender, &[0; 2000]), Status::TooLarge);
    assert_eq!(words(), "a message of 2000 bytes is too large for the channel, which takes 1016 at most");
    let sent = (0..100).take_while(|_| try_send(sender, b"x") == Status::Ok).count();
    assert_eq!(sent, 63, "one of 64 slots stays free");
    assert_eq!(try_send(sender, b"x"), Status::Full);
    // SAFETY: one byte.
    let late = unsafe { corecast_ump_sender_send_timeout_ns(Some(object(sender)), b"x".as_ptr().cast(), 1, 1000) };
    assert_eq!(late, Status::Timeout);
    close((sender, receiver));
}

#[test]
fn a_reserved_message_is_seen_when_it_is_committed() {
    let (sender, receiver) = channel();
    let reserve = |len| output(|data| corecast_ump_sender_reserve(Some(object(sender)), len, data)).cast::<u8>();
    let fill = |data: *mut u8, len, byte| {
        // SAFETY: `len` bytes were reserved there.
        unsafe { data.write_bytes(byte, len) };
    };
    fill(reserve(100), 100, 1);
    assert_eq!(corecast_ump_sender_abort(Some(object(sender))), Status::Ok);
    fill(reserve(100), 100, 2);
    let nothing = status(|message| corecast_ump_receiver_try_recv(Some(object(receiver)), message));
    assert_eq!(nothing, Status::Empty);
    assert_eq!(corecast_ump_sender_commit(Some(object(sender))), Status::Ok);
    assert_eq!(bytes(try_recv(receiver)), [2; 100]);
    assert_eq!(corecast_ump_sender_commit(Some(object(sender))), Status::InvalidArgument);
    assert_eq!(words(), "argument 'sender': has nothing reserved");
    assert!(reserve(0).is_null(), "a message of no bytes needs no room");
    assert_eq!(try_send(sender, b"other"), Status::Ok, "which aborts the reservation");
    assert_eq!(bytes(try_recv(receiver)), b"other");
    close((sender, receiver));
}

#[test]
fn a_closed_end_is_told_after_the_last_message() {
    let (sender, receiver) = channel();
    assert_eq!(try_send(sender, b"last"), Status::Ok);
    corecast_ump_sender_close(owned(sender));
    assert_eq!(bytes(try_recv(receiver)), b"last");
    let closed = status(|message| corecast_ump_receiver_recv(Some(object(receiver)), message));
    assert_eq!(closed, Status::Closed);
    corecast_ump_receiver_close(owned(receiver));

    let (sender, receiver) = channel();
    corecast_ump_receiver_close(owned(receiver));
    assert_eq!(try_send(sender, b"x"), Status::Closed);
    corecast_ump_sender_close(owned(sender));
}

#[test]
fn draining_hands_over_what_is_there() {
    unsafe extern "C" fn gather(context: *mut c_void, message: *const Message) {
        // SAFETY: the context is the vector below.
        let gathered = unsafe { context.cast::<Vec<u8>>().as_mut() }.expect("a vector");
        // SAFETY: the library passes a message.
        gathered.extend(bytes(unsafe { message.read() }));
    }
    let (sender, receiver) = channel();
    (1..=5).for_each(|n| assert_eq!(try_send(sender, &[n]), Status::Ok));
    let mut gathered = Vec::<u8>::new();
    let mut drain = |max| {
        let context = (&raw mut gathered).cast();
        // SAFETY: the function takes this context.
        let drain = |count: Out<'_, usize>| unsafe {
            corecast_ump_receiver_drain(Some(object(receiver)), max, Some(gather), context, count)
        };
        output(drain)
    };
    assert_eq!([drain(3), drain(9), drain(9)], [3, 2, 0]);
    assert_eq!(gathered, [1, 2, 3, 4, 5]);
    // SAFETY: no function is passed.
    let missing = unsafe {
        corecast_ump_receiver_drain(Some(object(receiver)), 1, None, ptr::null_mut(), Some(&mut MaybeUninit::uninit()))
    };
    assert_eq!((missing, words().as_str()), (Status::InvalidArgument, "argument 'each': is NULL"));
    close((sender, receiver));
}

#[test]
fn ends_among_threads_are_found_in_a_region() {
    let region = heap_region(&["orders"]);
    // SAFETY: texts.
    let sender = output(|end| unsafe { corecast_ump_sender_open(Some(object(region)), c"orders".as_ptr(), end) });
    // SAFETY: texts.
    let receiver = output(|end| unsafe { corecast_ump_receiver_open(Some(object(region)), c"orders".as_ptr(), end) });
    // SAFETY: texts.
    let again = status(|end| unsafe { corecast_ump_sender_open(Some(object(region)), c"orders".as_ptr(), end) });
    assert_eq!(again, Status::Taken, "{}", words());
    // SAFETY: texts.
    let none = status(|end| unsafe { corecast_ump_receiver_open(Some(object(region)), c"other".as_ptr(), end) });
    assert_eq!((none, words().as_str()), (Status::NotFound, "the region has no channel 'other'"));
    corecast_region_close(owned(region));
    assert_eq!(try_send(sender, b"still there"), Status::Ok);
    assert_eq!(bytes(try_recv(receiver)), b"still there");
    close((sender, receiver));
}
