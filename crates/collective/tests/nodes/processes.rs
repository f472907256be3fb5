//! Members that join by an invitation, as processes do; here they are threads that attach to the same region.

use std::thread;
use std::time::Duration;

use corecast_collective::nodes::local::Network;
use corecast_collective::nodes::{Engine, Error, SetupError};
use corecast_collective::processes::Invitation;
use corecast_collective::{Group, Loss};

use crate::cluster::machine;

const PATIENCE: Duration = Duration::from_secs(60);

/// Runs `body` as every member of nodes of two members each, with what it got when it joined.
fn joined<R: Send>(
    engines: Vec<Option<Box<dyn Engine>>>,
    body: impl Fn(Result<corecast_collective::nodes::Member, SetupError>) -> R + Sync,
) -> Vec<R> {
    let body = &body;
    let machine = machine(2);
    let found = || Group::builder(&machine).members(2).pin(false).plan_folder(None).race_folder(None).found();
    let nodes: Vec<_> = engines.into_iter().map(|engine| (found().expect("founded"), engine)).collect();
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for (founding, engine) in &mut nodes.into_iter().collect::<Vec<_>>() {
            let mut engine = engine.take();
            for rank in 0..2 {
                let fd = founding.share().expect("a descriptor");
                let engine = engine.take().filter(|_| rank == 0);
                threads.push(scope.spawn(move || {
                    let invitation = Invitation::of_fd(fd).expect("attached").rank(rank);
                    body(invitation.over(engine).timeout(PATIENCE).join())
                }));
            }
        }
        threads.into_iter().map(|thread| thread.join().expect("no member panics")).collect()
    })
}

#[test]
fn invited_members_meet_over_nodes() {
    let engines = Network::of(2).delays(10).engines().into_iter().map(Some).collect();
    let outcomes = joined(engines, |me| {
        let mut me = me.expect("all have joined");
        let (rank, size) = (me.rank(), me.size());
        let mut values = vec![rank as u64; 20_000];
        me.allreduce_slice(&mut values, |a, b| a + b)?;
        assert_eq!(values, vec![6; 20_000]);
        let gathered = me.gather(3, rank)?;
        assert_eq!(gathered, (rank == 3).then(|| vec![0, 1, 2, 3]));
        me.barrier()?;
        Ok::<_, Error>((rank, size, me.host(1).to_owned()))
    });
    assert_eq!(outcomes, (0..4).map(|rank| Ok((rank, 4, "host1".to_owned()))).collect::<Vec<_>>());
}

#[test]
fn a_member_that_leaves_is_named_and_the_others_go_on() {
    let engines = Network::of(2).engines().into_iter().map(Some).collect();
    let outcomes = joined(engines, |me| {
        let mut me = me.expect("all have joined");
        let met = me.barrier();
        if me.rank() == 3 {
            return met.map(|()| None);
        }
        // The word of the loss may be faster than the end of the first barrier.
        let error = met.and_then(|()| me.start().barrier()?.finish_timeout(PATIENCE));
        assert_eq!(error, Err(Error::MemberLost { rank: 3, node: 1, loss: Loss::Left }));
        let mut shrunk = me.shrink_timeout(PATIENCE)?;
        assert_eq!((&shrunk.gone, shrunk.highest), (&vec![3], 1));
        assert!(shrunk.completed <= 1, "{shrunk:?}");
        Ok::<_, Error>(Some(shrunk.me.allreduce(1, |a, b| a + b)?))
    });
    assert_eq!(outcomes, [Ok(Some(3)), Ok(Some(3)), Ok(Some(3)), Ok(None)]);
}

#[test]
fn a_leader_without_an_engine_says_so() {
    let outcomes = joined(vec![None], |me| me.map(drop));
    assert!(matches!(outcomes[0], Err(SetupError::NoEngine)), "{outcomes:?}");
    assert!(matches!(outcomes[1], Err(SetupError::Operation(_))), "{outcomes:?}");
}
