//! OpenMP programs with the object preloaded, and without: both print the same.
//!
//! The programs are in `programs/`. Each checks what it computes, and runs in a process of its own with a time limit, so that a
//! barrier that hangs is a failure and not a test that never ends.

mod beside;
mod clang;
mod environment;
mod foreign;
mod gcc;
mod launch;
mod many_launches;
mod plugins;
mod sharing_tasks;
mod tools;
