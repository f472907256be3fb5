//! A polling loop: a thread that reads the same unchanged lines between two pauses, again and again.
//!
//! Nothing happens in such a loop until one of the lines changes, so its thread sleeps until then and goes on at the time of the
//! loop's first round after it. That is exact, and costs no events.

use crate::costs::Ticks;

/// The most lines that a loop reads.
const MOST: usize = 4;
/// A loop that looks at the clock now and then sleeps for at most this part of the time that it has waited for, unless it says
/// when it does something else.
const PART: Ticks = 16;

/// Rounds after the last look at the clock in which a loop is held to look again: some do so once in 64.
const CLOCKED: u32 = 128;

/// The last rounds of a thread's loop.
#[derive(Debug, Default)]
pub(crate) struct Poll {
    lines: [usize; MOST],
    len: usize,
    /// True if this round did anything but read lines of which there is a copy.
    is_broken: bool,
    reads_clock: bool,
    /// The time at which the loop said that it does something else, if it did in this round.
    until: Option<Ticks>,
    /// The rounds, without those that were slept through, for which the thread is still held to look at the clock now and then.
    clocked: u32,
    before: [usize; MOST],
    len_before: usize,
    /// The end of the last round.
    last: Ticks,
    /// The end of the first of the rounds that were alike.
    first: Ticks,
}

/// A sleep of a loop.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sleep {
    /// The time of the pause from which on the thread sleeps.
    pub(crate) from: Ticks,
    /// The time of a round.
    pub(crate) period: Ticks,
    /// The longest sleep, if the loop looks at the clock now and then or has said when it does something else.
    pub(crate) longest: Option<Ticks>,
    /// True if the rounds end by giving the CPU away.
    pub(crate) gives_way: bool,
}

impl Sleep {
    /// The begin of the first round at or after this time.
    pub(crate) fn round_at(&self, time: Ticks) -> Ticks {
        self.from + time.saturating_sub(self.from).div_ceil(self.period) * self.period
    }
}

impl Poll {
    /// The thread has read a line of which it has a copy.
    pub(crate) fn hit(&mut self, line: usize) {
        if self.lines[..self.len].contains(&line) {
            return;
        }
        match self.lines.get_mut(self.len) {
            Some(place) => {
                *place = line;
                self.len += 1;
            }
            None => self.is_broken = true,
        }
    }

    /// The thread has done something that a round of a sleeping loop must not do.
    pub(crate) fn broken(&mut self) {
        self.is_broken = true;
    }

    pub(crate) fn clock_read(&mut self) {
        self.reads_clock = true;
    }

    /// The thread has said that its loop does something else at this time.
    pub(crate) fn until(&mut self, time: Ticks) {
        self.until = Some(time);
    }

    /// The lines of the round before.
    pub(crate) fn lines(&self) -> &[usize] {
        &self.before[..self.len_before]
    }

    /// The thread pauses until `now`, which ends a round. The sleep that may follow, if the lines have not changed.
    pub(crate) fn pause(&mut self, now: Ticks) -> Option<Sleep> {
        let is_poll = !self.is_broken && self.len > 0;
        let is_again = is_poll && self.lines[..self.len] == self.before[..self.len_before];
        if !is_again {
            self.first = now;
        }
        let period = now - self.last;
        self.clocked = if self.reads_clock { CLOCKED } else { self.clocked.saturating_sub(1) };
        let longest = match self.until.take() {
            Some(until) => Some(until.saturating_sub(now)),
            None => (self.clocked > 0).then(|| (now - self.first) / PART),
        };
        self.before = self.lines;
        self.len_before = if is_poll { self.len } else { 0 };
        self.last = now;
        self.len = 0;
        self.is_broken = false;
        self.reads_clock = false;
        (is_again && longest.is_none_or(|longest| longest > period)).then_some(Sleep {
            from: now,
            period,
            longest,
            gives_way: false,
        })
    }

    /// The loop has slept until this time.
    pub(crate) fn woken(&mut self, now: Ticks) {
        self.last = now;
    }

    /// The thread has its CPU again from this time on. Another one may have written lines meanwhile that the CPU has kept, so the
    /// rounds before tell nothing of them, even if they had ended.
    pub(crate) fn back_on_cpu(&mut self, now: Ticks) {
        self.last = now;
        self.is_broken = true;
    }
}
