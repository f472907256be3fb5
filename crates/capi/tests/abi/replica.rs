//! Replicated state: two nodes of one process, with a sum in C's manner.

use std::ffi::{CString, c_int, c_void};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use corecast::base::sync::{AtomicU64, Ordering};
use corecast_c::replica::machine::*;
use corecast_c::replica::node::*;
use corecast_c::replica::session::*;
use corecast_c::replica::status::*;
use corecast_c::status::Status;

use crate::calling::{Out, object, output, owned, status, words};

const SECOND: u64 = 1_000_000_000;
/// The function apply fails at this operation.
const BAD: u64 = 666;
/// The function query refuses this question.
const ODD: &[u8] = b"odd";

/// The state: a sum. Only this library's locking keeps threads apart, so it is an atomic for the sake of Rust alone.
type Sum = AtomicU64;

/// A sum to be replicated, which outlives the test's replicas.
pub(crate) fn sum() -> &'static Sum {
    Box::leak(Box::new(Sum::new(0)))
}

fn state<'a>(state: *const c_void) -> &'a Sum {
    // SAFETY: the tests pass a sum that lives for ever.
    unsafe { &*state.cast::<Sum>() }
}

fn number(data: *const c_void, len: usize) -> Option<u64> {
    // SAFETY: the library passes as many bytes as it says.
    let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), len) };
    bytes.try_into().ok().map(u64::from_ne_bytes)
}

fn write(to: *mut ReplicaOutput, number: u64) -> c_int {
    let bytes = number.to_ne_bytes();
    // SAFETY: the library passes an output that nobody else uses meanwhile.
    let to = unsafe { to.as_mut() };
    // SAFETY: the bytes are there.
    let written = unsafe { corecast_replica_output_write(to, bytes.as_ptr().cast(), bytes.len()) };
    written as c_int
}

unsafe extern "C" fn apply(
    sum: *mut c_void,
    _index: u64,
    op: *const c_void,
    len: usize,
    result: *mut ReplicaOutput,
) -> c_int {
    let Some(by) = number(op, len).filter(|&by| by != BAD) else { return 1 };
    // ORDERING: Relaxed, the library calls this alone
    write(result, state(sum).fetch_add(by, Ordering::Relaxed) + by)
}

unsafe extern "C" fn query(
    sum: *const c_void,
    question: *const c_void,
    len: usize,
    answer: *mut ReplicaOutput,
) -> c_int {
    // SAFETY: the library passes as many bytes as it says.
    if unsafe { std::slice::from_raw_parts(question.cast::<u8>(), len) } == ODD {
        return 7;
    }
    // ORDERING: Relaxed, nothing changes it meanwhile
    write(answer, state(sum).load(Ordering::Relaxed))
}

unsafe extern "C" fn digest(sum: *const c_void) -> ReplicaDigest {
    // ORDERING: Relaxed, nothing changes it meanwhile
    ReplicaDigest { low: state(sum).load(Ordering::Relaxed), high: 1 }
}

unsafe extern "C" fn snapshot(sum: *const c_void, to: *mut ReplicaOutput) {
    // ORDERING: Relaxed, nothing changes it meanwhile
    write(to, state(sum).load(Ordering::Relaxed));
}

unsafe extern "C" fn restore(sum: *mut c_void, snapshot: *const c_void, len: usize) -> c_int {
    let Some(found) = number(snapshot, len) else { return 1 };
    // ORDERING: Relaxed, the library calls this alone
    state(sum).store(found, Ordering::Relaxed);
    0
}

unsafe extern "C" fn refuse(_sum: *mut c_void, _snapshot: *const c_void, _len: usize) -> c_int {
    1
}

pub(crate) fn machine(sum: &'static Sum) -> ReplicaMachine {
    ReplicaMachine {
        size: size_of::<ReplicaMachine>(),
        state: std::ptr::from_ref(sum).cast_mut().cast(),
        apply: Some(apply),
        query: Some(query),
        digest: Some(digest),
        snapshot: Some(snapshot),
        restore: Some(restore),
        kind: c"sum".as_ptr(),
    }
}

pub(crate) fn config() -> ReplicaConfig {
    ReplicaConfig {
        size: size_of::<ReplicaConfig>(),
        slots: 4,
        placement: 0,
        window: 1024,
        bulk_bytes: 1 << 16,
        wait: 0,
        fsync: 0,
        patience_ns: 0,
        joining_ns: 0,
        folder: std::ptr::null(),
        snapshot_every: 0,
        machine: std::ptr::null(),
    }
}

pub(crate) fn create(config: &ReplicaConfig, machine: &ReplicaMachine, to: Out<'_, *mut Replica>) -> Status {
    // SAFETY: parameters that have their size set.
    unsafe { corecast_replica_create(config, machine, to) }
}

fn attach_fd(fd: c_int, machine: &ReplicaMachine, to: Out<'_, *mut Replica>) -> Status {
    // SAFETY: parameters that have their size set.
    unsafe { corecast_replica_attach_fd(fd, &config(), machine, to) }
}

/// A descriptor of the group.
fn shared(replica: *mut Replica) -> OwnedFd {
    let fd = output(|fd| corecast_replica_share_fd(Some(object(replica)), fd));
    // SAFETY: given by the call above, and closed once.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Two members of a group, each with its own sum.
fn two() -> [*mut Replica; 2] {
    let first = output(|to| create(&config(), &machine(sum()), to));
    let fd = shared(first);
    [first, output(|to| attach_fd(fd.as_raw_fd(), &machine(sum()), to))]
}

fn close(group: [*mut Replica; 2]) {
    group.into_iter().for_each(|replica| corecast_replica_close(owned(replica)));
}

fn opened(replica: *mut Replica) -> *mut ReplicaSession {
    output(|session| corecast_replica_session_open(Some(object(replica)), session))
}

fn execute(session: *mut ReplicaSession, op: &[u8], to: Out<'_, ReplicaResult>) -> Status {
    // SAFETY: the bytes are there.
    unsafe { corecast_replica_session_execute(Some(object(session)), op.as_ptr().cast(), op.len(), to) }
}

/// Adds, and returns the sum and the place in the log.
#[track_caller]
fn add(session: *mut ReplicaSession, by: u64) -> (u64, u64) {
    let result = output(|result| execute(session, &by.to_ne_bytes(), result));
    (number(result.data, result.len).expect("a sum"), result.index)
}

/// The status of a read, the answer as far as there is room, its length, and the count it shows.
fn read(replica: *mut Replica, level: u32, index: u64, question: &[u8]) -> (Status, [u8; 8], usize, u64) {
    let (mut answer, mut len, mut shown) = ([0_u8; 8], MaybeUninit::new(0), MaybeUninit::new(0));
    let (to, capacity) = (answer.as_mut_ptr().cast(), answer.len());
    let (data, bytes) = (question.as_ptr().cast(), question.len());
    // SAFETY: the bytes are there, and the buffer is as long as it is said to be.
    let status = unsafe {
        corecast_replica_read(
            Some(object(replica)),
            level,
            index,
            data,
            bytes,
            to,
            capacity,
            Some(&mut len),
            Some(&mut shown),
        )
    };
    // SAFETY: written above.
    let len = unsafe { len.assume_init() };
    // SAFETY: the same.
    (status, answer, len, unsafe { shown.assume_init() })
}

#[track_caller]
fn sum_at(replica: *mut Replica, level: ReplicaLevel, index: u64) -> u64 {
    let (status, answer, len, _) = read(replica, level as u32, index, &[]);
    assert_eq!((status, len), (Status::Ok, 8), "{}", words());
    u64::from_ne_bytes(answer)
}

fn status_of(replica: *mut Replica) -> ReplicaStatus {
    let mut found = ReplicaStatus { size: size_of::<ReplicaStatus>(), ..ReplicaStatus::default() };
    // SAFETY: a struct that has its size set.
    let status = unsafe { corecast_replica_read_status(Some(object(replica)), &mut found) };
    assert_eq!(status, Status::Ok, "{}", words());
    found
}

#[test]
fn two_replicas_add_and_both_see_it() {
    let group = two();
    let sessions = group.map(opened);
    for round in 1..=50 {
        assert_eq!(add(sessions[0], 1).0, 2 * round - 1);
        let (sum, index) = add(sessions[1], 1);
        assert_eq!(sum, 2 * round);
        assert_eq!(sum_at(group[0], ReplicaLevel::Linearizable, 0), sum);
        assert_eq!(sum_at(group[1], ReplicaLevel::AtLeast, index), sum);
        assert_eq!(sum_at(group[1], ReplicaLevel::Local, 0), sum);
    }
    let found = group.map(status_of);
    assert!(found.iter().all(|one| one.members == 2 && one.is_member == 1 && one.applied >= 100), "{found:?}");
    assert!(found.iter().any(|one| one.node == found[0].leader), "{found:?}");
    sessions.into_iter().for_each(|session| corecast_replica_session_close(owned(session)));
    close(group);
}

#[test]
fn a_node_that_joins_later_has_the_state_and_one_that_leaves_is_gone() {
    let first = output(|to| create(&config(), &machine(sum()), to));
    let session = opened(first);
    assert_eq!(add(session, 41).0, 41);
    let fd = shared(first);
    let second = output(|to| attach_fd(fd.as_raw_fd(), &machine(sum()), to));
    assert_eq!(sum_at(second, ReplicaLevel::Linearizable, 0), 41);
    assert_eq!(corecast_replica_leave(Some(object(first))), Status::Ok, "{}", words());
    let (expelled, words) = (status(|result| execute(session, &1_u64.to_ne_bytes(), result)), words());
    assert_eq!((expelled, words.ends_with("is no longer a member")), (Status::Expelled, true), "{words}");
    let other = opened(second);
    assert_eq!(add(other, 1).0, 42);
    assert_eq!(status_of(second).leader, status_of(second).node);
    for session in [session, other] {
        corecast_replica_session_close(owned(session));
    }
    for replica in [first, second] {
        corecast_replica_close(owned(replica));
    }
}

#[test]
fn a_pipeline_and_resuming() {
    let group = two();
    let session = opened(group[1]);
    let one = 1_u64.to_ne_bytes();
    let start = |request: Out<'_, u32>| {
        // SAFETY: the bytes are there.
        unsafe { corecast_replica_session_start(Some(object(session)), one.as_ptr().cast(), one.len(), request) }
    };
    let queue = |request: Out<'_, u32>| {
        let (data, len) = (one.as_ptr().cast(), one.len());
        // SAFETY: the bytes are there.
        unsafe { corecast_replica_session_queue_timeout_ns(Some(object(session)), data, len, SECOND, request) }
    };
    let mut numbers = [0; 4];
    let mut unanswered = |capacity| {
        let session = Some(object(session));
        // SAFETY: there is room for four.
        let read = |count: Out<'_, usize>| unsafe {
            corecast_replica_session_read_unanswered(session, numbers.as_mut_ptr(), capacity, count)
        };
        (output(read), numbers)
    };
    assert_eq!(unanswered(0), (0, [0; 4]));
    let requests: Vec<u32> = (0..16).map(|at| if at % 2 == 0 { output(start) } else { output(queue) }).collect();
    assert_eq!(requests, Vec::from_iter(1..=16));
    assert_eq!([status(start), status(queue)], [Status::Full; 2]);
    assert_eq!([unanswered(0), unanswered(3)], [(16, [0; 4]), (16, [1, 2, 3, 0])]);
    for (at, &request) in requests.iter().enumerate() {
        let result = output(|result| match at % 2 {
            0 => corecast_replica_session_resume(Some(object(session)), request, 10 * SECOND, result),
            _ => corecast_replica_session_finish_timeout_ns(Some(object(session)), request, 10 * SECOND, result),
        });
        assert_eq!(number(result.data, result.len), Some(at as u64 + 1));
    }
    assert_eq!(unanswered(4), (0, [1, 2, 3, 0]));
    let again = status(|result| corecast_replica_session_resume(Some(object(session)), 3, SECOND, result));
    assert_eq!(again, Status::Unknown, "its result was taken");
    assert_eq!(sum_at(group[0], ReplicaLevel::Linearizable, 0), 16);
    corecast_replica_session_close(owned(session));
    close(group);
}

#[test]
fn a_replica_catches_up_and_tells_if_it_does_not() {
    let group = two();
    let session = opened(group[0]);
    let (sum, index) = add(session, 3);
    let catch_up = |level: ReplicaLevel, index, limit| {
        corecast_replica_catch_up_timeout_ns(Some(object(group[1])), level as u32, index, limit)
    };
    assert_eq!(catch_up(ReplicaLevel::AtLeast, index, 10 * SECOND), Status::Ok, "{}", words());
    assert_eq!(sum_at(group[1], ReplicaLevel::Local, 0), sum);
    assert_eq!(catch_up(ReplicaLevel::Linearizable, 0, 10 * SECOND), Status::Ok, "{}", words());
    assert_eq!(catch_up(ReplicaLevel::AtLeast, index + 1000, 1), Status::Lagging);
    corecast_replica_session_close(owned(session));
    close(group);
}

#[test]
fn a_number_is_told_when_the_time_is_up() {
    let group = two();
    let session = opened(group[0]);
    let (one, mut request) = (1_u64.to_ne_bytes(), MaybeUninit::new(0));
    let outcome = status(|result| {
        let data = one.as_ptr().cast();
        // SAFETY: the bytes are there.
        unsafe {
            corecast_replica_session_execute_timeout_ns(
                Some(object(session)),
                data,
                one.len(),
                0,
                Some(&mut request),
                result,
            )
        }
    });
    // SAFETY: written above.
    let request = unsafe { request.assume_init() };
    assert_eq!(request, 1);
    if outcome == Status::Unknown {
        let resume =
            |result: Out<'_, _>| corecast_replica_session_resume(Some(object(session)), 1, 10 * SECOND, result);
        output(resume);
    }
    assert_eq!(sum_at(group[1], ReplicaLevel::Linearizable, 0), 1, "once");
    corecast_replica_session_close(owned(session));
    close(group);
}

#[test]
fn a_checkpoint_is_compared_and_written() {
    let group = two();
    let session = opened(group[0]);
    add(session, 77);
    let file = tempfile::tempfile().expect("a file");
    let taken =
        output(|taken| corecast_replica_take_checkpoint(Some(object(group[1])), file.as_raw_fd(), 10 * SECOND, taken));
    assert_eq!((taken.answers, taken.diverged), (2, 0));
    assert_eq!(file.metadata().expect("a size").len(), taken.bytes);
    let nowhere = output(|taken| corecast_replica_take_checkpoint(Some(object(group[1])), -1, 10 * SECOND, taken));
    assert_eq!((nowhere.bytes, nowhere.index > taken.index), (0, true), "no state is written");
    corecast_replica_session_close(owned(session));
    close(group);
}

#[test]
fn functions_that_fail_are_told() {
    let group = two();
    let (refused, _, _, _) = read(group[0], ReplicaLevel::Local as u32, 0, ODD);
    let told = "argument 'question': the function query returned 7".to_owned();
    assert_eq!((refused, words()), (Status::InvalidArgument, told));
    let fd = shared(group[0]);
    let deaf = ReplicaMachine { restore: Some(refuse), ..machine(sum()) };
    assert_eq!(status(|to| attach_fd(fd.as_raw_fd(), &deaf, to)), Status::Mismatch, "{}", words());
    let session = opened(group[0]);
    let poisoned = status(|result| execute(session, &BAD.to_ne_bytes(), result));
    assert_eq!(poisoned, Status::Poisoned, "{}", words());
    corecast_replica_session_close(owned(session));
    close(group);
}

/// Programs with other states find out when they join, and not by operations that mean something else.
#[test]
fn kinds_of_state_are_told_apart() {
    let first = output(|to| create(&config(), &machine(sum()), to));
    let fd = shared(first);
    let attach = |machine: ReplicaMachine| status(|to| attach_fd(fd.as_raw_fd(), &machine, to));
    for kind in [c"product".as_ptr(), c"".as_ptr(), std::ptr::null()] {
        assert_eq!(attach(ReplicaMachine { kind, ..machine(sum()) }), Status::Mismatch);
        assert!(words().contains("it replicates another state"), "{}", words());
    }
    // A program of a version that knew no kinds.
    let size = std::mem::offset_of!(ReplicaMachine, kind);
    assert_eq!(attach(ReplicaMachine { size, ..machine(sum()) }), Status::Mismatch);
    let second = output(|to| attach_fd(fd.as_raw_fd(), &machine(sum()), to));
    assert_eq!(status_of(second).members, 2);
    close([first, second]);
}

/// Of two programs of such a version, and of those that pass NULL, both have the kind "".
#[test]
fn no_kind_is_a_kind() {
    let size = std::mem::offset_of!(ReplicaMachine, kind);
    let first = output(|to| create(&config(), &ReplicaMachine { size, ..machine(sum()) }, to));
    let fd = shared(first);
    let nameless = ReplicaMachine { kind: std::ptr::null(), ..machine(sum()) };
    let second = output(|to| attach_fd(fd.as_raw_fd(), &nameless, to));
    close([first, second]);
}

#[test]
fn wrong_arguments_are_named() {
    let refused =
        |config: ReplicaConfig, machine: ReplicaMachine| (status(|to| create(&config, &machine, to)), words());
    let (good_config, good) = (config(), machine(sum()));
    let told = (Status::InvalidArgument, "argument 'machine.apply': is NULL".to_owned());
    assert_eq!(refused(good_config, ReplicaMachine { apply: None, ..good }), told);
    let told = (Status::InvalidArgument, "argument 'config.placement': is 2, not one of 0 to 1".to_owned());
    assert_eq!(refused(ReplicaConfig { placement: 2, ..good_config }, good), told);
    assert_eq!(refused(ReplicaConfig { window: 1000, ..good_config }, good).0, Status::InvalidArgument);
    assert_eq!(refused(ReplicaConfig { slots: 1024, ..good_config }, good).0, Status::InvalidArgument);
    let replica = output(|to| create(&good_config, &good, to));
    let (level, ..) = read(replica, 3, 0, &[]);
    assert_eq!((level, words()), (Status::InvalidArgument, "argument 'level': is 3, not one of 0 to 2".to_owned()));
    let mut unsized_status = ReplicaStatus::default();
    // SAFETY: a struct that has a size, if a wrong one.
    let told = unsafe { corecast_replica_read_status(Some(object(replica)), &mut unsized_status) };
    assert_eq!(told, Status::InvalidArgument);
    // SAFETY: NULL is refused.
    let told = unsafe { corecast_replica_read_status(Some(object(replica)), std::ptr::null_mut()) };
    assert_eq!((told, words()), (Status::InvalidArgument, "argument 'status': is NULL".to_owned()));
    let session = opened(replica);
    let large = vec![0; (1 << 16) + 1];
    assert_eq!(status(|result| execute(session, &large, result)), Status::TooLarge, "{}", words());
    corecast_replica_session_close(owned(session));
    corecast_replica_close(owned(replica));
    corecast_replica_close(None);
}

#[test]
fn a_group_that_has_files_starts_from_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = CString::new(folder.path().join("files").to_str().expect("text")).expect("no zeroes");
    let config = ReplicaConfig { folder: path.as_ptr(), ..config() };
    for expected in [5, 10] {
        let replica = output(|to| create(&config, &machine(sum()), to));
        let session = opened(replica);
        assert_eq!(add(session, 5).0, expected);
        corecast_replica_session_close(owned(session));
        corecast_replica_close(owned(replica));
    }
}

#[test]
fn a_group_has_a_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = CString::new(folder.path().join("sockets").to_str().expect("text")).expect("no zeroes");
    let (name, config, machine) = (c"sum", config(), machine(sum()));
    let named = |to: Out<'_, *mut Replica>| {
        // SAFETY: texts, and parameters that have their size set.
        unsafe { corecast_replica_create_named(path.as_ptr(), name.as_ptr(), &config, &machine, to) }
    };
    let attached = |to: Out<'_, *mut Replica>| {
        // SAFETY: the same.
        unsafe { corecast_replica_attach(path.as_ptr(), name.as_ptr(), &config, &machine, to) }
    };
    assert_eq!(status(attached), Status::NotFound);
    let first = output(named);
    assert_eq!(status(named), Status::Exists);
    let second = output(attached);
    assert_eq!(status_of(second).members, 2);
    for replica in [second, first] {
        corecast_replica_close(owned(replica));
    }
}
