//! Plans for clusters, as `plan --cluster` and `explain --cluster` make and show them.
//!
//! All figures are simulated from a cluster file: each form of the result says so and names the provenance of the parameters.
//!
//! - `args`: the options; `study`: the plan, its growth with the cluster and what goes into them; `json`, `text`: how it is
//!   told. The page is `report::cluster_page`;
//! - `measuring`: a cluster file of the nodes of a job; `opening`: why there is none.

mod args;
mod json;
mod measuring;
mod opening;
mod study;
mod text;

pub(crate) use args::{ClusterArgs, PlanArgs};
pub(crate) use measuring::measure;
pub(crate) use opening::open_failure;
pub(crate) use study::{Question, run};
