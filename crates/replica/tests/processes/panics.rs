//! State machines that panic: one replica leaves, and if all panic, the group stops.

use corecast_replica::{ExecuteError, Placement};
use corecast_testing::actor::Actor;

use crate::sum::{PANIC, PANIC_IF_FRAGILE};
use crate::{add, attach, roles, write_until};

#[test]
fn a_replica_that_panics_alone_leaves() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let _first = roles::start("create", &folder, Placement::Separate);
    let mut fragile = roles::start("break", &folder, Placement::Separate);
    let node = attach(&folder, Placement::Separate);
    let (mut session, mut sum) = (node.session().expect("a member"), 0);
    add(&mut session, &mut sum, 10);
    assert_eq!(session.execute(&PANIC_IF_FRAGILE).expect("two replicas are well").0, 10);
    assert_eq!(fragile.hear(), "node 1.1 is no longer a member");
    fragile.dismiss();
    write_until(&node, &mut session, &mut sum, || node.status().members.len() == 2);
}

#[test]
fn a_group_whose_replicas_all_panic_stops() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut first = roles::start("create and tell the end", &folder, Placement::Separate);
    let mut other = roles::start("tell the end", &folder, Placement::Separate);
    let node = attach(&folder, Placement::Separate);
    let mut session = node.session().expect("a member");
    let told = session.execute(&PANIC);
    let Err(ExecuteError::Poisoned { index }) = told else { panic!("{told:?}") };
    for actor in [&mut first, &mut other] {
        assert_eq!(actor.hear(), format!("the group has stopped: all replicas panicked at command {index}"));
    }
    [first, other].into_iter().for_each(Actor::dismiss);
}
