//! [`Text`], [`first_variable`]: the environment as it lies on the stack at the start of the process.
//!
//! For code that runs while the loader still relocates objects: the functions of other libraries cannot be called there, and
//! compilers put such calls in the place of loops over bytes. So bytes are read one by one, as if each could change.

use std::ffi::c_char;
use std::ptr;

/// A text that ends with a zero byte.
#[derive(Debug, Clone, Copy)]
pub struct Text(*const c_char);

impl Text {
    /// The text at this address.
    ///
    /// # Safety
    /// - A text is there, and stays.
    #[must_use]
    pub const unsafe fn at(address: *const c_char) -> Self {
        Self(address)
    }

    /// The byte at this place, which is not behind the end.
    fn byte(self, place: usize) -> u8 {
        // SAFETY: within the text.
        let at = unsafe { self.0.add(place) };
        // SAFETY: within the text.
        unsafe { at.read_volatile() }.cast_unsigned()
    }

    /// The rest behind `prefix`, if the text begins with that.
    #[must_use]
    pub fn behind(self, prefix: &[u8]) -> Option<Self> {
        for (place, &byte) in prefix.iter().enumerate() {
            if self.byte(place) != byte {
                return None;
            }
        }
        // SAFETY: no zero byte was among these, so it is still the text, or its end.
        Some(Self(unsafe { self.0.add(prefix.len()) }))
    }

    /// True if it is this text.
    #[must_use]
    pub fn is(self, text: &[u8]) -> bool {
        self.behind(text).is_some_and(Self::is_empty)
    }

    /// True if it has no bytes.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.byte(0) == 0
    }

    /// True if these bytes stand anywhere in it.
    #[must_use]
    pub fn contains(self, bytes: &[u8]) -> bool {
        let mut rest = self;
        while rest.behind(bytes).is_none() {
            if rest.is_empty() {
                return false;
            }
            // SAFETY: not at the end yet.
            rest = Self(unsafe { rest.0.add(1) });
        }
        true
    }
}

unsafe extern "C" {
    /// The loader's: where the process's stack began, with the number of arguments.
    static __libc_stack_end: *const usize;
}

/// The value that this variable had when the process started. Calls nothing and writes nothing.
#[must_use]
pub fn first_variable(name: &[u8]) -> Option<Text> {
    // SAFETY: written by the loader before it relocates anything.
    let start = unsafe { ptr::from_ref(&__libc_stack_end).read() };
    // SAFETY: the number of arguments; those and a null follow, and then the variables and a null.
    let arguments = unsafe { start.read() };
    // SAFETY: as above.
    let mut at = unsafe { start.add(arguments + 2) }.cast::<*const c_char>();
    loop {
        // SAFETY: as above.
        let variable = unsafe { at.read() };
        if variable.is_null() {
            return None;
        }
        // SAFETY: a text of the process's stack.
        let value = unsafe { Text::at(variable) }.behind(name).and_then(|rest| rest.behind(b"="));
        if value.is_some() {
            return value;
        }
        // SAFETY: not at the null yet.
        at = unsafe { at.add(1) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &std::ffi::CStr) -> Text {
        // SAFETY: a text, used while it is there.
        unsafe { Text::at(text.as_ptr()) }
    }

    #[test]
    fn texts_are_compared_byte_by_byte() {
        assert!(text(c"lock").is(b"lock") && !text(c"lock").is(b"loc") && !text(c"lock").is(b"locks"));
        assert!(text(c"").is(b"") && text(c"").is_empty() && !text(c"a").is_empty());
        assert!(text(c"omp,lock").contains(b"lock") && text(c"lock").contains(b"lock"));
        assert!(!text(c"omp,loc").contains(b"lock") && !text(c"").contains(b"lock") && text(c"").contains(b""));
        assert!(text(c"A=b").behind(b"A=").is_some_and(|rest| rest.is(b"b")));
    }

    #[test]
    fn variables_of_the_start_are_found_by_their_whole_name() {
        let Ok(path) = std::env::var("PATH") else { return };
        assert!(first_variable(b"PATH").is_some_and(|value| value.is(path.as_bytes())));
        assert!(first_variable(b"PAT").is_none() && first_variable(b"CORECAST_NO_SUCH_VARIABLE").is_none());
    }
}
