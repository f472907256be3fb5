//! A group of processes that is founded: planned, and written into a region for its members to join.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;

use corecast_base::region::KIND_GROUP;
use corecast_base::region::{RegionPlan, RegionPlanError, SharedRegion, checksum};
use corecast_base::sync::{Fences, Scope};
use corecast_base::{Arena, ArenaError, CpuId};
use corecast_machine::model_file;

use super::descriptor::{self, GroupDescriptor};
use super::error::{FoundError, JoinError};
use super::memory::CheckedMemory;
use super::register::{self, GroupEntry, Register};
use crate::choice::Choice;
use crate::error::{BuildError, Error, Loss};
use crate::group::{Builder, Draft};
use crate::member::GroupPlan;
use crate::membership::MemberProcesses;

/// Seats of the region beyond the members': for the founder, and for processes that ask for a place that is taken.
const SPARE_SEATS: u32 = 16;

impl Builder<'_> {
    /// Plans a group whose members are processes, and makes the memory in which they meet.
    ///
    /// # Errors
    /// A [`FoundError`] that names the setting that does not fit, or what the system refuses.
    pub fn found(self) -> Result<Founding, FoundError> {
        let (room, wait) = (self.room_bytes, self.wait);
        let model = model_file::render(self.machine)?;
        let machine = model_file::parse(&model)?;
        let (descriptor, race_memory) = description_of(&self.on(&machine))?;
        let text = descriptor::render(&descriptor, model);
        let GroupDescriptor { planned, .. } =
            descriptor::parse(text.as_bytes()).expect("what was just written can be read");
        let room = room.saturating_add(race_memory);
        let members = planned.inputs.members();
        let terms = GroupEntry {
            members,
            descriptor_bytes: text.len(),
            descriptor_checksum: checksum(register::words(text.as_bytes())),
            laid_out_bytes: laid_out_bytes(&planned, text.len()).map_err(BuildError::from)?,
            fences: wait.sleeps().then(|| Fences::of(Scope::Machine)),
        };
        let region = SharedRegion::memfd(&region_plan(&terms, room)?)?;
        let (_, section) = register::find(&region).expect("the entry was just declared");
        let register = Register::lay_out(&mut Arena::within(section), members, text.len());
        register.map_err(BuildError::from)?.write(text.as_bytes());
        Ok(Founding { region, planned })
    }
}

/// A group of processes that is founded. It lives as long as this value, a descriptor of it or a member.
pub struct Founding {
    region: SharedRegion,
    planned: GroupPlan,
}

impl Founding {
    /// The number of members.
    #[must_use]
    pub fn members(&self) -> usize {
        self.planned.inputs.members()
    }

    /// The CPU of each member, by rank; more than one may have the same.
    #[must_use]
    pub fn cpus(&self) -> &[CpuId] {
        self.planned.inputs.problem.cpus()
    }

    /// True if each member is bound to its CPU when it joins.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        self.planned.inputs.is_pinned
    }

    /// The trees and the barrier that the group was built with, and the reasons; its `Display` is meant for people. Members
    /// that race may replace them: see [`Member::races`](crate::Member::races).
    #[must_use]
    pub fn choice(&self) -> &Choice {
        &self.planned.choice
    }

    /// The region of the group, to be [hosted](corecast_base::rendezvous::host) under a name.
    #[must_use]
    pub fn region(&self) -> &SharedRegion {
        &self.region
    }

    /// A descriptor by which a process can join. All of them may inherit the same one, as each opens it anew.
    ///
    /// # Errors
    /// [`io::Error`] if files cannot be opened anew (no /proc).
    pub fn share(&self) -> io::Result<OwnedFd> {
        self.region.share()
    }

    /// Gives up the member of this rank, if no process has joined as it. Call it in the process that started that member,
    /// after seeing it end. The others are told at once, as if the member had died after joining, instead of waiting until
    /// their limit. True if no process had joined; a process that has joined and died is noticed without this call.
    ///
    /// # Errors
    /// [`Error::BadRank`] if there is no such member, and those of a group whose memory is damaged.
    pub fn give_up(&self, rank: usize) -> Result<bool, JoinError> {
        let (terms, section) = register::find(&self.region)?;
        let register = Register::lay_out(&mut Arena::within(section), terms.members, terms.descriptor_bytes);
        let members = register.map_err(JoinError::of_memory)?.members;
        match MemberProcesses::new(self.region.clone(), members, terms.fences).give_up(rank) {
            Ok(()) => {
                let _ = CheckedMemory::enter(&self.region)?.memory.table.report(rank, Loss::Died);
                Ok(true)
            }
            Err(Error::BadRank { rank, members }) => Err(Error::BadRank { rank, members }.into()),
            // The process that came may be dead by now; the others will find that out.
            Err(_) => Ok(false),
        }
    }
}

impl fmt::Debug for Founding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Founding({} members, {})", self.members(), self.choice().barrier)
    }
}

/// The description that members use, and the memory that a race among them takes.
fn description_of(builder: &Builder<'_>) -> Result<(GroupDescriptor, usize), BuildError> {
    let Draft { planned, .. } = builder.draft()?;
    let Some(candidates) = builder.candidates(&planned, true)? else {
        return Ok((GroupDescriptor { planned, records: None }, 0));
    };
    let records = builder.records(&planned.inputs, candidates.trees_digest(), true);
    let planned = planned.known(&candidates, &records).unwrap_or(planned);
    if !builder.race {
        return Ok((GroupDescriptor { planned, records: None }, 0));
    }
    let race_memory = candidates.bytes(&planned.inputs)?;
    Ok((GroupDescriptor { planned, records: Some(records) }, race_memory))
}

/// The bytes that each member lays out, tried on the heap.
fn laid_out_bytes(planned: &GroupPlan, descriptor_bytes: usize) -> Result<usize, ArenaError> {
    let mut arena = Arena::heap();
    Register::lay_out(&mut arena, planned.inputs.members(), descriptor_bytes)?;
    Ok(arena.bytes() + planned.bytes()?)
}

fn region_plan(terms: &GroupEntry, room_bytes: usize) -> Result<RegionPlan, RegionPlanError> {
    // The same again for the survivors of a fault: see `ReservedMemory::of_successor`.
    let bytes = terms.laid_out_bytes.saturating_add(room_bytes).saturating_mul(2) as u64;
    let seats = u32::try_from(terms.members).unwrap_or(u32::MAX).saturating_add(SPARE_SEATS);
    let plan = RegionPlan::new().participants(seats)?.limit_bytes(u64::MAX);
    plan.add(register::NAME, KIND_GROUP, terms.to_words(), bytes)
}
