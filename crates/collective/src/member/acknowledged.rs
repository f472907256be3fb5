//! How all members of a group open an acknowledged broadcast together.

use corecast_channel::Plain;

use super::prepared::{self, Prepared};
use super::{Ends, Member};
use crate::acknowledged::{AckConfig, AckError, AckFollower, AckRoot};
use crate::call::{Call, CallKind};
use crate::error::Error;
use crate::operation::Order;

impl Member {
    /// Opens an acknowledged broadcast as the member that publishes, while all others call
    /// [`ack_follower`](Self::ack_follower) with the same configuration and type of events.
    ///
    /// Its memory stays with the group as long as the group lives.
    ///
    /// # Errors
    /// [`AckError`] that names the setting that does not fit; [`AckError::Disagreement`] at all members with valid
    /// settings, if not all are the same; [`AckError::Group`] if a member is lost.
    pub fn ack_root<T: Plain>(&mut self, config: AckConfig) -> Result<AckRoot<'_, T>, AckError> {
        let Ends { core, routes, .. } = self.agree::<T>(&config, true)?;
        Ok(AckRoot::open(core, routes, &config)?)
    }

    /// Opens an acknowledged broadcast as a member that receives; see [`ack_root`](Self::ack_root).
    ///
    /// # Errors
    /// As for `ack_root`.
    pub fn ack_follower<T: Plain>(&mut self, config: AckConfig) -> Result<AckFollower<'_, T>, AckError> {
        let Ends { core, routes, .. } = self.agree::<T>(&config, false)?;
        Ok(AckFollower::open(core, routes, &config)?)
    }

    /// Finds out whether all members want the same, and begins the operation if so. Members whose settings are refused ask
    /// too, as the others would wait for them.
    fn agree<T: Plain>(&mut self, config: &AckConfig, is_root: bool) -> Result<&mut Ends, AckError> {
        let own = self.check_part::<T>(config, is_root);
        let signature = config.signature::<T>();
        let range = if own.is_ok() { [signature, signature] } else { [0, u64::MAX] };
        let call = Call::of(CallKind::AcknowledgedBroadcast);
        let agreeing = prepared::allreduce(Order::Plan, range, |a, b| [a[0].min(b[0]), a[1].max(b[1])]);
        let [least, most] = self.run(Prepared { call, ..agreeing })?;
        own?;
        if least != most {
            return Err(AckError::Disagreement);
        }
        Ok(self.begin(call)?)
    }

    fn check_part<T: Plain>(&self, config: &AckConfig, is_root: bool) -> Result<(), AckError> {
        let (rank, members, root) = (self.rank(), self.size(), config.root);
        if root >= members {
            return Err(Error::BadRank { rank: root, members }.into());
        }
        if is_root != (rank == root) {
            return Err(AckError::WrongPart { rank, root });
        }
        config.check(size_of::<T>())
    }
}
