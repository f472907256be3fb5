//! Messages between voters, and from clients: a length of four bytes, and JSON, over TCP. A message gets one reply.

use std::collections::BTreeMap;
use std::io;

use openraft::error::{InstallSnapshotError, RPCError, RaftError, RemoteError, Unreachable};
use openraft::network::RPCOption;
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, InstallSnapshotRequest, InstallSnapshotResponse, VoteRequest,
    VoteResponse,
};
use openraft::{BasicNode, RaftNetwork, RaftNetworkFactory};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::state::{Put, Types};

/// The longest message.
pub(crate) const MAX_BYTES: usize = 64 << 20;

/// A message to a voter.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    Append(AppendEntriesRequest<Types>),
    Vote(VoteRequest<u64>),
    Install(InstallSnapshotRequest<Types>),
    /// Of the director: these are the voters.
    Begin(BTreeMap<u64, BasicNode>),
    /// Of a client.
    Write(Put),
    /// Of a client: the text of this name, with every write that was acknowledged before.
    Read(String),
}

/// The reply of a voter to a client.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Reply {
    /// The entry of Raft's log that holds the write.
    Written(u64),
    Text(Option<String>),
    /// Another voter leads, if it is known.
    Elsewhere(Option<u64>),
    Refused(String),
}

/// The reply of a voter to another one.
type Answer<T, E = openraft::error::Infallible> = Result<T, RaftError<u64, E>>;
type Failed<E = openraft::error::Infallible> = RPCError<u64, BasicNode, RaftError<u64, E>>;

/// Reads a message; `None` at the end.
pub(crate) async fn receive<T: DeserializeOwned>(stream: &mut TcpStream) -> io::Result<Option<T>> {
    let bytes = match stream.read_u32_le().await {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        bytes => bytes? as usize,
    };
    if bytes > MAX_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a message of {bytes} bytes")));
    }
    let mut message = vec![0; bytes];
    stream.read_exact(&mut message).await?;
    Ok(Some(serde_json::from_slice(&message)?))
}

/// Writes a message.
pub(crate) async fn send(stream: &mut TcpStream, message: &impl Serialize) -> io::Result<()> {
    stream.write_all(&frame(message)?).await
}

/// The bytes of a message.
pub(crate) fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let len = u32::try_from(bytes.len() - 4).map_err(io::Error::other)?;
    bytes[..4].copy_from_slice(&len.to_le_bytes());
    Ok(bytes)
}

/// Makes the ways to other voters.
#[derive(Debug)]
pub(crate) struct Network;

impl RaftNetworkFactory<Types> for Network {
    type Network = Way;

    async fn new_client(&mut self, target: u64, node: &BasicNode) -> Way {
        Way { target, address: node.addr.clone(), stream: None }
    }
}

/// The way to another voter.
#[derive(Debug)]
pub(crate) struct Way {
    target: u64,
    address: String,
    /// Taken while a message is under way: a call that was given up leaves none behind, as its reply might still come.
    stream: Option<TcpStream>,
}

impl Way {
    async fn call<T, E>(&mut self, request: &Request) -> Result<T, RPCError<u64, BasicNode, RaftError<u64, E>>>
    where
        T: DeserializeOwned,
        E: std::error::Error + DeserializeOwned,
    {
        let answer: io::Result<Answer<T, E>> = self.exchange(request).await;
        let answer = answer.map_err(|error| RPCError::Unreachable(Unreachable::new(&error)))?;
        answer.map_err(|error| RPCError::RemoteError(RemoteError::new(self.target, error)))
    }

    async fn exchange<T: DeserializeOwned>(&mut self, request: &Request) -> io::Result<T> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => {
                let stream = TcpStream::connect(&self.address).await?;
                stream.set_nodelay(true)?;
                stream
            }
        };
        send(&mut stream, request).await?;
        let reply = receive(&mut stream).await?.ok_or(io::ErrorKind::UnexpectedEof)?;
        self.stream = Some(stream);
        Ok(reply)
    }
}

impl RaftNetwork<Types> for Way {
    async fn append_entries(
        &mut self,
        request: AppendEntriesRequest<Types>,
        _option: RPCOption,
    ) -> Result<AppendEntriesResponse<u64>, Failed> {
        self.call(&Request::Append(request)).await
    }

    async fn install_snapshot(
        &mut self,
        request: InstallSnapshotRequest<Types>,
        _option: RPCOption,
    ) -> Result<InstallSnapshotResponse<u64>, Failed<InstallSnapshotError>> {
        self.call(&Request::Install(request)).await
    }

    async fn vote(&mut self, request: VoteRequest<u64>, _option: RPCOption) -> Result<VoteResponse<u64>, Failed> {
        self.call(&Request::Vote(request)).await
    }
}
