//! Histories of clients while nodes go: there is an order of all operations that gives the same answers.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use corecast_replica::Level;
use corecast_replica::linearizability::{Counter as Model, CounterOp, Operation, Return, USUAL_LIMIT, Verdict, check};
use corecast_replica::net::{Config, Group, Node};
use fastrand::Rng;

use crate::counter::Counter;
use crate::{CALM, PATIENCE, spreads};

const OPERATIONS: usize = 60;
const LIMIT: Duration = Duration::from_secs(30);

type History = Mutex<Vec<Operation<CounterOp, i64>>>;

/// A client reads and adds, and notes when it asked and what it was told.
fn client(node: &Node<Counter>, number: u64, seed: u64, history: &History, since: Instant) {
    let mut rng = Rng::with_seed(seed ^ number);
    let mut session = node.session().expect("a member");
    let now = || u64::try_from(since.elapsed().as_nanos()).expect("less than 500 years");
    for _ in 0..OPERATIONS {
        let call_ns = now();
        let (op, answer) = if rng.bool() {
            let more = rng.u64(1..5);
            (CounterOp::Add(more as i64), session.execute_timeout(&more, LIMIT).map(|(sum, _)| sum).ok())
        } else {
            let read = node.read_timeout(Level::Linearizable, &(), LIMIT);
            (CounterOp::Read, read.map(|((sum, _), _)| sum).ok())
        };
        assert!(answer.is_some(), "no answer: {:?}", node.status());
        let returned = answer.map(|sum| Return { at_ns: now(), answer: sum as i64 });
        history.lock().expect("no client panics").push(Operation { client: number, op, call_ns, returned });
    }
}

#[test]
fn histories_are_linearizable_while_a_leader_and_an_acceptor_go_and_come_back() {
    let seed = 0x5EED_0018;
    for spread in spreads(5) {
        let config = Config::new(5).window(256).patience(CALM).spread(spread.clone());
        let group = Group::<Counter>::create(&config).expect("there is memory");
        let join = |slot| group.join(slot, Counter::default()).unwrap_or_else(|error| panic!("{error}"));
        let mut nodes = Vec::from_iter((0..5).map(join));
        let clients = nodes.split_off(2);
        let mut later = Vec::new();
        let (history, since) = (History::default(), Instant::now());
        std::thread::scope(|scope| {
            for (number, node) in clients.iter().enumerate() {
                let history = &history;
                scope.spawn(move || client(node, number as u64, seed, history, since));
            }
            // The first leader goes when something was done, the first acceptor when more was, if roles have settled. Each comes
            // back as another node while the clients go on.
            let applied = |count: u64| clients[0].catch_up(Level::AtLeast(count), PATIENCE).expect("clients go on");
            for (slot, count) in [(0, 30), (1, 90)] {
                applied(count);
                drop(nodes.remove(0));
                later.push(join(slot));
            }
        });
        let sum = clients[0].read_timeout(Level::Linearizable, &(), PATIENCE).expect("fresh").0.0;
        for node in &later {
            let read = node.read_timeout(Level::Linearizable, &(), PATIENCE);
            assert_eq!(read.expect("fresh").0.0, sum, "{spread:?}");
        }
        let history = history.into_inner().expect("no client panics");
        let verdict = check(&Model, &history, USUAL_LIMIT);
        assert!(matches!(verdict, Verdict::Linearizable), "seed {seed:#x}, {spread:?}: {verdict:?}");
    }
}
