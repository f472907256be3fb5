//! Lower bounds for the cost of any tree.
//!
//! | what | how | how far from the optimum | time |
//! |---|---|---|---|
//! | [`quick_bound`] | shortest paths, and all pairs as cheap as the cheapest | 0 to 60 % | O(n^2) |
//! | [`lower_bound`] | Lagrangian relaxation | 0.2 % at 16 members | a second at 32 members, a minute at 128 |
//!
//! Both take a broadcast from a fixed root or from the best one. See `docs/design/bounds.md`.

mod budgets;
mod earnings;
mod grid;
mod hull;
mod lagrange;
mod network;
mod part_prices;
mod potential;
mod prices;
mod quick;
mod relaxed;
mod root;

pub(crate) use lagrange::lower_bound;
pub(crate) use part_prices::PartPrices;
pub(crate) use potential::Potential;
pub(crate) use quick::quick_bound;
