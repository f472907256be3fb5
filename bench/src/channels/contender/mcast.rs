//! corecast's own channel of one write and many readers.

use std::sync::Arc;

use corecast::base::region::{RegionPlan, SharedRegion};
use corecast::channel::mcast::bytes::{Receiver, Sender};
use corecast::channel::mcast::{self, Config, Policy};

use super::super::ends::{ByteRecv, ByteSend, Inlet, Reader, Receiving, Sending};
use super::super::wire::Wire;
use super::own_bytes::{read, write_into};
use super::{Carrier, Ends, Inlets, Seed, Traits};
use corecast_race::contender::Unfit;
use corecast_race::failure::Failure;
use corecast_race::harness::Abort;

/// Written and read in place where the memory allows it.
pub(super) static MCAST: Mcast = Mcast { copies: false };
/// Written elsewhere and copied in, copied out and read: what being in place saves.
pub(super) static MCAST_COPY: Mcast = Mcast { copies: true };

/// The name of the channel in its region.
const NAME: &str = "mcast";
/// The longest message that lies in its slot.
const MOST_INLINE: usize = 240;

pub(super) struct Mcast {
    copies: bool,
}

struct Out {
    sender: Sender,
    len: usize,
    /// `None` if messages are written in place.
    copy: Option<Vec<u8>>,
    elsewhere: Vec<u8>,
}

struct In {
    receiver: Receiver,
    copies: bool,
    elsewhere: Vec<u8>,
}

impl Carrier for Mcast {
    fn name(&self) -> &'static str {
        if self.copies { "mcast-copy" } else { "mcast" }
    }

    fn about(&self) -> &'static str {
        if self.copies {
            "corecast's mcast, each message copied in and out, waiting as asked for"
        } else {
            "corecast's mcast, in place, waiting as asked for"
        }
    }

    fn traits(&self) -> Traits {
        Traits::BROADCAST.among_processes().ours()
    }

    fn open(&self, wire: &Wire, _abort: &Arc<Abort>) -> Result<Ends, Unfit> {
        let (sender, inlets) = if wire.among_processes { self.in_region(wire)? } else { self.on_heap(wire)? };
        let copy = self.copies.then(|| vec![0; wire.bytes]);
        let out = Out { sender, len: wire.bytes, copy, elsewhere: Vec::new() };
        Ok(Ends { outlet: Box::new(Sending(out)), inlets })
    }

    fn attach(&self, _wire: &Wire, seed: Seed, _abort: &Arc<Abort>) -> Result<Box<dyn Inlet>, Unfit> {
        let fd = seed.fds.into_iter().next().ok_or_else(|| Unfit("a seed without a region".to_owned()))?;
        let region = SharedRegion::from_fd(fd).map_err(unfit)?;
        // SAFETY: only this program maps the region, which has no name, and all of it goes through the channel.
        let honest = unsafe { region.assume_honest() };
        Ok(self.inlet(mcast::bytes::receiver(&region, NAME, Policy::Reliable).map_err(unfit)?.with_honest(&honest)))
    }
}

impl Mcast {
    fn inlet(&self, receiver: Receiver) -> Box<dyn Inlet> {
        Box::new(Receiving(In { receiver, copies: self.copies, elsewhere: Vec::new() }))
    }

    fn on_heap(&self, wire: &Wire) -> Result<(Sender, Inlets), Unfit> {
        let (sender, source) = mcast::bytes::channel(config(wire));
        let inlet = |_| Ok(self.inlet(source.subscribe(Policy::Reliable).map_err(unfit)?));
        Ok((sender, Inlets::Here((0..wire.receivers).map(inlet).collect::<Result<_, Unfit>>()?)))
    }

    fn in_region(&self, wire: &Wire) -> Result<(Sender, Inlets), Unfit> {
        let plan = RegionPlan::new().participants(wire.receivers as u32 + 1).map_err(unfit)?;
        let plan = mcast::bytes::spec(config(wire)).declare(plan, NAME).map_err(unfit)?;
        let region = SharedRegion::memfd(&plan).map_err(unfit)?;
        let seed = |_| Ok(Seed { fds: vec![region.share().map_err(unfit)?], word: 0 });
        let seeds = (0..wire.receivers).map(seed).collect::<Result<_, Unfit>>()?;
        // SAFETY: only this program maps the region, which has no name, and all of it goes through the channel.
        let honest = unsafe { region.assume_honest() };
        Ok((mcast::bytes::sender(&region, NAME).map_err(unfit)?.with_honest(&honest), Inlets::Anywhere(seeds)))
    }
}

fn config(wire: &Wire) -> Config {
    let is_inline = wire.bytes <= MOST_INLINE;
    let (inline, block_bytes) = if is_inline { (wire.bytes, 0) } else { (0, wire.bytes) };
    let (slots, readers) = (wire.depth, wire.receivers);
    Config { slots, inline, block_bytes, readers, wait: wire.wait(), wake_cost: wire.wake_cost(), ..Config::default() }
}

fn unfit(error: impl std::fmt::Display) -> Unfit {
    Unfit(error.to_string())
}

impl ByteSend for Out {
    #[inline]
    fn send(&mut self, write: impl FnOnce(&mut [u8])) -> Result<(), Failure> {
        if let Some(copy) = &mut self.copy {
            write(copy);
            return self.sender.send(copy).map_err(Failure::refused);
        }
        let mut loan = self.sender.reserve(self.len).map_err(Failure::refused)?;
        write_into(&mut loan.bytes(), &mut self.elsewhere, write);
        loan.commit().map_err(Failure::refused)
    }
}

impl ByteRecv for In {
    #[inline]
    fn recv<R: Reader>(&mut self, _most: u64, reader: &mut R) -> Result<(), Failure> {
        let message = self.receiver.recv().map_err(Failure::refused)?;
        read(&message.bytes(), self.copies, &mut self.elsewhere, reader);
        Ok(())
    }
}
