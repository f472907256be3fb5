//! The library as a user meets it: through the facade, on the machine the tests run on.

mod group_on_this_machine;
mod plan_service;
mod plan_to_group;
mod processes;
mod transactions;
