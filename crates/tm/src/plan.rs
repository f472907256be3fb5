//! The contents of a region with an instance: the memory, and, among processes, its channels.

use corecast_base::region::RegionPlan;

use crate::config::Config;
use crate::error::OpenError;
use crate::messages;
use crate::region::{Layout, Memory};

/// The contents of a region with an instance.
pub(crate) fn plan(config: &Config) -> Result<RegionPlan, OpenError> {
    let bytes = Layout::new(config).bytes as u64;
    let plan = Memory::declare(RegionPlan::new().limit_bytes(bytes + (1 << 30)), config)?;
    let plan = if config.log_entries > 0 { messages::declare(plan, config)? } else { plan };
    // A process that looks, or one that takes the place of another, has a seat, too.
    let seats = (config.participants as u32 * 2 + 8).min(1280);
    Ok(plan.participants(if config.log_entries > 0 { seats } else { 1 })?)
}
