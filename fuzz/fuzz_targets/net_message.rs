//! The bytes of a message between the nodes of a group: none, or a message that comes back.
//!
//! The first byte says how many nodes the group has.

#![no_main]

use corecast_replica::net;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((&nodes, bytes)) = input.split_first() else { return };
    let nodes = usize::from(nodes);
    if let Some(again) = net::rewritten(bytes, nodes) {
        assert!(again.len() <= bytes.len(), "a number may be written with more bytes than it needs");
        assert_eq!(net::rewritten(&again, nodes), Some(again));
    }
});
