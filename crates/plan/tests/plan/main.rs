//! Tests of the plan crate from outside: golden trees, properties of every shape, oracles, published measurements.

mod golden;
mod machines;
