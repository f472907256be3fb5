//! Acknowledged broadcasts: a burst of events from rank 0 to all others, until it knows that all have processed them.
//!
//! One operation is one burst. A member that is not the root processes by adding up, and has passed on all that it knows when
//! a block ends.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use corecast::base::CacheLine;
use corecast::base::sync::{AtomicU64, Ordering};
use corecast::collective::acknowledged::{AckConfig, AckFollower, AckRoot, AckTuning, Discipline, Edges, Variant};
use corecast::collective::{Group, Member};
use corecast::plan::Effort;

use super::{Contender, Setting, Unfit};
use crate::failure::Failure;
use crate::harness::{Abort, Body, Patience};

/// The narrowest window: wider ones are for longer bursts.
const WINDOW: usize = 128;

/// The kinds of ring and tree, with the names they have in the report.
const GRAPHS: [(&str, Variant); 3] =
    [("ring", Variant::Ring), ("tree", Variant::Tree), ("ordered-ring", Variant::OrderedRing)];
const EDGES: [(&str, Edges); 3] =
    [("counters", Edges::Counters), ("messages", Edges::Messages), ("tasks", Edges::Tasks(Discipline::Lifo))];

/// All kinds with these arities, and the standard library's way, in bursts of this number of events.
pub fn contenders(arities: &[usize], burst: usize) -> Vec<Box<dyn Contender>> {
    let mut all: Vec<Box<dyn Contender>> = Vec::new();
    for &arity in arities {
        for (edges_name, edges) in EDGES {
            for (graph, variant) in GRAPHS {
                let tuning = AckTuning { variant, edges, arity, ..AckTuning::default() };
                all.push(Box::new(Acknowledged { name: name(graph, edges_name, arity), tuning, burst }));
            }
        }
    }
    all.push(Box::new(Channels { burst }));
    all
}

/// The name of a contender of ours.
pub fn name(graph: &str, edges: &str, arity: usize) -> String {
    format!("corecast/{graph}/{edges}/k{arity}")
}

struct Acknowledged {
    name: String,
    tuning: AckTuning,
    burst: usize,
}

impl Acknowledged {
    fn config(&self) -> AckConfig {
        AckConfig::default().window(self.burst.max(WINDOW)).tuning(self.tuning)
    }
}

/// A channel to each member, and one count of all acknowledgements.
struct Channels {
    burst: usize,
}

/// How many events each member has processed while they were checked; written by that member, read by the root.
type Witness = Arc<Vec<CacheLine<AtomicU64>>>;

/// The root's end of whatever is raced.
trait Publishing: Send {
    fn publish(&mut self, burst: &[u64]) -> Result<(), Failure>;

    /// Returns when all have processed all events, of which this is the number.
    fn wait(&mut self, events: u64) -> Result<(), Failure>;
}

/// Another member's end.
trait Following: Send {
    /// Waits for events and processes some; how many.
    fn process(&mut self, process: impl FnMut(u64)) -> Result<u64, Failure>;

    /// Called when the events of a block are processed.
    fn finish(&mut self) -> Result<(), Failure>;
}

/// An end that is opened by its own thread, as all must open theirs together.
struct Opening<E> {
    /// Until it is open.
    me: Option<&'static mut Member>,
    config: AckConfig,
    end: Option<E>,
}

struct Root<P> {
    end: P,
    /// Those of one burst.
    events: Vec<u64>,
    published: u64,
    witness: Witness,
}

struct Follower<F> {
    rank: usize,
    end: F,
    burst: u64,
    processed: u64,
    witness: Witness,
}

impl Contender for Acknowledged {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn about(&self) -> String {
        let AckTuning { variant, edges, arity, .. } = self.tuning;
        let window = self.config().window;
        format!("corecast: acknowledged broadcast, {variant:?} of arity {arity}, {edges:?}, window {window}")
    }

    fn is_ours(&self) -> bool {
        true
    }

    fn build(&self, setting: &Setting<'_>, _abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        let builder = Group::builder(setting.machine).cpus(setting.cpus.clone()).members(setting.participants());
        // The crew has bound the threads that the members go to; the trees are for opening only, and no race looks at, or
        // adds to, the plans that its user keeps.
        let builder = builder.wait(setting.wait).pin(true).effort(Effort::Quick).plan_folder(None).race_folder(None);
        let group = builder.build().map_err(|error| Unfit(error.to_string()))?;
        let join = |rank| group.join(rank).map_err(|error| Unfit(error.to_string()));
        let mut members = (0..group.size()).map(join).collect::<Result<Vec<_>, _>>()?.into_iter();
        let root = members.next().map(|me| Opening::of(me, self.config())).expect("a group has a member");
        Ok(bodies(root, members.map(|me| Opening::of(me, self.config())).collect(), self.burst))
    }
}

impl<E> Opening<E> {
    fn of(me: Member, config: AckConfig) -> Self {
        // An open end borrows its member, and both live as long as the race: of races a program runs a few.
        Self { me: Some(Box::leak(Box::new(me))), config, end: None }
    }

    /// The end, opened by the first who asks.
    #[inline]
    fn open<X: std::fmt::Display>(
        &mut self,
        open: impl FnOnce(&'static mut Member, AckConfig) -> Result<E, X>,
    ) -> Result<&mut E, Failure> {
        if let Some(me) = self.me.take() {
            self.end = Some(open(me, self.config).map_err(Failure::refused)?);
        }
        self.end.as_mut().ok_or_else(|| Failure::Refused("it could not be opened".to_owned()))
    }
}

impl Publishing for Opening<AckRoot<'static, u64>> {
    #[inline]
    fn publish(&mut self, burst: &[u64]) -> Result<(), Failure> {
        self.open(Member::ack_root)?.publish_all(burst).map(drop).map_err(Failure::refused)
    }

    #[inline]
    fn wait(&mut self, events: u64) -> Result<(), Failure> {
        self.open(Member::ack_root)?.wait(events).map_err(Failure::refused)
    }
}

impl Following for Opening<AckFollower<'static, u64>> {
    #[inline]
    fn process(&mut self, mut process: impl FnMut(u64)) -> Result<u64, Failure> {
        let follower = self.open(Member::ack_follower)?;
        follower.drain(|event| process(event.value)).map(|count| count as u64).map_err(Failure::refused)
    }

    fn finish(&mut self) -> Result<(), Failure> {
        self.open(Member::ack_follower)?.flush().map_err(Failure::refused)
    }
}

impl Contender for Channels {
    fn name(&self) -> String {
        "sync-channels".to_owned()
    }

    fn about(&self) -> String {
        "std::sync::mpsc::sync_channel to each member, and one atomic count of all acknowledgements".to_owned()
    }

    fn build(&self, setting: &Setting<'_>, abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        let acked = Arc::new(CacheLine::new(AtomicU64::new(0)));
        let (to, from): (Vec<_>, Vec<_>) =
            (1..setting.participants()).map(|_| sync_channel(self.burst.max(WINDOW))).unzip();
        let root =
            ChannelRoot { to, acked: Arc::clone(&acked), patience: setting.patience(), abort: Arc::clone(abort) };
        let followers = from.into_iter().map(|from| ChannelFollower { from, acked: Arc::clone(&acked) });
        Ok(bodies(root, followers.collect(), self.burst))
    }
}

struct ChannelRoot {
    to: Vec<SyncSender<u64>>,
    /// Acknowledgements of all members together.
    acked: Arc<CacheLine<AtomicU64>>,
    patience: Patience,
    abort: Arc<Abort>,
}

struct ChannelFollower {
    from: Receiver<u64>,
    acked: Arc<CacheLine<AtomicU64>>,
}

impl Publishing for ChannelRoot {
    fn publish(&mut self, burst: &[u64]) -> Result<(), Failure> {
        let mut all = burst.iter().flat_map(|event| self.to.iter().map(move |to| (to, *event)));
        all.try_for_each(|(to, event)| to.send(event).map_err(Failure::refused))
    }

    fn wait(&mut self, events: u64) -> Result<(), Failure> {
        let all = events * self.to.len() as u64;
        // ORDERING: Acquire, pairs with the Release in process [counted]
        self.patience.until(&self.abort, || self.acked.load(Ordering::Acquire) >= all)
    }
}

impl Following for ChannelFollower {
    fn process(&mut self, mut process: impl FnMut(u64)) -> Result<u64, Failure> {
        process(self.from.recv().map_err(Failure::refused)?);
        // ORDERING: Release, pairs with the Acquire in wait [counted]
        self.acked.fetch_add(1, Ordering::Release);
        Ok(1)
    }

    fn finish(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

/// The value of an event.
#[inline(always)]
fn value(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn bodies<P: Publishing + 'static, F: Following + 'static>(
    root: P,
    followers: Vec<F>,
    burst: usize,
) -> Vec<Box<dyn Body>> {
    let witness: Witness = Arc::new((0..=followers.len()).map(|_| CacheLine::default()).collect());
    let root = Root { end: root, events: vec![0; burst], published: 0, witness: Arc::clone(&witness) };
    let burst = burst as u64;
    let follower = |(index, end)| {
        let witness = Arc::clone(&witness);
        Box::new(Follower { rank: index + 1, end, burst, processed: 0, witness }) as Box<dyn Body>
    };
    let followers = followers.into_iter().enumerate().map(follower);
    [Box::new(root) as Box<dyn Body>].into_iter().chain(followers).collect()
}

impl<P: Publishing> Root<P> {
    /// Publishes a burst, and waits until all have processed it.
    #[inline(always)]
    fn burst(&mut self) -> Result<(), Failure> {
        for (number, event) in (self.published + 1..).zip(&mut self.events) {
            *event = value(number);
        }
        self.end.publish(&self.events)?;
        self.published += self.events.len() as u64;
        self.end.wait(self.published)
    }
}

impl<P: Publishing> Body for Root<P> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        (0..iterations).try_for_each(|_| self.burst())
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        for _ in 0..rounds {
            self.burst()?;
            for (rank, processed) in self.witness.iter().enumerate().skip(1) {
                // ORDERING: Relaxed, to order it is what the broadcast under test is for
                let processed = processed.load(Ordering::Relaxed);
                if processed < self.published {
                    let what =
                        format!("{} events are acknowledged, and member {rank} is at {processed}", self.published);
                    return Err(Failure::Wrong(what));
                }
            }
        }
        Ok(())
    }
}

impl<F: Following> Follower<F> {
    /// Processes the events of this number of bursts.
    #[inline(always)]
    fn process(&mut self, bursts: u64, mut process: impl FnMut(u64)) -> Result<(), Failure> {
        let last = self.processed + bursts * self.burst;
        while self.processed < last {
            self.processed += self.end.process(&mut process)?;
        }
        self.end.finish()
    }
}

impl<F: Following> Body for Follower<F> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        let mut sum = 0u64;
        self.process(iterations, |event| sum = sum.wrapping_add(event))?;
        black_box(sum);
        // ORDERING: Relaxed, the root reads it in a later block, which begins with a meeting of all
        self.witness[self.rank].store(self.processed, Ordering::Relaxed);
        Ok(())
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        let (first, witness, rank) = (self.processed, Arc::clone(&self.witness), self.rank);
        let (mut count, mut sum, mut expected) = (0, 0u64, 0u64);
        self.process(rounds, |event| {
            count += 1;
            // By sums, as some may reorder within a burst.
            sum = sum.wrapping_add(event);
            expected = expected.wrapping_add(value(first + count));
            // ORDERING: Relaxed, to order it is what the broadcast under test is for
            witness[rank].store(first + count, Ordering::Relaxed);
        })?;
        if sum == expected {
            Ok(())
        } else {
            Err(Failure::Wrong(format!("member {rank} got other events than were sent")))
        }
    }
}
