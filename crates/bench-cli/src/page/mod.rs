//! The HTML pages that benchmarks write about their results: each is one file that needs no other.
//!
//! - `locks_page` with `flips_section` and `readers_section`, `table_page`, `tm_page`, `replica_page`, `atomics_page`, `messages_page`,
//!   `channels_page`, `coherence_page` with `coherence_map`: a page for each benchmark;
//! - `column_table`: the tables of the terminal; `throughput`: curves against the number of participants or a length;
//!   `published`: figures that others have published.

mod atomics_page;
mod channels_page;
mod coherence_map;
mod coherence_page;
mod column_table;
mod flips_section;
mod locks_page;
mod messages_page;
mod published;
mod readers_section;
mod replica_page;
mod table_page;
mod throughput;
mod tm_page;

pub(crate) use atomics_page::render_atomics;
pub(crate) use channels_page::render_channels;
pub(crate) use coherence_page::render_coherence;
pub(crate) use locks_page::render_locks;
pub(crate) use messages_page::render_messages;
pub(crate) use replica_page::render_replica;
pub(crate) use table_page::render_table;
pub(crate) use tm_page::render_tm;
