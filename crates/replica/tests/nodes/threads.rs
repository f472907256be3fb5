//! Nodes of one process, each with its own attachment.

use std::time::{Duration, Instant};

use corecast_base::sync::{AtomicBool, Ordering};
use corecast_replica::kv::Store;
use corecast_replica::{Config, ExecuteError, Level, Node, OpenError, Placement, ReadError, Replicated};

use crate::counter::{Counter, PANIC, STRAY};

fn config(placement: Placement) -> Config {
    Config::default().slots(8).window(1024).bulk_bytes(1 << 16).placement(placement)
}

fn group(placement: Placement, nodes: usize) -> Vec<Node<Counter>> {
    let config = config(placement);
    let first = Replicated::create(&config, Counter::default()).expect("there is memory");
    let mut group = vec![first];
    for _ in 1..nodes {
        let fd = group[0].share().expect("there is /proc");
        group.push(Replicated::attach_fd(&config, fd).expect("the group lives"));
    }
    group
}

#[test]
fn one_node_alone_counts() {
    for placement in [Placement::Separate, Placement::Fused] {
        let group = group(placement, 1);
        let mut session = group[0].session().expect("a member");
        for n in 1..=100 {
            let (sum, _) = session.execute(&1).expect("done");
            assert_eq!(sum, n);
        }
        let (answer, shown) = group[0].read(Level::Linearizable, &()).expect("fresh");
        assert_eq!(answer, (100, 100));
        assert!(shown > 100);
    }
}

#[test]
fn all_nodes_write_and_all_see_it() {
    for placement in [Placement::Separate, Placement::Fused] {
        let group = group(placement, 3);
        std::thread::scope(|scope| {
            for node in &group {
                scope.spawn(move || {
                    let mut session = node.session().expect("a member");
                    for _ in 0..300 {
                        let (sum, index) = session.execute(&1).expect("done");
                        let (seen, shown) = node
                            .read(Level::Linearizable, &())
                            .unwrap_or_else(|error| panic!("{error}: {:?}", node.status()));
                        assert!(seen.0 >= sum && shown > index);
                    }
                });
            }
        });
        for node in &group {
            let read = node
                .read(Level::Linearizable, &())
                .unwrap_or_else(|error| panic!("{error}: {:#?}", group.iter().map(Node::status).collect::<Vec<_>>()));
            assert_eq!(read.0, (900, 900), "{placement:?}");
        }
        let prefixes: Vec<_> = group.iter().map(|node| node.status()).collect();
        assert!(prefixes.iter().all(|status| status.members.len() == 3), "{prefixes:?}");
    }
}

#[test]
fn a_pipeline_of_sixteen() {
    let group = group(Placement::Separate, 2);
    let mut session = group[1].session().expect("a member");
    let rids: Vec<_> = (0..16).map(|_| session.start(&1).expect("room")).collect();
    assert_eq!(session.start(&1), Err(ExecuteError::Full(16)));
    let results: Vec<_> = rids.iter().map(|&rid| session.wait(rid).expect("done").0).collect();
    let mut sorted = results.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, Vec::from_iter(1..=16));
    assert_eq!(results, sorted, "one session's requests are done in their order");
}

/// A log that runs away from every state which a joiner is given would keep it out for ever.
#[test]
fn nodes_join_while_a_member_writes() {
    let config = config(Placement::Fused);
    let first = Replicated::create(&config, Counter::default()).expect("there is memory");
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut session = first.session().expect("a member");
            let mut sum = 0;
            // ORDERING: Relaxed, it only ends the loop
            while !is_done.load(Ordering::Relaxed) {
                let rids: Vec<_> = (0..16).map(|_| session.queue(&1).expect("room")).collect();
                rids.iter().for_each(|&rid| sum = session.wait(rid).expect("done").0);
            }
            sum
        });
        let join = |_| Replicated::attach_fd(&config, first.share().expect("there is /proc"));
        let joined: Vec<_> = (0..3).map(join).collect();
        // ORDERING: Relaxed, it only ends the loop
        is_done.store(true, Ordering::Relaxed);
        let sum = writer.join().expect("it wrote");
        for node in joined {
            let node: Node<Counter> = node.expect("it is taken in");
            assert_eq!(node.read(Level::Linearizable, &()).expect("fresh").0.0, sum);
        }
    });
}

#[test]
fn a_node_leaves_and_the_others_go_on() {
    for placement in [Placement::Separate, Placement::Fused] {
        let mut group = group(placement, 3);
        let leader = group.remove(0);
        let mut session = group[0].session().expect("a member");
        session.execute(&1).expect("done");
        leader.leave().expect("the others take note");
        for _ in 0..100 {
            session.execute(&1).expect("done");
        }
        assert_eq!(group[1].read(Level::Linearizable, &()).expect("fresh").0.0, 101);
    }
}

#[test]
fn a_cut_is_the_same_everywhere() {
    let group = group(Placement::Separate, 3);
    let mut session = group[1].session().expect("a member");
    for _ in 0..50 {
        session.execute(&2).expect("done");
    }
    let mut bytes = Vec::new();
    let cut = group[2].checkpoint(&mut bytes, Duration::from_secs(10)).expect("a cut");
    assert_eq!((cut.digests.len(), cut.diverged.len()), (3, 0));
    assert!(cut.digests.iter().all(|&(_, digest)| digest == 100 << 64 | 50));
    assert_eq!(cut.bytes as usize, bytes.len());
    let compared = group[0].compare(Duration::from_secs(10)).expect("a cut");
    assert_eq!((compared.digests, compared.bytes), (cut.digests, 0), "no state is written");
}

/// The errors of reads of each level at a node that has ended, without anyone writing.
fn read_errors(node: &Node<Counter>) -> [Option<ReadError>; 3] {
    let until = Instant::now() + Duration::from_secs(10);
    while node.status().ended.is_none() {
        assert!(Instant::now() < until, "{:?}", node.status());
        std::thread::yield_now();
    }
    [Level::Linearizable, Level::Local, Level::AtLeast(0)].map(|level| node.read(level, &()).err())
}

#[test]
fn a_replica_that_differs_answers_no_read() {
    for placement in [Placement::Separate, Placement::Fused] {
        let group = group(placement, 3);
        let mut session = group[0].session().expect("a member");
        session.execute(&STRAY).expect("done");
        let cut = group[0].checkpoint(&mut std::io::sink(), Duration::from_secs(10)).expect("a cut");
        assert_eq!(cut.diverged, [group[1].id(), group[2].id()]);
        for node in &group[1..] {
            for error in read_errors(node) {
                assert!(matches!(error, Some(ReadError::Diverged { .. })), "{error:?}");
            }
        }
        assert!(group[0].read(Level::Linearizable, &()).is_ok());
    }
}

#[test]
fn a_state_that_is_half_changed_is_not_shown() {
    let group = group(Placement::Separate, 2);
    let mut session = group[1].session().expect("a member");
    let (_, index) = session.execute(&1).expect("done");
    assert_eq!(session.execute(&PANIC), Err(ExecuteError::Poisoned { index: index + 1 }));
    for node in &group {
        assert_eq!(read_errors(node), [0; 3].map(|_| Some(ReadError::Poisoned { index: index + 1 })));
    }
}

#[test]
fn cuts_of_several_nodes_at_a_time_have_all_digests() {
    let group = group(Placement::Separate, 3);
    std::thread::scope(|scope| {
        for node in group.iter().cycle().take(6) {
            scope.spawn(move || {
                for _ in 0..20 {
                    let cut = node.checkpoint(&mut std::io::sink(), Duration::from_secs(10)).expect("a cut");
                    assert_eq!((cut.digests.len(), cut.diverged.len()), (3, 0));
                }
            });
        }
    });
}

/// By the type of the state machine, and by the kind that the creator named.
#[test]
fn groups_of_other_state_are_refused() {
    let mine = config(Placement::Separate).kind("counter");
    let first = Replicated::create(&mine, Counter::default()).expect("there is memory");
    let share = || first.share().expect("there is /proc");
    let another = Replicated::<Store>::attach_fd(&mine, share()).expect_err("another type");
    assert!(another.to_string().contains("it replicates another state"), "{another}");
    for kind in ["", "Counter"] {
        let another = Replicated::<Counter>::attach_fd(&mine.clone().kind(kind), share()).expect_err("another kind");
        assert!(matches!(another, OpenError::Version(_)), "{another}");
    }
    let second = Replicated::<Counter>::attach_fd(&mine, share()).expect("the same kind");
    assert_eq!(second.status().members.len(), 2);
}
