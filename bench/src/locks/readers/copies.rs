//! A value of which readers have a whole copy while a writer makes the next one: those of the crates `left-right` and `arc-swap`.

use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use corecast::base::CacheLine;
use corecast::lock::Setup;
use left_right::{Absorb, ReadHandle, ReadHandleFactory, WriteHandle};

use super::value::{Value, Words, one_more};

/// Two copies. Readers count themselves, each on a line of its own; a writer waits until they are out of the copy it changes.
pub(super) struct LeftRight {
    writer: Mutex<WriteHandle<Copied, AddOne>>,
    readers: CacheLine<ReadHandleFactory<Copied>>,
}

/// One copy, on a line of its own.
#[derive(Default)]
pub(super) struct Copied(CacheLine<Words>);

impl Clone for Copied {
    fn clone(&self) -> Self {
        Self(CacheLine::new(self.0.0))
    }
}

struct AddOne;

impl Absorb<AddOne> for Copied {
    fn absorb_first(&mut self, _: &mut AddOne, _: &Self) {
        self.0.0 = one_more(self.0.0);
    }

    fn sync_with(&mut self, first: &Self) {
        self.0.0 = first.0.0;
    }
}

impl Value for LeftRight {
    type Reader = ReadHandle<Copied>;

    fn new(_setup: &Setup) -> Self {
        let (writer, reader) = left_right::new();
        Self { writer: Mutex::new(writer), readers: CacheLine::new(reader.factory()) }
    }

    fn reader(&self) -> Self::Reader {
        self.readers.handle()
    }

    #[inline(always)]
    fn read(&self, reader: &Self::Reader) -> Words {
        reader.enter().expect("the writer is not dropped").0.0
    }

    #[inline(always)]
    fn add_one(&self) {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.append(AddOne).publish();
    }
}

/// A new copy for each write, which the last of its readers frees.
impl Value for CacheLine<ArcSwap<Words>> {
    type Reader = ();

    fn new(_setup: &Setup) -> Self {
        Self::new(ArcSwap::default())
    }

    fn reader(&self) {}

    #[inline(always)]
    fn read(&self, (): &()) -> Words {
        **self.load()
    }

    #[inline(always)]
    fn add_one(&self) {
        self.rcu(|words: &Arc<Words>| one_more(**words));
    }
}
