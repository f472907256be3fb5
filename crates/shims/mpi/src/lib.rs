//! `libcorecast_mpi.so`: a preload object that serves MPI's barrier, broadcast, reductions and allgather within a node.
//!
//! It stands before Open MPI, MPICH, Intel MPI or a library of the MPI 5 ABI, and knows at run time which one it is. Calls on
//! communicators whose ranks are all on this machine go to a group of processes of [`corecast::processes`]; all others, and
//! everything that all ranks do not see alike, go to the library's own `PMPI_` function. `docs/design/shim-mpi.md` has the
//! rules by which that is decided.
//!
//! From below:
//!
//! - `settings`, `statistics`: what the environment asks for, and what is told at exit;
//! - `library`: the MPI library, its functions and constants;
//! - `lengths`: the table of lengths that are left to the library;
//! - `datatype`, `class`: size and layout of a datatype, and the operations that take it;
//! - `communicator`: the group behind a communicator, kept as its attribute, and how it is set up;
//! - `operation`: the served operations;
//! - `exports`, `fortran`: the functions that programs call.

mod class;
mod communicator;
mod datatype;
mod exports;
mod fortran;
mod lengths;
mod library;
mod operation;
mod settings;
mod statistics;
