//! An atomic broadcast: any member publishes, all deliver the same events in the same order.
//!
//! An event is copied when it is published; one that is delivered is lent to C's function until that returns. The stream has
//! its member's place in the group until it is closed.

use std::ffi::c_void;

use corecast::collective::AtomicStream as Stream;

use crate::argument::required;
use crate::error::Failure;
use crate::member::Member;
use crate::opened::Opened;
use crate::status::Status;

/// One member's end of a stream of events from any member, which all deliver in one order. One thread at a time uses it.
///
/// All members open it together, and end it together. A member takes in, passes on and delivers within its calls only, and
/// keeps 64 events: a member that makes no call for long stops the stream. The delivering function makes no call with this
/// stream, and neither throws nor jumps; it may use the bytes until it returns.
#[derive(Debug)]
pub struct AtomicStream(Opened<Stream<'static>>);

/// A function that delivers an event: its number, the rank of the member that published it, its bytes.
pub type Deliver =
    Option<unsafe extern "C" fn(context: *mut c_void, number: u64, origin: u32, data: *const c_void, len: usize)>;

/// The caller's function as the library calls it.
fn delivering(deliver: Deliver, context: *mut c_void) -> Result<impl FnMut(u64, usize, &[u8]), Failure> {
    let deliver = required(deliver, "deliver")?;
    Ok(move |number, origin, bytes: &[u8]| {
        // SAFETY: the caller's function, called as the header says.
        unsafe { deliver(context, number, origin as u32, bytes.as_ptr().cast(), bytes.len()) };
    })
}

c_functions! {
    /// Opens a stream together with all other members. CORECAST_SYSTEM if the group's memory is used up.
    safe fn corecast_atomic_stream_open(member: &mut Member) -> (stream: new AtomicStream) {
        // SAFETY: the reference to the member is kept only in the returned object.
        AtomicStream(unsafe { Opened::open(member, |place| place.atomic_stream()) }?)
    }

    /// Closes the end; NULL is none. Its member can call other operations again. A stream that corecast_atomic_stream_finish has
    /// not ended makes the group fail.
    closing fn corecast_atomic_stream_close(stream: AtomicStream);

    /// Publishes an event, and returns when all of it has been sent. Events that must be delivered before there is room go to
    /// `deliver`.
    unsafe fn corecast_atomic_stream_publish(
        stream: &mut AtomicStream,
        data: bytes[len],
        deliver: Deliver,
        context: *mut c_void
    ) {
        let deliver = delivering(deliver, context)?;
        stream.0.with(|stream| stream.publish(data, deliver))?
    }

    /// The same without waiting, and without delivering: CORECAST_FULL if there is no room. Of an event of more than 500
    /// bytes only the first part need have room: the others are kept, and sent by the following calls, until which there is
    /// room for no other event.
    unsafe fn corecast_atomic_stream_try_publish(stream: &mut AtomicStream, data: bytes[len]) {
        if !stream.0.with(|stream| stream.try_publish(data))? {
            return Err(Failure::new(Status::Full, "the stream has no room for an event now"));
        }
    }

    /// Gives the events that are here to `deliver`, in order, without waiting; `count` is their number.
    unsafe fn corecast_atomic_stream_deliver(
        stream: &mut AtomicStream,
        deliver: Deliver,
        context: *mut c_void
    ) -> (count: u64) {
        let deliver = delivering(deliver, context)?;
        stream.0.with(|stream| stream.deliver(deliver))?
    }

    /// Takes in and passes on events without waiting, and delivers none.
    safe fn corecast_atomic_stream_progress(stream: &mut AtomicStream) {
        stream.0.with(Stream::progress)?
    }

    /// Ends the stream: returns when all members have called it and this one has delivered all published events. Then close
    /// it.
    unsafe fn corecast_atomic_stream_finish(stream: &mut AtomicStream, deliver: Deliver, context: *mut c_void) {
        let deliver = delivering(deliver, context)?;
        stream.0.end(|stream| stream.finish(deliver))?
    }
}
