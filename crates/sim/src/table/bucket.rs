//! The buckets of the table: lines that the simulation sees, and keys that are kept beside it.

use std::cell::RefCell;

use corecast_sim_core::Thread;

use corecast_sim_core::Random;

/// Keys of a node: the number of them and seven keys fill a line, seven keys and the link to the next node another one.
const ROOM: usize = 14;
const FIRST_LINE: usize = 7;
/// Values in a line, behind two lines of keys.
const VALUES: usize = 8;
/// Of 128 operations.
const UPDATES: u64 = 25;

/// A line whose words nobody reads: the simulation sees accesses to its address.
#[repr(align(64))]
pub(super) struct Line([u8; 64]);

impl Line {
    pub(super) const fn new() -> Self {
        Self([0; 64])
    }

    pub(super) fn address(&self) -> usize {
        (&raw const self.0).addr()
    }
}

/// The keys that are in a bucket.
pub(super) type Keys = RefCell<Vec<u64>>;

/// Each of this number of keys with a chance of a half.
pub(super) fn half_of(keys: u64, random: &mut Random) -> Keys {
    RefCell::new((0..keys).filter(|_| random.below(2) == 0).collect())
}

/// The lines of a bucket: of each node two of keys, and two of values.
pub(super) struct Nodes(Box<[[Line; 4]]>);

impl Nodes {
    /// With room for this number of keys.
    pub(super) fn new(keys: u64) -> Self {
        let lines = || [(); 4].map(|()| Line::new());
        Self((0..keys.div_ceil(ROOM as u64)).map(|_| lines()).collect())
    }

    /// The first thread that does has them at its node.
    pub(super) fn touch(&self, me: &Thread) {
        self.0.iter().flatten().for_each(|line| me.store_line(line.address()));
    }

    /// The line of the key at a place, and that of its value.
    fn lines(&self, place: usize) -> [usize; 2] {
        let (node, at) = (&self.0[(place / ROOM).min(self.0.len() - 1)], place % ROOM);
        [node[usize::from(at >= FIRST_LINE)].address(), node[2 + at / VALUES].address()]
    }

    /// Reads the keys until the one at this place, or all of `used` keys if it is not there. The first line of a node has their
    /// number.
    fn search(&self, me: &Thread, place: Option<usize>, used: usize) {
        let last = place.unwrap_or(used.saturating_sub(1));
        let read = (0..=last).step_by(FIRST_LINE);
        read.for_each(|at| me.load_line(self.lines(at)[0]));
    }

    /// One try, by a thread that has the bucket alone and computes for some time in addition. True if it did what it was for.
    ///
    /// # Panics
    /// If another thread works on the bucket.
    pub(super) fn work_on(&self, me: &Thread, keys: &Keys, Try { kind, key }: Try, inside_ns: u64) -> bool {
        let mut keys = keys.try_borrow_mut().expect("one thread at a time works on a bucket");
        let (place, used) = (keys.iter().position(|&other| other == key), keys.len());
        self.search(me, place, used);
        me.work_ns(inside_ns);
        match (kind, place) {
            (Kind::Get, Some(place)) => {
                me.load_line(self.lines(place)[1]);
                true
            }
            (Kind::Put, None) => {
                keys.push(key);
                [self.lines(0)[0]].into_iter().chain(self.lines(used)).for_each(|line| me.store_line(line));
                true
            }
            (Kind::Remove, Some(place)) => {
                keys.swap_remove(place);
                self.lines(used - 1).into_iter().for_each(|line| me.load_line(line));
                [self.lines(0)[0]].into_iter().chain(self.lines(place)).for_each(|line| me.store_line(line));
                true
            }
            (Kind::Get | Kind::Remove, None) | (Kind::Put, Some(_)) => false,
        }
    }
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Get,
    Put,
    Remove,
}

/// An operation with a key, which may not find what it is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Try {
    pub(super) kind: Kind,
    pub(super) key: u64,
}

/// The operations of a thread: gets, and puts and removes in turns, each tried until it succeeds.
pub(super) struct Draw {
    kind: Kind,
    /// The next update puts.
    puts: bool,
}

impl Draw {
    /// Of the thread with this number.
    pub(super) fn new(thread: usize) -> Self {
        Self { kind: Kind::Get, puts: thread % 2 == 0 }
    }

    /// The next one, of this number of keys.
    pub(super) fn next(&self, keys: u64, random: &mut Random) -> Try {
        Try { kind: self.kind, key: random.below(keys) }
    }

    /// The last one has succeeded.
    pub(super) fn succeeded(&mut self, random: &mut Random) {
        self.kind = match (random.below(128) < UPDATES, self.puts) {
            (false, _) => Kind::Get,
            (true, true) => Kind::Put,
            (true, false) => Kind::Remove,
        };
        self.puts ^= !matches!(self.kind, Kind::Get);
    }
}
