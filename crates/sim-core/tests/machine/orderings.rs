//! The order in which stores are seen: that of x86.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use corecast_sim_core::{Run, Thread, Ticks, Word, published, units};

use crate::memory::Line;

const LIMIT: Ticks = units(10_000_000);

/// Both threads store to lines of their own, then to a word, and then read the other's word, with a fence of theirs between.
/// The words read, for several begins of the second thread.
fn store_and_look(fences: [fn(&Thread); 2]) -> Vec<[u64; 2]> {
    let play = |begin: u64| {
        let words = [Line::new().word(), Line::new().word()];
        let seen = Rc::new(Cell::new([9, 9]));
        let mut run = Run::new(&published::xeon_8x10());
        for (place, cpu) in [0, 10].into_iter().enumerate() {
            let seen = Rc::clone(&seen);
            let own: Vec<Word> = (0..16).map(|_| Line::new().word()).collect();
            let body = move |me: &Thread| {
                own.iter().for_each(|&word| me.store(word, 1));
                me.store(words[place], 1);
                fences[place](me);
                let other = me.load(words[1 - place]);
                let mut both = seen.get();
                both[place] = other;
                seen.set(both);
            };
            run.spawn(cpu, units(begin * place as u64), body).expect("there is memory");
        }
        run.finish(LIMIT).expect("nothing waits");
        seen.get()
    };
    (0..40).map(|step| play(step * 25)).collect()
}

#[test]
fn a_load_passes_a_store_unless_there_is_a_fence() {
    assert!(store_and_look([|_| {}; 2]).contains(&[0, 0]), "a store buffer lets both miss");
    let fenced = store_and_look([Thread::wait_for_stores; 2]);
    assert!(!fenced.contains(&[0, 0]), "{fenced:?}");
}

#[test]
fn the_fence_of_one_side_is_enough_if_it_is_one_for_all() {
    assert!(store_and_look([Thread::wait_for_stores, |_| {}]).contains(&[0, 0]), "an ordinary fence is not");
    let fenced = store_and_look([Thread::fence_all, |_| {}]);
    assert!(!fenced.contains(&[0, 0]), "{fenced:?}");
}

#[test]
fn a_thread_sees_its_own_store_at_once() {
    let (word, mut run) = (Line::new().word(), Run::new(&published::opteron_4x12()));
    run.spawn(0, 0, move |me| {
        for value in 0..100 {
            me.store(word, value);
            assert_eq!(me.load(word), value);
        }
    })
    .expect("there is memory");
    run.finish(LIMIT).expect("nothing waits");
}

/// A writer that stores to many lines in a row, which readers take away from it; they see the stores in their order.
#[test]
fn stores_are_seen_in_their_order() {
    const WORDS: usize = 6;
    let words: Vec<Word> = (0..WORDS).map(|_| Line::new().word()).collect();
    let wrong = Rc::new(RefCell::new(Vec::new()));
    let mut run = Run::new(&published::opteron_4x12());
    let written = words.clone();
    let write = move |me: &Thread| (1..200).for_each(|round| written.iter().for_each(|&word| me.store(word, round)));
    run.spawn(0, 0, write).expect("there is memory");
    for cpu in [1, 6, 13, 47] {
        let (words, wrong) = (words.clone(), Rc::clone(&wrong));
        let read = move |me: &Thread| {
            for step in 0..400 {
                // From the last written to the first: an earlier one must be at least as new.
                let seen: Vec<u64> = words.iter().rev().map(|&word| me.load(word)).collect();
                if !seen.is_sorted() {
                    wrong.borrow_mut().push((cpu, step, seen));
                }
                me.work(cpu as u64 * 3);
            }
        };
        run.spawn(cpu, 0, read).expect("there is memory");
    }
    run.finish(LIMIT).expect("nothing waits");
    assert!(wrong.borrow().is_empty(), "{:?}", wrong.borrow());
}

/// A store waits for its thread, also behind one that drains meanwhile.
#[test]
fn a_store_is_not_seen_before_it_is_made() {
    let words = [Line::new().word(), Line::new().word()];
    let made = Rc::new(Cell::new(0));
    let (told, mut run) = (Rc::clone(&made), Run::new(&published::opteron_4x12()));
    run.spawn(0, 0, move |me| {
        me.store(words[0], 1);
        me.work(50_000);
        told.set(me.now());
        me.store(words[1], 1);
    })
    .expect("there is memory");
    run.spawn(13, 0, move |me| {
        while me.load(words[1]) == 0 {
            me.pause();
        }
        assert!(me.now() >= made.get() && me.now() >= units(50_000), "seen at {}, made at {}", me.now(), made.get());
    })
    .expect("there is memory");
    run.finish(LIMIT).expect("the word is written");
}

/// Thread 0 runs ahead of the fence, and makes a store after it.
#[test]
fn a_fence_for_all_does_not_reach_stores_that_are_made_later() {
    let (word, mut run) = (Line::new().word(), Run::new(&published::opteron_4x12()));
    run.spawn(0, 0, move |me| {
        me.work(100_000);
        me.store(word, 1);
    })
    .expect("there is memory");
    run.spawn(13, units(10), move |me| {
        me.fence_all();
        assert_eq!(me.load(word), 0);
        assert!(me.now() < units(100_000));
    })
    .expect("there is memory");
    run.finish(LIMIT).expect("nothing waits");
}

#[test]
fn stores_to_lines_of_others_overlap() {
    let time_of = |fence: bool| {
        let words: Vec<Word> = (0..8).map(|_| Line::new().word()).collect();
        let mut run = Run::new(&published::xeon_8x10());
        let theirs = words.clone();
        run.spawn(0, 0, move |me| theirs.iter().for_each(|&word| me.store(word, 1))).expect("there is memory");
        let write = move |me: &Thread| {
            for &word in &words {
                me.store(word, 2);
                if fence {
                    me.wait_for_stores();
                }
            }
            me.wait_for_stores();
        };
        run.spawn(20, units(20_000), write).expect("there is memory");
        run.finish(LIMIT).expect("nothing waits").end - units(20_000)
    };
    let (overlapped, single) = (time_of(false), time_of(true));
    assert!(overlapped * 2 < single, "{overlapped} and {single}");
    assert!(single >= 8 * units(431), "{single}");
}
