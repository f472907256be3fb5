//! Local reads while a checkpoint is taken.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use corecast_replica::{Config, Index, Level, Medium, Node, Replicated, StateMachine, net};

/// Long enough for anything that happens at all.
const PATIENCE: Duration = Duration::from_secs(60);

/// A count, whose snapshot is written once a reader has looked.
#[derive(Debug)]
struct SlowToWrite {
    count: u64,
    /// Where it says that the snapshot is begun, and is told of the reader.
    begun: Sender<()>,
    has_read: Arc<Mutex<Receiver<()>>>,
}

impl StateMachine for SlowToWrite {
    type Op = u64;
    type Out = u64;
    type Query = ();
    type Answer = u64;

    fn apply(&mut self, _at: Index, op: &u64) -> u64 {
        self.count += op;
        self.count
    }

    fn query(&self, (): &()) -> u64 {
        self.count
    }

    fn digest(&self) -> u128 {
        self.count.into()
    }

    fn snapshot(&self, to: &mut dyn io::Write) -> io::Result<()> {
        self.begun.send(()).map_err(io::Error::other)?;
        self.has_read.lock().expect("one thread").recv_timeout(PATIENCE).map_err(io::Error::other)?;
        to.write_all(&self.count.to_le_bytes())
    }

    fn restore(_from: &mut dyn io::Read) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Takes a checkpoint of one node, and reads from another thread while its state is written.
fn read_during_checkpoint<M: Medium>(make: impl FnOnce(SlowToWrite) -> Node<SlowToWrite, M>) {
    let ((begun, has_begun), (read, has_read)) = (channel(), channel());
    let node = &make(SlowToWrite { count: 0, begun, has_read: Arc::new(Mutex::new(has_read)) });
    node.session().expect("a member").execute_timeout(&7, PATIENCE).expect("done");
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || {
            has_begun.recv_timeout(PATIENCE).expect("a checkpoint is asked for");
            let (found, _) = node.read(Level::Local, &()).expect("a member");
            read.send(()).expect("the state is there");
            found
        });
        let mut state = Vec::new();
        node.checkpoint(&mut state, PATIENCE * 2).expect("a reader was there meanwhile");
        assert_eq!(state[state.len() - 8..], 7_u64.to_le_bytes());
        assert_eq!(reader.join().expect("it has read"), 7);
    });
}

#[test]
fn a_local_read_waits_for_no_checkpoint() {
    read_during_checkpoint(|machine| Replicated::create(&Config::default(), machine).expect("there is memory"));
}

#[test]
fn a_local_read_waits_for_no_checkpoint_by_messages() {
    let group = net::Group::create(&net::Config::new(1)).expect("there is memory");
    read_during_checkpoint(|machine| group.join(0, machine).expect("it is free"));
}
