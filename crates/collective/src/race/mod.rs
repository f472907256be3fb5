//! A live race: the model proposes, the machine decides.
//!
//! The model under-predicts effects that it does not know, such as many readers of one line. So the candidates that it
//! ranks first run among the members themselves, threads or processes, beside controls that always run: the message tree,
//! the flat barrier and the ticket among barriers, and the cluster tree among those for broadcasts and for reductions. A
//! round is a block of operations of each, in an order drawn anew; a block's time is that of its slowest member. The
//! fastest candidate is used if it beats the fastest control clearly and not by chance; otherwise that control is used.
//!
//! `live` lets members race the candidates of their group, and `forms` those of an allreduce for each size class. `rounds`
//! decides the next round and the winner, `rank_test` what is chance. `cache` keeps the results for other programs, in the
//! form of `file`.

mod cache;
mod file;
mod forms;
mod live;
mod rank_test;
mod rounds;

pub(crate) use cache::{Kind, RaceCache};
#[cfg(not(loom))]
pub(crate) use file::RacesJson;
