//! Regions made, found and left.

use std::ffi::{CString, c_char};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::ptr;

use corecast_c::message::Message;
use corecast_c::region::*;
use corecast_c::region_plan::*;
use corecast_c::status::Status;
use corecast_c::ump::corecast_region_plan_add_ump;
use corecast_c::ump::receiver::*;
use corecast_c::ump::sender::*;

use crate::calling::{Out, bytes, heap_region, object, output, owned, status, ump_plan, words};

/// A directory for regions and sockets that is removed at the end.
struct Directory {
    path: CString,
    _parent: tempfile::TempDir,
}

impl Directory {
    fn new() -> Self {
        let parent = tempfile::tempdir().expect("a temporary folder");
        let path = CString::new(parent.path().join("of-corecast").as_os_str().as_bytes()).expect("no zeroes");
        Self { path, _parent: parent }
    }

    fn path(&self) -> *const c_char {
        self.path.as_ptr()
    }
}

fn participants(region: *mut Region) -> Vec<Participant> {
    let mut found = [MaybeUninit::<Participant>::uninit(); 8];
    let (first, capacity) = (found.as_mut_ptr().cast(), found.len());
    // SAFETY: an array and its length.
    let count = output(|count| unsafe { corecast_region_participants(Some(object(region)), first, capacity, count) });
    // SAFETY: this number of them was written, and no test has more than fit.
    found[..count].iter().map(|who| unsafe { who.assume_init() }).collect()
}

/// Sends through one attachment and receives through another.
fn exchange(from: *mut Region, to: *mut Region) {
    // SAFETY: texts.
    let sender = output(|end| unsafe { corecast_ump_sender_open(Some(object(from)), c"orders".as_ptr(), end) });
    // SAFETY: texts.
    let receiver = output(|end| unsafe { corecast_ump_receiver_open(Some(object(to)), c"orders".as_ptr(), end) });
    // SAFETY: two bytes.
    assert_eq!(unsafe { corecast_ump_sender_send(Some(object(sender)), b"hi".as_ptr().cast(), 2) }, Status::Ok);
    let message: Message = output(|message| corecast_ump_receiver_recv(Some(object(receiver)), message));
    assert_eq!(bytes(message), b"hi");
    corecast_ump_sender_close(owned(sender));
    corecast_ump_receiver_close(owned(receiver));
}

#[test]
fn a_named_region_is_found_and_goes_with_its_last_participant() {
    let (directory, plan) = (Directory::new(), ump_plan(&["orders"]));
    let create = |region: Out<'_, *mut Region>| {
        // SAFETY: texts.
        unsafe { corecast_region_create_named(directory.path(), c"shop".as_ptr(), Some(object(plan)), region) }
    };
    // SAFETY: texts.
    let open = |region: Out<'_, *mut Region>| unsafe {
        corecast_region_open_named(directory.path(), c"shop".as_ptr(), region)
    };
    assert_eq!(status(open), Status::NotFound, "{}", words());
    let first = output(create);
    assert_eq!(status(create), Status::Exists, "{}", words());
    let second = output(open);
    exchange(first, second);

    let found = participants(first);
    assert_eq!(found.iter().map(|who| (who.index, who.generation)).collect::<Vec<_>>(), [(0, 1), (1, 1)]);
    assert!(found.iter().all(|who| who.pid == std::process::id() && who.liveness == Liveness::Alive));
    corecast_region_close(owned(first));
    assert_eq!(participants(second).len(), 1);
    let liveness = |index| output(|known| corecast_region_liveness(Some(object(second)), index, 1, known));
    assert_eq!([liveness(0), liveness(1), liveness(9)], [Liveness::Left, Liveness::Alive, Liveness::Dead]);
    corecast_region_close(owned(second));
    assert_eq!(status(open), Status::NotFound, "the last one took the name away");
    // SAFETY: texts.
    assert_eq!(output(|count| unsafe { corecast_region_gc(directory.path(), count) }), 0);
    corecast_region_plan_destroy(owned(plan));
}

#[test]
fn a_hosted_region_is_found_by_its_name() {
    let (directory, plan) = (Directory::new(), ump_plan(&["orders"]));
    let host = |region: Out<'_, *mut Region>| {
        // SAFETY: texts.
        unsafe { corecast_region_host(directory.path(), c"shop".as_ptr(), Some(object(plan)), region) }
    };
    // SAFETY: texts.
    let connect =
        |region: Out<'_, *mut Region>| unsafe { corecast_region_connect(directory.path(), c"shop".as_ptr(), region) };
    assert_eq!(status(connect), Status::NotFound, "{}", words());
    let here = output(host);
    assert_eq!(status(host), Status::Exists, "{}", words());
    let there = output(connect);
    exchange(here, there);
    corecast_region_close(owned(here));
    corecast_region_close(owned(there));
    // SAFETY: texts.
    assert_eq!(output(|count| unsafe { corecast_region_gc_hosted(directory.path(), count) }), 0);
    corecast_region_plan_destroy(owned(plan));
}

#[test]
fn a_descriptor_opens_a_region() {
    let plan = ump_plan(&["orders"]);
    let here = output(|region| corecast_region_create_memfd(Some(object(plan)), region));
    let fd = output(|fd| corecast_region_share_fd(Some(object(here)), fd));
    let there = output(|region| corecast_region_open_fd(fd, region));
    // SAFETY: given by the call above, and closed once.
    drop(unsafe { <std::os::fd::OwnedFd as std::os::fd::FromRawFd>::from_raw_fd(fd) });
    exchange(here, there);
    for region in [here, there] {
        corecast_region_close(owned(region));
    }
    assert_eq!(status(|region| corecast_region_open_fd(-1, region)), Status::InvalidArgument);
    let null = std::fs::File::open("/dev/null").expect("there is one");
    let fd = std::os::fd::AsRawFd::as_raw_fd(&null);
    assert_eq!(status(|region| corecast_region_open_fd(fd, region)), Status::Mismatch, "{}", words());
    let heap = heap_region(&["orders"]);
    assert_eq!(status(|fd| corecast_region_share_fd(Some(object(heap)), fd)), Status::System);
    corecast_region_close(owned(heap));
    corecast_region_plan_destroy(owned(plan));
}

#[test]
fn plans_are_limited() {
    let plan = ump_plan(&["orders"]);
    let total = |bytes: Out<'_, u64>| corecast_region_plan_total_bytes(Some(object(plan)), bytes);
    assert!(output(total) > 4096);
    assert_eq!(corecast_region_plan_set_limit(Some(object(plan)), 100), Status::Ok);
    assert_eq!(status(total), Status::InvalidArgument, "{}", words());
    assert_eq!(corecast_region_plan_set_participants(Some(object(plan)), 2), Status::Ok);
    assert_eq!(corecast_region_plan_set_huge_pages(Some(object(plan))), Status::Ok);
    for count in [0, 1281] {
        assert_eq!(corecast_region_plan_set_participants(Some(object(plan)), count), Status::InvalidArgument);
    }
    // SAFETY: a text, and no configuration.
    let twice = unsafe { corecast_region_plan_add_ump(Some(object(plan)), c"orders".as_ptr(), ptr::null()) };
    assert_eq!((twice, words().as_str()), (Status::InvalidArgument, "channel 'orders' is declared twice"));
    corecast_region_plan_destroy(owned(plan));
}

#[test]
fn bad_names_are_told() {
    let (directory, plan) = (Directory::new(), ump_plan(&[]));
    for (name, rule) in [(c"", "empty"), (c"../a", "dot"), (c"a/b", "only letters"), (c"a\x01", "only letters")] {
        // SAFETY: texts.
        let named = status(|region| unsafe {
            corecast_region_create_named(directory.path(), name.as_ptr(), Some(object(plan)), region)
        });
        assert_eq!(named, Status::InvalidArgument);
        assert!(words().contains(rule), "{}", words());
        // SAFETY: texts, and no configuration.
        let added = unsafe { corecast_region_plan_add_ump(Some(object(plan)), name.as_ptr(), ptr::null()) };
        assert_eq!(added, Status::InvalidArgument);
    }
    corecast_region_plan_destroy(owned(plan));
}
