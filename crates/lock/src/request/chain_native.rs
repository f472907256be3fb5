//! The data that this thread runs closures on, one inside the other.

use std::cell::Cell;
use std::ptr;

struct Link {
    data: *const (),
    outer: *const Link,
}

corecast_base::per_thread! {
    static INNERMOST: Cell<*const Link> = const { Cell::new(ptr::null()) };
}

/// The state that ends when the innermost one does, also by a panic.
struct Unlink(*const Link);

impl Drop for Unlink {
    fn drop(&mut self) {
        INNERMOST.set(self.0);
    }
}

/// Calls `f` while this thread runs closures on `data`.
#[inline]
pub(crate) fn with<R>(data: *const (), f: impl FnOnce() -> R) -> R {
    let outer = INNERMOST.get();
    let link = Link { data, outer };
    INNERMOST.set(&raw const link);
    let _unlink = Unlink(outer);
    f()
}

/// Whether this thread runs closures on `data`.
#[inline]
pub(crate) fn has(data: *const ()) -> bool {
    let mut link = INNERMOST.get();
    // SAFETY: links lie in frames that are left after they are unlinked.
    while let Some(inner) = unsafe { link.as_ref() } {
        if inner.data == data {
            return true;
        }
        link = inner.outer;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_what_is_around_and_no_longer_than_that() {
        let (one, two) = (1u8, 2u8);
        let (one, two) = (ptr::from_ref(&one).cast(), ptr::from_ref(&two).cast());
        with(one, || {
            assert!(has(one) && !has(two));
            let inner = std::panic::catch_unwind(|| with(std::ptr::null(), || panic!("inside")));
            assert!(inner.is_err() && has(one) && !has(std::ptr::null()));
            with(two, || assert!(has(one) && has(two)));
            assert!(!std::thread::spawn(|| has(std::ptr::null())).join().expect("it looks"));
        });
        assert!(!has(one));
    }
}
