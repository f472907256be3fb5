//! Sealed memory among processes.

use corecast_base::region::{Announcement, Forked, SealedMemory, SealedReader};
use corecast_base::sync::Ordering;
use corecast_testing::actor::{say, wait_for_dismissal};

use super::forks::in_child;
use super::{eventually, roles};

/// The role of a process that writes a word and says where.
pub(super) fn write_and_say_where() {
    let memory = SealedMemory::create(4096).expect("there is memory");
    memory.words().expect("not forked")[1].store(7, Ordering::Relaxed);
    let Announcement { pid, fd, identity } = memory.announcement();
    say(&format!("{pid} {fd} {identity}"));
    wait_for_dismissal();
}

/// The role of a process that cannot find memory, because /proc is not mounted.
pub(super) fn open_without_proc() {
    let memory = SealedMemory::create(4096).expect("there is memory");
    if !roles::hide_proc() {
        return say("may not hide /proc");
    }
    say(&SealedReader::open_announced(memory.announcement()).expect_err("no /proc").to_string());
    wait_for_dismissal();
}

fn said_by(actor: &corecast_testing::actor::Actor) -> Announcement {
    let mut words = actor.said.split(' ').map(|word| word.parse::<u64>().expect("a number"));
    let mut next = || words.next().expect("three numbers");
    Announcement { pid: next() as u32, fd: next() as u32, identity: next() }
}

#[test]
fn memory_outlives_its_writer_at_any_process_that_holds_it() {
    let actor = roles::start("write sealed memory", "");
    let at = said_by(&actor);
    let reader = SealedReader::open_announced(at).expect("it is alive");
    actor.kill();
    assert!(SealedReader::open_announced(at).is_err(), "it holds nothing any more");
    let third = SealedReader::open_announced(reader.announcement()).expect("this process holds it");
    drop(reader);
    assert_eq!(third.words().expect("not forked").load(1), 7);
}

#[test]
fn a_stopped_writer_is_read_like_any_other() {
    let actor = roles::start("write sealed memory", "");
    actor.stop();
    let reader = SealedReader::open_announced(said_by(&actor)).expect("it holds the memory");
    assert_eq!(reader.words().expect("not forked").load(1), 7);
    eventually("it is stopped", || actor.state() == 'T');
}

#[test]
fn a_missing_proc_is_named() {
    let actor = roles::start("open sealed memory without proc", "");
    if actor.said.starts_with("may not") {
        return corecast_testing::skipped("sealed memory without /proc", &actor.said);
    }
    assert!(actor.said.contains("/proc is not mounted"), "{}", actor.said);
}

#[test]
fn a_forked_child_has_neither_memory_nor_descriptor() {
    let mine = SealedMemory::create(4096).expect("there is memory");
    let theirs = SealedReader::open_announced(mine.announcement()).expect("/proc");
    let (mut ends, at) = (Some((mine, theirs)), std::process::id());
    assert!(in_child(|| {
        let (mine, theirs) = ends.take().expect("the copy of the child");
        let is_told = mine.words().err() == Some(Forked)
            && mine.fd().err() == Some(Forked)
            && mine.check_fork() == Err(Forked)
            && theirs.words().err() == Some(Forked);
        // It has to look at its parent.
        let here = SealedReader::open_announced(mine.announcement());
        let there = SealedReader::open_announced(Announcement { pid: at, ..mine.announcement() });
        is_told && here.is_err() && there.is_ok()
    }));
    let (mine, theirs) = ends.expect("taken in the child only");
    mine.words().expect("not forked")[0].store(1, Ordering::Relaxed);
    assert_eq!(theirs.words().expect("not forked").load(0), 1);
}
