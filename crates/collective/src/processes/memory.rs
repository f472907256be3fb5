//! A group's memory as a process finds it: before it becomes a member, or to report that another one will not come.

use std::time::Duration;

use corecast_base::Arena;
use corecast_base::region::SharedRegion;
use corecast_base::sync::Arc;
use corecast_base::wait::LONGEST_SLEEP;
use corecast_machine::pin;

use super::descriptor::{self, GroupDescriptor};
use super::error::JoinError;
use super::register::{self, GroupEntry, Register};
use crate::choice::PlanInputs;
use crate::error::Loss;
use crate::group::RaceStore;
use crate::member::{Ends, GroupMemory};
use crate::membership::MemberProcesses;

/// A group's memory, checked, with what all members share laid out.
pub(super) struct CheckedMemory {
    pub(super) terms: GroupEntry,
    inputs: std::sync::Arc<PlanInputs>,
    pub(super) processes: Arc<MemberProcesses>,
    pub(super) memory: GroupMemory,
    /// The place where members that are to race keep their results.
    pub(super) records: Option<RaceStore>,
}

impl CheckedMemory {
    pub(super) fn enter(region: &SharedRegion) -> Result<Self, JoinError> {
        let (terms, section) = register::find(region)?;
        let mut arena = Arena::within(section);
        let register = Register::lay_out(&mut arena, terms.members, terms.descriptor_bytes);
        let register = register.map_err(JoinError::of_memory)?;
        let descriptor = descriptor::parse(&register.read(&terms)?).map_err(JoinError::Corrupt)?;
        let GroupDescriptor { planned, records } = descriptor;
        let inputs = std::sync::Arc::clone(&planned.inputs);
        terms.check_wait(inputs.settings.wait)?;
        if inputs.members() != terms.members {
            let (said, told) = (inputs.members(), terms.members);
            return Err(JoinError::Corrupt(format!("its description has {said} members, its directory {told}")));
        }
        let processes = Arc::new(MemberProcesses::new(region.clone(), register.members, terms.fences));
        let memory =
            GroupMemory::new(planned, arena, Some(Arc::clone(&processes)), None).map_err(JoinError::of_memory)?;
        Ok(Self { terms, inputs, processes, memory, records })
    }

    /// Waits for the others, as a member that has its place, and builds its ends.
    pub(super) fn settle(self, rank: usize, timeout: Duration) -> Result<Ends, JoinError> {
        let outcome = self.build(rank, timeout);
        if outcome.is_err() {
            self.memory.table.leave(rank, 0);
        }
        outcome
    }

    fn build(&self, rank: usize, timeout: Duration) -> Result<Ends, JoinError> {
        if self.inputs.is_pinned {
            pin::pin(self.inputs.problem.cpu(rank))?.forever();
        }
        // Another thread may have attached, with other CPUs. Only now, as a thread that gets no place must not speak for the
        // member that this process may be already.
        self.processes.renew_affinity()?;
        self.memory.table.wake_all();
        self.wait_for_all(rank, timeout)?;
        let ends = self.memory.ends(rank).map_err(JoinError::of_memory)?;
        let (bytes, told) = (ends.bytes, self.terms.laid_out_bytes);
        if bytes != told {
            return Err(JoinError::Corrupt(format!("this version lays out {bytes} bytes and its founder {told}")));
        }
        Ok(ends)
    }

    fn wait_for_all(&self, rank: usize, timeout: Duration) -> Result<(), JoinError> {
        let is_complete = || self.processes.missing().next().is_none().then_some(());
        let table = &self.memory.table;
        self.inputs.waiter(rank, Some(&self.processes)).until(&table.common, is_complete, |waited| {
            if let Some(fault) = table.fault() {
                return Err(fault.into());
            }
            table.check_alive()?;
            match timeout.checked_sub(waited) {
                Some(left) if !left.is_zero() => Ok(left.min(LONGEST_SLEEP)),
                _ => Err(JoinError::SetupTimeout { missing: self.processes.missing().collect() }),
            }
        })?;
        // A member that was given up counts as come.
        self.processes.given_up().map_or(Ok(()), |rank| Err(table.report(rank, Loss::Died).into()))
    }
}
