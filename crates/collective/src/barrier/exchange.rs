//! Exchanges: how the leaders of clusters hear of each other.

use corecast_base::ArenaError;

use super::gathering::Gathering;
use super::times::Times;
use crate::core::Core;
use crate::error::Error;
use crate::membership::Site;

/// One leader's part of an exchange: a barrier among some members only.
pub(crate) trait Exchange: Sized {
    /// The family whose leaders exchange so.
    const HYBRID: &'static str;
    /// The family, in one line.
    const ABOUT: &'static str;

    /// The part of the member at `site`, if it is one of these leaders; they come in the order of their exchange. All members
    /// lay it out, whether or not they lead.
    fn among(leaders: &[usize], site: &mut Site) -> Result<Option<Self>, ArenaError>;

    /// Moves these leaders on by the exchange.
    fn predict(times: &mut Times<'_>, leaders: &[usize]);

    /// Enters, and returns when all leaders have. May be called again for the same operation if a wait fails for a limit.
    fn exchange(&mut self, core: &mut Core) -> Result<(), Error>;
}

/// The first leader scans the others' lines and releases them with one store.
#[derive(Debug)]
pub(crate) struct Star(Gathering);

impl Exchange for Star {
    const HYBRID: &'static str = "hybrid-star";
    const ABOUT: &'static str = "clusters gather at leaders, the leaders at the first of them";

    fn among(leaders: &[usize], site: &mut Site) -> Result<Option<Self>, ArenaError> {
        let part = Gathering::of(&[leaders.to_vec()], site)?;
        Ok(leaders.contains(&site.rank).then_some(Self(part)))
    }

    fn predict(times: &mut Times<'_>, leaders: &[usize]) {
        times.gather(&[leaders.to_vec()]);
        times.release(&[leaders.to_vec()]);
    }

    #[inline]
    fn exchange(&mut self, core: &mut Core) -> Result<(), Error> {
        self.0.wait(core)
    }
}

/// Leaders gather up a binary tree in the order of their exchange, and each releases the two below it with one store.
#[derive(Debug)]
pub(crate) struct Binary(Gathering);

impl Exchange for Binary {
    const HYBRID: &'static str = "hybrid-tree";
    const ABOUT: &'static str = "clusters gather at leaders, the leaders up a binary tree";

    fn among(leaders: &[usize], site: &mut Site) -> Result<Option<Self>, ArenaError> {
        let groups = binary(leaders);
        let part = Gathering::of(&groups, site)?;
        Ok(leaders.contains(&site.rank).then_some(Self(part)))
    }

    fn predict(times: &mut Times<'_>, leaders: &[usize]) {
        let groups = binary(leaders);
        times.gather(&groups);
        times.release(&groups);
    }

    #[inline]
    fn exchange(&mut self, core: &mut Core) -> Result<(), Error> {
        self.0.wait(core)
    }
}

/// Each leader that has others below it, together with these others; from below.
fn binary(leaders: &[usize]) -> Vec<Vec<usize>> {
    let below = |place: usize| leaders.iter().skip(2 * place + 1).take(2);
    let group = |place: usize| std::iter::once(&leaders[place]).chain(below(place)).copied().collect();
    (0..leaders.len() / 2).rev().map(group).collect()
}
