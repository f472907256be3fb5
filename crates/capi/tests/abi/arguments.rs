//! Refused arguments, and how the message names them.

use std::mem::MaybeUninit;
use std::ptr;

use corecast_c::mcast::{McastConfig, corecast_mcast_create};
use corecast_c::region::*;
use corecast_c::region_plan::*;
use corecast_c::select::*;
use corecast_c::status::Status;
use corecast_c::ump::receiver::*;
use corecast_c::ump::sender::*;
use corecast_c::ump::{UmpConfig, corecast_region_plan_add_ump, corecast_ump_create};

use crate::calling::{heap_region, mcast_config, object, output, owned, ump_config, ump_plan, words};

#[track_caller]
fn refused(status: Status, expected: &str) {
    assert_eq!((status, words().as_str()), (Status::InvalidArgument, expected));
}

#[test]
fn null_is_refused_by_name() {
    let is_null = |status, argument: &str| refused(status, &format!("argument '{argument}': is NULL"));
    is_null(corecast_region_plan_create(None), "plan");
    is_null(corecast_region_plan_set_limit(None, 0), "plan");
    is_null(corecast_region_create_heap(None, None), "plan");
    is_null(corecast_region_create_memfd(None, None), "plan");
    is_null(corecast_region_open_fd(0, None), "region");
    is_null(corecast_ump_sender_commit(None), "sender");
    is_null(corecast_ump_sender_abort(None), "sender");
    is_null(corecast_ump_sender_reserve(None, 1, None), "sender");
    is_null(corecast_ump_receiver_recv(None, None), "receiver");
    is_null(corecast_ump_receiver_release(None), "receiver");
    is_null(corecast_select_create(0, None), "select");
    is_null(corecast_select_recv(None, None, None), "select");
    is_null(corecast_select_release(None), "select");

    let region = heap_region(&["a"]);
    // SAFETY: NULL is allowed to be passed.
    is_null(
        unsafe { corecast_ump_sender_open(Some(object(region)), ptr::null(), Some(&mut MaybeUninit::uninit())) },
        "name",
    );
    // SAFETY: as above.
    is_null(unsafe { corecast_ump_receiver_open(Some(object(region)), c"a".as_ptr(), None) }, "receiver");
    // SAFETY: as above.
    let sender = output(|end| unsafe { corecast_ump_sender_open(Some(object(region)), c"a".as_ptr(), end) });
    // SAFETY: as above.
    is_null(unsafe { corecast_ump_sender_send(Some(object(sender)), ptr::null(), 1) }, "data");
    // SAFETY: as above.
    assert_eq!(unsafe { corecast_ump_sender_send(Some(object(sender)), ptr::null(), 0) }, Status::Ok, "no bytes");
    // SAFETY: as above.
    is_null(
        unsafe {
            corecast_region_participants(Some(object(region)), ptr::null_mut(), 1, Some(&mut MaybeUninit::uninit()))
        },
        "participants",
    );
    corecast_ump_sender_close(owned(sender));
    corecast_region_close(owned(region));
}

#[test]
fn nothing_is_ended_by_null() {
    corecast_region_plan_destroy(None);
    corecast_region_close(None);
    corecast_ump_sender_close(None);
    corecast_ump_receiver_close(None);
    corecast_select_destroy(None);
}

#[test]
fn configurations_are_checked_field_by_field() {
    let plan = ump_plan(&[]);
    let add = |config: UmpConfig| {
        // SAFETY: a text, and a configuration with its size.
        unsafe { corecast_region_plan_add_ump(Some(object(plan)), c"a".as_ptr(), &raw const config) }
    };
    refused(add(UmpConfig { size: 8, ..ump_config() }), "argument 'config': its size is 8, not sizeof of its type, 40");
    refused(
        add(UmpConfig { slots: (1 << 20) + 1, ..ump_config() }),
        "argument 'config.slots': is 1048577, not 0 to 1048576",
    );
    refused(add(UmpConfig { credit: 2, ..ump_config() }), "argument 'config.credit': is 2, not one of 0 to 1");
    refused(add(UmpConfig { wait: 9, ..ump_config() }), "argument 'config.wait': is 9, not one of 0 to 3");
    refused(add(UmpConfig { reserved: 1, ..ump_config() }), "argument 'config.reserved': is 1, not 0 to 0");
    let longest = "argument 'config.longest_bytes': is 16777209, not 0 to 16777208";
    refused(add(UmpConfig { longest_bytes: 16_777_209, ..ump_config() }), longest);
    let longest = "argument 'config.longest_bytes': is 57, not 0 to 56";
    refused(add(UmpConfig { credit: 1, longest_bytes: 57, ..ump_config() }), longest);
    assert_eq!(
        add(UmpConfig { slots: 3, longest_bytes: 100_000, wait: 3, wake_cost_ns: 5, ..ump_config() }),
        Status::Ok
    );
    corecast_region_plan_destroy(owned(plan));
    // SAFETY: no configuration, no outputs.
    refused(unsafe { corecast_ump_create(ptr::null(), None, None) }, "argument 'sender': is NULL");
    refused(corecast_select_create(4, None), "argument 'wait': is 4, not one of 0 to 3");
}

#[test]
fn configurations_of_many_readers_are_checked() {
    let create = |config: McastConfig| {
        // SAFETY: a configuration with its size.
        unsafe { corecast_mcast_create(&raw const config, None) }
    };
    refused(
        create(McastConfig { size: 0, ..mcast_config() }),
        "argument 'config': its size is 0, not sizeof of its type, 56",
    );
    refused(
        create(McastConfig { inline_bytes: 241, ..mcast_config() }),
        "argument 'config.inline_bytes': is 241, not 0 to 240",
    );
    refused(
        create(McastConfig { readers: 1025, ..mcast_config() }),
        "argument 'config.readers': is 1025, not 0 to 1024",
    );
    refused(create(McastConfig { senders: 257, ..mcast_config() }), "argument 'config.senders': is 257, not 0 to 256");
    refused(
        create(McastConfig { delivery: 2, ..mcast_config() }),
        "argument 'config.delivery': is 2, not one of 0 to 1",
    );
    refused(
        create(McastConfig { zero_readers: 2, ..mcast_config() }),
        "argument 'config.zero_readers': is 2, not one of 0 to 1",
    );
    refused(create(mcast_config()), "argument 'sender': is NULL");
    let huge = McastConfig { longest_bytes: 1 << 30, ..mcast_config() };
    let sender = Some(&mut MaybeUninit::uninit());
    // SAFETY: a configuration with its size.
    assert_eq!(unsafe { corecast_mcast_create(&raw const huge, sender) }, Status::InvalidArgument);
    assert!(words().starts_with("argument 'config': the channel would take 69"), "{}", words());
}
