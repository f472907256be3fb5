//! Barriers on simulated machines: nobody leaves early, and the families that suit a machine are ahead of those that do not.

use corecast_sim::machine::published;
use corecast_sim::plan::Effort;
use corecast_sim::{Barrier, BarrierOutcome, Disturbance, Episodes, SimError, TreeChoice, barriers};

const FEW: Episodes = Episodes {
    members: 2,
    warm_up: 2,
    episodes: 4,
    window_us: 60,
    skew_ns: 500,
    rounds: 4,
    seed: 1,
    model: None,
    effort: Effort::Quick,
    tree: TreeChoice::Planned,
    disturbance: Disturbance::NONE,
};

fn outcome(barrier: Option<Barrier>, episodes: &Episodes) -> BarrierOutcome {
    let machine = published::opteron_4x12();
    barriers(&machine, barrier, episodes).unwrap_or_else(|error| panic!("{barrier:?}: {error}"))
}

#[test]
fn the_same_seed_gives_the_same_times() {
    let episodes = Episodes { members: 12, ..FEW };
    for barrier in [None, Some(Barrier::Dissemination), Some(Barrier::SharedLine)] {
        let outcomes = [1, 1, 2].map(|seed| outcome(barrier, &Episodes { seed, ..episodes.clone() }));
        assert_eq!(outcomes[0], outcomes[1], "{barrier:?}");
        assert_ne!(outcomes[0], outcomes[2], "{barrier:?}");
    }
}

/// A line that all members write has to visit them all; messages along planned edges go side by side.
#[test]
fn one_line_for_all_collapses_where_planned_edges_hold_up() {
    let of = |barrier| outcome(barrier, &Episodes { members: 48, ..FEW }).times.median_ns();
    let planned = of(None);
    for central in [Barrier::Ticket, Barrier::Flat, Barrier::SharedLine] {
        assert!(of(Some(central)) > 4.0 * planned, "{central}: {} against {planned} ns", of(Some(central)));
    }
}

#[test]
fn an_episode_that_outlasts_its_window_is_an_error() {
    let machine = published::opteron_4x12();
    let episodes = Episodes { members: 48, window_us: 5, ..FEW };
    let error = barriers(&machine, Some(Barrier::Ticket), &episodes).expect_err("it takes 12 us");
    assert!(matches!(error, SimError::Window { window_us: 5 }), "{error}");
}

#[test]
fn more_members_than_cpus_are_refused() {
    let machine = published::opteron_4x12();
    for members in [0, 49] {
        let error = barriers(&machine, None, &Episodes { members, ..FEW }).expect_err("it cannot be");
        assert!(matches!(error, SimError::Threads { cpus: 48, .. }), "{error}");
    }
}
