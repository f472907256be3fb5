//! A call, those who are left when it is interrupted, and what they must find.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use corecast_base::PlaceSlice;
use corecast_base::region::{RegionDir, RegionPlan, SharedRegion};
use corecast_base::sync::{AtomicU64, Ordering};
use corecast_channel::Spec;
use corecast_testing::skipped;
use corecast_testing::stepped::{Child, WHOLE};

use crate::steps::{NOT_TRACED, say};

/// The name of the region and of its channel.
pub(crate) const NAME: &str = "steps";
/// Long enough for everything that happens at all.
const PATIENCE: Duration = Duration::from_secs(20);
/// Instructions to run for one call, in all trials together besides those behind a change: a 24th of a second's worth.
const MOST_STEPS: u64 = 2_000;
/// The instructions that are looked at one by one. The test checks that a call changes no shared memory after that.
const LONGEST: u64 = 10_000;

/// A call that is interrupted, and the others.
pub(crate) trait Scene {
    /// Those who are left.
    type Others;

    /// The name in reports.
    fn name(&self) -> String;

    /// The channel.
    fn spec(&self) -> Spec;

    /// Sets the others up, before there is a child.
    fn prepare(&self, region: &SharedRegion) -> Self::Others;

    /// The work of the child: it gets ready, stops itself, makes the call, and stops itself again.
    fn play(&self, region: &SharedRegion);

    /// Brings the child, which has stopped itself once, to its call.
    fn approach(&self, _: &mut Self::Others, _: &Child) {}

    /// Looks at what the child left, which is dead by now. Tells whether the call has happened as far as others can see;
    /// `None` if they cannot.
    fn check(&self, region: &SharedRegion, others: Self::Others) -> Option<bool>;
}

/// A region in a directory that ends with it.
pub(crate) struct Stage {
    pub(crate) region: SharedRegion,
    dir: RegionDir,
    _temporary: tempfile::TempDir,
}

impl Stage {
    pub(crate) fn new(spec: Spec) -> Self {
        // In memory, where regions belong.
        let temporary = tempfile::tempdir_in("/dev/shm").expect("memory");
        let dir = RegionDir::at(temporary.path().join("regions"));
        let plan = spec.declare(RegionPlan::new(), NAME).and_then(|plan| plan.participants(4)).expect("a good plan");
        let region = SharedRegion::named(&dir, NAME, &plan).expect("a free name");
        Self { region, dir, _temporary: temporary }
    }

    /// A child with a participant slot of its own.
    pub(crate) fn child(&self, play: impl FnOnce(&SharedRegion)) -> Option<Child> {
        Child::start(|| play(&SharedRegion::open(&self.dir, NAME).expect("a good region")))
    }

    /// Leaves, and looks whether anything stays.
    pub(crate) fn end(self) {
        drop(self.region);
        let left = std::fs::read_dir(self.dir.path()).expect("ours").count();
        assert_eq!(left, 0, "the last one who leaves takes the region away");
    }
}

/// The memory of the region's channel as any process can reach it.
pub(crate) fn words(region: &SharedRegion) -> PlaceSlice<AtomicU64> {
    let section = region.section(&region.entry(NAME).expect("declared"));
    section.words(0, section.len() / 8).expect("all of it")
}

/// Kills a child after each step of its call.
pub(crate) fn kill_at_every_step(scene: &impl Scene) {
    let Some(steps) = steps_that_matter(scene) else {
        return skipped(&format!("a kill at every step of {}", scene.name()), NOT_TRACED);
    };
    let has_happened: Vec<_> = steps.iter().map(|&steps| kill_after(scene, steps)).collect();
    assert_ne!(has_happened.first(), Some(&Some(true)), "{}: the first one is before the call", scene.name());
    assert_ne!(has_happened.last(), Some(&Some(false)), "{}: the last one is behind it", scene.name());
}

/// Kills a child after `steps` steps, or behind its call; true if the others see that the call has happened.
fn kill_after(scene: &impl Scene, steps: u64) -> Option<bool> {
    let _trial = Trial { name: scene.name(), steps };
    let stage = Stage::new(scene.spec());
    let mut others = scene.prepare(&stage.region);
    let child = stage.child(|region| scene.play(region)).expect("there was one before");
    scene.approach(&mut others, &child);
    let _ = child.take_steps(steps);
    drop(child);
    let has_happened = scene.check(&stage.region, others);
    stage.end();
    has_happened
}

/// Tells which trial it was, if it fails.
struct Trial {
    name: String,
    steps: u64,
}

impl Drop for Trial {
    fn drop(&mut self) {
        if std::thread::panicking() {
            say(&format!("{}: killed after {} instructions", self.name, self.steps));
        }
    }
}

/// The numbers of steps after which to kill, ascending: 0, each step that changes the channel's memory, others at regular
/// distances, and the whole call. A kill before a change leaves the memory as the change before it did. `None` if processes
/// may not be traced here.
pub(crate) fn steps_that_matter(scene: &impl Scene) -> Option<Vec<u64>> {
    let stage = Stage::new(scene.spec());
    let mut others = scene.prepare(&stage.region);
    let child = stage.child(|region| scene.play(region))?;
    scene.approach(&mut others, &child);
    let words = words(&stage.region);
    // ORDERING: Relaxed, the child is stopped
    let look = || words.iter().map(|word| word.load(Ordering::Relaxed)).collect::<Vec<_>>();
    let (mut seen, mut changes, mut count) = (look(), Vec::new(), 0);
    let is_whole = loop {
        if count == LONGEST || !child.step() {
            break count < LONGEST;
        }
        count += 1;
        if look() != seen {
            changes.push(count);
            seen = look();
        }
    };
    if !is_whole {
        child.run();
        assert!(look() == seen, "{}: the memory is changed after {LONGEST} instructions", scene.name());
    }
    let stride = (count * count / 2).div_ceil(MOST_STEPS).max(1);
    let regular = (0..count).step_by(stride as usize);
    let mut steps: Vec<u64> = regular.chain(changes.iter().copied()).chain([WHOLE]).collect();
    steps.sort_unstable();
    steps.dedup();
    let (name, tried, more) = (scene.name(), steps.len(), if is_whole { "" } else { " and more" });
    say(&format!(
        "{name}: {count} instructions{more}, {} change the memory; {tried} tried, every {stride}",
        changes.len()
    ));
    Some(steps)
}

/// Repeats what others may hold up for a moment: those who wait look for the dead once a millisecond.
#[track_caller]
pub(crate) fn eventually<R>(what: &str, mut attempt: impl FnMut() -> Option<R>) -> R {
    let begin = Instant::now();
    loop {
        match attempt() {
            Some(result) => return result,
            None => assert!(begin.elapsed() < PATIENCE, "not within {} s: {what}", PATIENCE.as_secs()),
        }
        std::thread::yield_now();
    }
}

/// The message with this number of a sender: `len` bytes, all of which follow from these three.
pub(crate) fn message(sender: u8, number: u8, len: usize) -> Vec<u8> {
    let body = (2..len).map(|at| (at as u8).wrapping_mul(31) ^ number.wrapping_mul(7) ^ sender);
    [sender, number].into_iter().chain(body).collect()
}

/// Sender and number of a message that is whole.
#[track_caller]
pub(crate) fn check_whole(bytes: &[u8]) -> (u8, u8) {
    assert_eq!(bytes, message(bytes[0], bytes[1], bytes.len()), "message {} of sender {}", bytes[1], bytes[0]);
    (bytes[0], bytes[1])
}

/// Checks that these are messages of one sender from the first on, and that their number is in the range.
#[track_caller]
pub(crate) fn check_numbers(numbers: &[u8], count: RangeInclusive<usize>) {
    assert!(numbers.iter().copied().eq(0..numbers.len() as u8), "each once, in order: {numbers:?}");
    assert!(count.contains(&numbers.len()), "{numbers:?}, expected {count:?} of them");
}
