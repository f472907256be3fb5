//! Words from one thread to another.

use std::mem::MaybeUninit;
use std::ptr;

use corecast_c::ff::*;
use corecast_c::region::{corecast_region_close, corecast_region_create_heap};
use corecast_c::region_plan::corecast_region_plan_destroy;
use corecast_c::status::Status;

use crate::calling::{object, output, owned, status, ump_plan, words};

fn config() -> FfConfig {
    FfConfig { size: size_of::<FfConfig>(), cells: 0, probe: 0, slip_ns: 0, wait: 0, reserved: 0, wake_cost_ns: 0 }
}

fn channel(config: FfConfig) -> (*mut FfSender, *mut FfReceiver) {
    let mut sender = MaybeUninit::uninit();
    // SAFETY: a configuration with its size.
    let receiver = output(|receiver| unsafe { corecast_ff_create(&raw const config, Some(&mut sender), receiver) });
    // SAFETY: a call that succeeds writes its outputs.
    (unsafe { sender.assume_init() }, receiver)
}

fn try_recv(receiver: *mut FfReceiver) -> Status {
    status(|word| corecast_ff_receiver_try_recv(Some(object(receiver)), word))
}

#[test]
fn words_arrive_in_order_and_zero_is_none() {
    let (sender, receiver) = channel(config());
    assert_eq!(corecast_ff_sender_send(Some(object(sender)), 0), Status::InvalidArgument);
    assert_eq!(words(), "argument 'word': is 0, which is no message");
    for word in [7, u64::MAX] {
        assert_eq!(corecast_ff_sender_send(Some(object(sender)), word), Status::Ok);
    }
    assert_eq!(output(|word| corecast_ff_receiver_recv(Some(object(receiver)), word)), 7);
    assert_eq!(output(|word| corecast_ff_receiver_recv(Some(object(receiver)), word)), u64::MAX);
    assert_eq!(try_recv(receiver), Status::Empty);
    let late = status(|word| corecast_ff_receiver_recv_timeout_ns(Some(object(receiver)), 1000, word));
    assert_eq!(late, Status::Timeout);
    let sent = (0..2000).take_while(|_| corecast_ff_sender_try_send(Some(object(sender)), 1) == Status::Ok).count();
    assert_eq!(sent, 1024);
    assert_eq!(corecast_ff_sender_send_timeout_ns(Some(object(sender)), 1, 1000), Status::Timeout);
    corecast_ff_receiver_close(owned(receiver));
    assert_eq!(corecast_ff_sender_try_send(Some(object(sender)), 1), Status::Closed);
    corecast_ff_sender_close(owned(sender));
}

#[test]
fn lines_are_taken_whole_or_flushed() {
    let (sender, receiver) = channel(FfConfig { slip_ns: u64::MAX, probe: 1, ..config() });
    assert_eq!(corecast_ff_sender_send(Some(object(sender)), 5), Status::Ok);
    assert_eq!(try_recv(receiver), Status::Empty);
    assert_eq!(corecast_ff_sender_flush(Some(object(sender))), Status::Ok);
    assert_eq!(output(|word| corecast_ff_receiver_try_recv(Some(object(receiver)), word)), 5);
    corecast_ff_sender_close(owned(sender));
    assert_eq!(try_recv(receiver), Status::Closed);
    corecast_ff_receiver_close(owned(receiver));
}

#[test]
fn a_region_holds_word_channels() {
    let plan = ump_plan(&[]);
    let wrong = FfConfig { cells: (1 << 23) + 1, ..config() };
    let add = |config| {
        // SAFETY: a text, and a configuration with its size, or none.
        unsafe { corecast_region_plan_add_ff(Some(object(plan)), c"words".as_ptr(), config) }
    };
    assert_eq!(add(&raw const wrong), Status::InvalidArgument);
    assert_eq!(words(), "argument 'config.cells': is 8388609, not 0 to 8388608");
    assert_eq!(add(ptr::null()), Status::Ok);
    let region = output(|region| corecast_region_create_heap(Some(object(plan)), region));
    corecast_region_plan_destroy(owned(plan));
    // SAFETY: texts.
    let sender = output(|end| unsafe { corecast_ff_sender_open(Some(object(region)), c"words".as_ptr(), end) });
    // SAFETY: texts.
    let receiver = output(|end| unsafe { corecast_ff_receiver_open(Some(object(region)), c"words".as_ptr(), end) });
    // SAFETY: texts.
    let again = status(|end| unsafe { corecast_ff_sender_open(Some(object(region)), c"words".as_ptr(), end) });
    assert_eq!(again, Status::Taken, "{}", words());
    assert_eq!(corecast_ff_sender_send(Some(object(sender)), 9), Status::Ok);
    assert_eq!(output(|word| corecast_ff_receiver_recv(Some(object(receiver)), word)), 9);
    corecast_ff_sender_close(owned(sender));
    corecast_ff_receiver_close(owned(receiver));
    corecast_region_close(owned(region));
}
