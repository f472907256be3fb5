//! Messages from one or several senders to all readers.

use std::mem::MaybeUninit;

use corecast_c::mcast::receiver::*;
use corecast_c::mcast::sender::*;
use corecast_c::mcast::{McastConfig, McastPolicy, corecast_mcast_create, corecast_region_plan_add_mcast};
use corecast_c::message::Message;
use corecast_c::region::{corecast_region_close, corecast_region_create_memfd};
use corecast_c::region_plan::corecast_region_plan_destroy;
use corecast_c::status::Status;

use crate::calling::{bytes, mcast_config, object, output, owned, status, ump_plan, words};

fn channel(config: McastConfig) -> *mut McastSender {
    // SAFETY: a configuration with its size.
    output(|sender| unsafe { corecast_mcast_create(&raw const config, sender) })
}

fn subscribe(sender: *mut McastSender, policy: McastPolicy) -> *mut McastReceiver {
    output(|reader| corecast_mcast_sender_subscribe(Some(object(sender)), policy as u32, 1_000_000, reader))
}

fn try_send(sender: *mut McastSender, message: &[u8]) -> Status {
    // SAFETY: bytes and their number.
    unsafe { corecast_mcast_sender_try_send(Some(object(sender)), message.as_ptr().cast(), message.len()) }
}

fn try_recv(reader: *mut McastReceiver) -> Result<Message, Status> {
    let mut message = MaybeUninit::uninit();
    let status = corecast_mcast_receiver_try_recv(Some(object(reader)), Some(&mut message));
    // SAFETY: a call that succeeds writes its output.
    if status == Status::Ok { Ok(unsafe { message.assume_init() }) } else { Err(status) }
}

fn release(reader: *mut McastReceiver, message: Message) -> Status {
    corecast_mcast_receiver_release(Some(object(reader)), Some(&message))
}

#[test]
fn all_readers_get_all_messages_and_release_them_in_any_order() {
    let sender = channel(McastConfig { slots: 8, longest_bytes: 1000, ..mcast_config() });
    let readers = [subscribe(sender, McastPolicy::Reliable), subscribe(sender, McastPolicy::Reliable)];
    let messages = [&b"one"[..], b"", &[7; 1000]];
    messages.iter().for_each(|message| assert_eq!(try_send(sender, message), Status::Ok));
    for reader in readers {
        let open: Vec<_> = messages.iter().map(|_| try_recv(reader).expect("a message")).collect();
        assert!(open.iter().zip(messages).all(|(message, sent)| bytes(*message) == sent), "all open at once");
        assert_eq!(open.iter().map(|message| message.number).collect::<Vec<_>>(), [0, 1, 2]);
        for at in [1, 0, 2] {
            assert_eq!(release(reader, open[at]), Status::Ok);
        }
        assert_eq!(release(reader, open[0]), Status::InvalidArgument);
        assert_eq!(words(), "argument 'message': is not open");
        assert_eq!(try_recv(reader).map(|_| ()), Err(Status::Empty));
    }
    let [gone, left] = readers;
    corecast_mcast_receiver_close(owned(gone));
    corecast_mcast_sender_close(owned(sender));
    assert_eq!(try_recv(left).map(|_| ()), Err(Status::Closed));
    corecast_mcast_receiver_close(owned(left));
}

#[test]
fn an_open_message_holds_the_senders_up() {
    let sender = channel(McastConfig { slots: 2, ..mcast_config() });
    let reader = subscribe(sender, McastPolicy::Reliable);
    assert_eq!(try_send(sender, b"1"), Status::Ok);
    assert_eq!(try_send(sender, b"2"), Status::Ok);
    let open = try_recv(reader).expect("a message");
    let data = output(|data| corecast_mcast_sender_reserve(Some(object(sender)), 1, data)).cast::<u8>();
    // SAFETY: one byte was reserved there.
    unsafe { data.write(b'3') };
    assert_eq!(corecast_mcast_sender_try_commit(Some(object(sender))), Status::Full);
    assert_eq!(release(reader, open), Status::Ok);
    assert_eq!(bytes(try_recv(reader).expect("a message")), b"2");
    assert_eq!(corecast_mcast_sender_commit(Some(object(sender))), Status::Ok, "still reserved");
    assert_eq!(bytes(try_recv(reader).expect("a message")), b"3");
    assert_eq!(corecast_mcast_sender_commit(Some(object(sender))), Status::InvalidArgument);
    corecast_mcast_receiver_close(owned(reader));
    corecast_mcast_sender_close(owned(sender));
}

#[test]
fn a_lossy_reader_is_told_what_it_missed() {
    let sender = channel(McastConfig { slots: 4, longest_bytes: 100, delivery: 1, ..mcast_config() });
    let reader = subscribe(sender, McastPolicy::Lossy);
    for n in 0..10_u8 {
        let data = output(|data| corecast_mcast_sender_reserve(Some(object(sender)), 100, data)).cast::<u8>();
        // SAFETY: these bytes were reserved there.
        unsafe { data.write_bytes(n, 100) };
        assert_eq!(corecast_mcast_sender_commit(Some(object(sender))), Status::Ok);
    }
    assert_eq!(try_recv(reader).map(|_| ()), Err(Status::Lagged));
    let missed = output(|count| corecast_mcast_receiver_missed(Some(object(reader)), count));
    assert_eq!(words(), format!("the reader fell behind and missed {missed} messages"));
    let got = std::iter::from_fn(|| {
        let message = try_recv(reader).ok()?;
        let first = bytes(message)[0];
        assert_eq!(bytes(message), [first; 100]);
        assert_eq!(release(reader, message), Status::Ok);
        Some(first)
    });
    assert_eq!(got.collect::<Vec<_>>(), (missed as u8..10).collect::<Vec<_>>());
    corecast_mcast_receiver_close(owned(reader));
    corecast_mcast_sender_close(owned(sender));
}

#[test]
fn places_are_limited_and_policies_fit_the_channel() {
    let sender = channel(McastConfig { readers: 1, senders: 2, ..mcast_config() });
    let reader = subscribe(sender, McastPolicy::Reliable);
    let again = status(|end| corecast_mcast_sender_subscribe(Some(object(sender)), 0, 0, end));
    assert_eq!(
        (again, words().as_str()),
        (Status::Taken, "the channel takes 1 readers at a time, and has all of them")
    );
    let other = output(|end| corecast_mcast_sender_clone(Some(object(sender)), end));
    assert_eq!(status(|end| corecast_mcast_sender_clone(Some(object(sender)), end)), Status::Taken);
    corecast_mcast_receiver_close(owned(reader));
    let lossy = status(|end| corecast_mcast_sender_subscribe(Some(object(sender)), 2, 0, end));
    assert_eq!(lossy, Status::Panic, "{}", words());
    let none = status(|end| corecast_mcast_sender_subscribe(Some(object(sender)), 3, 0, end));
    assert_eq!((none, words().as_str()), (Status::InvalidArgument, "argument 'policy': is 3, not one of 0 to 2"));
    corecast_mcast_sender_close(owned(other));
    corecast_mcast_sender_close(owned(sender));
}

#[test]
fn a_region_holds_mcast_channels() {
    let plan = ump_plan(&["other"]);
    let config = McastConfig { slots: 4, longest_bytes: 5000, ..mcast_config() };
    // SAFETY: a text, and a configuration with its size.
    let added = unsafe { corecast_region_plan_add_mcast(Some(object(plan)), c"news".as_ptr(), &raw const config) };
    assert_eq!(added, Status::Ok, "{}", words());
    let region = output(|region| corecast_region_create_memfd(Some(object(plan)), region));
    corecast_region_plan_destroy(owned(plan));
    // SAFETY: texts.
    let sender = output(|end| unsafe { corecast_mcast_sender_open(Some(object(region)), c"news".as_ptr(), end) });
    let open = |name: &std::ffi::CStr, policy| {
        // SAFETY: texts.
        status(|end| unsafe { corecast_mcast_receiver_open(Some(object(region)), name.as_ptr(), policy, 0, end) })
    };
    assert_eq!(open(c"other", 0), Status::Mismatch, "{}", words());
    let lossy = (open(c"news", 2), words());
    let why = "argument 'policy': channel 'news' never overwrites: its readers are reliable, not Lossy";
    assert_eq!(lossy, (Status::InvalidArgument, why.to_owned()));
    // SAFETY: texts.
    let reader =
        output(|end| unsafe { corecast_mcast_receiver_open(Some(object(region)), c"news".as_ptr(), 0, 0, end) });
    for len in [0, 48, 5000] {
        let data = output(|data| corecast_mcast_sender_reserve(Some(object(sender)), len, data)).cast::<u8>();
        if len > 0 {
            // SAFETY: these bytes were reserved there.
            unsafe { data.write_bytes(9, len) };
        }
        assert_eq!(corecast_mcast_sender_commit(Some(object(sender))), Status::Ok);
        let message = try_recv(reader).expect("a message");
        assert_eq!(message.len, len);
        assert!(bytes(message).iter().all(|&byte| byte == 9));
        assert_eq!(release(reader, message), Status::Ok);
    }
    assert_eq!(try_send(sender, &[0; 6000]), Status::TooLarge, "{}", words());
    corecast_mcast_sender_close(owned(sender));
    corecast_mcast_receiver_close(owned(reader));
    corecast_region_close(owned(region));
}
