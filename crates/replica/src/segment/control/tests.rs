//! Tests of the control page, in one thread.

use corecast_base::region::{RegionPlan, SharedRegion};
use corecast_base::wait::Waiter;

use super::*;

fn layout() -> SegmentLayout {
    SegmentLayout::new(3, 1024, 4096)
}

fn region(bytes: usize) -> (SharedRegion, corecast_base::region::Section) {
    let plan = RegionPlan::new().add("control", 1, [0; 6], bytes as u64).expect("a plan");
    let region = SharedRegion::memfd(&plan).expect("memory");
    let section = region.section(&region.entry("control").expect("declared"));
    (region, section)
}

fn word(epoch: Epoch) -> ConfigurationWord {
    ConfigurationWord::new(epoch, NodeId::new(2, 1), 5)
}

fn record(inc: u16) -> NodeRecord {
    NodeRecord { inc, participant: 1 << 32 | 7, pid: 42, fd: 3, identity: u64::MAX, boot: 9 }
}

fn claim(inc: u16) -> Claim {
    Claim { inc, participant: 3 << 32 | u64::from(inc) }
}

/// A page on the heap and two views of one in a region.
fn pages() -> Vec<(Control, Control)> {
    let heap = Control::on_heap(layout(), Wait::Park);
    let (region, section) = region(Control::bytes(3));
    let created = Control::create(&region, section.clone(), layout(), Wait::Park).expect("room");
    let opened = Control::open(&region, section).expect("written");
    vec![(heap.clone(), heap), (created, opened)]
}

#[test]
fn one_of_two_swaps_wins() {
    for (mine, theirs) in pages() {
        assert_eq!((mine.layout(), theirs.layout(), theirs.wait()), (&layout(), &layout(), Wait::Park));
        assert_eq!(mine.configuration(), ConfigurationWord::NONE);
        assert_eq!(mine.swap(ConfigurationWord::NONE, word(0)), Ok(()));
        assert_eq!(theirs.swap(ConfigurationWord::NONE, word(1)), Err(word(0)));
        assert!(theirs.is_newest_after_fence(0));
        assert_eq!(theirs.swap(word(0), word(1)), Ok(()));
        assert_eq!((mine.configuration(), mine.is_newest_after_fence(0)), (word(1), false));
    }
}

#[test]
fn a_process_goes_on_in_its_slot_until_another_has_it() {
    let (node, boot) = (NodeId::new(1, 1), record(1).boot);
    for (mine, theirs) in pages() {
        mine.claim(1, Claim::NONE, claim(1)).expect("it was free");
        mine.publish(1, &record(1));
        assert!(!theirs.has_gone_on(node, boot), "it is this incarnation");
        mine.claim(1, claim(1), claim(2)).expect("nobody else is at it");
        assert!(theirs.has_gone_on(node, boot), "nobody has said whose it is");
        mine.publish(1, &record(2));
        assert!(theirs.has_gone_on(node, boot));
        assert!(!theirs.has_gone_on(node, boot + 1), "it was another process");
        mine.claim(1, claim(2), claim(3)).expect("nobody else is at it");
        mine.publish(1, &NodeRecord { boot: boot + 1, ..record(3) });
        assert!(!theirs.has_gone_on(node, boot), "another process has the slot");
    }
}

#[test]
fn the_visible_count_only_grows() {
    for (mine, theirs) in pages() {
        mine.raise_visible(5);
        theirs.raise_visible(3);
        assert_eq!((mine.visible(), theirs.visible()), (5, 5));
        theirs.raise_visible(6);
        assert_eq!(mine.visible(), 6);
    }
}

#[test]
fn the_first_poison_stays() {
    let (mine, theirs) = pages().remove(1);
    assert_eq!(mine.poisoned(), None);
    theirs.poison(0);
    theirs.poison(7);
    assert_eq!(mine.poisoned(), Some(0));
}

#[test]
fn a_slot_has_one_claimant() {
    for (mine, theirs) in pages() {
        assert_eq!((mine.last_claim(2), mine.node(2)), (Claim::NONE, None));
        assert_eq!(mine.claim(2, Claim::NONE, claim(1)), Ok(()));
        assert_eq!(theirs.claim(2, Claim::NONE, claim(1)), Err(claim(1)));
        let another = Claim { inc: 1, participant: 4 << 32 };
        assert_eq!(theirs.claim(2, another, claim(2)), Err(claim(1)), "the same incarnation of somebody else");
        mine.publish(2, &record(1));
        assert_eq!((theirs.node(2), theirs.node(0), theirs.node(3)), (Some(record(1)), None, None));
        assert_eq!(theirs.claim(2, claim(1), claim(7)), Ok(()));
        assert_eq!((mine.last_claim(2), mine.claimed(2)), (claim(7), 7));
        assert_eq!(mine.node(2), Some(record(1)), "the record comes after the claim");
        theirs.publish(2, &record(7));
        assert_eq!(mine.node(2), Some(record(7)));
    }
}

#[test]
fn a_damaged_record_is_no_node() {
    let page = Control::on_heap(layout(), Wait::Spin);
    page.publish(0, &record(1));
    for bit in 64..6 * 64 {
        let word = &page.words[page.node_at(0) + 1 + bit / 64];
        word.fetch_xor(1 << (bit % 64), Ordering::Relaxed);
        assert_eq!(page.node(0), None, "bit {bit}");
        word.fetch_xor(1 << (bit % 64), Ordering::Relaxed);
    }
}

#[test]
fn a_node_is_woken_by_its_slot() {
    for (mine, theirs) in pages() {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                theirs.raise_visible(1);
                theirs.wake(1);
                theirs.wake(1023);
            });
            let sharing = corecast_base::wait::CpuSharing::unpinned(2);
            let mut waiter = Waiter::new(mine.wait(), sharing, None);
            let poll = || (mine.visible() == 1).then_some(());
            let slept = waiter.until(mine.wake_word(1), poll, |_| Ok::<_, ()>(corecast_base::wait::LONGEST_SLEEP));
            assert_eq!(slept, Ok(()));
        });
    }
}

#[test]
fn pages_of_others_are_refused() {
    let (owner, section) = region(Control::bytes(3));
    let error = |page: Result<Control, ControlError>| page.map(drop).expect_err("not a page");
    assert_eq!(error(Control::open(&owner, section.clone())), ControlError::Layout(LayoutError::NotOurs));
    Control::create(&owner, section.clone(), layout(), Wait::Park).expect("room");
    let head = section.words(0, LINE).expect("inside");
    for (at, value, expected) in [
        (0, 1, LayoutError::NotOurs),
        (VERSION_AT, 77, LayoutError::Version { found: 77, expected: VERSION }),
        (HASH, 0, LayoutError::Sizes),
        (SIZES, 3, LayoutError::Sizes),
        (SIZES + 2, 2, LayoutError::Sizes),
        (WAIT, 99, LayoutError::Sizes),
    ] {
        let before = head[at].swap(value, Ordering::Relaxed);
        assert_eq!(error(Control::open(&owner, section.clone())), ControlError::Layout(expected));
        head[at].store(before, Ordering::Relaxed);
    }
    head[FENCES].store(99, Ordering::Relaxed);
    assert_eq!(error(Control::open(&owner, section)), ControlError::Fences);
    let (small, section) = region(Control::bytes(2));
    let refused = error(Control::create(&small, section, layout(), Wait::Spin));
    assert!(matches!(refused, ControlError::Memory(_)), "{refused}");
}
