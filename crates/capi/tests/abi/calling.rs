//! Calling as C does: outputs by pointer, words from the error message.

use std::ffi::{CString, c_char};
use std::mem::MaybeUninit;

use corecast_c::error::corecast_error_message;
use corecast_c::mcast::McastConfig;
use corecast_c::message::Message;
use corecast_c::region::{Region, corecast_region_create_heap};
use corecast_c::region_plan::{RegionPlan, corecast_region_plan_create, corecast_region_plan_destroy};
use corecast_c::status::Status;
use corecast_c::ump::{UmpConfig, corecast_region_plan_add_ump};

/// The place for an output.
pub(crate) type Out<'a, T> = Option<&'a mut MaybeUninit<T>>;

/// The output of a call, which must succeed.
#[track_caller]
pub(crate) fn output<T>(call: impl FnOnce(Out<'_, T>) -> Status) -> T {
    let mut output = MaybeUninit::uninit();
    assert_eq!(call(Some(&mut output)), Status::Ok, "{}", words());
    // SAFETY: a call that succeeds writes its output.
    unsafe { output.assume_init() }
}

/// The status of a call that writes nothing of interest.
pub(crate) fn status<T>(call: impl FnOnce(Out<'_, T>) -> Status) -> Status {
    call(Some(&mut MaybeUninit::uninit()))
}

/// The last error message.
pub(crate) fn words() -> String {
    let mut buffer = vec![0_u8; 1000];
    // SAFETY: the buffer is as long as it is said to be.
    let len = unsafe { corecast_error_message(buffer.as_mut_ptr().cast::<c_char>(), buffer.len()) };
    String::from_utf8(buffer[..len].to_vec()).expect("text")
}

/// The object that was given.
pub(crate) fn object<'a, T>(given: *mut T) -> &'a mut T {
    // SAFETY: objects live until they are ended, and tests use each by one reference at a time.
    unsafe { given.as_mut() }.expect("an object was given")
}

/// The same to end it.
pub(crate) fn owned<T>(given: *mut T) -> Option<Box<T>> {
    // SAFETY: given by a call of this library, which makes boxes, and ended once.
    Some(unsafe { Box::from_raw(given) })
}

/// The bytes of an open message.
pub(crate) fn bytes(message: Message) -> Vec<u8> {
    // SAFETY: the message is open.
    unsafe { std::slice::from_raw_parts(message.data.cast::<u8>(), message.len) }.to_vec()
}

/// A region on the heap with ump channels of these names.
pub(crate) fn heap_region(channels: &[&str]) -> *mut Region {
    let plan = ump_plan(channels);
    let region = output(|region| corecast_region_create_heap(Some(object(plan)), region));
    corecast_region_plan_destroy(owned(plan));
    region
}

/// A plan of ump channels of these names.
pub(crate) fn ump_plan(channels: &[&str]) -> *mut RegionPlan {
    let plan = output(|plan| corecast_region_plan_create(plan));
    for channel in channels {
        let name = CString::new(*channel).expect("no zeroes");
        // SAFETY: a text, and no configuration.
        let added = unsafe { corecast_region_plan_add_ump(Some(object(plan)), name.as_ptr(), std::ptr::null()) };
        assert_eq!(added, Status::Ok, "{}", words());
    }
    plan
}

/// All zeroes but the size.
pub(crate) fn ump_config() -> UmpConfig {
    UmpConfig {
        size: size_of::<UmpConfig>(),
        slots: 0,
        credit: 0,
        longest_bytes: 0,
        wait: 0,
        reserved: 0,
        wake_cost_ns: 0,
    }
}

/// All zeroes but the size.
pub(crate) fn mcast_config() -> McastConfig {
    McastConfig {
        size: size_of::<McastConfig>(),
        slots: 0,
        inline_bytes: 0,
        longest_bytes: 0,
        readers: 0,
        senders: 0,
        delivery: 0,
        zero_readers: 0,
        wait: 0,
        reserved: 0,
        wake_cost_ns: 0,
    }
}
