//! Members of groups over several machines.

use std::ffi::c_void;

use corecast_c::cluster::*;
use corecast_c::member::*;
use corecast_c::number::{Number, Op};
use corecast_c::split::*;
use corecast_c::status::Status;

use crate::calling::{object, output, owned, status, words};
use crate::members::{group, run};

fn config(members: u32) -> ClusterConfig {
    ClusterConfig { size: size_of::<ClusterConfig>(), members, wait: 0, timeout_ns: 0 }
}

#[test]
fn a_member_of_one_machine_has_no_nodes() {
    run(group(2), |me| {
        let told = status(|place| corecast_cluster_info(Some(me), place));
        assert_eq!(told, Status::Unsupported);
    });
}

#[test]
fn impossible_settings_are_refused() {
    // SAFETY: a configuration.
    let told = status(|cluster| unsafe { corecast_cluster_open(&config(5000), cluster) });
    assert_eq!(told, Status::InvalidArgument);
    assert!(words().contains("config.members"), "{}", words());
}

/// Without a launcher an MPI library has one node.
#[test]
fn a_cluster_of_one_node_adds_up() {
    let mut given = std::mem::MaybeUninit::uninit();
    // SAFETY: a configuration, and room for the cluster.
    let told = unsafe { corecast_cluster_open(&config(1), Some(&mut given)) };
    if told == Status::System {
        return corecast_testing::skipped("a cluster of one node", words());
    }
    assert_eq!(told, Status::Ok, "{}", words());
    // SAFETY: a call that succeeds writes its output.
    let cluster: *mut Cluster = unsafe { given.assume_init() };
    let me: *mut Member = output(|me| corecast_cluster_join(Some(object(cluster)), 0, me));
    let mut sums = [5_u64, 7];
    let first = sums.as_mut_ptr().cast::<c_void>();
    // SAFETY: two numbers.
    let told = unsafe { corecast_member_allreduce(Some(object(me)), first, 2, Number::Uint64 as u32, Op::Sum as u32) };
    assert_eq!((told, sums), (Status::Ok, [5, 7]), "{}", words());
    assert_eq!(corecast_member_barrier(Some(object(me))), Status::Ok);
    let place = output(|place| corecast_cluster_info(Some(object(me)), place));
    assert_eq!([place.nodes, place.node, place.members_here, place.rank_here], [1, 0, 1, 0]);
    let told = status(|part| corecast_member_split(Some(object(me)), 0, 0, part));
    assert_eq!(told, Status::Unsupported, "{}", words());
    corecast_member_leave(owned(me));
    corecast_cluster_close(owned(cluster));
}
