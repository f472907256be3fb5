//! Hosted regions: guests, successors, strangers, and what is left when all have gone.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use corecast_base::region::{Liveness, RegionPlan, SharedRegion};
use corecast_base::rendezvous::{self, HostedRegion, RendezvousError, SocketDir};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use rustix::process::Signal;

use super::roles;
use super::{eventually, plan, region_dir};

fn socket_dir() -> (tempfile::TempDir, SocketDir) {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let dir = SocketDir::at(temporary.path().join("sockets"));
    (temporary, dir)
}

fn host(dir: &SocketDir) -> HostedRegion {
    rendezvous::host(dir, "play", SharedRegion::memfd(&plan()).expect("memory")).expect("a free name")
}

fn files(dir: &SocketDir) -> Vec<String> {
    let entries = fs::read_dir(dir.path()).expect("a directory");
    let mut files: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect();
    files.sort_unstable();
    files
}

#[test]
fn processes_meet_and_nothing_is_left() {
    let (_temporary, dir) = socket_dir();
    let host = host(&dir);
    let guests = ["connect", "connect"].map(|role| roles::start(role, &dir.path().display().to_string()));
    let seen = host.region().participants().expect("not forked");
    assert_eq!(seen.len(), 3);
    assert!(seen.iter().all(|who| who.liveness == Liveness::Alive), "{seen:?}");
    assert_eq!(files(&dir), ["play.lock", "play.sock"]);
    let mode = |path: &std::path::Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(dir.path()), mode(&dir.path().join("play.sock"))), (0o700, 0o600));
    let [killed, dismissed] = guests;
    killed.signal(Signal::KILL);
    dismissed.dismiss();
    // A process frees its locks and its sockets one after the other; the host looks at its sockets.
    eventually("the killed one has ended", || killed.state() == 'Z');
    let them = seen.iter().filter(|who| who.id != host.region().me()).map(|who| host.region().liveness(who.id));
    let mut ends: Vec<_> = them.clone().collect();
    eventually("one is dead", || {
        ends = them.clone().collect();
        ends.contains(&Liveness::Dead)
    });
    assert!(ends.contains(&Liveness::Left), "{ends:?}");
    drop(host);
    assert_eq!(files(&dir), [""; 0]);
    assert!(matches!(rendezvous::connect(&dir, "play"), Err(RendezvousError::NotFound(_))));
}

#[test]
fn a_member_takes_over_from_a_killed_host() {
    let (_temporary, dir) = socket_dir();
    let host = roles::start("host", &dir.path().display().to_string());
    let members = [(); 3].map(|()| rendezvous::connect(&dir, "play").expect("a host"));
    assert!(members.iter().all(|member| !member.is_host()));
    host.signal(Signal::KILL);
    eventually("one member hosts", || members.iter().filter(|member| member.is_host()).count() == 1);
    drop(host);
    let late = rendezvous::connect(&dir, "play").expect("the successor");
    assert_eq!(late.region().generation(), members[0].region().generation());
    let mut members = Vec::from(members);
    // The successor leaves in good order, and again one of the others takes over.
    let successor = members.iter().position(HostedRegion::is_host).expect("seen above");
    drop(members.swap_remove(successor));
    members.push(late);
    eventually("one member hosts", || members.iter().filter(|member| member.is_host()).count() == 1);
    drop(rendezvous::connect(&dir, "play").expect("the next successor"));
    drop(members);
    assert_eq!(files(&dir), [""; 0], "the last one takes it all away");
}

#[test]
fn a_stale_socket_is_replaced_and_a_living_host_is_not() {
    let (_temporary, dir) = socket_dir();
    let first = roles::start("host", &dir.path().display().to_string());
    let region = || SharedRegion::memfd(&plan()).expect("memory");
    let error = rendezvous::host(&dir, "play", region()).expect_err("hosted").to_string();
    assert!(error.ends_with("play.sock is hosted by another process"), "{error}");
    first.signal(Signal::KILL);
    drop(first);
    assert_eq!(files(&dir), ["play.lock", "play.sock"]);
    let second = rendezvous::host(&dir, "play", region()).expect("the host is dead");
    assert!(second.is_host());
    drop(second);
    assert_eq!(files(&dir), [""; 0]);
}

#[test]
fn gc_takes_the_sockets_of_the_dead() {
    let (_temporary, dir) = socket_dir();
    assert_eq!(rendezvous::gc(&dir).expect("no directory is no trouble"), [""; 0]);
    let dead = roles::start("host", &dir.path().display().to_string());
    let living = rendezvous::host(&dir, "living", SharedRegion::memfd(&plan()).expect("memory")).expect("a free name");
    fs::write(dir.path().join("notes.sock"), "no socket").expect("a file");
    let _other_program = std::os::unix::net::UnixListener::bind(dir.path().join("plan.sock")).expect("a free path");
    let error = rendezvous::host(&dir, "plan", SharedRegion::memfd(&plan()).expect("memory")).expect_err("not free");
    assert!(matches!(error, RendezvousError::Exists(_)), "{error}");
    assert_eq!(rendezvous::names(&dir).expect("our directory"), ["living", "play"]);
    assert_eq!(rendezvous::gc(&dir).expect("our directory"), [""; 0]);
    dead.signal(Signal::KILL);
    drop(dead);
    assert_eq!(rendezvous::gc(&dir).expect("our directory"), [dir.path().join("play.sock").display().to_string()]);
    assert_eq!(files(&dir), ["living.lock", "living.sock", "notes.sock", "plan.sock"]);
    assert!(rendezvous::connect(&dir, "living").is_ok() && living.is_host());
}

/// Connects, and then does nothing at all.
fn hang(dir: &SocketDir) -> OwnedFd {
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).expect("a socket");
    let address = SocketAddrUnix::new(dir.path().join("play.sock")).expect("short");
    connect(&socket, &address).expect("a host that accepts");
    socket
}

#[test]
fn guests_that_hang_or_shout_do_not_keep_others_out() {
    let (_temporary, dir) = socket_dir();
    let host = host(&dir);
    let hanging: Vec<_> = (0..200).map(|_| hang(&dir)).collect();
    for socket in &hanging {
        let flags = rustix::net::SendFlags::DONTWAIT | rustix::net::SendFlags::NOSIGNAL;
        while rustix::net::send(socket, &[0xff; 1000], flags).is_ok() {}
    }
    let guest = rendezvous::connect(&dir, "play").expect("served among the others");
    assert_eq!(host.region().liveness(guest.region().me()), Liveness::Alive);
}

#[test]
fn a_user_not_on_the_list_is_turned_away() {
    let (_temporary, dir) = socket_dir();
    let region = SharedRegion::memfd(&plan()).expect("memory");
    let host = rendezvous::host_for(&dir, "play", region, &[12_345]).expect("a free name");
    let error = rendezvous::connect(&dir, "play").expect_err("not on the list");
    assert!(matches!(error, RendezvousError::TurnedAway(_)), "{error}");
    assert_eq!(host.region().participants().expect("not forked").len(), 1);
}

#[test]
fn a_host_of_another_user_is_not_trusted() {
    let (_temporary, dir) = socket_dir();
    let _host = host(&dir);
    if !rustix::process::geteuid().is_root() {
        return corecast_testing::skipped("a host of another user", "needs the right to give files away");
    }
    std::os::unix::fs::chown(dir.path(), Some(12_345), None).expect("we are root");
    let error = rendezvous::connect(&dir, "play").expect_err("whose directory is this?");
    assert!(error.to_string().contains("a directory of user 12345, expected one of user 0"), "{error}");
    let error = rendezvous::connect(&dir.clone().owned_by(12_345), "play").expect_err("whose host is this?");
    assert!(error.to_string().contains("it is user 0, expected user 12345"), "{error}");
}

#[test]
fn an_observer_takes_no_slot() {
    let (_temporary, dir) = socket_dir();
    let host = host(&dir);
    let observer = rendezvous::observe(&dir, "play", Duration::from_secs(20)).expect("a host");
    assert_eq!(observer.entries(), host.region().entries());
    let seen = observer.participants().expect("not forked");
    assert_eq!((seen.len(), seen[0].liveness), (1, Liveness::Alive));
    drop(host);
    assert_eq!(files(&dir), [""; 0], "an observer does not inherit");
}

#[test]
fn only_memfds_are_handed_out_and_names_have_limits() {
    let (_temporary, dir) = socket_dir();
    let (_other, regions) = region_dir();
    let heap = SharedRegion::heap(&RegionPlan::new()).expect("memory");
    let named = SharedRegion::named(&regions, "named", &plan()).expect("a free name");
    for region in [heap, named] {
        let error = rendezvous::host(&dir, "play", region).expect_err("no memfd");
        assert!(matches!(error, RendezvousError::Unshareable(_)), "{error}");
    }
    let memfd = || SharedRegion::memfd(&plan()).expect("memory");
    let error = rendezvous::host(&dir, &"x".repeat(150), memfd()).expect_err("too long for a socket");
    assert!(matches!(error, RendezvousError::PathTooLong { max: 103, .. }), "{error}");
    for name in ["", "a/b", "..", &"x".repeat(256)] {
        assert!(matches!(rendezvous::host(&dir, name, memfd()), Err(RendezvousError::BadName(_))), "{name}");
        assert!(matches!(rendezvous::connect(&dir, name), Err(RendezvousError::BadName(_))), "{name}");
    }
}

#[test]
fn nothing_is_left_however_all_leave_at_once() {
    let (_temporary, dir) = socket_dir();
    for _ in 0..50 {
        let host = host(&dir);
        let members = [(); 3].map(|()| rendezvous::connect(&dir, "play").expect("a host"));
        std::thread::scope(|scope| {
            scope.spawn(|| drop(host));
            for member in members {
                scope.spawn(|| drop(member));
            }
        });
        assert_eq!(files(&dir), [""; 0]);
    }
}

#[test]
fn processes_of_another_user_meet_if_they_are_let_in() {
    if !rustix::process::geteuid().is_root() {
        return corecast_testing::skipped("processes of another user", "needs the right to become another user");
    }
    let (temporary, dir) = socket_dir();
    fs::set_permissions(temporary.path(), fs::Permissions::from_mode(0o755)).expect("our directory");
    let dir = dir.open_to_group();
    let region = SharedRegion::memfd(&plan()).expect("memory");
    let host = rendezvous::host_for(&dir, "play", region, &[12_345]).expect("a free name");
    let guest = roles::start("connect as another user", &dir.path().display().to_string());
    let seen = host.region().participants().expect("not forked");
    assert_eq!((seen.len(), seen[1].liveness), (2, Liveness::Alive), "{}", guest.said);
    guest.dismiss();
    assert_eq!(host.region().liveness(seen[1].id), Liveness::Left);
}

#[test]
fn a_guest_may_wait_for_its_host() {
    let (_temporary, dir) = socket_dir();
    let early = rendezvous::connect_timeout(&dir, "play", Duration::from_millis(5)).map(|_| ());
    assert!(matches!(early, Err(RendezvousError::NotFound(_))), "{early:?}");
    std::thread::scope(|scope| {
        let guest = scope.spawn(|| rendezvous::connect_timeout(&dir, "play", Duration::from_secs(20)));
        let host = rendezvous::host(&dir, "play", SharedRegion::memfd(&plan()).expect("memory")).expect("a free name");
        let guest = guest.join().expect("no panic").expect("a host came");
        assert_eq!(guest.region().generation(), host.region().generation());
        let late = rendezvous::connect_timeout(&dir, "play", Duration::ZERO).expect("a host that is there answers");
        let observer = late.region().observer().expect("a memfd");
        assert_eq!(observer.generation(), host.region().generation());
        assert_eq!(observer.participants().expect("no fork").len(), 3);
    });
}
