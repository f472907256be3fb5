//! A message as C sees it: bytes where they lie.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;

use corecast::channel::{Bytes, BytesMut};

/// A received message, aligned to 8 bytes. It stays where it is, and as it is, until it is released.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Message {
    /// Its bytes; not to be read if there are none.
    pub data: *const c_void,
    /// How many there are.
    pub len: usize,
    /// Which of the open messages of its receiver it is. For the library.
    pub number: u64,
}

/// Why messages are available as slices.
const PROMISE: &str = "among threads, or in a region that was declared honest, or a copy";

/// Tells C where a message is.
#[inline]
pub(crate) fn tell(to: &mut MaybeUninit<Message>, bytes: &Bytes<'_>, number: u64) {
    let slice = bytes.as_slice().expect(PROMISE);
    to.write(Message { data: slice.as_ptr().cast(), len: slice.len(), number });
}

/// Where C is to write a message. If readers may look there before it is sent, C writes it elsewhere and it is copied.
#[inline]
pub(crate) fn room(mut bytes: BytesMut<'_>, copy: &mut Vec<u64>) -> *mut c_void {
    let len = bytes.len();
    let data: *mut c_void = match bytes.as_mut_slice() {
        Some(slice) => slice.as_mut_ptr().cast(),
        None => {
            copy.resize(len.div_ceil(size_of::<u64>()), 0);
            copy.as_mut_ptr().cast()
        }
    };
    if len == 0 { ptr::null_mut() } else { data }
}
