//! `Debug` of a group, its members and their ends is one short line, however many members there are.

use std::fmt::Debug;

use corecast_collective::acknowledged::{AckConfig, AckError};
use corecast_collective::{Barrier, Group, Member};

use crate::{group, machine};

const MEMBERS: usize = 16;

#[track_caller]
fn is_short(value: &impl Debug, begin: &str) {
    let line = format!("{value:?}");
    assert!(line.starts_with(begin) && !line.contains('\n') && line.len() < 120, "{line}");
}

fn ends(me: &mut Member) -> Result<(), AckError> {
    let rank = me.rank();
    let own = |name: &str| format!("{name}(member {rank} of {MEMBERS}, ");
    is_short(me, &format!("Member({rank} of {MEMBERS})"));
    is_short(&me.start(), &format!("Start {{ me: Member({rank} of {MEMBERS}) }}"));
    if rank == 0 {
        is_short(&me.coordinator::<u64>()?, &own("Coordinator"));
    } else {
        is_short(&me.participant::<u64>(0)?, &own("Participant"));
    }
    let stream = me.atomic_stream()?;
    is_short(&stream, &own("AtomicStream"));
    stream.finish(|_, _, _| ())?;
    if rank == 0 {
        let root = me.ack_root::<u64>(AckConfig::default())?;
        is_short(&root, &own("AckRoot"));
        root.close()
    } else {
        let mut follower = me.ack_follower::<u64>(AckConfig::default())?;
        is_short(&follower, &own("AckFollower"));
        follower.serve(drop).map(drop)
    }
}

#[test]
fn of_a_group_of_sixteen() {
    let machine = machine(MEMBERS as u32);
    is_short(&Group::builder(&machine), "Builder { machine: ");
    let group = group(MEMBERS, |builder| builder.barrier(Barrier::Leaders));
    is_short(&group, "Group(16 members, leaders)");
    is_short(group.choice(), "Choice(leaders, broadcast ");
    assert_eq!(group.run(ends).expect("nobody panics"), vec![Ok(()); MEMBERS]);
}
