//! Every interleaving of an owner that exposes slices and a reader that looks for them.

use corecast_channel::window::{Part, Windows};
use loom::thread;

/// The owner writes the next slice, and its description, as soon as the window lets it.
#[test]
fn nobody_reads_what_the_owner_has_back() {
    loom::model(|| {
        let windows = Windows::new(2);
        let (mut mine, theirs) = (windows.claim(0).expect("free"), windows.claim(1).expect("free"));
        let reader = thread::spawn(move || {
            for part in [Part::Rest, Part::Kept] {
                let places = if part == Part::Kept { 0..1 } else { 1..2 };
                let seen = theirs.read(0, part, 2, 2, places, |values: &[u64]| values[0]).expect("they agree");
                assert!(seen.is_none_or(|seen| seen == 20), "{seen:?}");
            }
        });
        for tag in 1..=2 {
            let mut values = [tag * 10; 2];
            mine.expose(tag, &mut values, 0..1, |exposure| {
                exposure.advance();
                exposure.advance();
                exposure.rest()[1][0] = 0;
            });
        }
        reader.join().expect("the reader ends");
    });
}
