//! The roles of ranks that are members of groups. The ranks of a test are on one machine; those that are to be on different nodes
//! meet in different folders.

use std::convert::Infallible;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use corecast_base::CpuId;
use corecast_collective::nodes::{Error, Lanes, Member};
use corecast_collective::{Group, Order, op};
use corecast_machine::source::{self, DiscoveryRequest};
use corecast_machine::{Cpu, Machine, Topology, pin};
use corecast_mpi_engine::{Launcher, OpenError, Rank};
use corecast_testing::actor::say;

/// Long enough for anything that happens at all.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// This process as a rank, of a machine with this number of CPUs.
pub(crate) fn rank_of(cpus: usize) -> Rank {
    let cpu = |id| Cpu { numa: Some(0), ..Cpu::flat(CpuId::new(id)) };
    let machine = || {
        let topology = Topology { cpus: (0..cpus as u32).map(cpu).collect(), ..Topology::default() };
        Ok::<_, Infallible>(Machine::from_topology(&topology))
    };
    Rank::from_env(machine, |machine, members| Group::builder(machine).members(members).pin(false)).expect("a rank")
}

/// All ranks of this machine are members of one node.
pub(crate) fn members(ranks: usize) {
    let rank = rank_of(ranks);
    assert_eq!(rank.world_ranks(), (0..ranks).collect::<Vec<_>>());
    let world_rank = rank.world_rank();
    let mut me = rank.join().expect("a group");
    assert_eq!((me.rank(), me.nodes(), me.size()), (world_rank, 1, ranks));
    me.barrier().expect("a barrier");
    assert_eq!(me.allreduce(1_u64, |a, b| a + b), Ok(ranks as u64));
    say("ok");
}

/// A file or folder of this test, which all ranks see.
pub(crate) fn in_folder(name: &str) -> PathBuf {
    PathBuf::from(std::env::var_os("CORECAST_TEST_FOLDER").expect("a folder")).join(name)
}

/// This process as a member of a group of `nodes` nodes. Ranks are on the node that `node_of` says, as they meet there.
fn on_nodes(nodes: usize, node_of: impl Fn(usize) -> usize) -> Member {
    let own = Launcher::from_env().expect("a launcher").rank;
    let me = rank_on_nodes(&node_of).join().expect("a group");
    assert_eq!((me.nodes(), me.node()), (nodes, node_of(own)));
    me
}

/// The same before it joins.
fn rank_on_nodes(node_of: impl Fn(usize) -> usize) -> Rank {
    let own = Launcher::from_env().expect("a launcher").rank;
    let folder = in_folder(&format!("node{}", node_of(own)));
    std::fs::create_dir_all(&folder).expect("a folder");
    // SAFETY: no other thread of this process uses the environment now.
    unsafe { std::env::set_var("XDG_RUNTIME_DIR", &folder) };
    rank_of(1)
}

/// The same with a rank on each node.
fn node_of_one() -> Member {
    let nodes = Launcher::from_env().expect("a launcher").size;
    on_nodes(nodes, |rank| rank)
}

/// The leader of node 1 dies at the place and the pass that the variable of the test names; two ranks are on each node.
pub(crate) fn killed_at(ranks: usize) {
    if Launcher::from_env().expect("a launcher").rank == 2 {
        let place = std::env::var("CORECAST_TEST_PLACE_OF_DEATH").expect("a place");
        // SAFETY: no other thread of this process uses the environment now.
        unsafe { std::env::set_var("CORECAST_CRASH_AT", place) };
    }
    let mut me = on_nodes(ranks / 2, |rank| rank / 2);
    let error = loop {
        if let Err(error) = me.allreduce(1_u64, |a, b| a + b) {
            break error;
        }
    };
    let is_named = match error {
        Error::MemberLost { rank: 2, .. } => true,
        Error::NodeLost { node: 1, .. } => me.node() != 1,
        _ => false,
    };
    assert!(is_named, "{error}");
    let mut shrunk = me.shrink_timeout(PATIENCE).expect("the others live");
    assert_eq!(shrunk.gone, [2], "the other member of its node leads it");
    assert_eq!((shrunk.me.nodes(), shrunk.me.members_of(1)), (ranks / 2, 1));
    assert_eq!(shrunk.me.allreduce(1, |a, b| a + b), Ok(ranks - 1));
    say("went on");
}

/// The way in which a rank is lost.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Killed,
    /// While the others leave lost ranks behind.
    KilledInRemake,
    /// It leaves in the midst of an operation, and its process ends as if all had gone well.
    Leaves,
}

/// The ranks that are lost in each round, as the variable of the test says: `3,4s;0` is rank 3, and rank 4 while the others leave
/// that one behind, and rank 0 in the second round. An `l` stands for one that leaves.
fn rounds() -> Vec<Vec<(usize, End)>> {
    let text = std::env::var("CORECAST_TEST_DEATHS").expect("rounds");
    let lost = |text: &str| {
        let rank = text.trim_end_matches(['s', 'l']).parse().expect("a rank");
        let end = match text.chars().last() {
            Some('s') => End::KilledInRemake,
            Some('l') => End::Leaves,
            _ => End::Killed,
        };
        (rank, end)
    };
    text.split(';').map(|round| round.split(',').map(lost).collect()).collect()
}

/// Ranks of two nodes are lost round by round, leaders and others. All others go on, and the lowest of each node leads it.
pub(crate) fn led_anew(ranks: usize) {
    let (own, rounds, each) = (Launcher::from_env().expect("a launcher").rank, rounds(), ranks / 2);
    if rounds.concat().contains(&(own, End::KilledInRemake)) {
        // SAFETY: no other thread of this process uses the environment now.
        unsafe { std::env::set_var("CORECAST_CRASH_AT", "far-shrunk") };
    }
    let mut me = on_nodes(2, |rank| rank / each);
    let mut living: Vec<usize> = (0..ranks).collect();
    for lost in rounds {
        let met = me.barrier();
        if lost.contains(&(own, End::Killed)) {
            // SAFETY: numbers only; this process has no other work.
            unsafe { libc::kill(std::process::id() as i32, libc::SIGKILL) };
        }
        if lost.contains(&(own, End::Leaves)) {
            drop(me.start().barrier());
            return say("left");
        }
        let mut error = met.err();
        while lost.iter().any(|(rank, _)| living.contains(rank)) {
            while error.is_none() {
                error = me.allreduce(1, |a, b| a + b).err();
            }
            let shrunk = me.shrink_timeout(PATIENCE).unwrap_or_else(|last| panic!("{last} behind {error:?}"));
            let gone: Vec<usize> = shrunk.gone.iter().map(|&rank| living[rank]).collect();
            assert!(gone.iter().all(|gone| lost.iter().any(|(rank, _)| rank == gone)), "{gone:?} behind {error:?}");
            living.retain(|rank| !gone.contains(rank));
            (me, error) = (shrunk.me, None);
            assert_eq!((me.size(), living[me.rank()]), (living.len(), own));
        }
        let sum = me.allreduce(own, |a, b| a + b);
        assert_eq!(sum, Ok(living.iter().sum()), "{living:?}");
        let nodes = if living.iter().all(|rank| rank / each == own / each) { 1 } else { 2 };
        let leads = living.iter().find(|&rank| rank / each == own / each) == Some(&own);
        assert_eq!((me.nodes(), me.is_leader()), (nodes, leads));
    }
    say("went on");
}

/// The leader of the last node stands still. The others name its node when their time is over, and go on when it does.
pub(crate) fn stopped(ranks: usize) {
    let pid_file = in_folder("pid");
    let mut me = node_of_one();
    me.barrier().expect("nothing has failed");
    if me.rank() == ranks - 1 {
        std::fs::write(&pid_file, std::process::id().to_string()).expect("a folder");
        // To this thread, which then does not go on before it stands still.
        // SAFETY: a number only.
        unsafe { libc::raise(libc::SIGSTOP) };
        me.barrier().expect("it goes on");
        return say("ok");
    }
    // Node 1 of three waits for node 0, which waits for the last one.
    let rank = me.rank();
    let named = if rank == 0 { ranks - 1 } else { 0 };
    let mut barrier = me.start().barrier().expect("nothing has failed");
    let begin = Instant::now();
    let pid = loop {
        let waited = barrier.finish_timeout(Duration::from_millis(20));
        let Err(Error::Timeout { late }) = waited else { panic!("the last node stands still: {waited:?}") };
        // The file is there before the process stands still.
        let pid = std::fs::read_to_string(&pid_file).ok().and_then(|text| text.parse::<i32>().ok());
        match pid.filter(|pid| is_stopped(*pid)) {
            Some(pid) if late.nodes == [named] => break pid,
            // Others may not have come so far.
            _ => assert!(begin.elapsed() < PATIENCE, "node {named} is to be named: {late}"),
        }
    };
    std::fs::write(in_folder(&format!("seen{rank}")), "").expect("a folder");
    let have_all_seen = || (0..ranks - 1).all(|rank| in_folder(&format!("seen{rank}")).exists());
    // Meanwhile node 1 is to get as far as it can, and it may be the first to know that all have seen.
    let is_over = loop {
        match barrier.finish_timeout(Duration::from_millis(1)) {
            Ok(()) => break true,
            Err(Error::Timeout { .. }) if have_all_seen() => break false,
            Err(Error::Timeout { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    };
    if !is_over {
        // SAFETY: numbers only. Another rank may have been first, and the process have gone on.
        unsafe { libc::kill(pid, libc::SIGCONT) };
        barrier.finish().expect("all go on");
    }
    say("ok");
}

pub(crate) fn is_stopped(pid: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    status.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
}

/// A node has one rank and the other one all others: operations give what they promise.
pub(crate) fn uneven(ranks: usize) {
    let mut me = on_nodes(2, |rank| usize::from(rank > 0));
    let (rank, size) = (me.rank(), me.size());
    assert_eq!((size, me.members_of(0), me.members_of(1)), (ranks, 1, ranks - 1));
    let times = op::in_order(Order::Rank, |[a, b]: [u64; 2], [c, d]: [u64; 2]| [a * c, a * d + b]);
    for round in 0..20 {
        let root = round % size;
        let mut value = if rank == root { round } else { 0 };
        me.broadcast(root, &mut value).expect("a broadcast");
        assert_eq!(value, round);
        let sum = me.reduce(root, rank + round, |a, b| a + b).expect("a reduction");
        assert_eq!(sum, (rank == root).then(|| (0..size).map(|rank| rank + round).sum()));
        let all = me.gather(root, rank).expect("a gather");
        assert_eq!(all, (rank == root).then(|| (0..size).collect()));
        let of = |rank: usize| [rank as u64 + 2, round as u64 + 1];
        let product = me.allreduce_with(of(rank), times).expect("an allreduce");
        let expected = (0..size).map(of).reduce(|left, right| op::Op::combine(&times, left, right));
        assert_eq!(Some(product), expected, "by rank");
        let mut values = vec![(rank + round) as u64; 20_000];
        me.allreduce_slice_with(&mut values, op::Sum).expect("an allreduce");
        assert!(values.iter().all(|&value| value == (0..size).map(|rank| (rank + round) as u64).sum::<u64>()));
        let mut floats = vec![0.1 * (rank + 1) as f64; 100];
        me.allreduce_slice(&mut floats, |a, b| a + b).expect("an allreduce");
        let mut bits = floats[0].to_bits();
        me.broadcast(root, &mut bits).expect("a broadcast");
        assert!(floats.iter().all(|float| float.to_bits() == bits), "the same bits everywhere");
        me.barrier().expect("a barrier");
    }
    say("ok");
}

/// The last node leaves in the midst of an operation, and node 0 gives up before the node before the last comes to shrink the
/// group. The process of node 0 ends as if all had gone well, which the others wait for.
pub(crate) fn ranks_late(ranks: usize) {
    let gave_up = in_folder("gave up");
    let mut me = node_of_one();
    if me.rank() == ranks - 1 {
        me.barrier().expect("nothing has failed");
        drop(me.start().barrier().expect("nothing has failed"));
        drop(me);
        return say("ok");
    }
    // The last node may leave while the others are still in the first barrier.
    while me.barrier().is_ok() {}
    if me.rank() == 0 {
        let given_up = me.shrink_timeout(Duration::from_millis(50));
        assert!(matches!(given_up, Err(Error::Engine { .. })), "another node has not come: {given_up:?}");
        std::fs::write(gave_up, "").expect("a folder");
    } else {
        let begin = Instant::now();
        while !gave_up.exists() {
            assert!(begin.elapsed() < PATIENCE, "node 0 gives up");
            thread::yield_now();
        }
        let _ = me.shrink();
    }
    say("ok");
}

/// Rank 1 computes between two barriers, and then all others do. Nobody takes them for dead meanwhile.
pub(crate) fn computing() {
    // The options once chose a detector that took a process for dead after 0.4 s without a call of MPI.
    const COMPUTING: Duration = Duration::from_secs(2);
    let mut me = node_of_one();
    for computes_alone in [true, false] {
        me.barrier().expect("nobody has died");
        if (me.rank() == 1) == computes_alone {
            // Without a call of MPI, and without a CPU, which is left to those that wait.
            thread::sleep(COMPUTING);
        }
        me.barrier().expect("nobody has died");
    }
    say("ok");
}

/// A rank dies. The others learn of it, and go on without it where the library does.
pub(crate) fn rank_killed(ranks: usize) {
    let mut me = node_of_one();
    if me.rank() == 1 {
        me.barrier().expect("nothing has failed");
        // SAFETY: numbers only; this process has no other work.
        unsafe { libc::kill(std::process::id() as i32, libc::SIGKILL) };
    }
    // It may die while the others are still in the first barrier.
    let error = loop {
        if let Err(error) = me.barrier() {
            break error;
        }
    };
    assert!(matches!(error, Error::NodeLost { node: 1, .. }), "{error}");
    let mut shrunk = me.shrink_timeout(PATIENCE).expect("the others live");
    assert_eq!(shrunk.gone, [1]);
    assert_eq!(shrunk.me.allreduce(1, |a, b| a + b), Ok(ranks - 1));
    say("went on");
}

/// The launcher has bound each rank to a CPU. The group is made for the CPUs of all ranks.
pub(crate) fn bound(ranks: usize) {
    let own = pin::affinity().expect("own mask");
    if own.len() > 1 {
        return say("unbound");
    }
    let detect = || source::discover(&DiscoveryRequest::default()).map(|topology| Machine::from_topology(&topology));
    let rank = Rank::from_env(detect, |machine, members| {
        assert_eq!((members, machine.cpus.len()), (ranks, ranks), "each has a CPU of its own");
        Group::builder(machine).members(members).plan_folder(None).race_folder(None)
    });
    let mut me = rank.expect("a rank").join().expect("a group");
    me.barrier().expect("a barrier");
    assert_eq!(pin::affinity().expect("own mask"), own, "a member stays where it is bound");
    say("ok");
}

/// The first and the last of three ranks share a CPU. They do not spin, as each knows the CPUs of the others, although all have
/// met on threads that may run on both.
pub(crate) fn sharing(ranks: usize) {
    let cpus = pin::affinity().expect("own mask");
    let own = Launcher::from_env().expect("a launcher").rank;
    let &[first, second, ..] = cpus.as_slice() else { return say("one CPU") };
    pin::pin([first, second][own % 2]).expect("an allowed CPU").forever();
    let detect = || source::discover(&DiscoveryRequest::default()).map(|topology| Machine::from_topology(&topology));
    let rank = Rank::from_env(detect, |machine, members| {
        Group::builder(machine).members(members).plan_folder(None).race_folder(None)
    });
    let mut me = rank.expect("a rank").join().expect("a group");
    for _ in 0..100 {
        me.barrier().expect("a barrier");
    }
    let counts = me.near().wait_counts();
    assert!(counts.spins == 0 || own % 2 == 1, "rank {own} of {ranks} shares its CPU: {counts:?}");
    say("ok");
}

/// A process that is forked from a rank ends, and leaves the connections of its parent alone.
pub(crate) fn forked(ranks: usize) {
    let mut me = rank_of(ranks).join().expect("a group");
    me.barrier().expect("a barrier");
    // SAFETY: the child calls nothing but the handlers of its end.
    match unsafe { libc::fork() } {
        // SAFETY: the end of the child, with its handlers.
        0 => unsafe { libc::exit(0) },
        child => {
            let mut status = -1;
            // SAFETY: a child of this process, and a place for the answer.
            assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
            assert_eq!(status, 0);
        }
    }
    me.barrier().expect("a barrier");
    say("ok");
}

/// Ranks of two nodes share slices by two lanes: each of the ranks gets the same bits, which are right.
pub(crate) fn lanes(ranks: usize) {
    let rank = rank_on_nodes(|rank| rank / (ranks / 2));
    assert_eq!(rank.most_lanes(), ranks / 2);
    let mut me =
        rank.lanes(Lanes::of(2).from_bytes(1000)).expect("all ranks ask for the same").join().expect("a group");
    let (own, size) = (me.rank(), me.size());
    assert_eq!(me.lanes().count(), 2);
    for len in [0, 1, 124, 125, 5000, 100_000] {
        let sums = |place: usize| (0..size).map(|rank| (rank * 31 + place) as u64).sum::<u64>();
        let mut values: Vec<u64> = (0..len).map(|place| (own * 31 + place) as u64).collect();
        me.allreduce_slice_with(&mut values, op::Sum).expect("an allreduce");
        assert!((0..len).all(|place| values[place] == sums(place)), "{len} values");
        let mut floats: Vec<f64> = (0..len).map(|place| 1.0 / (own * 31 + place + 1) as f64).collect();
        me.allreduce_slice(&mut floats, |a, b| a + b).expect("an allreduce");
        let mut of_first: Vec<u64> = floats.iter().map(|float| float.to_bits()).collect();
        me.broadcast_slice(0, &mut of_first).expect("a broadcast");
        assert!(floats.iter().zip(of_first).all(|(float, bits)| float.to_bits() == bits), "the same bits everywhere");
    }
    me.barrier().expect("a barrier");
    say("ok");
}

/// Ranks that ask for different lanes are told so, and so are those that ask for more lanes than a node has ranks.
pub(crate) fn other_lanes(ranks: usize) {
    let own = Launcher::from_env().expect("a launcher").rank;
    let refused =
        rank_of(ranks).lanes(Lanes::of(if own == 1 { 3 } else { 2 })).expect_err("rank 1 has asked for others");
    assert!(matches!(refused, OpenError::OtherLanes { rank: 1, .. }), "{refused}");
    say("ok");
}

/// See [`other_lanes`].
pub(crate) fn too_many_lanes(ranks: usize) {
    let refused = rank_of(ranks).lanes(Lanes::of(ranks + 1)).expect_err("there are fewer ranks");
    assert!(matches!(refused, OpenError::TooFewRanks { node: 0, .. }), "{refused}");
    say("ok");
}

/// A rank that leads a lane of node 1, and not the node, dies at the place that the variable of the test names.
pub(crate) fn lane_killed_at(ranks: usize) {
    let victim = ranks / 2 + 1;
    if Launcher::from_env().expect("a launcher").rank == victim {
        let place = std::env::var("CORECAST_TEST_PLACE_OF_DEATH").expect("a place");
        // SAFETY: no other thread of this process uses the environment now.
        unsafe { std::env::set_var("CORECAST_CRASH_AT", place) };
    }
    let rank =
        rank_on_nodes(|rank| rank / (ranks / 2)).lanes(Lanes::of(2).from_bytes(0)).expect("all ask for the same");
    let mut me = rank.join().expect("a group");
    let error = loop {
        if let Err(error) = me.allreduce_slice(&mut [1_u64; 1000], |a, b| a + b) {
            break error;
        }
    };
    assert!(matches!(error, Error::MemberLost { rank, .. } if rank == victim), "{error}");
    let mut shrunk = me.shrink_timeout(PATIENCE).expect("the others live");
    assert_eq!((shrunk.gone, shrunk.me.lanes()), (vec![victim], Lanes::ONE));
    let mut ones = [1; 1000];
    shrunk.me.allreduce_slice(&mut ones, |a, b| a + b).expect("nobody is lost any more");
    assert_eq!(ones, [ranks - 1; 1000]);
    say("went on");
}
