//! The plan service: plans for a machine model over a local socket, JSON in and out.
//!
//! Take it where many programs on one machine want plans: they share one model, one cache of plans and one budget of
//! searches. It is never needed, since every program can plan in process, and a program whose service does not answer
//! should do that. A [`Server`] listens on a Unix stream socket that only its user may open; a [`Client`] asks. One
//! request is one line, and so is its answer; `docs/json/service.md` describes both for other programs.
//!
//! - [`PlanRequest`], [`MachineSource`], [`TermsChoice`]: requests; [`parse_request`] reads them from untrusted text;
//! - [`Server`], [`Options`], [`Stopper`]: answering, in one thread per client;
//! - [`Client`], [`ServedPlan`], [`ServiceError`]: the client, and the check of its answers like a file from elsewhere;
//!   [`read_plan`]: that check for a plan from elsewhere;
//! - [`ServiceStatus`], [`Catalogue`], [`Refusal`]: the other answers;
//! - [`default_path`]: where a service listens unless told otherwise.
//!
//! Both sides wait with a deadline, so neither can be held by the other. A blocked client costs the server one thread
//! and at most [`MAX_LINE_BYTES`], for no longer than the idle timeout.
//!
//! ```
//! use std::time::Duration;
//! use corecast_base::CpuId;
//! use corecast_machine::{Cpu, Machine, Topology};
//! use corecast_plan::service::{Client, Options, PlanRequest, Server};
//! use corecast_plan::{Operation, Problem};
//!
//! let cpus = (0..4).map(|id| Cpu::flat(CpuId::new(id))).collect();
//! let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
//! let problem = Problem::of_machine(&machine)?;
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("plan.sock");
//! let server = Server::bind(&path, machine, Options::default())?;
//! let stopper = server.stopper();
//! std::thread::scope(|scope| {
//!     let serving = scope.spawn(|| server.serve());
//!     let mut client = Client::connect(&path, Duration::from_secs(10))?;
//!     let plan = client.plan(&PlanRequest::new(Operation::Broadcast), &problem)?;
//!     assert_eq!(plan.predicted, 210.0);
//!     stopper.stop();
//!     serving.join().expect("serving ends")?;
//!     Ok::<(), Box<dyn std::error::Error>>(())
//! })?;
//! assert!(!path.exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod client;
mod gate;
mod line;
mod options;
mod plan_cache;
mod plan_service;
mod protocol;
mod readiness;
mod served_plan;
mod server;
mod session;
mod socket;
mod tally;
mod version;

pub use answer::{Catalogue, Named, Refusal, RefusalKind, ServiceStatus};
pub use client::{Client, ServiceError};
pub use line::MAX_LINE_BYTES;
pub use options::Options;
pub use protocol::{MachineSource, PlanRequest, Question, TermsChoice, parse_request};
pub use readiness::Stopper;
pub use served_plan::{ServedPlan, Unfit, read_plan};
pub use server::Server;
pub use socket::{BindError, FolderError, default_path};
pub use version::VERSION;
