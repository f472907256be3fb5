//! The control page in a section of a region, for processes.

use corecast_base::Arena;
use corecast_base::region::{Section, SharedRegion};
use corecast_base::sync::{Fences, Ordering};
use corecast_base::wait::{Wait, WakeWord};

use super::{Control, FENCES, Page};
use crate::segment::error::ControlError;
use crate::segment::layout::SegmentLayout;

impl Control {
    /// Writes the page of a new group into a zeroed section of [`bytes`](Self::bytes) bytes of `region`. One process does so,
    /// before others learn of the region or until they find it written.
    ///
    /// # Errors
    /// [`ControlError`] if the section is too small, or this process is a forked child.
    pub fn create(
        region: &SharedRegion,
        section: Section,
        layout: SegmentLayout,
        wait: Wait,
    ) -> Result<Self, ControlError> {
        let page = Page::begin(Arena::within(section))?;
        page.create(layout, wait);
        page.within(region)
    }

    /// The page that another process has created.
    ///
    /// # Errors
    /// [`ControlError`] if it is not one of this version, or not written yet.
    pub fn open(region: &SharedRegion, section: Section) -> Result<Self, ControlError> {
        Page::begin(Arena::within(section))?.within(region)
    }
}

impl Page {
    fn within(self, region: &SharedRegion) -> Result<Control, ControlError> {
        let (_, wait) = self.read()?;
        let fences = if wait.sleeps() { Some(self.agree(region)?) } else { None };
        self.finish(|cell| WakeWord::within(cell, region.parkers(), region.me().index, fences))
    }

    /// The fences of all wake words: the choice of the first process.
    fn agree(&self, region: &SharedRegion) -> Result<Fences, ControlError> {
        let mine = Fences::of(region.wake_scope()) as u32;
        // ORDERING: Relaxed, the number is all there is to know
        let chosen = self.head[FENCES].compare_exchange(0, mine.into(), Ordering::Relaxed, Ordering::Relaxed);
        let number = chosen.map_or_else(|theirs| u32::try_from(theirs).unwrap_or(0), |_| mine);
        Fences::joined(number).ok_or(ControlError::Fences)
    }
}
