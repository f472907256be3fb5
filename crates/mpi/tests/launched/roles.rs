//! The roles of ranks.

use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr;
use std::thread;
use std::time::{Duration, Instant};

use corecast_collective::Loss;
use corecast_collective::nodes::{
    Connection, Engine, Fault, FaultKind, FaultWord, NodeSet, PredefinedOp, Slot, Step, Survival, Ticket, ValueKind,
};
use corecast_mpi_engine::{Cluster, Launcher};
use corecast_testing::actor::{Role, say};

use crate::ranks::{self, PATIENCE, in_folder};

/// The engine of this rank, if the cluster opens.
fn open(ranks: usize) -> Box<dyn Engine> {
    let cluster = Cluster::from_env().expect("a cluster");
    let engine = cluster.into_engine().expect("every rank leads a node");
    assert_eq!(engine.facts().nodes(), ranks);
    engine
}

fn finish(engine: &mut dyn Engine, ticket: Ticket) -> Result<(), Fault> {
    let begin = Instant::now();
    while !engine.poll(ticket)? {
        assert!(begin.elapsed() < PATIENCE, "a step takes too long");
        thread::yield_now();
    }
    Ok(())
}

fn done(engine: &mut dyn Engine, step: Step) -> Result<(), Fault> {
    let ticket = engine.start(step)?;
    finish(engine, ticket)
}

fn sum(engine: &mut dyn Engine, value: u64) -> Result<u64, Fault> {
    let (from, into) = (Slot::outgoing(0), Slot::incoming(0));
    engine.room(from, 8).copy_from_slice(&value.to_ne_bytes());
    done(engine, Step::Allreduce { kind: ValueKind::U64, op: PredefinedOp::Sum, values: 1, from, into })?;
    Ok(u64::from_ne_bytes(engine.room(into, 8).try_into().expect("8 bytes")))
}

/// The actions of a rank in a role.
pub(crate) fn play(role: &Role) {
    let ranks = role.place.parse().expect("a number of ranks");
    match role.name.as_str() {
        "steps" => steps(ranks),
        "words" => words(ranks),
        "ranks" => ranks::members(ranks),
        "open late" => {
            let cluster = Cluster::from_env().expect("a cluster");
            let node = cluster.facts().expect("every rank leads a node").node;
            end_late(node, || cluster.close(true));
        }
        "rank late" => {
            let rank = ranks::rank_of(1);
            let place = rank.world_rank();
            let me = rank.join().expect("a group");
            end_late(place, || drop(me));
        }
        "deaths" => deaths(ranks),
        "deaths in remake" => deaths_in_remake(ranks),
        "slow in remake" => slow_in_remake(ranks),
        "ranks late" => ranks::ranks_late(ranks),
        "computing" => ranks::computing(),
        "rank killed" => ranks::rank_killed(ranks),
        "killed at" => ranks::killed_at(ranks),
        "led anew" => ranks::led_anew(ranks),
        "stopped" => ranks::stopped(ranks),
        "uneven" => ranks::uneven(ranks),
        "lanes" => ranks::lanes(ranks),
        "other lanes" => ranks::other_lanes(ranks),
        "too many lanes" => ranks::too_many_lanes(ranks),
        "lane killed at" => ranks::lane_killed_at(ranks),
        "bound" => ranks::bound(ranks),
        "sharing" => ranks::sharing(ranks),
        "forked" => ranks::forked(ranks),
        "connect" => {
            let connection = Connection::from(Cluster::from_env().expect("a cluster"));
            say(&format!("{connection:?}"));
        }
        "funneled" => funneled(ranks),
        "late" => late(ranks),
        "open" => match Cluster::from_env() {
            Ok(cluster) => {
                say(&format!("opened {cluster}"));
                cluster.close(true);
            }
            Err(error) => say(&format!("refused: {error}")),
        },
        "absent" => absent(),
        other => panic!("no role {other}"),
    }
}

/// Every kind of step, short and long, and messages around a ring.
fn steps(ranks: usize) {
    let mut engine = open(ranks);
    let engine = &mut *engine;
    let node = engine.facts().node;
    for bytes in [0, 1, 1000, Slot::BYTES, 3 << 20] {
        ring(engine, bytes);
        for root in 0..ranks {
            let slot = Slot::outgoing(1);
            engine.room(slot, bytes).fill(if node == root { 7 + root as u8 } else { 0 });
            done(engine, Step::Broadcast { root, slot, bytes }).expect("a broadcast");
            assert!(engine.room(slot, bytes).iter().all(|&byte| byte == 7 + root as u8), "{bytes} bytes of {root}");
        }
        let (from, into) = (Slot::outgoing(0), Slot::incoming(1));
        engine.room(from, bytes).fill(node as u8);
        done(engine, Step::Gather { from, bytes, into }).expect("a gather");
        for (of, gathered) in engine.room(into, bytes * ranks).chunks(bytes.max(1)).enumerate() {
            assert!(gathered.iter().all(|&byte| byte == of as u8), "{bytes} bytes of {of}");
        }
    }
    reductions(engine, node, ranks);
    assert_eq!(sum(engine, 1), Ok(ranks as u64));
    say("ok");
}

/// Sends two messages to the next node and receives those of the one before, in order.
fn ring(engine: &mut dyn Engine, bytes: usize) {
    let (node, nodes) = (engine.facts().node, engine.facts().nodes());
    let (to, from) = ((node + 1) % nodes, (node + nodes - 1) % nodes);
    let mut tickets = Vec::new();
    for place in [0, 1] {
        let (outgoing, into) = (Slot::outgoing(place), Slot::incoming(place));
        engine.room(outgoing, bytes).fill((2 * node + place) as u8);
        tickets.push(engine.start(Step::Receive { from, into, bytes }).expect("a receive"));
        tickets.push(engine.start(Step::Send { to, from: outgoing, bytes }).expect("a send"));
    }
    tickets.into_iter().for_each(|ticket| finish(engine, ticket).expect("messages"));
    for place in [0, 1] {
        let expected = (2 * from + place) as u8;
        assert!(engine.room(Slot::incoming(place), bytes).iter().all(|&byte| byte == expected), "{bytes} bytes");
    }
}

/// A reduction of two numbers.
type Combine = fn(u32, u32) -> u32;

/// Every operation on 32-bit numbers, and of every kind the sum and the least of values with high bits.
fn reductions(engine: &mut dyn Engine, node: usize, nodes: usize) {
    let (from, into) = (Slot::outgoing(0), Slot::incoming(0));
    let of = |node: usize| (node as u32 + 3).wrapping_mul(0x9e37_79b9);
    let ops: [(PredefinedOp, Combine); 7] = [
        (PredefinedOp::Sum, u32::wrapping_add),
        (PredefinedOp::Prod, u32::wrapping_mul),
        (PredefinedOp::Min, u32::min),
        (PredefinedOp::Max, u32::max),
        (PredefinedOp::And, |a, b| a & b),
        (PredefinedOp::Or, |a, b| a | b),
        (PredefinedOp::Xor, |a, b| a ^ b),
    ];
    for (op, combine) in ops {
        engine.room(from, 4).copy_from_slice(&of(node).to_ne_bytes());
        done(engine, Step::Allreduce { kind: ValueKind::U32, op, values: 1, from, into }).expect("an allreduce");
        let result = u32::from_ne_bytes(engine.room(into, 4).try_into().expect("4 bytes"));
        let expected = (0..nodes).map(of).reduce(combine).expect("a node");
        assert_eq!(result, expected, "{op:?}");
    }
    for kind in ValueKind::ALL {
        let bytes = kind.bytes() * 5;
        engine.room(from, bytes).fill(0);
        engine.room(into, bytes).fill(1);
        done(engine, Step::Allreduce { kind, op: PredefinedOp::Sum, values: 5, from, into }).expect("an allreduce");
        assert!(engine.room(into, bytes).iter().all(|&byte| byte == 0), "{kind:?}");
        // All bits set is the greatest unsigned number, and -1 as a signed one.
        engine.room(from, bytes).fill(if node == 0 { 0xff } else { 1 });
        done(engine, Step::Allreduce { kind, op: PredefinedOp::Min, values: 5, from, into }).expect("an allreduce");
        let is_signed = matches!(kind, ValueKind::I8 | ValueKind::I16 | ValueKind::I32 | ValueKind::I64);
        let least = if is_signed || nodes == 1 { 0xff } else { 1 };
        let is_number = kind.is_exact();
        assert!(!is_number || engine.room(into, bytes).iter().all(|&byte| byte == least), "{kind:?}");
        let own = if node == 0 { 0xff } else { 1 };
        assert!(
            engine.room(from, bytes).iter().all(|&byte| byte == own),
            "{kind:?}: a step leaves values as they were"
        );
    }
}

/// The last node tells a word while the others wait for it in an operation; all go on without that operation.
fn words(ranks: usize) {
    let mut engine = open(ranks);
    for epoch in 0..3 {
        let word = FaultWord { epoch, node: ranks as u32 - 1, kind: FaultKind::Member { rank: 2, loss: Loss::Died } };
        let first = sum(&mut *engine, 1);
        if engine.facts().node == ranks - 1 {
            assert_eq!(first, Ok(ranks as u64));
            engine.tell(word);
        } else if first.is_ok() {
            assert_eq!(sum(&mut *engine, 1), Err(Fault::Told(word)));
        } else {
            // The last node was faster.
            assert_eq!(first, Err(Fault::Told(word)));
        }
        assert_eq!(engine.remake(&NodeSet::all(ranks), Some(PATIENCE)), Ok(NodeSet::all(ranks)));
        assert_eq!(sum(&mut *engine, 2), Ok(2 * ranks as u64));
    }
    say("ok");
    engine.close(true);
    say("closed");
}

/// Process 0 ends at once, and the others have other work first.
fn end_late(place: usize, end: impl FnOnce()) {
    if place > 0 {
        thread::sleep(Duration::from_millis(400));
    }
    end();
    say("ended");
}

/// Node 0 gives up before the last node remakes its engine; the others do not wait for it then.
fn late(ranks: usize) {
    let gave_up = in_folder("gave up");
    let mut engine = open(ranks);
    assert_eq!(sum(&mut *engine, 1), Ok(ranks as u64));
    let node = engine.facts().node;
    if node == 0 {
        let given_up = engine.remake(&NodeSet::all(ranks), Some(Duration::from_millis(50)));
        let Err(Fault::Engine { text, .. }) = given_up else { panic!("the last node has not come: {given_up:?}") };
        let survives = engine.facts().survival == Survival::Nodes;
        assert_eq!(text.contains("wait for this process until it has ended"), survives, "{text}");
        engine.tell(FaultWord { epoch: 1, node: 0, kind: FaultKind::Node });
        std::fs::write(gave_up, "").expect("a folder");
    } else {
        let begin = Instant::now();
        while node == ranks - 1 && !gave_up.exists() {
            assert!(begin.elapsed() < PATIENCE, "node 0 gives up");
            thread::yield_now();
        }
        // Where the library is done with this before the word is here, the next operation finds it.
        let outcome = engine.remake(&NodeSet::all(ranks), None).and_then(|_| sum(&mut *engine, 1));
        if engine.facts().survival == Survival::Nodes {
            assert_eq!(outcome, Ok(ranks as u64 - 1), "node 0 has ended its process");
        } else {
            assert!(outcome.is_err(), "node 0 has told that it gave up: {outcome:?}");
        }
    }
    engine.close(false);
    say("ok");
}

/// The last node dies, then the last of those that are left, until there are two of them, which end well.
fn deaths(ranks: usize) {
    let mut engine = open(ranks);
    for living in (2..ranks).rev() {
        assert_eq!(sum(&mut *engine, 1), Ok(living as u64 + 1));
        if engine.facts().node == living {
            // SAFETY: numbers only; this process has no other work.
            unsafe { libc::kill(std::process::id() as i32, libc::SIGKILL) };
        }
        while sum(&mut *engine, 1).is_ok() {}
        let all = NodeSet::all(living + 1);
        assert_eq!(engine.remake(&all, Some(PATIENCE)).map(|kept| kept.len()), Ok(living));
    }
    assert_eq!(sum(&mut *engine, 1), Ok(2));
    engine.close(true);
    say("closed");
}

/// The last node dies, and while the others leave it behind, the one before it does, when the library has left the last one
/// behind and the engine has not.
fn deaths_in_remake(ranks: usize) {
    let own = Launcher::from_env().expect("a launcher").rank;
    if own == ranks - 2 {
        // SAFETY: no other thread of this process uses the environment now.
        unsafe { std::env::set_var("CORECAST_CRASH_AT", "far-shrunk") };
    }
    let mut engine = open(ranks);
    assert_eq!(sum(&mut *engine, 1), Ok(ranks as u64));
    if own == ranks - 1 {
        // SAFETY: numbers only; this process has no other work.
        unsafe { libc::kill(std::process::id() as i32, libc::SIGKILL) };
    }
    while sum(&mut *engine, 1).is_ok() {}
    let kept = engine.remake(&NodeSet::all(ranks), Some(PATIENCE));
    assert_eq!(kept.map(|kept| kept.iter().collect::<Vec<_>>()), Ok((0..ranks - 2).collect()));
    assert_eq!(sum(&mut *engine, 1), Ok(ranks as u64 - 2));
    engine.close(true);
    say("closed");
}

/// The last node dies, and while the others leave it behind, node 1 stands still until the limit of node 0 is over. Node 0 stays,
/// as all that live have come.
fn slow_in_remake(ranks: usize) {
    const LIMIT: Duration = Duration::from_secs(1);
    let own = Launcher::from_env().expect("a launcher").rank;
    if own == 1 {
        // SAFETY: no other thread of this process uses the environment now.
        unsafe { std::env::set_var("CORECAST_STOP_AT", "far-shrunk") };
        std::fs::write(in_folder("pid"), std::process::id().to_string()).expect("a folder");
    }
    let mut engine = open(ranks);
    assert_eq!(sum(&mut *engine, 1), Ok(ranks as u64));
    if own == ranks - 1 {
        // SAFETY: numbers only; this process has no other work.
        unsafe { libc::kill(std::process::id() as i32, libc::SIGKILL) };
    }
    while sum(&mut *engine, 1).is_ok() {}
    let begin = Instant::now();
    let waker = (own == 0).then(|| {
        thread::spawn(move || {
            let pid = std::fs::read_to_string(in_folder("pid")).expect("all have met").parse().expect("a number");
            while !ranks::is_stopped(pid) || begin.elapsed() < LIMIT + LIMIT / 2 {
                assert!(begin.elapsed() < PATIENCE, "node 1 stands still");
                thread::yield_now();
            }
            // SAFETY: numbers only; the process is stopped, and so has not ended.
            unsafe { libc::kill(pid, libc::SIGCONT) };
        })
    });
    // Node 0 ends the attempt, just before the others' time is over as well.
    let limit = if own == 0 { LIMIT } else { LIMIT + LIMIT / 10 };
    let kept = engine.remake(&NodeSet::all(ranks), Some(limit));
    assert_eq!(kept.map(|kept| kept.len()), Ok(ranks - 1));
    assert_eq!(sum(&mut *engine, 1), Ok(ranks as u64 - 1));
    waker.into_iter().for_each(|waker| waker.join().expect("node 1 went on"));
    engine.close(true);
    say("closed");
}

/// The program has initialised MPI for one thread: on another one the engine reports an error, and nothing panics.
fn funneled(ranks: usize) {
    let name = CString::new(std::env::var("CORECAST_MPI").expect("a library")).expect("no zeros");
    // MPI_THREAD_FUNNELED of the standard's interface, and of all others.
    let level = if name.to_string_lossy().contains("libmpi_abi.") { 1024 } else { 1 };
    // SAFETY: a name of a library.
    let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    assert!(!library.is_null(), "{name:?} is installed");
    let mut provided = 0;
    assert_eq!(initialize(library, level, &mut provided), 0);
    assert_eq!(provided, level, "as little as was asked for");
    let mut engine = open(ranks);
    assert_eq!(sum(&mut *engine, 1), Ok(ranks as u64));
    let word = FaultWord { epoch: 0, node: 0, kind: FaultKind::Member { rank: 0, loss: Loss::Panicked } };
    let elsewhere = thread::spawn(move || {
        let is_refused = |fault: Fault| matches!(fault, Fault::Engine { class: 0, .. });
        assert!(engine.listen().is_err_and(is_refused));
        let step = Step::Broadcast { root: 0, slot: Slot::outgoing(0), bytes: 8 };
        assert!(engine.start(step).is_err_and(is_refused));
        assert!(engine.remake(&NodeSet::all(ranks), None).is_err_and(is_refused));
        engine.tell(word);
        engine.close(false);
    });
    elsewhere.join().expect("no call panics");
    // SAFETY: the function has this type in every interface; this thread has initialised the library.
    let finalize =
        unsafe { std::mem::transmute::<*mut c_void, extern "C" fn() -> c_int>(symbol(library, c"MPI_Finalize")) };
    assert_eq!(finalize(), 0);
    say("ok");
}

fn initialize(library: *mut c_void, level: c_int, provided: &mut c_int) -> c_int {
    type Initialize = extern "C" fn(*mut c_int, *mut c_void, c_int, *mut c_int) -> c_int;
    // SAFETY: the function has this type in every interface.
    let initialize = unsafe { std::mem::transmute::<*mut c_void, Initialize>(symbol(library, c"MPI_Init_thread")) };
    initialize(ptr::null_mut(), ptr::null_mut(), level, provided)
}

fn symbol(library: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: an open library and a name.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    assert!(!found.is_null(), "{name:?} is in every library");
    found
}

/// The last rank does not open the cluster before the others have given up.
fn absent() {
    let launcher = Launcher::from_env().expect("a launcher");
    if launcher.rank == launcher.size - 1 {
        thread::sleep(Duration::from_secs(4));
    }
    match Cluster::from_env() {
        Ok(_) => say("opened"),
        Err(error) => say(&format!("refused: {error}")),
    }
}
