//! What a region is to hold, declared before it is made.

use std::ffi::c_char;
use std::mem::MaybeUninit;

use corecast::base::region::{RegionPlan as Plan, RegionPlanError};

use crate::argument::{give, required, text};
use crate::error::{Failure, call, finish};
use crate::status::Status;

/// The channels and locks of a region to be, in the order of their declaration. One thread at a time uses it. Their names are
/// 1 to 63 bytes of A-Z, a-z, 0-9, '.', '_' and '-', no leading dot.
#[derive(Debug, Clone)]
pub struct RegionPlan(pub(crate) Plan);

impl RegionPlan {
    /// Replaces the plan by what `change` makes of it; one that fails leaves it as it was.
    pub(crate) fn change<E: Into<Failure>>(
        &mut self,
        change: impl FnOnce(Plan) -> Result<Plan, E>,
    ) -> Result<(), Failure> {
        self.0 = change(self.0.clone()).map_err(Into::into)?;
        Ok(())
    }
}

/// The same for a plan and a name as C passes them, and what adds something of this name.
///
/// # Safety
/// - `name` is NULL or ends with a zero byte.
pub(crate) unsafe fn add<E: Into<Failure>>(
    plan: Option<&mut RegionPlan>,
    name: *const c_char,
    declare: impl FnOnce(Plan, &str) -> Result<Plan, E>,
) -> Result<(), Failure> {
    let plan = required(plan, "plan")?;
    // SAFETY: the caller's promise.
    let name = unsafe { text(name, "name") }?;
    plan.change(|plan| declare(plan, name))
}

/// A plan of no channels and 64 participants.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_region_plan_create(plan: Option<&mut MaybeUninit<*mut RegionPlan>>) -> Status {
    call(|| {
        give(required(plan, "plan")?, RegionPlan(Plan::new()));
        Ok(())
    })
}

/// Destroys a plan; NULL is none. Regions made by it stay.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_region_plan_destroy(plan: Option<Box<RegionPlan>>) {
    finish(|| drop(plan));
}

/// Lets `count` processes and threads attach at a time, 1 to 1280.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_region_plan_set_participants(plan: Option<&mut RegionPlan>, count: u32) -> Status {
    call(|| required(plan, "plan")?.change(|plan| plan.participants(count)))
}

/// Lets the region grow to so many bytes instead of 1 GiB.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_region_plan_set_limit(plan: Option<&mut RegionPlan>, bytes: u64) -> Status {
    call(|| required(plan, "plan")?.change(|plan| Ok::<_, RegionPlanError>(plan.limit_bytes(bytes))))
}

/// Asks for huge pages; where there are none, the region has small ones.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_region_plan_set_huge_pages(plan: Option<&mut RegionPlan>) -> Status {
    call(|| required(plan, "plan")?.change(|plan| Ok::<_, RegionPlanError>(plan.huge_pages())))
}

/// How large the region will be, in bytes. CORECAST_INVALID_ARGUMENT if that is beyond the limit.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_region_plan_total_bytes(
    plan: Option<&RegionPlan>,
    bytes: Option<&mut MaybeUninit<u64>>,
) -> Status {
    call(|| {
        let (plan, bytes) = (required(plan, "plan")?, required(bytes, "bytes")?);
        bytes.write(plan.0.total_bytes()?);
        Ok(())
    })
}
