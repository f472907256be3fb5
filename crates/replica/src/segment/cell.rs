//! A configuration in the segment of the node that proposed it.
//!
//! The word `cfg` of the control page names a node and one of its cells. The cell is written before the word is swapped, and
//! written anew after [`CELLS`](super::CELLS) own proposals: a reader that comes that late finds another epoch.
//!
//! ```text
//! stamp u64 (epoch + 1) | inst u32, change u8 | leader u32, acceptor u32 | stable u64 | hi u64 | source u32, checksum u32
//! ```

use corecast_base::PlaceSlice;
use corecast_base::sync::AtomicU64;

use super::checksum::of_eight;
use super::layout::CELL_WORDS;
use super::record::{self, Found};
use super::words::ReadWords;
use crate::{Configuration, Epoch, NodeId, RoleChange};

const BODY_WORDS: usize = 5;

/// A cell as a reader found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellRead {
    /// The configuration.
    Configuration(Configuration),
    /// The cell holds another configuration, or is being written: the word that named it is out of date. Read it again.
    Overwritten,
    /// The words are no configuration.
    Corrupt,
}

/// Writes a configuration.
pub(super) fn write(words: &PlaceSlice<AtomicU64>, at: usize, configuration: &Configuration) {
    let body = encode(configuration);
    record::write(&words[at..][..CELL_WORDS], number(configuration.epoch), &body);
}

/// Reads the configuration of `epoch`.
pub(super) fn read(words: &ReadWords, at: usize, epoch: Epoch) -> CellRead {
    match record::read::<BODY_WORDS>(words, at) {
        Found::Whole { number: found, body } if found == number(epoch) => {
            decode(epoch, &body).map_or(CellRead::Corrupt, CellRead::Configuration)
        }
        _ => CellRead::Overwritten,
    }
}

fn number(epoch: Epoch) -> u64 {
    u64::from(epoch) + 1
}

fn encode(configuration: &Configuration) -> [u64; BODY_WORDS] {
    let Configuration { epoch, change, leader, acceptor, inst, stable, source, hi } = *configuration;
    let role = u64::from(inst) << 32 | change as u64;
    let nodes = u64::from(leader.to_bits()) << 32 | u64::from(acceptor.to_bits());
    let source = u64::from(source.to_bits()) << 32;
    [role, nodes, stable, hi, source | u64::from(checksum(epoch, [role, nodes, stable, hi], source))]
}

fn decode(epoch: Epoch, body: &[u64; BODY_WORDS]) -> Option<Configuration> {
    let [role, nodes, stable, hi, last] = *body;
    let (source, sum) = (last & !0xffff_ffff, last as u32);
    let node = |word: u64| NodeId::from_bits((word >> 32) as u32);
    let change = match role as u32 {
        0 => RoleChange::Leader,
        1 => RoleChange::Acceptor,
        _ => return None,
    };
    let inst = (role >> 32) as Epoch;
    let is_sound = sum == checksum(epoch, [role, nodes, stable, hi], source) && inst <= epoch && stable <= hi;
    if !is_sound {
        return None;
    }
    let (leader, acceptor, source) = (node(nodes)?, node(nodes << 32)?, node(source)?);
    Some(Configuration { epoch, change, leader, acceptor, inst, stable, source, hi })
}

fn checksum(epoch: Epoch, [role, nodes, stable, hi]: [u64; 4], source: u64) -> u32 {
    of_eight([u64::from(epoch), role, nodes, stable, hi, source, 0, 0])
}
