//! The object as programs meet it: C programs, and some from packages, with it and each lock of the registry.
//!
//! The programs in `tests/c` check themselves; each is also run without the object, so that they are right about the C library.

mod launches;
mod object;
mod posix;
mod programs;
mod servers;
mod settings;
