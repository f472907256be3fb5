//! A stream of events from any member through the C interface.

use std::ffi::c_void;
use std::ptr;
use std::sync::{Barrier, Mutex};

use corecast_c::atomic_stream::*;
use corecast_c::group::*;
use corecast_c::member::*;
use corecast_c::status::Status;

use crate::calling::{object, output, owned, status, words};
use crate::members::{group, run};

/// Publisher and bytes of each event, in the order of delivery.
type Seen = Vec<(u32, Vec<u8>)>;

unsafe extern "C" fn deliver(seen: *mut c_void, _: u64, origin: u32, data: *const c_void, len: usize) {
    // SAFETY: the context of the calls below.
    let seen = unsafe { seen.cast::<Seen>().as_mut() }.expect("given");
    // SAFETY: that many bytes, as the header says.
    seen.push((origin, unsafe { std::slice::from_raw_parts(data.cast::<u8>(), len) }.to_vec()));
}

#[test]
fn all_deliver_the_events_of_all_in_one_order() {
    const EVENTS: usize = 200;
    let group = group(3);
    let orders = Mutex::new(Vec::new());
    run(group, |me| {
        let rank = corecast_member_rank(Some(me));
        let mut seen = Seen::new();
        let context: *mut c_void = ptr::from_mut(&mut seen).cast();
        let stream = output(|stream| corecast_atomic_stream_open(Some(me), stream));
        let to = || Some(object(stream));
        for i in 0..EVENTS {
            let event = vec![i as u8; 10 * (i % 50)];
            let (data, len) = (event.as_ptr().cast(), event.len());
            if rank == 2 {
                // SAFETY: bytes and their number.
                while unsafe { corecast_atomic_stream_try_publish(to(), data, len) } == Status::Full {
                    // SAFETY: a function that takes this context.
                    output(|count| unsafe { corecast_atomic_stream_deliver(to(), Some(deliver), context, count) });
                    assert_eq!(corecast_atomic_stream_progress(to()), Status::Ok);
                }
            } else {
                // SAFETY: bytes and their number, and a function that takes this context.
                let told = unsafe { corecast_atomic_stream_publish(to(), data, len, Some(deliver), context) };
                assert_eq!(told, Status::Ok);
            }
        }
        // SAFETY: a function that takes this context.
        assert_eq!(unsafe { corecast_atomic_stream_finish(to(), Some(deliver), context) }, Status::Ok);
        assert_eq!(corecast_atomic_stream_progress(to()), Status::InvalidArgument);
        assert_eq!(words(), "it has been ended, and can only be closed");
        corecast_atomic_stream_close(owned(stream));
        assert_eq!(corecast_member_barrier(Some(me)), Status::Ok);
        orders.lock().expect("nobody panics").push(seen);
    });
    let orders = orders.into_inner().expect("nobody panics");
    assert!(orders.iter().all(|order| order == &orders[0]));
    for rank in 0..3 {
        let own: Vec<&Vec<u8>> =
            orders[0].iter().filter(|(origin, _)| *origin == rank).map(|(_, event)| event).collect();
        assert!(own.iter().enumerate().all(|(i, event)| **event == vec![i as u8; 10 * (i % 50)]));
        assert_eq!(own.len(), EVENTS);
    }
    corecast_group_destroy(owned(group));
}

#[test]
fn a_stream_closed_before_its_end_makes_the_group_fail() {
    let group = group(2);
    let opened = Barrier::new(2);
    run(group, |me| {
        let stream = output(|stream| corecast_atomic_stream_open(Some(me), stream));
        opened.wait();
        if corecast_member_rank(Some(me)) == 1 {
            corecast_atomic_stream_close(owned(stream));
            return;
        }
        let mut seen = Seen::new();
        let context = ptr::from_mut(&mut seen).cast();
        // SAFETY: a function that takes this context.
        let told = unsafe { corecast_atomic_stream_finish(Some(object(stream)), Some(deliver), context) };
        assert_eq!((told, words().contains("member 1 left")), (Status::Lost, true), "{}", words());
        corecast_atomic_stream_close(owned(stream));
        assert_eq!(corecast_member_lost(Some(me)), 1);
    });
    corecast_group_destroy(owned(group));
}

#[test]
fn wrong_arguments_are_named() {
    let group = group(1);
    let me = output(|member| corecast_group_join(Some(object(group)), 0, member));
    assert_eq!(corecast_atomic_stream_open(Some(object(me)), None), Status::InvalidArgument);
    assert_eq!(status(|stream| corecast_atomic_stream_open(None, stream)), Status::InvalidArgument);
    let stream = output(|stream| corecast_atomic_stream_open(Some(object(me)), stream));
    let to = || Some(object(stream));
    assert_eq!(status(|stream| corecast_atomic_stream_open(Some(object(me)), stream)), Status::InvalidArgument);
    // SAFETY: NULL is refused.
    assert_eq!(unsafe { corecast_atomic_stream_try_publish(to(), ptr::null(), 1) }, Status::InvalidArgument);
    assert_eq!(words(), "argument 'data': is NULL");
    // SAFETY: a function that is missing is refused.
    let told = unsafe { corecast_atomic_stream_finish(to(), None, ptr::null_mut()) };
    assert_eq!((told, words()), (Status::InvalidArgument, "argument 'deliver': is NULL".to_owned()));
    let mut seen = Seen::new();
    // SAFETY: a function that takes this context.
    let told = unsafe { corecast_atomic_stream_finish(to(), Some(deliver), ptr::from_mut(&mut seen).cast()) };
    assert_eq!((told, seen), (Status::Ok, Seen::new()));
    corecast_atomic_stream_close(owned(stream));
    corecast_atomic_stream_close(None);
    corecast_member_leave(owned(me));
    corecast_group_destroy(owned(group));
}
