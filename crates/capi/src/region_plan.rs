//! The contents of a region, declared before it is made.

use corecast::base::region::{RegionPlan as Plan, RegionPlanError};

use crate::error::Failure;

/// The channels and locks of a region that is to be made, in the order of their declaration. One thread at a time uses it.
/// Their names are 1 to 63 bytes of A-Z, a-z, 0-9, '.', '_' and '-', no leading dot.
#[derive(Debug, Clone)]
pub struct RegionPlan(pub(crate) Plan);

impl RegionPlan {
    /// Replaces the plan by the result of `change`; a change that fails leaves it as it was.
    pub(crate) fn change<E: Into<Failure>>(
        &mut self,
        change: impl FnOnce(Plan) -> Result<Plan, E>,
    ) -> Result<(), Failure> {
        self.0 = change(self.0.clone()).map_err(Into::into)?;
        Ok(())
    }
}

c_functions! {
    /// A plan of no channels and 64 participants.
    safe fn corecast_region_plan_create() -> (plan: new RegionPlan) {
        RegionPlan(Plan::new())
    }

    /// Destroys a plan; NULL is none. Regions made by it stay.
    closing fn corecast_region_plan_destroy(plan: RegionPlan);

    /// Lets `count` processes and threads attach at a time, 1 to 1280.
    safe fn corecast_region_plan_set_participants(plan: &mut RegionPlan, count: u32) {
        plan.change(|plan| plan.participants(count))?
    }

    /// Lets the region grow to `bytes` bytes instead of 1 GiB.
    safe fn corecast_region_plan_set_limit(plan: &mut RegionPlan, bytes: u64) {
        plan.change(|plan| Ok::<_, RegionPlanError>(plan.limit_bytes(bytes)))?
    }

    /// Asks for huge pages; where there are none, the region has small ones.
    safe fn corecast_region_plan_set_huge_pages(plan: &mut RegionPlan) {
        plan.change(|plan| Ok::<_, RegionPlanError>(plan.huge_pages()))?
    }

    /// How large the region will be, in bytes. CORECAST_INVALID_ARGUMENT if that is beyond the limit.
    safe fn corecast_region_plan_total_bytes(plan: &RegionPlan) -> (bytes: u64) {
        plan.0.total_bytes()?
    }
}
