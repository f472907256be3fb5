//! Preload objects, which put corecast under programs that were not built with it: whether a program can be served, and how it is
//! started.
//!
//! - `family`, `objects`: what can be replaced, and where the objects lie;
//! - `elf`, `ld_cache`, `libraries`, `program_path`: a program's file and its libraries, read without starting anything;
//! - `obstacle`, `runtimes`, `openmp_entries`, `openmp_settings`, `verdict`: what stands in the way, what is there, and
//!   what would be served;
//! - `check`: all of that in one report;
//! - `preload`, `launch`: the environment in which a program is started.

pub(crate) mod check;
mod elf;
pub mod family;
pub(crate) mod launch;
mod ld_cache;
mod libraries;
mod objects;
mod obstacle;
mod openmp_entries;
mod openmp_settings;
mod preload;
pub(crate) mod program_path;
mod runtimes;
pub(crate) mod verdict;

pub use objects::{MissingObject, find};
