//! The report: one HTML page that needs nothing but itself, and pictures that stand alone.
//!
//! `render` makes the page, [`render_race`] one about a race alone, `race_picture` and `plan_picture` a picture
//! each, from what the caller has measured, planned and raced (`ReportInput`); none reads or writes anything. Why it looks
//! as it does: `docs/design/report.md`.
//!
//! - `page`: the whole page, with the sections `head`, `costs`, `trees`, `races` and `how_to_read`, a file each;
//! - `heat_map`, `heat_scale`, `cluster`, `distance`: what messages cost, as pictures and as a table;
//! - `tree_layout`, `tree_picture`, `tree_table`, `timeline`, `plan_picture`: the plans, in space and in time;
//! - `predictions`: what races found beside what the model had predicted;
//! - `ranking`, `race_chart`, `race_picture`, `verdict`: who is how fast; `curves`: with more members or longer values;
//!   `rings`: acknowledged broadcasts, one and many; `race_page`: a page about all that;
//! - `coherence_map`, `coherence_page`: what operations on lines in every state cost;
//! - `throughput`: what threads get done, against their number; `flips_section`, `readers_section`: parts of
//!   `locks_page`; `table_page`, `atomics_page`, `messages_page`: pages about that;
//! - `cluster_page`, `cluster_rows`, `node_tree`: a plan for a cluster;
//! - `svg`, `axis`, `labels`, `line_chart`, `plain_table`, `gates`, `published`, `ramp`, `palette`, `number`: how things are
//!   drawn, coloured and written.

pub mod axis;
mod cluster;
pub(crate) mod cluster_page;
pub(crate) mod cluster_rows;
mod costs;
mod curves;
mod distance;
#[cfg(test)]
pub mod example;
pub mod frame;
pub mod gates;
mod head;
mod heat_map;
pub mod heat_scale;
mod how_to_read;
mod input;
mod labels;
pub mod line_chart;
mod node_tree;
pub mod number;
mod page;
pub mod palette;
mod panels;
pub mod plain_table;
mod plan_picture;
mod predictions;
mod race_chart;
mod race_layout;
mod race_page;
mod race_picture;
mod races;
pub mod ramp;
mod ranking;
mod rings;
pub mod svg;
#[cfg(test)]
mod tests;
mod timeline;
mod topo_picture;
mod tree_layout;
mod tree_picture;
mod tree_table;
mod trees;
mod verdict;
mod widths;

pub(crate) use cluster::Clusters;
pub(crate) use input::{PlannedTree, ReportInput, SMELT};
pub(crate) use page::render;
pub(crate) use plan_picture::plan_picture;
pub use race_page::render_race;
pub(crate) use race_picture::race_picture;
