//! The parts that all preload objects share.
//!
//! A preload object is a shared library that `LD_PRELOAD` puts before the libraries of a program. It exports functions of
//! the same names, serves some calls itself, and passes the others on. Everything here runs inside foreign programs, before
//! their `main` and in their signal-free hot paths: nothing allocates, takes a lock or prints unless it says so.
//!
//! - [`Real`], [`RealOfCallers`]: the function behind ours, found once, or once for each object that calls;
//! - [`unload`]: `dlclose`, after which the second of these looks again;
//! - [`Settings`]: what the environment asks for, read once;
//! - [`Operation`], [`Statistics`]: what was served, and the table of it that is written at exit;
//! - [`is_watched`]: whether ThreadSanitizer has to see what the program does;
//! - [`Errno`]: `errno` as the caller left it;
//! - [`withdraw`], [`first_variable`]: out of the way of the C library's functions, while the loader still works.

mod by_caller;
mod caller;
mod environment;
mod errno;
mod glob;
mod real;
mod settings;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod start;
mod statistics;
mod watched;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod withdraw;

pub use by_caller::RealOfCallers;
pub use caller::unload;
pub use environment::variable;
pub use errno::Errno;
pub use real::Real;
pub use settings::{Family, Settings};
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
pub use start::{Text, first_variable};
pub use statistics::{Operation, Statistics};
pub use watched::is_watched;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
pub use withdraw::withdraw;
