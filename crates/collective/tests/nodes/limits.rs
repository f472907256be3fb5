//! Operations that are started and finished later, or within a limit.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use corecast_collective::nodes::local::Network;
use corecast_collective::nodes::{Error, Late};

use crate::cluster::{all, run};

const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn a_late_node_is_named_and_the_operation_goes_on() {
    let has_waited = Barrier::new(3);
    let outcomes = all(run(Network::of(2), &[2, 1], |me| {
        me.barrier()?;
        if me.node() == 1 {
            has_waited.wait();
            return me.allreduce(3u64, |a, b| a + b);
        }
        let mut sum = me.start().allreduce(1, |a, b| a + b)?;
        let late = loop {
            match sum.finish_timeout(Duration::from_millis(30)) {
                Err(Error::Timeout { late }) if !late.nodes.is_empty() => break late,
                Err(Error::Timeout { .. }) => {}
                other => return other,
            }
        };
        assert_eq!((late.nodes, late.members), (vec![1], vec![]));
        has_waited.wait();
        sum.finish_timeout(PATIENCE)
    }));
    assert_eq!(outcomes, vec![Ok(5); 3]);
}

#[test]
fn the_neighbour_waited_for_is_named_and_forgotten_afterwards() {
    let has_waited = Barrier::new(2);
    let outcomes = all(run(Network::of(4), &[1; 4], |me| {
        me.barrier()?;
        if me.node() == 3 {
            has_waited.wait();
            return me.allreduce(1, |a, b| a + b);
        }
        let mut sum = me.start().allreduce(1, |a, b| a + b)?;
        if me.node() > 0 {
            return sum.finish();
        }
        // Node 1 has delivered its value; node 2 waits for node 3.
        let is_named = (0..100).any(|_| match sum.finish_timeout(Duration::from_millis(30)) {
            Err(Error::Timeout { late }) => late.nodes == [2],
            other => panic!("node 3 has not come: {other:?}"),
        });
        assert!(is_named, "node 2 is waited for");
        has_waited.wait();
        sum.finish_timeout(PATIENCE)
    }));
    assert_eq!(outcomes, vec![Ok(4); 4]);
}

#[test]
fn started_operations_are_finished_by_polling() {
    let outcomes = all(run(Network::of(3).delays(30), &[2, 1, 2], |me| {
        let (rank, size) = (me.rank(), me.size());
        for round in 0..10 {
            let mut values = vec![rank + round; 20_000];
            let mut sum = me.start().allreduce_slice(&mut values, |a, b| a + b)?;
            while !sum.try_finish()? {
                thread::yield_now();
            }
            sum.finish()?;
            assert_eq!(values, vec![size * (size - 1) / 2 + round * size; 20_000]);
            let all = me.start().gather(round % size, rank)?.finish_timeout(PATIENCE)?;
            assert_eq!(all, (round % size == rank).then(|| (0..size).collect()));
            let mut value = rank;
            me.start().broadcast(round % size, &mut value)?.finish()?;
            assert_eq!(value, round % size);
        }
        Ok::<_, Error>(())
    }));
    assert_eq!(outcomes, vec![Ok(()); 5]);
}

#[test]
fn a_member_that_drops_an_operation_is_lost_to_all() {
    let outcomes = run(Network::of(2), &[2, 2], |me| {
        if me.rank() == 3 {
            drop(me.start().barrier()?);
            // Nothing else can begin, and its leaving is found.
            return me.barrier();
        }
        me.barrier()
    });
    let outcomes = all(outcomes);
    assert_eq!(outcomes[3], Err(Error::Pending));
    let is_named = |outcome: &Result<(), Error>| matches!(outcome, Err(Error::MemberLost { rank: 3, node: 1, .. }));
    assert!(outcomes[..3].iter().all(is_named), "{outcomes:?}");
    assert_eq!(Late::default().to_string(), "its values are on the way");
}
