//! Unix sockets: of packets, which have a largest size, and of bytes.

use std::sync::Arc;

use rustix::net::sockopt::{set_socket_send_buffer_size, socket_send_buffer_size};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::super::ends::Inlet;
use super::super::wire::Wire;
use super::{Carrier, Ends, Seed, Traits, byte_stream};
use corecast_race::contender::Unfit;
use corecast_race::harness::Abort;

pub(super) static SEQPACKET: Unix = Unix { of_packets: true };
pub(super) static STREAM: Unix = Unix { of_packets: false };

pub(super) struct Unix {
    of_packets: bool,
}

/// The bytes that the kernel adds to a packet when it charges it to the socket's buffer.
const OVERHEAD_BYTES: usize = 1024;

impl Carrier for Unix {
    fn name(&self) -> &'static str {
        if self.of_packets { "unix-seqpacket" } else { "unix-stream" }
    }

    fn about(&self) -> &'static str {
        if self.of_packets {
            "a Unix socket of packets for each receiver; sleeps"
        } else {
            "a Unix socket of bytes for each receiver; sleeps"
        }
    }

    fn traits(&self) -> Traits {
        Traits::UNICAST.among_processes()
    }

    fn open(&self, wire: &Wire, _abort: &Arc<Abort>) -> Result<Ends, Unfit> {
        let kind = if self.of_packets { SocketType::SEQPACKET } else { SocketType::STREAM };
        if self.of_packets {
            let limit = largest_packet().map_err(|error| Unfit(error.to_string()))?;
            if wire.bytes > limit {
                return Err(Unfit(format!("a packet has at most {limit} bytes here (net.core.wmem_max)")));
            }
        }
        byte_stream::open(wire, || {
            let (to, from) = socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)?;
            if self.of_packets {
                set_socket_send_buffer_size(&to, wanted_buffer(wire))?;
            }
            Ok((to, from))
        })
    }

    fn attach(&self, wire: &Wire, seed: Seed, _abort: &Arc<Abort>) -> Result<Box<dyn Inlet>, Unfit> {
        byte_stream::attach(wire, seed)
    }
}

/// Room for as many messages as the others have; the kernel grants less where it must.
fn wanted_buffer(wire: &Wire) -> usize {
    wire.depth * (wire.bytes + OVERHEAD_BYTES)
}

/// The longest packet that fits the largest buffer.
fn largest_packet() -> rustix::io::Result<usize> {
    let (probe, _) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    set_socket_send_buffer_size(&probe, i32::MAX as usize / 2)?;
    Ok(socket_send_buffer_size(&probe)?.saturating_sub(OVERHEAD_BYTES))
}
