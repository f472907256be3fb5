//! The ranks of one node, which a launcher may have bound to different CPUs.
//!
//! Open MPI binds each rank to a core or, from three ranks on, to a package, and Slurm to the CPUs that it has asked for. The
//! rank that makes the group of the node sees only its own CPUs, so it takes those of all ranks while it makes the group.

use std::{panic, thread};

use corecast_base::{CpuId, CpuSet};
use corecast_collective::Builder;
use corecast_machine::{Machine, pin};

/// Calls `found` with the CPU of each rank, on a thread that may run on the CPUs of all ranks, if they have different ones;
/// otherwise with `None`, on this thread.
pub(crate) fn on_their_cpus<R: Send>(
    masks: &[&CpuSet],
    found: impl FnOnce(Option<Vec<CpuId>>) -> Result<R, String> + Send,
) -> Result<R, String> {
    let Some(places) = places(masks) else { return found(None) };
    let all: CpuSet = masks.iter().flat_map(|mask| mask.iter()).collect();
    let founded = thread::scope(|scope| {
        let founder = thread::Builder::new().name("corecast-founder".to_owned()).spawn_scoped(scope, || {
            // If the system refuses, the machine that is found lacks some of the CPUs.
            let _ = pin::spread(&all);
            found(Some(places))
        });
        // The program's closures may panic, and then this rank does so with their words.
        founder.map(|founder| founder.join().unwrap_or_else(|panic| panic::resume_unwind(panic)))
    });
    founded.unwrap_or_else(|error| Err(format!("no thread can be started for the CPUs of all ranks: {error}")))
}

/// The builder for members that are bound so, if the machine has these CPUs. A job may keep each rank from those of the others:
/// then nobody is bound anew.
pub(crate) fn bound_to<'m>(builder: Builder<'m>, machine: &Machine, bound: Option<Vec<CpuId>>) -> Builder<'m> {
    let Some(bound) = bound else { return builder };
    let known = machine.cpu_set();
    if bound.iter().all(|&cpu| known.contains(cpu)) { builder.bound_to(bound) } else { builder.pin(false) }
}

/// A CPU for each rank among those where it may run, a different one as far as possible; `None` if all may run on the same ones,
/// as nobody has bound them to different ones then, or if those of a rank are not known.
fn places(masks: &[&CpuSet]) -> Option<Vec<CpuId>> {
    if masks.windows(2).all(|pair| pair[0] == pair[1]) || masks.iter().any(|mask| mask.is_empty()) {
        return None;
    }
    // Masks of launchers lie apart or within each other, so that the ranks with the fewest CPUs choose first.
    let mut order: Vec<usize> = (0..masks.len()).collect();
    order.sort_by_key(|&rank| masks[rank].len());
    let mut places = vec![CpuId::new(0); masks.len()];
    let mut taken = std::collections::HashMap::new();
    for rank in order {
        let members = |cpu: &CpuId| taken.get(cpu).copied().unwrap_or(0_usize);
        let place = masks[rank].iter().min_by_key(|cpu| (members(cpu), *cpu)).expect("no mask is empty");
        *taken.entry(place).or_insert(0) += 1;
        places[rank] = place;
    }
    Some(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(masks: &[&[u32]]) -> Option<Vec<u32>> {
        let masks: Vec<CpuSet> = masks.iter().map(|mask| mask.iter().copied().map(CpuId::new).collect()).collect();
        let found = places(&masks.iter().collect::<Vec<_>>())?;
        Some(found.into_iter().map(CpuId::get).collect())
    }

    #[test]
    fn ranks_have_cpus_of_their_own_as_far_as_their_masks_allow() {
        assert_eq!(placed(&[&[0, 1], &[0, 1]]), None, "nobody has bound them");
        assert_eq!(placed(&[&[4], &[0], &[2]]), Some(vec![4, 0, 2]));
        assert_eq!(placed(&[&[0, 1], &[2, 3], &[0, 1], &[2, 3]]), Some(vec![0, 2, 1, 3]), "a package for two each");
        assert_eq!(placed(&[&[0, 1, 2], &[0], &[1]]), Some(vec![2, 0, 1]));
        assert_eq!(placed(&[&[0], &[1], &[0]]), Some(vec![0, 1, 0]), "more ranks than CPUs");
        assert_eq!(placed(&[&[0], &[]]), None, "a system that does not tell");
    }

    #[test]
    fn a_panic_of_the_founder_keeps_its_words() {
        let masks: [CpuSet; 2] = [0, 1].map(|cpu| [CpuId::new(cpu)].into_iter().collect());
        let found = || on_their_cpus(&masks.each_ref(), |_| -> Result<(), String> { panic!("no such machine") });
        let panic = panic::catch_unwind(found).expect_err("the founder panics");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"no such machine"));
    }

    #[test]
    fn the_founder_may_run_on_the_cpus_of_all_ranks() {
        let here = pin::affinity().expect("own mask");
        let first: CpuSet = here.iter().take(1).collect();
        let rest: CpuSet = here.iter().skip(1).collect();
        if rest.is_empty() {
            return corecast_testing::skipped("CPUs of all ranks", "this process has one CPU");
        }
        let bound = std::thread::spawn(move || {
            pin::pin(first.as_slice()[0]).expect("an allowed CPU").forever();
            on_their_cpus(&[&first, &rest], |bound| Ok((bound, pin::affinity().expect("own mask"))))
        });
        let (bound, founder) = bound.join().expect("no panic").expect("a thread");
        assert_eq!(founder, here);
        assert_eq!(bound, Some(here.iter().take(2).collect()));
    }
}
