//! TCP over the loopback device, without Nagle's delay.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;

use super::super::ends::Inlet;
use super::super::wire::Wire;
use super::{Carrier, Ends, Seed, Traits, byte_stream};
use corecast_race::contender::Unfit;
use corecast_race::harness::Abort;

pub(super) struct Tcp;

impl Carrier for Tcp {
    fn name(&self) -> &'static str {
        "tcp"
    }

    fn about(&self) -> &'static str {
        "a TCP connection over loopback for each receiver, NODELAY; sleeps"
    }

    fn traits(&self) -> Traits {
        Traits::UNICAST.among_processes()
    }

    fn open(&self, wire: &Wire, _abort: &Arc<Abort>) -> Result<Ends, Unfit> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| Unfit(error.to_string()))?;
        byte_stream::open(wire, || {
            let to = TcpStream::connect(listener.local_addr()?)?;
            let (from, _) = listener.accept()?;
            to.set_nodelay(true)?;
            from.set_nodelay(true)?;
            Ok((to.into(), from.into()))
        })
    }

    fn attach(&self, wire: &Wire, seed: Seed, _abort: &Arc<Abort>) -> Result<Box<dyn Inlet>, Unfit> {
        byte_stream::attach(wire, seed)
    }
}
