//! The errors of opening an end of a channel in a region.

use corecast_base::region::KIND_UMP;
use corecast_base::region::{RegionPlan, SharedRegion};
use corecast_channel::OpenChannelError;
use corecast_channel::ump::{self, Config};

use crate::conformance::traffic::{NAME, plan};

fn region() -> SharedRegion {
    SharedRegion::memfd(&plan(&Config::default())).expect("there is memory")
}

#[test]
fn an_end_has_one_owner() {
    let region = region();
    let other = SharedRegion::from_fd(region.share().expect("a memfd")).expect("another participant");
    let tx = ump::bytes::sender(&region, NAME).expect("nobody has it");
    let rx = ump::bytes::receiver(&other, NAME).expect("nobody has it");
    for asking in [&region, &other] {
        let taken = ump::bytes::sender(asking, NAME).expect_err("taken");
        assert!(matches!(taken, OpenChannelError::Taken { by, end: "sender", .. } if by == region.me()), "{taken}");
        let taken = ump::bytes::receiver(asking, NAME).expect_err("taken");
        assert!(matches!(taken, OpenChannelError::Taken { by, end: "receiver", .. } if by == other.me()), "{taken}");
    }
    drop((tx, rx));
}

#[test]
fn a_closed_end_is_not_opened_again() {
    let region = region();
    let mut tx = ump::bytes::sender(&region, NAME).expect("nobody has it");
    tx.send(b"left behind").expect("there is room");
    drop(tx);
    let closed = ump::bytes::sender(&region, NAME).expect_err("closed");
    assert_eq!(closed.to_string(), "channel 'stream' is closed: its sender has left");
    let mut rx = ump::bytes::receiver(&region, NAME).expect("there is something to receive");
    assert_eq!(rx.recv().expect("sent").to_vec(), b"left behind");
    drop(rx);
    let closed = ump::bytes::receiver(&region, NAME).expect_err("closed");
    assert_eq!(closed.to_string(), "channel 'stream' is closed: its receiver has left");
}

#[test]
fn other_channels_are_told_apart() {
    let missing = ump::bytes::sender(&region(), "steam").expect_err("no such channel");
    assert_eq!(missing.to_string(), "the region has no channel 'steam'");
    let plan = RegionPlan::new().add("other", 77, [0; 6], 4096).expect("a channel");
    let region = SharedRegion::heap(&plan).expect("there is memory");
    let other = ump::bytes::sender(&region, "other").expect_err("another kind");
    assert_eq!(other.to_string(), "channel 'other' is of kind 77 (unknown), not of kind 1 (ump)");
}

#[test]
fn directories_that_contradict_themselves_are_refused() {
    let good = ump::bytes::spec(Config::default());
    let [slots, credit, wait, cost, fences, rest] = good.config;
    for (config, bytes) in [
        ([3, credit, wait, cost, fences, rest], good.bytes),
        ([0, credit, wait, cost, fences, rest], good.bytes),
        ([1 << 40, credit, wait, cost, fences, rest], good.bytes),
        ([slots * 2, credit, wait, cost, fences, rest], good.bytes),
        ([slots, 2, wait, cost, fences, rest], good.bytes),
        ([slots, credit, 99, cost, fences, rest], good.bytes),
        ([slots, credit, wait, cost, 0, rest], good.bytes),
        ([slots, credit, wait, cost, u64::MAX, rest], good.bytes),
        (good.config, good.bytes - 128),
        (good.config, 1),
    ] {
        let plan = RegionPlan::new().add(NAME, KIND_UMP, config, bytes).expect("a channel");
        let region = SharedRegion::heap(&plan).expect("there is memory");
        let error = ump::bytes::receiver(&region, NAME).expect_err("no ring");
        assert!(matches!(error, OpenChannelError::Layout { .. }), "{config:?}, {bytes} bytes: {error}");
    }
}
