//! Memory written by another program is refused with a reason, or does no harm.

use std::time::Duration;

use corecast_base::region::KIND_GROUP;
use corecast_base::region::{RegionPlan, SharedRegion};
use corecast_base::sync::Ordering;
use corecast_collective::processes::{Invitation, JoinError};

use crate::founding;

/// The words of a founded group of one, and its directory entry.
struct Copy {
    config: [u64; 6],
    words: Vec<u64>,
}

impl Copy {
    fn of_good() -> Self {
        let founding = founding(1, |builder| builder.room_bytes(0));
        let region = founding.region();
        let entry = region.entry("group").expect("declared");
        let words = region.section(&entry).words(0, entry.bytes as usize / 8).expect("all of it");
        Self { config: entry.config, words: words.iter().map(|word| word.load(Ordering::Relaxed)).collect() }
    }

    /// A region of these words, as another program could make it.
    fn region(&self) -> SharedRegion {
        let plan = RegionPlan::new().add("group", KIND_GROUP, self.config, 8 * self.words.len() as u64);
        let region = SharedRegion::memfd(&plan.expect("a plan")).expect("memory");
        let section = region.section(&region.entry("group").expect("declared"));
        let places = section.words(0, self.words.len()).expect("all of it");
        for (place, &word) in places.iter().zip(&self.words).filter(|(_, word)| **word != 0) {
            place.store(word, Ordering::Relaxed);
        }
        region
    }

    /// Joins it and calls everything once; true if all succeeded.
    fn works(&self) -> bool {
        match Invitation::of_region(self.region()).timeout(Duration::ZERO).join() {
            Ok(mut me) => {
                let mut value = 7_u64;
                let sum = me
                    .barrier()
                    .and_then(|()| me.broadcast(0, &mut value))
                    .and_then(|()| me.allreduce(1, |a, b| a + b));
                sum == Ok(1)
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                false
            }
        }
    }
}

#[test]
fn words_changed_at_random_are_refused_or_do_no_harm() {
    let good = Copy::of_good();
    assert!(good.works(), "an unspoilt copy is a group");
    let seed = 0x5eed_0003;
    let mut random = fastrand::Rng::with_seed(seed);
    let mut harmless = 0;
    for _ in 0..3_000 {
        let mut bad = Copy { config: good.config, words: good.words.clone() };
        let word = match random.bool() {
            true => &mut bad.config[random.usize(0..6)],
            false => &mut bad.words[random.usize(0..good.words.len())],
        };
        *word = match random.u8(0..3) {
            0 => *word ^ 1 << random.u32(0..64),
            1 => random.u64(..),
            _ => random.u64(0..5_000),
        };
        harmless += u32::from(bad.works());
    }
    assert!(harmless > 0 && harmless < 3_000, "{harmless} of them, seed {seed:#x}");
}

#[test]
fn another_description_than_was_written_is_told() {
    let mut bad = Copy::of_good();
    // Behind the line of the one member.
    bad.words[16] ^= 1;
    let joined = Invitation::of_region(bad.region()).join();
    assert!(matches!(&joined, Err(JoinError::Corrupt(why)) if why.contains("description")), "{joined:?}");
}
