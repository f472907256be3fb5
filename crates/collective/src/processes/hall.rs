//! A group's memory as a process finds it: before it becomes a member, or to report that another one will not come.

use std::time::Duration;

use corecast_base::Arena;
use corecast_base::region::SharedRegion;
use corecast_base::sync::Arc;
use corecast_base::wait::LONGEST_SLEEP;
use corecast_machine::pin;

use super::charter::{self, Charter};
use super::error::JoinError;
use super::register::{self, Register, Terms};
use crate::basis::Basis;
use crate::census::Census;
use crate::commons::Commons;
use crate::error::Loss;
use crate::member::Ends;
use crate::race::Records;

/// A group's memory, checked, with what all members share laid out.
pub(super) struct Hall {
    pub(super) terms: Terms,
    basis: std::sync::Arc<Basis>,
    pub(super) census: Arc<Census>,
    pub(super) commons: Commons,
    /// The place where members that are to race keep their results.
    pub(super) records: Option<Records>,
}

impl Hall {
    pub(super) fn enter(region: &SharedRegion) -> Result<Self, JoinError> {
        let (terms, section) = register::find(region)?;
        let mut arena = Arena::within(section);
        let register = Register::lay_out(&mut arena, terms.members, terms.charter_bytes);
        let register = register.map_err(JoinError::of_memory)?;
        let charter = charter::parse(&register.read(&terms)?).map_err(JoinError::Corrupt)?;
        let Charter { planned, records } = charter;
        let basis = std::sync::Arc::clone(&planned.basis);
        terms.check_wait(basis.wishes.wait)?;
        if basis.members() != terms.members {
            let (said, told) = (basis.members(), terms.members);
            return Err(JoinError::Corrupt(format!("its charter has {said} members, its directory {told}")));
        }
        let census = Arc::new(Census::new(region.clone(), register.members, terms.fences));
        let commons = Commons::new(planned, arena, Some(Arc::clone(&census)), None).map_err(JoinError::of_memory)?;
        Ok(Self { terms, basis, census, commons, records })
    }

    /// Waits for the others, as a member that has its place, and builds its ends.
    pub(super) fn settle(self, rank: usize, timeout: Duration) -> Result<Ends, JoinError> {
        let outcome = self.build(rank, timeout);
        if outcome.is_err() {
            self.commons.roll.leave(rank, 0);
        }
        outcome
    }

    fn build(&self, rank: usize, timeout: Duration) -> Result<Ends, JoinError> {
        if self.basis.is_pinned {
            pin::pin(self.basis.problem.cpu(rank))?.forever();
        }
        self.commons.roll.ring_all();
        self.wait_for_all(rank, timeout)?;
        let ends = self.commons.ends(rank).map_err(JoinError::of_memory)?;
        let (bytes, told) = (ends.bytes, self.terms.laid_out_bytes);
        if bytes != told {
            return Err(JoinError::Corrupt(format!("this version lays out {bytes} bytes and its founder {told}")));
        }
        Ok(ends)
    }

    fn wait_for_all(&self, rank: usize, timeout: Duration) -> Result<(), JoinError> {
        let is_complete = || self.census.missing().next().is_none().then_some(());
        let roll = &self.commons.roll;
        self.basis.waiter(rank, Some(&self.census)).until(&roll.common, is_complete, |waited| {
            if let Some(fault) = roll.fault() {
                return Err(fault.into());
            }
            roll.check_alive()?;
            match timeout.checked_sub(waited) {
                Some(left) if !left.is_zero() => Ok(left.min(LONGEST_SLEEP)),
                _ => Err(JoinError::SetupTimeout { missing: self.census.missing().collect() }),
            }
        })?;
        // A member that was given up counts as come.
        self.census.given_up().map_or(Ok(()), |rank| Err(roll.report(rank, Loss::Died).into()))
    }
}
