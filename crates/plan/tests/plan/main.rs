//! Tests of the plan crate from outside: golden trees, properties of every shape, oracles, published measurements.

mod barriers;
mod captured;
mod cluster;
mod cluster_published;
mod degenerate;
mod golden;
mod machines;
mod optimum;
mod oracle;
mod properties;
mod published;
mod search;
