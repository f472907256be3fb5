//! Replicated state: parameters that came later.

use std::ffi::{CString, c_char};
use std::mem::offset_of;

use corecast_c::replica::node::*;
use corecast_c::status::Status;

use crate::calling::{output, owned, status, words};
use crate::replica::{config, create, machine, sum};

/// A pointer that nobody may follow.
const NOWHERE: *const c_char = std::ptr::without_provenance(1);

/// A program of the first version passes no field behind `folder`.
#[test]
fn later_parameters_are_taken_and_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = CString::new(folder.path().to_str().expect("UTF-8")).expect("a text");
    let durable = ReplicaConfig { folder: folder.as_ptr(), snapshot_every: 4096, machine: c"".as_ptr(), ..config() };
    let first = output(|to| create(&durable, &machine(sum()), to));
    corecast_replica_close(owned(first));
    let old = ReplicaConfig { size: offset_of!(ReplicaConfig, snapshot_every), machine: NOWHERE, ..config() };
    corecast_replica_close(owned(output(|to| create(&old, &machine(sum()), to))));
    let often = ReplicaConfig { snapshot_every: 4095, ..config() };
    assert_eq!(status(|to| create(&often, &machine(sum()), to)), Status::InvalidArgument);
    assert!(words().contains("a snapshot every 4095 bytes"), "{}", words());
    let missing = ReplicaConfig { machine: c"no/model".as_ptr(), ..config() };
    assert_eq!(status(|to| create(&missing, &machine(sum()), to)), Status::NotFound, "{}", words());
}
