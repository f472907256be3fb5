//! Members that can lead their node when its leader is lost. The library between the nodes is played: it leaves lost processes
//! behind when all that live have come, as a library does.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use corecast_collective::Group;
use corecast_collective::nodes::local::Network;
use corecast_collective::nodes::{Candidate, Connection, Fault, Member, NodeSet, Remade, Standing};
use corecast_collective::processes::Invitation;

use crate::cluster::machine;
use End::{InOperation, InRemake, WithinNode};

const PATIENCE: Duration = Duration::from_secs(60);

/// The processes of a library, numbered node by node.
struct Library {
    /// The processes of each node.
    nodes: Vec<usize>,
    state: Mutex<State>,
    has_changed: Condvar,
}

struct State {
    lives: Vec<bool>,
    /// The processes that have come, and what they are given.
    come: Vec<Option<Standing>>,
    given: Vec<Option<Option<Remade>>>,
    /// The nodes that had a process left the last time.
    living_nodes: Vec<usize>,
    /// The attempts behind which all had to come again.
    again: usize,
}

impl Library {
    fn of(nodes: &[usize]) -> Arc<Self> {
        let processes = nodes.iter().sum();
        let state = State {
            lives: vec![true; processes],
            come: vec![None; processes],
            given: (0..processes).map(|_| None).collect(),
            living_nodes: (0..nodes.len()).collect(),
            again: 0,
        };
        Arc::new(Self { nodes: nodes.to_vec(), state: Mutex::new(state), has_changed: Condvar::new() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no process panics while it holds the library")
    }

    /// The first process of a node.
    fn first(&self, node: usize) -> usize {
        self.nodes[..node].iter().sum()
    }

    fn node_of(&self, process: usize) -> usize {
        (0..self.nodes.len()).rfind(|&node| self.first(node) <= process).expect("every process has a node")
    }

    fn die(&self, process: usize) {
        let mut state = self.state();
        (state.lives[process], state.come[process]) = (false, None);
        self.finish(&mut state);
    }

    fn come(&self, process: usize, standing: Standing) -> Option<Remade> {
        let mut state = self.state();
        state.come[process] = Some(standing);
        self.finish(&mut state);
        loop {
            if let Some(given) = state.given[process].take() {
                return given;
            }
            let (woken, waited) = self.has_changed.wait_timeout(state, PATIENCE).expect("as for state");
            assert!(!waited.timed_out(), "a process that lives does not come: {:?} {:?}", woken.lives, woken.come);
            state = woken;
        }
    }

    /// Leaves the lost processes behind, if all others have come.
    fn finish(&self, state: &mut State) {
        let living: Vec<usize> = (0..state.lives.len()).filter(|&process| state.lives[process]).collect();
        let leader = |process: usize| {
            let standing = state.come[process]?;
            let leader = self.first(self.node_of(process)) + standing.leader;
            Some(Some(leader).filter(|&leader| standing.is_whole && state.lives[leader]))
        };
        let Some(leaders) = living.iter().map(|&process| leader(process)).collect::<Option<Vec<_>>>() else { return };
        let mut nodes: Vec<usize> = living.iter().map(|&process| self.node_of(process)).collect();
        nodes.dedup();
        let mut stay = NodeSet::none(state.living_nodes.len());
        let is_left = |place: &usize| nodes.contains(&state.living_nodes[*place]);
        (0..state.living_nodes.len()).filter(is_left).for_each(|place| stay.insert(place));
        let are_led = leaders.iter().all(Option::is_some);
        let mut engines = Network::of(nodes.len()).engines().into_iter();
        for (&process, leader) in living.iter().zip(leaders) {
            let remade = || Remade { stay: stay.clone(), engine: None };
            state.given[process] = Some(are_led.then(|| match leader == Some(process) {
                true => Remade { engine: engines.next(), ..remade() },
                false => remade(),
            }));
        }
        match are_led {
            true => state.living_nodes = nodes,
            false => state.again += 1,
        }
        state.come.fill(None);
        self.has_changed.notify_all();
    }
}

/// One of its processes.
struct Process {
    library: Arc<Library>,
    number: usize,
    end: Option<End>,
}

/// The place at which a process dies.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    InOperation,
    /// While its node agrees within itself.
    WithinNode,
    /// While all leave lost ones behind.
    InRemake,
}

impl Process {
    fn die_at(&self, place: End) {
        if self.end == Some(place) {
            self.library.die(self.number);
            resume_unwind(Box::new("as the test says"));
        }
    }
}

impl Candidate for Process {
    fn remake(&mut self, standing: Standing, _limit: Option<Duration>) -> Result<Option<Remade>, Fault> {
        self.die_at(End::InRemake);
        Ok(self.library.come(self.number, standing))
    }

    fn while_waiting(&self) -> Box<dyn FnMut(Duration) -> Duration + Send> {
        // It is asked for when a node has left its lost members behind.
        self.die_at(End::WithinNode);
        Box::new(|_| Duration::from_millis(1))
    }
}

/// The ranks that are lost in each round.
type Rounds<'a> = &'a [&'a [(usize, End)]];

/// Runs the rounds as the member of this rank.
fn work(mut me: Member, library: &Library, rounds: Rounds<'_>) {
    let (own, mut living) = (me.rank(), (0..me.size()).collect::<Vec<_>>());
    for &lost in rounds {
        let mut error = me.barrier().err();
        if lost.contains(&(own, InOperation)) {
            library.die(own);
            resume_unwind(Box::new("as the test says"));
        }
        while lost.iter().any(|(rank, _)| living.contains(rank)) {
            while error.is_none() {
                let sum = me.start().allreduce(1, |a, b| a + b).and_then(|mut sum| sum.finish_timeout(PATIENCE));
                error = sum.err();
            }
            let shrunk = me.shrink_timeout(PATIENCE).unwrap_or_else(|last| panic!("{own}: {last} behind {error:?}"));
            let gone: Vec<usize> = shrunk.gone.iter().map(|&rank| living[rank]).collect();
            assert!(gone.iter().all(|gone| lost.iter().any(|(rank, _)| rank == gone)), "{gone:?} behind {error:?}");
            living.retain(|rank| !gone.contains(rank));
            (me, error) = (shrunk.me, None);
            assert_eq!((me.size(), living[me.rank()]), (living.len(), own));
        }
        assert_eq!(me.allreduce(own, |a, b| a + b), Ok(living.iter().sum()), "{living:?}");
        let of_node = living.iter().find(|&&rank| library.node_of(rank) == library.node_of(own));
        assert_eq!(me.is_leader(), of_node == Some(&own), "the lowest leads");
    }
}

/// Runs the rounds in a group of these nodes; returns how often all had to come again.
fn play(nodes: &[usize], rounds: Rounds<'_>) -> usize {
    let library = &Library::of(nodes);
    let most = nodes.iter().copied().max().expect("a node");
    let machine = machine(most);
    let found = |members: usize| {
        let builder = Group::builder(&machine).members(members).pin(false).plan_folder(None).race_folder(None);
        builder.room_bytes(64 << 20).found().expect("founded")
    };
    let foundings: Vec<_> = nodes.iter().map(|&members| found(members)).collect();
    let foundings = &foundings;
    let mut engines = Network::of(nodes.len()).engines().into_iter();
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for number in 0..nodes.iter().sum() {
            let node = library.node_of(number);
            let local = number - library.first(node);
            let engine = (local == 0).then(|| engines.next().expect("one for each node"));
            let end = rounds.concat().into_iter().find(|&(rank, _)| rank == number).map(|(_, end)| end);
            threads.push(scope.spawn(move || {
                let process = Process { library: Arc::clone(library), number, end };
                let connection = Connection::from(engine).candidate(process).timeout(PATIENCE);
                let fd = foundings[node].share().expect("a descriptor");
                let invitation = Invitation::of_fd(fd).expect("attached").rank(local);
                let me = invitation.over(connection).join().expect("all have joined");
                catch_unwind(AssertUnwindSafe(|| work(me, library, rounds))).is_ok()
            }));
        }
        for (number, thread) in threads.into_iter().enumerate() {
            let is_well = thread.join().expect("it catches panics");
            assert_eq!(is_well, library.state().lives[number], "rank {number} of {nodes:?}");
        }
    });
    library.state().again
}

#[test]
fn a_node_that_loses_its_leader_is_led_by_the_next_member() {
    play(&[2, 2], &[&[(2, InOperation)]]);
    play(&[2, 2], &[&[(0, InOperation)]]);
    play(&[3, 3], &[&[(3, InOperation), (4, InOperation)]]);
    play(&[3, 1, 2], &[&[(0, InOperation)], &[(1, InOperation)], &[(4, InOperation)]]);
}

#[test]
fn a_node_without_members_is_lost() {
    play(&[2, 2], &[&[(2, InOperation), (3, InOperation)]]);
    play(&[1, 2, 1], &[&[(0, InOperation)], &[(1, InOperation)]]);
}

#[test]
fn a_member_that_does_not_lead_is_left_behind() {
    play(&[2, 2], &[&[(3, InOperation)], &[(1, InOperation)]]);
}

#[test]
fn all_come_again_if_the_next_leader_is_lost_while_they_leave_the_first_one_behind() {
    let again = play(&[3, 3], &[&[(3, InOperation), (4, InRemake)]]);
    assert!(again > 0, "member 5 has agreed with member 4 that it leads");
}

#[test]
fn a_member_whose_node_fails_again_takes_part_before_it_goes_back_to_its_node() {
    let again = play(&[3, 4], &[&[(3, InOperation), (5, WithinNode)]]);
    assert!(again > 0, "members 4 and 6 have said that their node has failed again");
}

#[test]
fn members_that_are_lost_while_others_are_left_behind_are_left_behind_as_well() {
    play(&[3, 3], &[&[(3, InOperation), (5, InRemake)]]);
    play(&[3, 3], &[&[(3, InOperation), (0, InRemake)]]);
    play(&[3, 3], &[&[(5, InOperation), (3, InRemake)]]);
}
