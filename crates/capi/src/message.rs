//! A message as C sees it: bytes where they lie.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;

use corecast::channel::{Bytes, BytesMut};

/// A received message. It stays where it is, and as it is, until it is released.
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

/// Tells C where a message is. Where no slice of it can be had it is copied, and the copy stays with the message.
#[inline]
pub(crate) fn tell(to: &mut MaybeUninit<Message>, bytes: &Bytes<'_>, copy: &mut Vec<u8>, number: u64) {
    let data = match bytes.as_slice() {
        Some(slice) => slice.as_ptr(),
        None => {
            *copy = bytes.to_vec();
            copy.as_ptr()
        }
    };
    to.write(Message { data: data.cast(), len: bytes.len(), number });
}

/// Where C is to write a message. Where readers may look before it is sent, it is written elsewhere and copied.
#[inline]
pub(crate) fn room(mut bytes: BytesMut<'_>, copy: &mut Vec<u8>) -> *mut c_void {
    let len = bytes.len();
    let data = match bytes.as_mut_slice() {
        Some(slice) => slice.as_mut_ptr(),
        None => {
            copy.resize(len, 0);
            copy.as_mut_ptr()
        }
    };
    if len == 0 { ptr::null_mut() } else { data.cast() }
}
