//! The process of a host that takes part in Raft. It starts the readers of its host, and answers voters and clients.

use std::io::{self, BufRead};
use std::sync::Arc;

use corecast::base::rendezvous::SocketDir;
use corecast::replica::{Batched, Config, Level, Replicated};
use openraft::error::{ClientWriteError, RaftError};
use openraft::{Raft, SnapshotPolicy};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;

use crate::Outcome;
use crate::applied::{Applied, snapshots};
use crate::log::Log;
use crate::network::{Network, Reply, Request, receive, send};
use crate::reader::Reader;
use crate::state::{Replica, State, Types, tell_of};

/// Processes of a host beside its voter.
pub(crate) const READERS: usize = 2;
/// The room for the operations of a host's state, in bytes.
const BULK_BYTES: u64 = 4 << 20;
/// Entries of the log between two snapshots. A service has more; here a host that stands still for a second needs one.
const BETWEEN_SNAPSHOTS: u64 = 100;
/// Entries before a snapshot that are kept for hosts that are a little behind.
const KEPT: u64 = 20;
/// The most entries of a message to another voter.
const MOST_ENTRIES: u64 = 64;

/// Answers until the director closes the input. `name` is that of the host's state, `address` has a port of 0.
pub(crate) fn vote(id: u64, address: &str, name: &str) -> Outcome {
    let config = Config::default().slots(8).window(4096).bulk_bytes(BULK_BYTES);
    let replica = Replicated::create_named(&config, &SocketDir::of_user(), name, Batched::new(State::default()))?;
    let mut readers = (0..READERS).map(|_| Reader::start(name)).collect::<Outcome<Vec<_>>>()?;
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let listener = runtime.block_on(TcpListener::bind(address))?;
    let raft = runtime.block_on(start(id, replica.clone()))?;
    println!("listens at {}", listener.local_addr()?);
    runtime.spawn(serve(listener, raft, replica.clone()));
    // The director asks for the state at an entry of the log.
    for line in io::stdin().lock().lines() {
        let entry = line?.parse()?;
        let told = tell_of(&replica, entry)?;
        let (made, installed) = snapshots();
        println!("voter {told} {made} {installed}");
        for reader in &mut readers {
            println!("{}", reader.tell_of(entry)?);
        }
    }
    Ok(())
}

/// Makes this process a voter. Times are long enough for machines that are busy with other things.
async fn start(id: u64, replica: Replica) -> Outcome<Raft<Types>> {
    let config = openraft::Config {
        heartbeat_interval: 100,
        election_timeout_min: 500,
        election_timeout_max: 1000,
        install_snapshot_timeout: 5000,
        snapshot_policy: SnapshotPolicy::LogsSinceLast(BETWEEN_SNAPSHOTS),
        max_in_snapshot_log_to_keep: KEPT,
        max_payload_entries: MOST_ENTRIES,
        ..openraft::Config::default()
    };
    let config = Arc::new(config.validate()?);
    Ok(Raft::new(id, config, Network, Log::default(), Applied::new(replica)?).await?)
}

async fn serve(listener: TcpListener, raft: Raft<Types>, replica: Replica) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(talk(stream, raft.clone(), replica.clone()));
    }
}

/// Answers one connection, until it ends.
async fn talk(mut stream: TcpStream, raft: Raft<Types>, replica: Replica) -> io::Result<()> {
    stream.set_nodelay(true)?;
    while let Some(request) = receive(&mut stream).await? {
        match request {
            Request::Append(request) => send(&mut stream, &raft.append_entries(request).await).await?,
            Request::Vote(request) => send(&mut stream, &raft.vote(request).await).await?,
            Request::Install(request) => send(&mut stream, &raft.install_snapshot(request).await).await?,
            request => send(&mut stream, &answer(request, &raft, &replica).await).await?,
        }
    }
    Ok(())
}

/// The reply to a client.
async fn answer(request: Request, raft: &Raft<Types>, replica: &Replica) -> Reply {
    match request {
        Request::Begin(voters) => match raft.initialize(voters).await {
            Ok(()) => Reply::Text(None),
            Err(error) => Reply::Refused(error.to_string()),
        },
        Request::Write(put) => match raft.client_write(put).await {
            Ok(written) => Reply::Written(written.log_id.index),
            Err(RaftError::APIError(ClientWriteError::ForwardToLeader(other))) => Reply::Elsewhere(other.leader_id),
            Err(error) => Reply::Refused(error.to_string()),
        },
        // A majority of the hosts says that this one leads, and then the replica of this process has what was committed.
        Request::Read(name) => match raft.ensure_linearizable().await {
            Ok(_) => text_of(replica, &name),
            Err(_) => Reply::Elsewhere(raft.current_leader().await),
        },
        other => Reply::Refused(format!("{other:?} is no request of a client")),
    }
}

fn text_of(replica: &Replica, name: &str) -> Reply {
    let look = |state: &Batched<State>| state.machine().texts.get(name).cloned();
    match replica.read_with(Level::Linearizable, look) {
        Ok((text, _)) => Reply::Text(text),
        Err(error) => Reply::Refused(error.to_string()),
    }
}
