//! A channel of a region as an observer sees it, for `corecast top`.
//!
//! Each number was true at some moment during the look, but not all of them at the same moment. Other processes write the
//! memory and may write anything: impossible positions are left out, and no word outside the channel is read.
//!
//! ```
//! use corecast_base::region::{RegionDir, RegionPlan, SharedRegion};
//! use corecast_channel::{inspect::inspect, mcast};
//! # let temporary = tempfile::tempdir_in("/dev/shm")?;
//! # let dir = RegionDir::at(temporary.path().join("regions"));
//! # /*
//! let dir = RegionDir::of_user();
//! # */
//! let plan = mcast::bytes::spec(mcast::Config::default()).declare(RegionPlan::new(), "news")?;
//! let region = SharedRegion::named(&dir, "example", &plan)?;
//! let mut tx = mcast::bytes::sender(&region, "news")?;
//! let rx = mcast::bytes::receiver(&region, "news", mcast::Policy::Reliable)?;
//! tx.send(b"one")?;
//! // As another process would:
//! let observer = SharedRegion::observe(&dir, "example")?;
//! let seen = inspect(&observer, &observer.entries()[0])?;
//! assert_eq!((seen.kind, seen.sent, seen.receivers[0].behind), ("mcast", Some(1), Some(1)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use corecast_base::region::{Entry, KIND_FF, KIND_MCAST, KIND_UMP, Observer};

use crate::open::OpenChannelError;
use crate::view::ChannelWords;
use crate::{ff, mcast, ump};

pub use crate::view::{ChannelView, EndState, EndView, ReceiverView, Unit};

/// Looks at a channel.
///
/// # Errors
/// [`OpenChannelError::Layout`] if this version does not know its kind, or it is damaged; [`OpenChannelError::Forked`].
pub fn inspect(observer: &Observer, entry: &Entry) -> Result<ChannelView, OpenChannelError> {
    let words = ChannelWords { observer, entry };
    match entry.kind {
        KIND_UMP => ump::bytes::inspect(&words),
        KIND_FF => ff::inspect(&words),
        KIND_MCAST => mcast::bytes::inspect(&words),
        other => Err(words.damaged(format!("it is of kind {other}, which this version does not know"))),
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;
    use std::time::Duration;

    use corecast_base::region::{RegionDir, RegionPlan, SharedRegion};
    use corecast_base::sync::Ordering;

    use super::*;
    use crate::mcast::Delivery;
    use crate::open::Spec;
    use crate::policy::Policy;
    use crate::ump::Credit;

    /// A region with one channel, and an observer of it.
    struct Stage {
        _temporary: tempfile::TempDir,
        region: SharedRegion,
        observer: Observer,
    }

    impl Stage {
        fn new(spec: Spec) -> Self {
            let temporary = tempfile::tempdir_in("/dev/shm").expect("memory");
            let dir = RegionDir::at(temporary.path().join("regions"));
            let plan = spec.declare(RegionPlan::new(), "news").expect("a good name");
            let region = SharedRegion::named(&dir, "stage", &plan).expect("a free name");
            let observer = SharedRegion::observe(&dir, "stage").expect("made above");
            Self { _temporary: temporary, region, observer }
        }

        fn see(&self) -> Result<ChannelView, OpenChannelError> {
            inspect(&self.observer, &self.observer.entries()[0])
        }

        /// The amount sent, and the position of each receiver.
        fn positions(&self) -> (u64, Vec<(u64, Option<u64>)>) {
            let seen = self.see().expect("a sound channel");
            let position = |position: Option<u64>| position.expect("told by this kind");
            let of = |receiver: &ReceiverView| (position(receiver.cursor), receiver.behind);
            (position(seen.sent), seen.receivers.iter().map(of).collect())
        }
    }

    #[test]
    fn a_ring_of_bytes_tells_how_far_its_ends_are() {
        for (credit, longest) in [(Credit::AckLine, 200), (Credit::SlotClear, 56)] {
            let stage = Stage::new(ump::bytes::spec(ump::Config { slots: 16, credit, ..Default::default() }));
            assert_eq!(stage.positions(), (0, vec![]));
            let mut tx = ump::bytes::sender(&stage.region, "news").expect("free");
            let mut rx = ump::bytes::receiver(&stage.region, "news").expect("free");
            let mut sent = 0;
            for len in (0..=longest).cycle().take(1000) {
                tx.send(&vec![7; len]).expect("room");
                let (now, ends) = stage.positions();
                assert!(now > sent && ends[0].1.is_some_and(|behind| behind <= 16), "{now} {ends:?}");
                sent = now;
                assert_eq!(rx.recv().expect("sent").len(), len);
            }
            assert!(rx.try_recv().is_err());
            assert_eq!(stage.positions(), (sent, vec![(sent, Some(0))]));
            tx.send(b"one").and_then(|()| tx.send(b"two")).expect("room");
            assert_eq!(stage.positions(), (sent + 2, vec![(sent, Some(2))]));
            drop(tx);
            let seen = stage.see().expect("a sound channel");
            let me = Some(stage.region.me());
            assert_eq!(seen.senders, [EndView { participant: me, state: EndState::Left }]);
            assert_eq!(seen.receivers[0].end, EndView { participant: me, state: EndState::Open });
        }
    }

    #[test]
    fn a_word_channel_tells_how_many_words_lie_in_it() {
        let stage = Stage::new(ff::spec(ff::Config::default()));
        let mut tx = ff::sender(&stage.region, "news").expect("free");
        let mut rx = ff::receiver(&stage.region, "news").expect("free");
        for word in 1..=5 {
            tx.send(NonZero::new(word).expect("not 0")).expect("room");
        }
        assert_eq!(rx.recv().map(NonZero::get), Ok(1));
        let seen = stage.see().expect("a sound channel");
        assert_eq!((seen.kind, seen.unit, seen.sent, seen.receivers[0].behind), ("ff", Unit::Words, None, Some(4)));
        drop(rx);
        assert_eq!(stage.see().expect("a sound channel").receivers[0].end.state, EndState::Left);
    }

    #[test]
    fn a_multicast_channel_tells_how_far_its_readers_are() {
        let config =
            mcast::Config { slots: 8, readers: 3, senders: 2, delivery: Delivery::Overwrite, ..Default::default() };
        let stage = Stage::new(mcast::bytes::spec(config));
        let mut tx = mcast::bytes::sender(&stage.region, "news").expect("free");
        let policies = [Policy::Reliable, Policy::Deadline(Duration::from_millis(3)), Policy::Lossy];
        let mut readers =
            policies.map(|policy| Some(mcast::bytes::receiver(&stage.region, "news", policy).expect("free")));
        for _ in 0..5 {
            tx.send(b"x").expect("room");
        }
        let first = readers[0].as_ref().expect("not dropped");
        while first.try_recv().is_ok() {}
        assert_eq!(stage.positions(), (5, vec![(5, Some(0)), (0, Some(5)), (0, Some(5))]));
        let seen = stage.see().expect("a sound channel");
        assert_eq!((seen.kind, seen.unit, seen.slots, seen.senders.len()), ("mcast", Unit::Messages, 8, 1));
        assert_eq!(seen.receivers.iter().map(|receiver| receiver.policy).collect::<Vec<_>>(), policies);
        drop(readers[1].take());
        assert_eq!(stage.positions(), (5, vec![(5, Some(0)), (0, Some(5))]));
    }

    #[test]
    fn nonsense_is_seen_without_harm() {
        let mut random = fastrand::Rng::with_seed(7);
        for spec in [
            ump::bytes::spec(ump::Config::default()),
            ump::bytes::spec(ump::Config { credit: Credit::SlotClear, ..Default::default() }),
            mcast::bytes::spec(mcast::Config { senders: 3, ..Default::default() }),
            ff::spec(ff::Config::default()),
            Spec { kind: 77, config: [0; 6], bytes: 128 },
            Spec { bytes: 128, ..ump::bytes::spec(ump::Config::default()) },
            Spec { bytes: 128, ..mcast::bytes::spec(mcast::Config::default()) },
            Spec { config: [u64::MAX; 6], ..ump::bytes::spec(ump::Config::default()) },
        ] {
            let stage = Stage::new(spec);
            let section = stage.region.section(&stage.observer.entries()[0]);
            let words = section.words(0, section.len() / 8).expect("all of it");
            let is_sound = spec.bytes > 128 && spec.config[0] < u64::MAX;
            assert_eq!(stage.see().is_ok(), is_sound, "{spec:?}");
            for _ in 0..100 {
                for word in words.iter() {
                    // ORDERING: Relaxed, nobody else is here
                    word.store(random.u64(..) >> random.u32(0..64), Ordering::Relaxed);
                }
                if let Ok(seen) = stage.see() {
                    assert!(is_sound && seen.receivers.len() <= 64 && seen.senders.len() <= 3);
                }
            }
        }
    }
}
