//! One way to perform an operation: its name, how it waits, and the function that makes its members' bodies.

use std::sync::Arc;

use corecast::base::wait::Wait;

use corecast_race::contender::{Setting, contenders, processes};
use corecast_race::harness::{Abort, Body};

/// The bodies of all members, by rank, or why there are none.
pub(super) type Bodies = Result<Vec<Box<dyn Body>>, String>;

/// The name of the row that the gates judge, in every operation.
const JUDGED: &str = "corecast";
/// The name of the standard library's row, in every operation.
pub(in crate::busy) const STD: &str = "std";

/// One row of an operation's table.
pub(in crate::busy) struct Candidate {
    /// Its name, unique for its operation.
    pub(in crate::busy) name: &'static str,
    /// Whether a member that waits for long gives its CPU away until it is woken.
    pub(in crate::busy) sleeps: bool,
    /// Whether it needs a driver that was built before.
    pub(in crate::busy) is_external: bool,
    kind: Kind,
    build: Box<Build>,
}

/// Makes the bodies in a setting.
type Build = dyn Fn(&Setting<'_>, &Arc<Abort>) -> Bodies;

/// The origin of a candidate, and what it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// corecast as its user gets it by default; or with another way to wait, with `--wait`.
    Judged,
    /// corecast with another way to wait, as a row beside.
    Beside(Wait),
    /// Anything else that people use.
    Rival,
}

/// The rows of corecast, whose way to wait the setting says.
pub(super) fn ours(build: impl Fn(&Setting<'_>, &Arc<Abort>) -> Bodies + Clone + 'static) -> Vec<Candidate> {
    let row = |name, kind, wait: Wait| of(name, wait.sleeps(), kind, build.clone());
    vec![
        row(JUDGED, Kind::Judged, Wait::default()),
        row("corecast-park", Kind::Beside(Wait::Park), Wait::Park),
        row("corecast-spin", Kind::Beside(Wait::Spin), Wait::Spin),
    ]
}

/// The one row of what finds out for itself how to wait.
pub(super) fn judged(build: impl Fn(&Setting<'_>, &Arc<Abort>) -> Bodies + 'static) -> Candidate {
    of(JUDGED, true, Kind::Judged, build)
}

/// The row of the standard library, which sleeps: what neighbours get beside it is what they can expect.
pub(super) fn of_std(build: impl Fn(&Setting<'_>, &Arc<Abort>) -> Bodies + 'static) -> Candidate {
    of(STD, true, Kind::Rival, build)
}

/// The row of a rival.
pub(super) fn rival(
    name: &'static str,
    sleeps: bool,
    build: impl Fn(&Setting<'_>, &Arc<Abort>) -> Bodies + 'static,
) -> Candidate {
    of(name, sleeps, Kind::Rival, build)
}

/// The row of a runtime whose members are those of a program of its own.
pub(super) fn runtime(name: &'static str, sleeps: bool) -> Candidate {
    Candidate { is_external: true, ..rival(name, sleeps, registered(name)) }
}

fn of(
    name: &'static str,
    sleeps: bool,
    kind: Kind,
    build: impl Fn(&Setting<'_>, &Arc<Abort>) -> Bodies + 'static,
) -> Candidate {
    Candidate { name, sleeps, is_external: false, kind, build: Box::new(build) }
}

/// The contender of this name at the setting's operation, its members threads or processes.
pub(super) fn registered(contender: &'static str) -> impl Fn(&Setting<'_>, &Arc<Abort>) -> Bodies + Clone + 'static {
    move |setting, abort| {
        let known = contenders(setting.op).into_iter().find(|known| known.name() == contender);
        let known = known.ok_or_else(|| format!("no contender of {} is called '{contender}'", setting.op))?;
        processes::bodies(&*known, setting, abort).map_err(|unfit| unfit.reason)
    }
}

impl Candidate {
    /// Whether corecast offers it.
    pub(in crate::busy) fn is_ours(&self) -> bool {
        matches!(self.kind, Kind::Judged | Kind::Beside(_))
    }

    /// Whether the gates judge it: what corecast does by default.
    pub(in crate::busy) fn is_judged(&self) -> bool {
        self.kind == Kind::Judged
    }

    /// How it waits, if that can be chosen, where `asked` was asked for.
    pub(in crate::busy) fn wait(&self, asked: Wait) -> Wait {
        if let Kind::Beside(wait) = self.kind { wait } else { asked }
    }

    /// A body for each member, by rank.
    ///
    /// # Errors
    /// Why it cannot take part in this setting.
    pub(in crate::busy) fn build(&self, setting: &Setting<'_>, abort: &Arc<Abort>) -> Bodies {
        (self.build)(setting, abort)
    }
}
