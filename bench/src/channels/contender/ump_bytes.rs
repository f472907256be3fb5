//! corecast's own ring of one sender and one receiver, for bytes.

use std::sync::Arc;

use corecast::base::region::{RegionPlan, SharedRegion};
use corecast::channel::ump::bytes::{Receiver, Sender};
use corecast::channel::ump::{self, Config, Credit};

use super::super::ends::{ByteRecv, ByteSend, Inlet, Reader, Receiving, Sending};
use super::super::wire::Wire;
use super::own_bytes::{read, write_into};
use super::{Carrier, Ends, Inlets, Seed, Traits};
use corecast_race::contender::Unfit;
use corecast_race::failure::Failure;
use corecast_race::harness::Abort;

pub(super) struct UmpBytes;

/// The header of a message, which shares its first line.
const HEADER_BYTES: usize = 8;

struct Out {
    senders: Vec<Sender>,
    /// The message, written once, if there are several receivers.
    message: Vec<u8>,
    elsewhere: Vec<u8>,
}

struct In {
    receiver: Receiver,
    elsewhere: Vec<u8>,
}

impl Carrier for UmpBytes {
    fn name(&self) -> &'static str {
        "ump-bytes"
    }

    fn about(&self) -> &'static str {
        "corecast's ump ring of bytes for each receiver, in place, waiting as asked for"
    }

    fn traits(&self) -> Traits {
        Traits::UNICAST.among_processes().ours()
    }

    fn open(&self, wire: &Wire, _abort: &Arc<Abort>) -> Result<Ends, Unfit> {
        let (senders, inlets) = if wire.among_processes { in_region(wire)? } else { on_heap(wire) };
        let out = Out { senders, message: vec![0; wire.bytes], elsewhere: Vec::new() };
        Ok(Ends { outlet: Box::new(Sending(out)), inlets })
    }

    fn attach(&self, _wire: &Wire, seed: Seed, _abort: &Arc<Abort>) -> Result<Box<dyn Inlet>, Unfit> {
        let fd = seed.fds.into_iter().next().ok_or_else(|| Unfit("a seed without a region".to_owned()))?;
        let region = SharedRegion::from_fd(fd).map_err(unfit)?;
        let receiver = ump::bytes::receiver(&region, &name(seed.word)).map_err(unfit)?;
        // SAFETY: only this program maps the region, which has no name, and all of it goes through the channels.
        let honest = unsafe { region.assume_honest() };
        Ok(inlet(receiver.with_honest(&honest)))
    }
}

fn inlet(receiver: Receiver) -> Box<dyn Inlet> {
    Box::new(Receiving(In { receiver, elsewhere: Vec::new() }))
}

fn config(wire: &Wire) -> Config {
    let lines = (wire.bytes + HEADER_BYTES).div_ceil(64);
    let (wait, wake_cost) = (wire.wait(), wire.wake_cost());
    let config = Config { slots: wire.depth * lines, credit: Credit::AckLine, wait, wake_cost };
    config.holding(wire.bytes)
}

fn on_heap(wire: &Wire) -> (Vec<Sender>, Inlets) {
    let channels = (0..wire.receivers).map(|_| ump::bytes::channel(config(wire)));
    let (senders, inlets) = channels.map(|(sender, receiver)| (sender, inlet(receiver))).unzip();
    (senders, Inlets::Here(inlets))
}

fn in_region(wire: &Wire) -> Result<(Vec<Sender>, Inlets), Unfit> {
    let mut plan = RegionPlan::new().participants(wire.receivers as u32 + 1).map_err(unfit)?;
    for receiver in 0..wire.receivers as u64 {
        plan = ump::bytes::spec(config(wire)).declare(plan, &name(receiver)).map_err(unfit)?;
    }
    let region = SharedRegion::memfd(&plan).map_err(unfit)?;
    // SAFETY: only this program maps the region, which has no name, and all of it goes through the channels.
    let honest = unsafe { region.assume_honest() };
    let (mut senders, mut seeds) = (Vec::new(), Vec::new());
    for receiver in 0..wire.receivers as u64 {
        senders.push(ump::bytes::sender(&region, &name(receiver)).map_err(unfit)?.with_honest(&honest));
        seeds.push(Seed { fds: vec![region.share().map_err(unfit)?], word: receiver });
    }
    Ok((senders, Inlets::Anywhere(seeds)))
}

/// The name of a receiver's channel in the region.
fn name(receiver: u64) -> String {
    format!("ump-{receiver}")
}

fn unfit(error: impl std::fmt::Display) -> Unfit {
    Unfit(error.to_string())
}

impl ByteSend for Out {
    #[inline]
    fn send(&mut self, write: impl FnOnce(&mut [u8])) -> Result<(), Failure> {
        if let [sender] = &mut self.senders[..] {
            let mut loan = sender.reserve(self.message.len()).map_err(Failure::refused)?;
            write_into(&mut loan.bytes(), &mut self.elsewhere, write);
            loan.commit();
            return Ok(());
        }
        write(&mut self.message);
        self.senders.iter_mut().try_for_each(|sender| sender.send(&self.message)).map_err(Failure::refused)
    }
}

impl ByteRecv for In {
    #[inline]
    fn recv<R: Reader>(&mut self, _most: u64, reader: &mut R) -> Result<(), Failure> {
        let message = self.receiver.recv().map_err(Failure::refused)?;
        read(&message, false, &mut self.elsewhere, reader);
        Ok(())
    }
}
