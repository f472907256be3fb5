//! The contents of a region, declared before it is made.

use super::directory::Declared;
use super::error::RegionPlanError;
use super::name::check_channel_name;
use super::places::{CHANNEL_ALIGN, MAX_CHANNELS, MAX_PARTICIPANTS, places};

/// The size limit of a region unless its plan says otherwise, in bytes.
pub const DEFAULT_LIMIT_BYTES: u64 = 1 << 30;
/// The number of participant slots of a region unless its plan says otherwise.
pub const DEFAULT_PARTICIPANTS: u32 = 64;

/// The channels of a new region, in the order of their declaration, and the other choices of its creator.
///
/// ```
/// use corecast_base::region::{RegionPlan, SharedRegion};
/// let plan = RegionPlan::new().add("orders", 1, [0; 6], 4096)?;
/// let region = SharedRegion::heap(&plan)?;
/// assert_eq!(region.entry("orders").expect("declared").bytes, 4096);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RegionPlan {
    pub(super) channels: Vec<Declared>,
    pub(super) participants: u32,
    pub(super) wants_huge_pages: bool,
    pub(super) group: Option<u32>,
    limit_bytes: u64,
}

impl Default for RegionPlan {
    fn default() -> Self {
        Self::new()
    }
}

impl RegionPlan {
    /// A region of no channels and [`DEFAULT_PARTICIPANTS`] slots.
    #[must_use]
    pub fn new() -> Self {
        Self {
            channels: Vec::new(),
            participants: DEFAULT_PARTICIPANTS,
            wants_huge_pages: false,
            group: None,
            limit_bytes: DEFAULT_LIMIT_BYTES,
        }
    }

    /// Declares a channel of `bytes` bytes, rounded up to 128. The meaning of `config` depends on `kind`.
    ///
    /// # Errors
    /// [`RegionPlanError`] if the name is bad or taken, or there are more than 4,096 channels.
    pub fn add(mut self, name: &str, kind: u32, config: [u64; 6], bytes: u64) -> Result<Self, RegionPlanError> {
        check_channel_name(name)?;
        if self.channels.iter().any(|channel| channel.name == name) {
            return Err(RegionPlanError::Duplicate(name.to_owned()));
        }
        if self.channels.len() == MAX_CHANNELS as usize {
            let count = self.channels.len() + 1;
            return Err(RegionPlanError::Count { what: "channels", count, max: MAX_CHANNELS as usize });
        }
        let rounded = bytes.max(1).checked_next_multiple_of(CHANNEL_ALIGN);
        let too_large = RegionPlanError::TooLarge { bytes, max: self.limit_bytes };
        self.channels.push(Declared { name: name.to_owned(), kind, config, bytes: rounded.ok_or(too_large)? });
        Ok(self)
    }

    /// Makes room for `count` participants at a time, 1 to 1,280.
    ///
    /// # Errors
    /// [`RegionPlanError::Count`] if `count` is out of this range.
    pub fn participants(mut self, count: u32) -> Result<Self, RegionPlanError> {
        if !(1..=MAX_PARTICIPANTS).contains(&count) {
            let max = MAX_PARTICIPANTS as usize;
            return Err(RegionPlanError::Count { what: "participants", count: count as usize, max });
        }
        self.participants = count;
        Ok(self)
    }

    /// Lets the region grow to `bytes` instead of [`DEFAULT_LIMIT_BYTES`].
    #[must_use]
    pub fn limit_bytes(mut self, bytes: u64) -> Self {
        self.limit_bytes = bytes;
        self
    }

    /// Asks for huge pages; where the system has none, the region has small ones.
    #[must_use]
    pub fn huge_pages(mut self) -> Self {
        self.wants_huge_pages = true;
        self
    }

    /// Lets the members of a group attach too, if the region is named (mode 0660 instead of 0600).
    #[must_use]
    pub fn group(mut self, gid: u32) -> Self {
        self.group = Some(gid);
        self
    }

    /// The size of the region, in bytes.
    ///
    /// # Errors
    /// [`RegionPlanError::TooLarge`] beyond the limit.
    pub fn total_bytes(&self) -> Result<u64, RegionPlanError> {
        let channels = places(self.participants, self.channels.len() as u32).channels as u64;
        let bytes = self.channels.iter().fold(channels, |sum, channel| sum.saturating_add(channel.bytes));
        if bytes > self.limit_bytes.min(MAX_BYTES) {
            return Err(RegionPlanError::TooLarge { bytes, max: self.limit_bytes.min(MAX_BYTES) });
        }
        Ok(bytes)
    }
}

/// The largest size that the directory's 32-bit offsets can express.
const MAX_BYTES: u64 = (u32::MAX as u64) * CHANNEL_ALIGN;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_has_limits() {
        let plan = RegionPlan::new().add("a", 1, [0; 6], 1).expect("a channel");
        assert!(matches!(plan.clone().add("a", 2, [0; 6], 1), Err(RegionPlanError::Duplicate(name)) if name == "a"));
        assert!(matches!(plan.clone().add("a/b", 2, [0; 6], 1), Err(RegionPlanError::BadName(_))));
        assert!(matches!(plan.clone().participants(0), Err(RegionPlanError::Count { .. })));
        assert!(matches!(plan.clone().participants(1281), Err(RegionPlanError::Count { .. })));
        assert!(matches!(plan.clone().add("b", 2, [0; 6], u64::MAX), Err(RegionPlanError::TooLarge { .. })));
        let large = plan.add("b", 2, [0; 6], DEFAULT_LIMIT_BYTES).expect("declared");
        assert!(matches!(large.total_bytes(), Err(RegionPlanError::TooLarge { .. })));
        assert!(large.limit_bytes(2 * DEFAULT_LIMIT_BYTES).total_bytes().is_ok());
    }
}
