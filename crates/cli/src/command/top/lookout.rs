//! Looks at all regions of a user. Observers of hosted regions are kept from look to look, so that the host is asked once:
//! it may be stopped, and that is when people want to look.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use corecast::base::region::{self, AttachError, Observer, RegionDir, SharedRegion};
use corecast::base::rendezvous::{self, RendezvousError, SocketDir};

use super::seen::{How, Inside, RegionSeen};
use crate::region_dirs::{RegionDirs, Unusable};

/// How long a host may take to answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// The regions at one time.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) at: Instant,
    pub(super) regions: Vec<RegionSeen>,
}

/// Knows where to look.
#[derive(Debug)]
pub(super) struct Lookout {
    named: RegionDir,
    sockets: SocketDir,
    hosted: BTreeMap<String, Observer>,
}

impl Lookout {
    pub(super) fn new(dirs: &RegionDirs) -> Self {
        Self { named: dirs.named(), sockets: dirs.sockets(), hosted: BTreeMap::new() }
    }

    /// Looks at everything.
    pub(super) fn look(&mut self) -> Result<Look, Unusable> {
        let mut regions = self.named()?;
        regions.extend(self.hosted()?);
        Ok(Look { at: Instant::now(), regions })
    }

    fn named(&self) -> Result<Vec<RegionSeen>, Unusable> {
        let seen = |name: String| {
            let observed = match SharedRegion::observe(&self.named, &name) {
                // Gone meanwhile, or a file that is no region.
                Err(AttachError::NotFound(_) | AttachError::NotOurs(_) | AttachError::Size(_)) => return None,
                observed => observed.map(|observer| Inside::of(&observer)),
            };
            let path = self.named.path().join(&name).display().to_string();
            Some(RegionSeen::of(name, How::Named, path, observed))
        };
        Ok(region::names(&self.named)?.into_iter().filter_map(seen).collect())
    }

    fn hosted(&mut self) -> Result<Vec<RegionSeen>, Unusable> {
        let names = rendezvous::names(&self.sockets)?;
        self.hosted.retain(|name, _| names.contains(name));
        let seen = names.into_iter().map(|name| {
            let path = self.sockets.path().join(format!("{name}.sock")).display().to_string();
            let observed = self.observe(&name);
            RegionSeen::of(name, How::Hosted, path, observed)
        });
        Ok(seen.collect())
    }

    /// The contents of the region that is hosted under this name.
    fn observe(&mut self, name: &str) -> Result<Inside, RendezvousError> {
        // If nobody lives there any more, the name may be that of another region now.
        let known = self.hosted.get(name).map(Inside::of).filter(Inside::is_alive);
        known.map_or_else(
            || {
                let observer = rendezvous::observe(&self.sockets, name, PATIENCE)?;
                let inside = Inside::of(&observer);
                self.hosted.insert(name.to_owned(), observer);
                Ok(inside)
            },
            Ok,
        )
    }
}

impl RegionSeen {
    fn of<E: ToString>(name: String, how: How, path: String, observed: Result<Inside, E>) -> Self {
        let trouble = observed.as_ref().err().map(E::to_string);
        Self { name, how, path, trouble, inside: observed.ok() }
    }
}
