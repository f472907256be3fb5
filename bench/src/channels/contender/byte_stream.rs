//! The ends of channels over file descriptors: sockets and pipes. Every message is one call, as long as the kernel
//! takes it whole, and is copied in and out; an end that has to wait sleeps in the kernel.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;

use super::super::ends::{ByteRecv, ByteSend, Inlet, Reader, Receiving, Sending};
use super::super::wire::Wire;
use super::{Ends, Inlets, Seed};
use corecast_race::contender::Unfit;
use corecast_race::failure::Failure;

struct Out {
    to: Vec<File>,
    message: Vec<u8>,
}

struct In {
    from: File,
    message: Vec<u8>,
}

/// A connection for each receiver, made by `connect`: the writing end and the reading end.
pub(super) fn open(wire: &Wire, connect: impl Fn() -> std::io::Result<(OwnedFd, OwnedFd)>) -> Result<Ends, Unfit> {
    let connected: std::io::Result<Vec<_>> = (0..wire.receivers).map(|_| connect()).collect();
    let (to, from): (Vec<_>, Vec<_>) = connected.map_err(|error| Unfit(error.to_string()))?.into_iter().unzip();
    let out = Out { to: to.into_iter().map(File::from).collect(), message: vec![0; wire.bytes] };
    let seeds = from.into_iter().map(|fd| Seed { fds: vec![fd], word: 0 }).collect();
    Ok(Ends { outlet: Box::new(Sending(out)), inlets: Inlets::Anywhere(seeds) })
}

/// The receiving end over a seed of [`open`].
pub(super) fn attach(wire: &Wire, seed: Seed) -> Result<Box<dyn Inlet>, Unfit> {
    let fd = seed.fds.into_iter().next().ok_or_else(|| Unfit("a seed without a descriptor".to_owned()))?;
    Ok(Box::new(Receiving(In { from: File::from(fd), message: vec![0; wire.bytes] })))
}

impl ByteSend for Out {
    fn send(&mut self, write: impl FnOnce(&mut [u8])) -> Result<(), Failure> {
        write(&mut self.message);
        self.to.iter_mut().try_for_each(|to| to.write_all(&self.message)).map_err(Failure::refused)
    }
}

impl ByteRecv for In {
    fn recv<R: Reader>(&mut self, _most: u64, reader: &mut R) -> Result<(), Failure> {
        self.from.read_exact(&mut self.message).map_err(Failure::refused)?;
        reader.read(&self.message);
        Ok(())
    }
}
