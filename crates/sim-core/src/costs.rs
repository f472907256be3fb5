//! The parameters of the cost model: times of accesses by the state of a line and the distance of its holder.

/// Virtual time, in eighths of the machine's unit, which is a cycle or a nanosecond.
pub type Ticks = u64;

/// Ticks in a unit.
pub const TICKS: Ticks = 8;

/// This number of units as ticks.
#[must_use]
pub const fn units(number: u64) -> Ticks {
    number * TICKS
}

/// An access to a word, as far as costs differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads.
    Load,
    /// Writes, from the store buffer.
    Store,
    /// Reads and writes in one step; a compare-exchange that fails is one, too.
    ReadModifyWrite,
}

/// The state of a cache line in the machine as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineState {
    /// In memory only.
    #[default]
    Invalid,
    /// One CPU has it, and memory has the same.
    Exclusive,
    /// One CPU has it, and has written it.
    Modified,
    /// One CPU has written it, and others have copies.
    Owned,
    /// Some CPUs have copies, and memory has the same.
    Shared,
}

/// Times by the state in which an access finds the line; in each state by distance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByState {
    /// Of a modified line, by the distance of its owner.
    pub modified: Vec<Ticks>,
    /// Of an owned line: loads by the distance of its owner, others by that of the farthest holder.
    pub owned: Vec<Ticks>,
    /// Of an exclusive line, by the distance of its owner.
    pub exclusive: Vec<Ticks>,
    /// Of a shared line: loads by the distance of the nearest holder, or of the home of the line where a directory answers;
    /// others by that of the farthest holder.
    pub shared: Vec<Ticks>,
}

impl ByState {
    /// The times for a state other than `Invalid`.
    pub(crate) fn of(&self, state: LineState) -> &[Ticks] {
        match state {
            LineState::Modified => &self.modified,
            LineState::Owned => &self.owned,
            LineState::Exclusive => &self.exclusive,
            LineState::Shared | LineState::Invalid => &self.shared,
        }
    }
}

/// How caches agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// A directory at a line's home answers requests; else all caches are asked.
    pub has_directory: bool,
    /// A written line may be shared without being written back first (the O of MOESI). Where it is not, a load by a CPU of the
    /// same package takes a modified line away from its owner, with the right to write it.
    pub has_owned: bool,
}

/// The parameters of a machine. Times are in [`Ticks`], and those by distance have an entry for each distance of the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    /// Loads that miss.
    pub load: ByState,
    /// Stores that miss.
    pub store: ByState,
    /// Read-modify-writes that miss.
    pub read_modify_write: ByState,
    /// Accesses to a line in memory only, by the distance of its home.
    pub memory: Vec<Ticks>,
    /// A load that hits.
    pub hit: Ticks,
    /// The loads and read-modify-writes that a CPU has under way at most, up to 64: one begins the time of a hit after another
    /// one has taken effect. 0 if each waits for the one before.
    pub ahead: usize,
    /// A read-modify-write that hits.
    pub read_modify_write_hit: Ticks,
    /// The hint of a polling loop.
    pub pause: Ticks,
    /// A look at the clock in a loop that does nothing else until some time; 0 if such loops end in time.
    pub look: Ticks,
    /// The time for which a CPU keeps a line that it got by a load or store, before it answers the next request.
    pub hold: Ticks,
    /// The stores that wait for their lines at most, before the CPU waits.
    pub store_buffer: usize,
    /// The time from one request of the store buffer to the next, by the distance of the line's holder: requests overlap.
    pub gap: Vec<Ticks>,
    /// The share of a load's time for which the line serves no other request.
    pub beta: f64,
    /// The time that a home needs for each request which it sees.
    pub service: Ticks,
    /// A request behind which another one waits, of a line with a holder in another package, takes longer by this factor of its
    /// time.
    pub kappa: f64,
    /// How caches agree.
    pub protocol: Protocol,
    /// Calls of the operating system.
    pub system: System,
}

/// Times of the operating system: of its calls, and of its scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct System {
    /// To fall asleep, or to find that the word has changed.
    pub sleep: Ticks,
    /// To wake a thread: the waker's own time.
    pub wake: Ticks,
    /// From the call of the waker until the sleeper runs, on a CPU that has nothing to run.
    pub woken: Ticks,
    /// A CPU that had nothing to run for less than this time needs half of `woken`.
    pub short_idle: Ticks,
    /// To give the CPU away; the whole time where no other thread wants it.
    pub give_way: Ticks,
    /// To put another thread on a CPU.
    pub switch: Ticks,
    /// A switch takes up to this much more or less, by chance: else threads that yield on several CPUs go in step for ever.
    pub switch_spread: Ticks,
    /// The time after which a thread leaves its CPU to others that wait for it.
    pub slice: Ticks,
    /// The time that a thread has on its CPU at least, before one that was woken takes its place.
    pub least_slice: Ticks,
}

impl System {
    /// Those assumed of Linux, on a machine with this number of units in a microsecond: calls of 1 us, 30 us until a sleeper runs
    /// and half of it where the CPU was idle for less than 20 us, 0.3 us to give way, 1.5 us for a switch, slices of 3 ms, and
    /// 1 ms before a thread that was woken takes the place of another.
    #[must_use]
    pub fn linux(units_per_us: f64) -> Self {
        let us = |us: f64| ((us * units_per_us * TICKS as f64).round() as Ticks).max(1);
        Self {
            sleep: us(1.0),
            wake: us(1.0),
            woken: us(30.0),
            short_idle: us(20.0),
            give_way: us(0.3),
            switch: us(1.5),
            switch_spread: 0,
            slice: us(3000.0),
            least_slice: us(1000.0),
        }
    }
}

impl Costs {
    /// The same with another interconnect: the time by which each distance takes longer than the nearest one is multiplied by
    /// this factor.
    #[must_use]
    pub fn with_interconnect(mut self, factor: f64) -> Self {
        let Self { load, store, read_modify_write, memory, gap, .. } = &mut self;
        let by_state = |costs: &mut ByState| {
            let ByState { modified, owned, exclusive, shared } = costs;
            [modified, owned, exclusive, shared].into_iter().for_each(|row| stretch(row, factor));
        };
        [load, store, read_modify_write].into_iter().for_each(by_state);
        [memory, gap].into_iter().for_each(|row| stretch(row, factor));
        self
    }

    /// The times of this access.
    pub(crate) fn of(&self, access: Access) -> &ByState {
        match access {
            Access::Load => &self.load,
            Access::Store => &self.store,
            Access::ReadModifyWrite => &self.read_modify_write,
        }
    }

    /// The time for which a line serves no other request after one that takes this time.
    pub(crate) fn occupied(&self, access: Access, time: Ticks) -> Ticks {
        match access {
            Access::Load => (self.beta * time as f64) as Ticks + self.hold,
            Access::Store => time + self.hold,
            Access::ReadModifyWrite => time,
        }
    }
}

/// Multiplies the differences from the first time by a factor.
fn stretch(row: &mut [Ticks], factor: f64) {
    let near = row.first().copied().unwrap_or(0);
    row.iter_mut().for_each(|time| *time = near + (time.saturating_sub(near) as f64 * factor) as Ticks);
}
