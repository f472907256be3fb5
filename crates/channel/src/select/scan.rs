//! The look at all channels in turn, and the sleep on all of them.

use std::time::Duration;

use corecast_base::wait::{Parker, SleepOutcome, SleepPlace};

use super::{Selectable, Subset, Token, WakeHandle};
use crate::error::TryRecvError;

/// The messages taken from one channel before the others have a turn.
const IN_A_ROW: u32 = 31;

/// The ends, and the turn.
#[derive(Debug)]
pub(super) struct Scan<R> {
    /// By token; `None` where an end was given back.
    ends: Vec<Option<End<R>>>,
    /// The channel with which the next look begins: the one of the last message.
    turn: usize,
    /// The messages taken there in a row.
    taken: u32,
}

#[derive(Debug)]
struct End<R> {
    receiver: R,
    /// False once the channel has ended.
    is_open: bool,
}

impl<R> Default for Scan<R> {
    fn default() -> Self {
        Self { ends: Vec::new(), turn: 0, taken: 0 }
    }
}

impl<R: Selectable> Scan<R> {
    pub(super) fn len(&self) -> usize {
        self.ends.iter().flatten().count()
    }

    pub(super) fn add(&mut self, receiver: R) -> Token {
        let at = self.ends.iter().position(Option::is_none).unwrap_or(self.ends.len());
        if at == self.ends.len() {
            self.ends.push(None);
        }
        self.ends[at] = Some(End { receiver, is_open: true });
        Token(at)
    }

    pub(super) fn remove(&mut self, token: Token) -> Option<R> {
        self.ends.get_mut(token.0)?.take().map(|end| end.receiver)
    }

    pub(super) fn get(&self, token: Token) -> Option<&R> {
        self.ends.get(token.0)?.as_ref().map(|end| &end.receiver)
    }

    pub(super) fn open(&self) -> impl Iterator<Item = Token> {
        let is_open = |end: &Option<End<R>>| end.as_ref().is_some_and(|end| end.is_open);
        self.ends.iter().enumerate().filter(move |(_, end)| is_open(end)).map(|(at, _)| Token(at))
    }

    pub(super) fn has_open(&self, subset: &Subset) -> bool {
        self.open().any(|token| subset.contains(token))
    }

    /// A channel of the subset with a message or an error, which gets the turn.
    #[inline]
    pub(super) fn find(&mut self, subset: &Subset) -> Option<usize> {
        if self.taken >= IN_A_ROW {
            self.turn += 1;
            self.taken = 0;
        }
        let turn = if self.turn < self.ends.len() { self.turn } else { 0 };
        let found = self.find_in(turn..self.ends.len(), subset).or_else(|| self.find_in(0..turn, subset))?;
        self.taken = if found == self.turn { self.taken + 1 } else { 1 };
        self.turn = found;
        Some(found)
    }

    #[inline]
    fn find_in(&mut self, range: std::ops::Range<usize>, subset: &Subset) -> Option<usize> {
        let mut ends = self.ends[range.clone()].iter_mut().zip(range);
        let is_ready = |end: &mut End<R>| end.is_open && end.receiver.is_ready();
        ends.find_map(|(end, at)| (subset.has(at) && end.as_mut().is_some_and(is_ready)).then_some(at))
    }

    /// The message or error of the channel, and its mark as open: to be cleared when it has ended.
    pub(super) fn take(&mut self, at: usize) -> (Result<R::Message<'_>, TryRecvError>, &mut bool) {
        let End { receiver, is_open } = self.ends[at].as_mut().expect("the caller has found it there");
        (receiver.try_recv(), is_open)
    }
}

/// The wake word of each channel, and the parkers to sleep on: one for each memory that channels lie in.
#[derive(Debug, Default)]
pub(super) struct WakeWords {
    handles: Vec<Option<(WakeHandle, usize)>>,
    parkers: Vec<Parker>,
}

impl WakeWords {
    pub(super) fn put(&mut self, at: usize, handle: WakeHandle) {
        if self.handles.len() <= at {
            self.handles.resize_with(at + 1, || None);
        }
        let known = self.parkers.iter().position(|parker| handle.word().reaches(parker));
        let parker = known.or_else(|| {
            self.parkers.push(handle.word().parker()?);
            Some(self.parkers.len() - 1)
        });
        // Without a parker (its memory says that this process has a number beyond all parkers) the channel is looked at
        // once per sleep.
        self.handles[at] = parker.map(|parker| (handle, parker));
    }

    pub(super) fn drop_one(&mut self, at: usize) {
        self.handles[at] = None;
    }

    pub(super) fn within<'a>(&'a self, subset: &'a Subset) -> SubsetWakeWords<'a> {
        SubsetWakeWords { wake_words: self, subset }
    }

    /// The present counts of the parkers.
    pub(super) fn counts(&self) -> Vec<(Parker, u32)> {
        self.parkers.iter().map(|parker| (parker.clone(), parker.now())).collect()
    }

    /// Makes all channels of the subset wake the parkers from now on. A last look has to follow.
    pub(super) fn arm(&self, subset: &Subset) {
        let armed = || {
            self.handles.iter().enumerate().filter(|(at, _)| subset.has(*at)).filter_map(|(_, handle)| handle.as_ref())
        };
        armed().for_each(|(handle, parker)| handle.arm(&self.parkers[*parker]));
        // One fence serves all words of one memory.
        for parker in 0..self.parkers.len() {
            if let Some((handle, _)) = armed().find(|(_, of)| *of == parker) {
                handle.word().heavy_fence();
            }
        }
    }
}

/// The wake words of a subset, as one place to sleep.
pub(super) struct SubsetWakeWords<'a> {
    wake_words: &'a WakeWords,
    subset: &'a Subset,
}

impl SleepPlace for SubsetWakeWords<'_> {
    fn sleep_unless(&self, longest: Duration, has_come: &mut dyn FnMut() -> bool) -> Option<SleepOutcome> {
        let seen = self.wake_words.counts();
        self.wake_words.arm(self.subset);
        (!has_come()).then(|| SleepOutcome::of(Parker::wait_any(&seen, longest)))
    }
}
