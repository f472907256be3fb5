//! The rates of channels between two observations.

use super::lookout::Look;
use super::seen::{ChannelSeen, Inside, ReceiverSeen, RegionSeen};

impl Look {
    /// The same look with rates since an earlier one.
    pub(super) fn since(mut self, earlier: &Self) -> Self {
        let elapsed_s = self.at.duration_since(earlier.at).as_secs_f64();
        let insides = |regions| Vec::from_iter(insides(regions));
        let before = insides(&earlier.regions);
        for now in self.regions.iter_mut().filter_map(|region| region.inside.as_mut()) {
            if let Some(before) = before.iter().find(|before| now.is_same(before)) {
                // Channels stay as they were declared.
                for (now, before) in now.channels.iter_mut().zip(&before.channels) {
                    set_rates(now, before, elapsed_s);
                }
            }
        }
        self
    }
}

fn insides(regions: &[RegionSeen]) -> impl Iterator<Item = &Inside> {
    regions.iter().filter_map(|region| region.inside.as_ref())
}

fn set_rates(now: &mut ChannelSeen, before: &ChannelSeen, elapsed_s: f64) {
    let (Some(now), Some(before)) = (&mut now.state, &before.state) else { return };
    // A position that goes back is none.
    let rate = |now: Option<u64>, before: Option<u64>| Some(now?.checked_sub(before?)? as f64 / elapsed_s);
    now.sent_per_s = rate(now.sent, before.sent);
    let mut left: Vec<&ReceiverSeen> = before.receivers.iter().collect();
    for receiver in &mut now.receivers {
        let end = |receiver: &ReceiverSeen| (receiver.end.seat, receiver.end.pid);
        // One process may have several, which stay in order.
        let Some(same) = left.iter().position(|other| end(other) == end(receiver)) else { continue };
        receiver.received_per_s = rate(receiver.cursor, left.remove(same).cursor);
    }
}
