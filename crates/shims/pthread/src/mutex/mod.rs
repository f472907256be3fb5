//! `pthread_mutex_*` by any lock of the registry, and `pthread_cond_*` with them.
//!
//! From below:
//! - `object`: the forty bytes of a mutex, and what is ours in them;
//! - `records`: locks that do not fit there;
//! - `order`: an object that is used for the first time in this process;
//! - `lock`: taking and freeing;
//! - `cond`: condition variables with mutexes of ours;
//! - `functions`: the exported functions, and the choice of those behind them.

mod cond;
mod functions;
mod lock;
mod object;
mod order;
mod real;
mod records;

pub(crate) use functions::choose;
