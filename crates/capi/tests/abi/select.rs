//! Receiving from any of several channels.

use std::mem::MaybeUninit;

use corecast_c::ff::{corecast_ff_create, corecast_ff_sender_close, corecast_ff_sender_send};
use corecast_c::mcast::corecast_mcast_create;
use corecast_c::mcast::sender::*;
use corecast_c::message::Message;
use corecast_c::region::{Region, corecast_region_close};
use corecast_c::select::*;
use corecast_c::status::Status;
use corecast_c::ump::receiver::corecast_ump_receiver_open;
use corecast_c::ump::sender::{
    UmpSender, corecast_ump_sender_close, corecast_ump_sender_open, corecast_ump_sender_send,
};

use crate::calling::{bytes, heap_region, object, output, owned, status, words};

struct Fixture {
    region: *mut Region,
    select: *mut Select,
    senders: [*mut UmpSender; 2],
}

impl Fixture {
    fn new() -> Self {
        let region = heap_region(&["a", "b"]);
        let select = output(|select| corecast_select_create(0, select));
        let senders = [c"a", c"b"].map(|name| {
            // SAFETY: texts.
            let receiver =
                output(|end| unsafe { corecast_ump_receiver_open(Some(object(region)), name.as_ptr(), end) });
            output(|number| corecast_select_add_ump(Some(object(select)), owned(receiver), number));
            // SAFETY: texts.
            output(|end| unsafe { corecast_ump_sender_open(Some(object(region)), name.as_ptr(), end) })
        });
        Self { region, select, senders }
    }

    fn select(&self) -> Option<&mut Select> {
        Some(object(self.select))
    }

    fn send(&self, channel: usize, message: &[u8]) {
        let sender = Some(object(self.senders[channel]));
        // SAFETY: bytes and their number.
        let sent = unsafe { corecast_ump_sender_send(sender, message.as_ptr().cast(), message.len()) };
        assert_eq!(sent, Status::Ok);
    }

    /// The number of a channel, and its message or status.
    fn recv(&self) -> (u32, Result<Vec<u8>, Status>) {
        let mut message = MaybeUninit::uninit();
        let mut number = MaybeUninit::new(u32::MAX);
        let status = corecast_select_try_recv(self.select(), Some(&mut number), Some(&mut message));
        // SAFETY: a call that succeeds writes the message.
        let received = (status == Status::Ok).then(|| bytes(unsafe { message.assume_init() }));
        // SAFETY: initialised above.
        (unsafe { number.assume_init() }, received.ok_or(status))
    }

    fn recv_from(&self, numbers: &[u32]) -> Result<Vec<u8>, Status> {
        let (mut number, mut message) = (MaybeUninit::uninit(), MaybeUninit::<Message>::uninit());
        let (first, count) = (numbers.as_ptr(), numbers.len());
        let outputs = (Some(&mut number), Some(&mut message));
        // SAFETY: numbers and how many they are.
        let status =
            unsafe { corecast_select_recv_from_timeout_ns(self.select(), first, count, 1000, outputs.0, outputs.1) };
        // SAFETY: a call that succeeds writes its outputs.
        if status == Status::Ok { Ok(bytes(unsafe { message.assume_init() })) } else { Err(status) }
    }

    fn end(self) {
        corecast_select_destroy(owned(self.select));
        corecast_region_close(owned(self.region));
    }
}

#[test]
fn any_channel_is_received_from_and_ends_are_told() {
    let fixture = Fixture::new();
    assert_eq!(fixture.recv(), (u32::MAX, Err(Status::Empty)));
    fixture.send(1, b"from b");
    assert_eq!(fixture.recv(), (1, Ok(b"from b".to_vec())));
    fixture.send(0, b"from a");
    corecast_ump_sender_close(owned(fixture.senders[0]));
    assert_eq!(fixture.recv(), (0, Ok(b"from a".to_vec())));
    assert_eq!(fixture.recv(), (0, Err(Status::Closed)));
    assert_eq!(fixture.recv(), (u32::MAX, Err(Status::Empty)), "b is still open");
    corecast_ump_sender_close(owned(fixture.senders[1]));
    assert_eq!(fixture.recv(), (1, Err(Status::Closed)));
    assert_eq!(fixture.recv(), (u32::MAX, Err(Status::NoneLeft)));
    fixture.end();
}

#[test]
fn a_subset_is_received_from() {
    let fixture = Fixture::new();
    fixture.send(0, b"from a");
    assert_eq!(fixture.recv_from(&[1]), Err(Status::Timeout));
    assert_eq!(fixture.recv_from(&[1, 0]), Ok(b"from a".to_vec()));
    assert_eq!(fixture.recv_from(&[2]), Err(Status::InvalidArgument));
    assert_eq!(words(), "argument 'numbers': 2 is the number of no channel");
    assert_eq!(fixture.recv_from(&[]), Err(Status::NoneLeft));
    assert_eq!(corecast_select_remove(fixture.select(), 0), Status::Ok);
    assert_eq!(corecast_select_remove(fixture.select(), 0), Status::InvalidArgument);
    assert_eq!(
        fixture.recv_from(&[1, 0]),
        Err(Status::InvalidArgument),
        "no subset with a removed channel is remembered"
    );
    fixture.senders.into_iter().for_each(|sender| corecast_ump_sender_close(owned(sender)));
    fixture.end();
}

#[test]
fn a_descriptor_tells_of_messages() {
    let fixture = Fixture::new();
    let fd = output(|fd| corecast_select_fd(fixture.select(), fd));
    assert_eq!(output(|fd| corecast_select_fd(fixture.select(), fd)), fd, "always the same");
    assert!(!output(|is_ready| corecast_select_arm(fixture.select(), is_ready)));
    fixture.send(1, b"x");
    // SAFETY: the descriptor is open for as long as the select is.
    let fd = unsafe { std::os::fd::BorrowedFd::borrow_raw(fd) };
    let mut polled = [rustix::event::PollFd::new(&fd, rustix::event::PollFlags::IN)];
    assert_eq!(rustix::event::poll(&mut polled, None), Ok(1));
    assert!(output(|is_ready| corecast_select_arm(fixture.select(), is_ready)), "there is a message");
    assert_eq!(fixture.recv(), (1, Ok(b"x".to_vec())));
    fixture.senders.into_iter().for_each(|sender| corecast_ump_sender_close(owned(sender)));
    fixture.end();
}

#[test]
fn kinds_of_channels_mix() {
    let fixture = Fixture::new();
    // SAFETY: no configuration.
    let sender = output(|end| unsafe { corecast_mcast_create(std::ptr::null(), end) });
    let reader = output(|end| corecast_mcast_sender_subscribe(Some(object(sender)), 0, 0, end));
    assert_eq!(output(|number| corecast_select_add_mcast(fixture.select(), owned(reader), number)), 2);
    // SAFETY: four bytes.
    let sent = unsafe { corecast_mcast_sender_send(Some(object(sender)), b"to all".as_ptr().cast(), 6) };
    assert_eq!(sent, Status::Ok);
    assert_eq!(fixture.recv(), (2, Ok(b"to all".to_vec())));
    let mut words = MaybeUninit::uninit();
    // SAFETY: no configuration.
    let receiver = output(|end| unsafe { corecast_ff_create(std::ptr::null(), Some(&mut words), end) });
    // SAFETY: a call that succeeds writes its outputs.
    let words = unsafe { words.assume_init() };
    assert_eq!(output(|number| corecast_select_add_ff(fixture.select(), owned(receiver), number)), 3);
    assert_eq!(corecast_ff_sender_send(Some(object(words)), 0x1234), Status::Ok);
    assert_eq!(fixture.recv(), (3, Ok(0x1234_u64.to_ne_bytes().to_vec())));
    corecast_ff_sender_close(owned(words));
    assert_eq!(fixture.recv(), (3, Err(Status::Closed)));
    fixture.send(0, b"to one");
    assert_eq!(fixture.recv(), (0, Ok(b"to one".to_vec())));
    corecast_mcast_sender_close(owned(sender));
    assert_eq!(fixture.recv(), (2, Err(Status::Closed)));
    fixture.senders.into_iter().for_each(|sender| corecast_ump_sender_close(owned(sender)));
    fixture.end();
}

#[test]
fn a_receiver_that_could_not_be_added_stays_the_callers() {
    let region = heap_region(&["a"]);
    // SAFETY: texts.
    let receiver = output(|end| unsafe { corecast_ump_receiver_open(Some(object(region)), c"a".as_ptr(), end) });
    assert_eq!(status(|number| corecast_select_add_ump(None, owned(receiver), number)), Status::InvalidArgument);
    assert_eq!(words(), "argument 'select': is NULL");
    corecast_c::ump::receiver::corecast_ump_receiver_close(owned(receiver));
    corecast_region_close(owned(region));
}
