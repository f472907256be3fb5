//! Groups on the CPUs at hand, from a detected machine.

use std::time::Duration;

use corecast::{Barrier, CpuSet, Group, Wait, machine};

#[test]
fn a_member_on_every_cpu_pinned() {
    let machine = machine::detect().expect("this process has CPUs");
    let group = Group::builder(&machine).build().expect("the machine's own CPUs");
    assert!(group.is_pinned());
    let places = group
        .run(|me| {
            me.barrier()?;
            Ok::<_, corecast::collective::Error>(machine::pin::affinity().expect("Linux tells the mask"))
        })
        .expect("nobody panics");
    for (place, cpu) in places.into_iter().zip(group.cpus()) {
        assert_eq!(place.expect("nobody is lost").as_slice(), [*cpu]);
    }
    assert!(machine::pin::affinity().expect("Linux tells the mask").len() >= group.size(), "the caller is not pinned");
}

#[test]
fn eight_members_on_one_cpu_neither_hang_nor_spin() {
    let machine = machine::detect().expect("this process has CPUs");
    let one: CpuSet = machine.cpu_set().iter().take(1).collect();
    let group = Group::builder(&machine).cpus(one).members(8).build().expect("a CPU may have many members");
    assert_eq!(group.choice().barrier, Barrier::Ticket, "{}", group.choice());
    let sums = group
        .run(|me| {
            for _ in 0..200 {
                me.barrier()?;
            }
            me.allreduce(me.rank(), |a, b| a + b)
        })
        .expect("nobody panics");
    assert_eq!(sums, vec![Ok(28); 8]);
}

#[test]
fn members_that_wait_long_are_asleep() {
    let machine = machine::detect().expect("this process has CPUs");
    let group = Group::builder(&machine).members(3).wait(Wait::Adaptive).build().expect("three members");
    let parks = group
        .run(|me| {
            if me.rank() == 0 {
                // The others must have been waiting for this long when it comes.
                std::thread::sleep(Duration::from_millis(150));
            }
            me.barrier()?;
            Ok::<_, corecast::collective::Error>(me.wait_counts().parks)
        })
        .expect("nobody panics");
    for (rank, parks) in parks.into_iter().enumerate().skip(1) {
        let parks = parks.expect("nobody is lost");
        assert!((1..100).contains(&parks), "member {rank} slept {parks} times in 150 ms of waiting");
    }
}
