//! Broadcasts and reductions on simulated machines: each checks its values.

use corecast_sim::machine::published;
use corecast_sim::plan::Effort;
use corecast_sim::{Collective, CollectiveOutcome, Episodes, Operation, SimError, TreeChoice, collectives, shapes};

fn episodes(members: usize, tree: TreeChoice) -> Episodes {
    let counted = Episodes { warm_up: 2, episodes: 4, window_us: 1000, rounds: 4, ..Episodes::default() };
    Episodes { members, tree, effort: Effort::Quick, ..counted }
}

fn outcome(collective: Collective, episodes: &Episodes) -> CollectiveOutcome {
    collectives(&published::opteron_4x12(), collective, episodes)
        .unwrap_or_else(|error| panic!("{collective:?}: {error}"))
}

#[test]
fn all_operations_give_the_right_values_along_all_trees() {
    for operation in Operation::ALL {
        for words in [1, 20, 1500] {
            for tree in [TreeChoice::Planned].into_iter().chain(shapes().map(|name| TreeChoice::Shape(name.to_owned())))
            {
                let outcome = outcome(Collective { operation, root: None, words }, &episodes(7, tree));
                assert!(outcome.times.median_ns() > 0.0, "{operation:?}");
            }
        }
        for (members, root) in [(1, 0), (2, 1), (13, 5), (48, 47)] {
            let collective = Collective { operation, root: Some(root), words: 1 };
            assert_eq!(outcome(collective, &episodes(members, TreeChoice::Planned)).root, root);
        }
    }
}

/// Long slices are copied to memory of the heap's on the way, which begins anywhere in a line: of these a second run in the same
/// process takes a little longer or shorter.
#[test]
fn the_same_seed_gives_the_same_times() {
    let collective = Collective { operation: Operation::Allreduce, root: None, words: 1 };
    let play = |seed| outcome(collective, &Episodes { seed, ..episodes(12, TreeChoice::Planned) });
    let first = play(1);
    assert_eq!(first, play(1));
    assert_ne!(first, play(2));
}

/// The one message that all lines of a tree carry: members less one lines move at least.
#[test]
fn a_longer_value_takes_longer_and_moves_more_lines() {
    let of = |words| {
        outcome(Collective { operation: Operation::Broadcast, root: None, words }, &episodes(12, TreeChoice::Planned))
            .times
    };
    let (short, long, longest) = (of(1), of(64), of(4096));
    assert!(short.median_ns() < long.median_ns() && long.median_ns() < longest.median_ns());
    let lines = longest.transfers().iter().sum::<f64>();
    assert!(lines >= 11.0 * 4096.0 / 8.0, "{lines} lines of 11 members with 512 each");
}

/// The trees of a group have one root: with one of their own each, the value went from the root of the one to that of the
/// other, and this took 1.33 times as long as along the static tree.
#[test]
fn an_allreduce_along_planned_trees_takes_no_detour() {
    let machine = published::xeon_8x10();
    let allreduce = Collective { operation: Operation::Allreduce, root: None, words: 1 };
    let median_ns = |tree| {
        let episodes = Episodes { members: 40, tree, window_us: 100, rounds: 1, ..Episodes::default() };
        collectives(&machine, allreduce, &episodes).expect("an outcome").times.median_ns()
    };
    let (planned, adaptive) = (median_ns(TreeChoice::Planned), median_ns(TreeChoice::Shape("adaptive".to_owned())));
    assert!(planned < 1.1 * adaptive, "{planned} ns along planned trees, {adaptive} along the adaptive one");
}

#[test]
fn a_root_or_shape_that_is_none_and_no_words_are_refused() {
    let machine = published::opteron_4x12();
    let refused = |collective, episodes: &Episodes| match collectives(&machine, collective, episodes) {
        Err(SimError::Group { reason }) => reason,
        other => panic!("{other:?}"),
    };
    let broadcast = Collective { operation: Operation::Broadcast, root: Some(2), words: 1 };
    refused(broadcast, &episodes(2, TreeChoice::Planned));
    refused(Collective { root: None, words: 0, ..broadcast }, &episodes(2, TreeChoice::Planned));
    let reason = refused(Collective { root: None, ..broadcast }, &episodes(2, TreeChoice::Shape("star".to_owned())));
    assert!(reason.contains("star"), "{reason}");
}
