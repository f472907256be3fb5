//! The cache lines that a program has touched: who holds them, and who waits for them.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use crate::costs::{Access, LineState, Ticks};

/// Bytes of a line.
pub(crate) const LINE_BYTES: usize = 64;
/// Lines that are found without a look into the table.
const RECENT: usize = 1024;

/// A request that waits for a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) cpu: usize,
    /// The thread that goes on once the request is served; none waits for that of a store.
    pub(crate) thread: usize,
    pub(crate) access: Access,
    /// Of a store: its number in the buffer of its CPU.
    pub(crate) store: u64,
    /// The address that is accessed; `None` where only the line is asked for.
    pub(crate) address: Option<usize>,
    /// The time at which it was made.
    pub(crate) asked: Ticks,
}

impl Request {
    /// Of a store with this number.
    pub(crate) fn store(cpu: usize, store: u64, address: Option<usize>, asked: Ticks) -> Self {
        Self { cpu, thread: usize::MAX, access: Access::Store, store, address, asked }
    }
}

/// A line.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) state: LineState,
    /// The CPU that has it modified, owned or exclusive.
    pub(crate) owner: usize,
    /// The node whose CPU touched it first.
    pub(crate) home: u16,
    /// It serves no request before this time.
    pub(crate) busy: Ticks,
    /// The time at which its owner has it.
    pub(crate) arrives: Ticks,
    /// Requests that wait, the oldest first.
    pub(crate) queue: VecDeque<Request>,
    /// True if the end of its busy time is announced.
    pub(crate) is_announced: bool,
    /// The threads that sleep until their copy is lost, with the number of their turn.
    pub(crate) parked: Vec<(usize, u32)>,
}

impl Line {
    /// True if one CPU answers for it.
    pub(crate) fn has_owner(&self) -> bool {
        matches!(self.state, LineState::Modified | LineState::Owned | LineState::Exclusive)
    }
}

/// All lines, by the order in which they were touched first.
#[derive(Debug)]
pub(crate) struct Lines {
    numbers: HashMap<usize, usize, BuildHasherDefault<AddressHasher>>,
    lines: Vec<Line>,
    /// Of each line, a bit for each CPU that has a copy.
    copies: Vec<u64>,
    /// Words of `copies` for a line.
    words: usize,
    /// Line addresses that were looked up, and their numbers, each in a place that follows from the address.
    recent: Box<[(usize, usize); RECENT]>,
}

impl Lines {
    pub(crate) fn new(cpus: usize) -> Self {
        Self {
            numbers: HashMap::default(),
            lines: Vec::new(),
            copies: Vec::new(),
            words: cpus.div_ceil(64),
            recent: Box::new([(usize::MAX, 0); RECENT]),
        }
    }

    /// The number of the line with this address, which a CPU of `node` touches.
    pub(crate) fn number(&mut self, address: usize, node: u16) -> usize {
        let line = address / LINE_BYTES;
        let (known, number) = self.recent[line % RECENT];
        if known == line {
            return number;
        }
        let number = self.find(line, node);
        self.recent[line % RECENT] = (line, number);
        number
    }

    #[cold]
    fn find(&mut self, line: usize, node: u16) -> usize {
        let fresh = self.lines.len();
        let number = *self.numbers.entry(line).or_insert(fresh);
        if number == fresh {
            self.lines.push(Line {
                state: LineState::Invalid,
                owner: 0,
                home: node,
                busy: 0,
                arrives: 0,
                queue: VecDeque::new(),
                is_announced: false,
                parked: Vec::new(),
            });
            self.copies.resize(self.copies.len() + self.words, 0);
        }
        number
    }

    /// The address of the first byte of a line that was touched.
    pub(crate) fn address(&self, number: usize) -> Option<usize> {
        self.numbers.iter().find(|&(_, &known)| known == number).map(|(line, _)| line * LINE_BYTES)
    }

    pub(crate) fn line(&self, number: usize) -> &Line {
        &self.lines[number]
    }

    pub(crate) fn line_mut(&mut self, number: usize) -> &mut Line {
        &mut self.lines[number]
    }

    pub(crate) fn has_copy(&self, number: usize, cpu: usize) -> bool {
        self.copies[number * self.words + cpu / 64] >> (cpu % 64) & 1 == 1
    }

    /// True if the CPU may write without a request.
    pub(crate) fn is_writable(&self, number: usize, cpu: usize) -> bool {
        let line = &self.lines[number];
        line.owner == cpu && matches!(line.state, LineState::Modified | LineState::Exclusive)
    }

    /// The CPUs that have a copy.
    pub(crate) fn holders(&self, number: usize) -> impl Iterator<Item = usize> + '_ {
        let words = self.copies_of(number).iter().enumerate();
        words.flat_map(|(word, &bits)| Ones(bits).map(move |bit| word * 64 + bit))
    }

    /// The same, the last one first.
    pub(crate) fn holders_from_last(&self, number: usize) -> impl Iterator<Item = usize> + '_ {
        let words = self.copies_of(number).iter().enumerate().rev();
        // The first place of the reversed bits is the last of the bits.
        words.flat_map(|(word, &bits)| Ones(bits.reverse_bits()).map(move |bit| word * 64 + 63 - bit))
    }

    fn copies_of(&self, number: usize) -> &[u64] {
        &self.copies[number * self.words..(number + 1) * self.words]
    }

    pub(crate) fn add_copy(&mut self, number: usize, cpu: usize) {
        self.copies[number * self.words + cpu / 64] |= 1 << (cpu % 64);
    }

    /// Takes the copies of all other CPUs away.
    pub(crate) fn keep_only(&mut self, number: usize, cpu: usize) {
        self.copies[number * self.words..(number + 1) * self.words].fill(0);
        self.add_copy(number, cpu);
    }
}

/// The places of ones in a word.
struct Ones(u64);

impl Iterator for Ones {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let place = (self.0 != 0).then(|| self.0.trailing_zeros() as usize)?;
        self.0 &= self.0 - 1;
        Some(place)
    }
}

/// Hashes a line's number by a multiplication. It has no secret: a run gives the same on every host.
#[derive(Debug, Default)]
struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_usize(usize::from(byte)));
    }

    fn write_usize(&mut self, number: usize) {
        // The odd number next to 2^64 divided by the golden ratio.
        self.0 = (self.0.rotate_left(5) ^ number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}
