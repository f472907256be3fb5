//! Making a group and joining it by its name and by a descriptor; being refused; forked children.

use corecast_base::rendezvous::SocketDir;
use corecast_replica::{ExecuteError, Level, OpenError, Placement, ReadError, Replicated};
use rustix::process::{Pid, WaitOptions, waitpid};

use crate::sum::Sum;
use crate::{NAME, add, attach, config, roles, sockets};

#[test]
fn a_group_is_found_by_its_name_and_by_a_descriptor() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let _first = roles::start("create", &folder, Placement::Separate);
    let node = attach(&folder, Placement::Separate);
    let _third = roles::start_by_fd("inherit", &node);
    let (mut session, mut sum) = (node.session().expect("a member"), 0);
    add(&mut session, &mut sum, 100);
    assert_eq!(node.status().members.len(), 3);
}

#[test]
fn of_two_creators_one_succeeds() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let actors = [0, 1].map(|_| roles::start("create", &folder, Placement::Separate));
    let joined = actors.iter().filter(|actor| actor.said == "joined as 0.1").count();
    let refused = actors.iter().filter(|actor| actor.said.starts_with("refused: ")).count();
    assert_eq!((joined, refused), (1, 1));
    let third = Replicated::create_named(&config(Placement::Separate), &sockets(&folder), NAME, Sum::default());
    assert!(matches!(third, Err(OpenError::Rendezvous(_))), "{third:?}");
}

#[test]
fn without_room_there_is_an_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let actor = roles::start("create in little memory", &folder, Placement::Separate);
    assert!(actor.said.starts_with("refused: "), "{}", actor.said);
}

/// The slot that it had claimed by then is free again, though its process lives.
#[test]
fn a_node_without_room_for_its_segment_is_told_and_may_try_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let _first = roles::start("create with large segments", &folder, Placement::Separate);
    let mut second = roles::start("attach in little memory and again", &folder, Placement::Separate);
    assert!(second.said.starts_with("refused: the segment of node 1 could not be used: "), "{}", second.said);
    assert_eq!(second.hear(), "joined as 1.2", "the group has two slots");
}

#[test]
fn another_user_is_refused_and_disturbs_nobody() {
    if !rustix::process::geteuid().is_root() {
        return corecast_testing::skipped("a replica of another user", "needs the right to become another user");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let node = Replicated::create_named(&config(Placement::Separate), &sockets(&folder), NAME, Sum::default());
    let node = node.expect("there is memory");
    let (mut session, mut sum) = (node.session().expect("a member"), 0);
    let by_name = roles::start("attach as another user", &folder, Placement::Separate);
    assert!(by_name.said.starts_with("refused: "), "{}", by_name.said);
    add(&mut session, &mut sum, 10);
    let by_fd = roles::start_by_fd("inherit as another user", &node);
    assert!(by_fd.said.starts_with("refused: "), "{}", by_fd.said);
    add(&mut session, &mut sum, 10);
    assert_eq!(node.status().members.len(), 1);
}

#[test]
fn names_that_fit_no_socket_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let config = config(Placement::Separate);
    let deep = SocketDir::at(folder.path().join("d".repeat(200)));
    for (dir, name) in
        [(sockets(&folder), "n".repeat(200)), (deep, "sum".to_owned()), (sockets(&folder), String::new())]
    {
        let created = Replicated::create_named(&config, &dir, &name, Sum::default());
        assert!(matches!(created, Err(OpenError::Rendezvous(_))), "{created:?}");
        let attached = Replicated::<Sum>::attach(&config, &dir, &name);
        assert!(matches!(attached, Err(OpenError::Rendezvous(_))), "{attached:?}");
    }
}

#[test]
fn a_forked_child_is_told_so_and_disturbs_nobody() {
    let node = Replicated::create(&config(Placement::Separate), Sum::default()).expect("there is memory");
    let (mut session, mut sum) = (node.session().expect("a member"), 0);
    add(&mut session, &mut sum, 10);
    // SAFETY: the child asks the node, which takes no lock there, and ends without unwinding.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let is_told = matches!(node.read(Level::Local, &()), Err(ReadError::Forked(_)))
            && matches!(session.execute(&1), Err(ExecuteError::Forked(_)))
            && matches!(node.clone().leave(), Err(ExecuteError::Forked(_)));
        // SAFETY: ends the child, running nothing of this program.
        unsafe { libc::_exit(i32::from(!is_told)) };
    }
    let (_, status) = waitpid(Pid::from_raw(child), WaitOptions::empty()).expect("our child").expect("waited for");
    assert_eq!(status.exit_status(), Some(0));
    add(&mut session, &mut sum, 10);
}
