//! Every state that three threads can reach at the lock that moves between ways to wait, under sequential consistency.
//!
//! In none two threads hold the lock, and from each all can still finish: 530,000 states, each for up to six of threads
//! that have changed places. The orderings are for the models in `tests/loom`; here is what they cannot reach: arbitrary
//! changes of mode, waits that end, wake-ups that somebody else gets.

mod machine;

use std::collections::HashMap;

use machine::{Mutation, State};

/// The findings.
struct Found {
    states: usize,
    /// One in which two hold the lock, or from which not all can finish.
    fault: Option<State>,
}

fn search(acquisitions: [u8; machine::THREADS], mutation: Mutation) -> Found {
    let start = State::start(acquisitions).sorted();
    let mut numbers = HashMap::from([(start, 0_u32)]);
    let mut states = vec![start];
    let mut edges: Vec<(u32, u32)> = Vec::new();
    let mut successors = Vec::new();
    for at in 0.. {
        let Some(state) = states.get(at).copied() else { break };
        if state.is_broken() {
            return Found { states: states.len(), fault: Some(state) };
        }
        state.successors(mutation, &mut successors);
        for next in successors.drain(..).map(|next: State| next.sorted()) {
            let number = *numbers.entry(next).or_insert_with(|| {
                states.push(next);
                u32::try_from(states.len() - 1).expect("fewer states than that")
            });
            edges.push((number, at as u32));
        }
    }
    let fault = first_stuck(&states, edges);
    Found { states: states.len(), fault }
}

/// Goes back from the ends, along `edges` of (to, from).
fn first_stuck(states: &[State], mut edges: Vec<(u32, u32)>) -> Option<State> {
    edges.sort_unstable();
    let mut can_finish: Vec<bool> = states.iter().map(State::is_done).collect();
    let mut left: Vec<u32> = (0..states.len() as u32).filter(|&at| can_finish[at as usize]).collect();
    while let Some(to) = left.pop() {
        let first = edges.partition_point(|&(target, _)| target < to);
        for &(_, from) in edges[first..].iter().take_while(|&&(target, _)| target == to) {
            if !can_finish[from as usize] {
                can_finish[from as usize] = true;
                left.push(from);
            }
        }
    }
    can_finish.iter().position(|&can| !can).map(|at| states[at])
}

#[test]
fn all_can_finish_from_everywhere_and_never_two_are_inside() {
    let found = search([1, 2, 2], Mutation::None);
    assert!(found.states > 100_000, "{} states are not all", found.states);
    assert!(found.fault.is_none(), "{:#?}", found.fault);
}

#[test]
fn those_behind_the_head_may_take_a_lock_that_is_free() {
    let found = search([1, 1, 2], Mutation::TriesBehind);
    assert!(found.fault.is_none(), "{:#?}", found.fault);
}

#[test]
fn one_that_naps_in_the_queue_says_so_and_takes_it_back() {
    let found = search([1, 1, 2], Mutation::Unbinds);
    assert!(found.fault.is_none(), "{:#?}", found.fault);
}

#[test]
fn a_mode_left_without_waking_those_who_are_not_marked_loses_a_sleeper() {
    assert!(search([1, 2, 2], Mutation::WakesOnlyWhereMarked).fault.is_some());
}

#[test]
fn a_woken_thread_that_drops_the_mark_loses_a_sleeper() {
    assert!(search([1, 1, 2], Mutation::DropsTheMark).fault.is_some());
}

#[test]
fn a_silent_leaver_loses_the_one_behind() {
    assert!(search([1, 1, 2], Mutation::LeavesSilently).fault.is_some());
}

#[test]
fn a_node_that_is_used_again_before_its_thread_was_told_of_may_be_told_of_another_place() {
    assert!(search([1, 2, 2], Mutation::TakesItsNode).fault.is_some());
}

#[test]
fn one_that_is_handed_the_lock_and_does_not_stay_loses_it() {
    assert!(search([1, 1, 2], Mutation::HandsToAnybody).fault.is_some());
}

#[test]
fn a_queue_that_is_left_to_others_with_the_lock_has_two_holders() {
    assert!(search([1, 1, 2], Mutation::LeavesTheWord).fault.is_some());
}
