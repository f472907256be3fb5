//! Servo's channel among processes, a Unix socket that carries bytes and hands longer ones over in shared memory.

use ipc_channel::ipc::{self, IpcBytesReceiver, IpcBytesSender};
use std::sync::Arc;

use super::super::ends::{ByteRecv, ByteSend, Inlet, Reader, Receiving, Sending};
use super::super::wire::Wire;
use super::{Carrier, Ends, Inlets, Traits};
use corecast_race::contender::Unfit;
use corecast_race::failure::Failure;
use corecast_race::harness::Abort;

pub(super) static IPC_CHANNEL: IpcChannel = IpcChannel;

pub(super) struct IpcChannel;

struct Out {
    to: Vec<IpcBytesSender>,
    message: Vec<u8>,
}

struct In(IpcBytesReceiver);

impl Carrier for IpcChannel {
    fn name(&self) -> &'static str {
        "ipc-channel"
    }

    fn about(&self) -> &'static str {
        "crate ipc-channel, a bytes channel for each receiver; sleeps"
    }

    /// Its ends could cross to another process only by its own bootstrap, so they are raced among threads.
    fn traits(&self) -> Traits {
        Traits::UNICAST
    }

    fn open(&self, wire: &Wire, _abort: &Arc<Abort>) -> Result<Ends, Unfit> {
        let channels: std::io::Result<Vec<_>> = (0..wire.receivers).map(|_| ipc::bytes_channel()).collect();
        let (to, from): (Vec<_>, Vec<_>) = channels.map_err(|error| Unfit(error.to_string()))?.into_iter().unzip();
        let inlet = |from| Box::new(Receiving(In(from))) as Box<dyn Inlet>;
        let inlets = Inlets::Here(from.into_iter().map(inlet).collect());
        Ok(Ends { outlet: Box::new(Sending(Out { to, message: vec![0; wire.bytes] })), inlets })
    }
}

impl ByteSend for Out {
    fn send(&mut self, write: impl FnOnce(&mut [u8])) -> Result<(), Failure> {
        write(&mut self.message);
        self.to.iter().try_for_each(|to| to.send(&self.message)).map_err(Failure::refused)
    }
}

impl ByteRecv for In {
    fn recv<R: Reader>(&mut self, _most: u64, reader: &mut R) -> Result<(), Failure> {
        reader.read(&self.0.recv().map_err(Failure::refused)?);
        Ok(())
    }
}
