//! Barriers: no member leaves before all have come.
//!
//! One file per family, one line per family in `for_each_barrier!`; the rest (choice by name, conformance tests,
//! benchmarks, the program's lists) follows from that line.
//!
//! | name | one round costs about | take it |
//! |---|---|---|
//! | `dissemination` | ceil(log2 n) line transfers, all at once | few members, each with a CPU |
//! | `tree` | a reduction and a broadcast over the planned trees | many members on unequal distances |
//! | `leaders` | the same in each cluster, and an exchange among their leaders | clusters far from each other |
//! | `flat` | one scan and one shared release line | members that share a cache |
//! | `ticket` | n atomic additions to one line and a shared release line | more members than CPUs, arrivals far apart |
//! | `release-tree` | a scan and a shared release line for each level of the planned tree | parents of several children |
//! | `release-line` | a scan for each level of the planned tree, one shared release line | lines that many readers get at once |
//! | `dissemination-3`, `-4`, `-8` | ceil(log n) rounds of that base, all of a round at once | transfers that overlap well |
//! | `hierarchy` | a scan and a shared release line for each level of the machine | caches in nodes in sockets |
//! | `packed` | as `flat`, but one line for all who share a core or near cache | siblings on a core |
//! | `dynamic-leader` | a scan in each cluster, tickets among leaders | clusters whose members come far apart |
//! | `hybrid-` and `star`, `tree`, `dissemination`, `dissemination-4`, `diamond` | a scan in each cluster, that exchange among leaders, a shared release line | clusters that share a cache and are far apart |
//! | `shared-line` | the line of all arrivals changes hands n times | two members, or a few that share a cache |
//! | `diamond` | a signal through a diamond ring and back, a shared release line | seldom; it is there for leaders |
//!
//! **Memory ordering:** what a member wrote before entering is visible to every member after leaving.
//!
//! ```
//! use corecast_collective::Barrier;
//! let barrier: Barrier = "dissemination-4".parse()?;
//! assert_eq!((barrier, barrier.to_string()), (Barrier::Dissemination4, "dissemination-4".to_owned()));
//! assert!(Barrier::ALL.contains(&barrier));
//! assert!("disseminate".parse::<Barrier>().is_err(), "the error names all barriers");
//! # Ok::<(), corecast_collective::BuildError>(())
//! ```

mod diamond;
mod dissemination;
mod dynamic_leader;
mod exchange;
mod flat;
mod gathering;
mod hierarchy;
mod hybrid;
mod leaders;
mod packed;
mod release_line;
mod release_tree;
mod setup;
mod shared_line;
mod ticket;
mod times;
mod tree;

pub(crate) use setup::Setup;
pub(crate) use ticket::Ticket;
pub(crate) use times::Times;

use std::fmt;
use std::str::FromStr;

use corecast_base::ArenaError;
use corecast_plan::Scheme;

use crate::core::Core;
use crate::error::{BuildError, Error};
use crate::membership::Site;

/// The plan that a family needs when it is asked for by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    /// Trees, or nothing: every plan has them.
    Trees,
    /// An order of all members.
    Order,
    /// Leaders, and the order of their exchange.
    Leaders,
    /// Two trees that suit messages.
    MessageTrees,
}

/// One family of barriers: how its members' parts are made, and the steps of a member.
pub(crate) trait Family: Sized {
    /// The name by which users choose it.
    const NAME: &'static str;
    /// The family, in one line.
    const ABOUT: &'static str;
    /// The plan that it needs.
    const WANTS: Wants;

    /// The part of the member at `site`. The parts of the others, here or in other processes, lay out the same.
    fn part(setup: &Setup<'_>, site: &mut Site) -> Result<Self, ArenaError>;

    /// When the last member leaves after all have entered at 0, by the machine model.
    fn predicted(setup: &Setup<'_>) -> f64;

    /// Enters the barrier of the operation at hand, and returns when all have. If a wait fails for a limit, another call for
    /// this operation goes on where it ended.
    fn wait(&mut self, core: &mut Core) -> Result<(), Error>;
}

/// Calls `$then!` with every family as `Variant: path::to::Type`.
macro_rules! for_each_barrier {
    ($then:ident) => {
        $then! {
            Dissemination: dissemination::Dissemination,
            Tree: tree::MessageTree,
            Leaders: leaders::Leaders,
            Flat: flat::Flat,
            Ticket: ticket::Ticket,
            ReleaseTree: release_tree::ReleaseTree,
            ReleaseLine: release_line::ReleaseLine,
            Dissemination3: dissemination::Dissemination<3>,
            Dissemination4: dissemination::Dissemination<4>,
            Dissemination8: dissemination::Dissemination<8>,
            Hierarchy: hierarchy::Hierarchy,
            Packed: packed::Packed,
            DynamicLeader: dynamic_leader::DynamicLeader,
            HybridStar: hybrid::Hybrid<exchange::Star>,
            HybridTree: hybrid::Hybrid<exchange::Binary>,
            HybridDissemination: hybrid::Hybrid<dissemination::Dissemination>,
            HybridDissemination4: hybrid::Hybrid<dissemination::Dissemination<4>>,
            HybridDiamond: hybrid::Hybrid<diamond::Diamond>,
            Diamond: diamond::Diamond,
            SharedLine: shared_line::SharedLine,
        }
    };
}

macro_rules! define {
    ($($variant:ident: $family:ty,)*) => {
        /// A barrier family; [`Barrier::ALL`] is the registry.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Barrier {
            $(#[doc = concat!("See the module's table, `", stringify!($variant), "`.")] $variant,)*
        }

        impl Barrier {
            /// All families.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The family's name as users write it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => <$family>::NAME,)* }
            }

            /// The family, in one line.
            #[must_use]
            pub fn about(self) -> &'static str {
                match self { $(Self::$variant => <$family>::ABOUT,)* }
            }

            /// The plan that it needs.
            pub(crate) fn wants(self) -> Wants {
                match self { $(Self::$variant => <$family>::WANTS,)* }
            }

            /// When the last member leaves after all have entered at 0, by the machine model.
            pub(crate) fn predicted(self, setup: &Setup<'_>) -> f64 {
                match self { $(Self::$variant => <$family>::predicted(setup),)* }
            }

            /// The part of the member at `site`.
            pub(crate) fn part(self, setup: &Setup<'_>, site: &mut Site) -> Result<Part, ArenaError> {
                match self { $(Self::$variant => <$family>::part(setup, site).map(Part::$variant),)* }
            }
        }

        /// One member's part of its group's barrier.
        #[derive(Debug)]
        pub(crate) enum Part {
            $($variant($family),)*
        }

        impl Part {
            #[inline(always)]
            pub(crate) fn wait(&mut self, core: &mut Core) -> Result<(), Error> {
                match self { $(Self::$variant(part) => part.wait(core),)* }
            }
        }
    };
}

for_each_barrier!(define);

impl Barrier {
    /// The family that runs this plan. A plan without a family of its own runs on the trees that every plan has.
    #[must_use]
    pub fn of_scheme(scheme: &Scheme) -> Self {
        match scheme {
            Scheme::Leaders(_) => Self::Leaders,
            Scheme::Dissemination(_) => Self::Dissemination,
            Scheme::ReleaseLine => Self::ReleaseLine,
            Scheme::Counter => Self::Ticket,
            _ => Self::Tree,
        }
    }
}

impl fmt::Display for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Barrier {
    type Err = BuildError;

    fn from_str(name: &str) -> Result<Self, BuildError> {
        let known = || Self::ALL.iter().map(|barrier| barrier.name()).collect();
        let found = Self::ALL.iter().copied().find(|barrier| barrier.name() == name);
        found.ok_or_else(|| BuildError::UnknownBarrier { name: name.to_owned(), known: known() })
    }
}
