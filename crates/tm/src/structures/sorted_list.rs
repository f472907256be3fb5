//! A sorted list of keys with values, whose searches may be elastic.
//!
//! A node is {key, link to the next, link to the head, value} under one lock; the head has no key. A node that is taken out gets
//! a link that leads nowhere before it is freed, so that a search without locks that stands there notices. The link to the head
//! tells it that a node has become one of another list.
//!
//! Source of elastic transactions: Felber, Gramoli, Guerraoui, Elastic Transactions, DISC 2009.

use crate::error::RunError;
use crate::tm::Tm;
use crate::tvar::TBlock;
use crate::tx::{Abort, Tx};
use crate::value::Value;

/// How much a search locks on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Search {
    /// All nodes: everything that was passed stays as it is until the transaction ends.
    #[default]
    Plain,
    /// The last two nodes, or three where it changes the list; a search is not aborted for changes that it has left behind. The
    /// locks on both sides of its key stay until the transaction ends, also where a later search of it comes by.
    EarlyRelease,
    /// No node but, at the end, the two between which the key is or would be; links that were followed are looked at once more
    /// after each step. Saves the request for each node.
    ReadValidation,
}

impl Search {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Plain, Self::EarlyRelease, Self::ReadValidation];

    /// Its name, as in options and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::EarlyRelease => "early-release",
            Self::ReadValidation => "read-validation",
        }
    }
}

/// A node: {key, next, list, value}.
type Link = TBlock<u64, 4>;
const KEY: usize = 0;
const NEXT: usize = 1;
/// The link of a node that was taken out.
const GONE: u64 = u64::MAX;

/// A sorted list. A copy is the same list.
#[derive(Debug, Clone, Copy)]
pub struct SortedList {
    head: Link,
    search: Search,
}

/// A node that was read.
#[derive(Debug, Clone, Copy)]
struct Node {
    link: Link,
    words: [u64; 4],
    /// Whether this read took the lock, so that the search may give it back: the result of an earlier operation of the same
    /// transaction may rest on a lock that was there.
    is_ours: bool,
}

/// The place of a key.
struct Place {
    before: Node,
    /// The node with the key.
    at: Option<Node>,
}

impl Node {
    fn read(tx: &mut Tx<'_>, link: Link) -> Result<Self, Abort> {
        let is_ours = !tx.has_lock(link);
        Ok(Self { link, words: tx.read_block(link)?, is_ours })
    }

    /// Gives the lock back that this read took.
    fn release(self, tx: &mut Tx<'_>) -> Result<(), Abort> {
        if self.is_ours { tx.release_block(self.link) } else { Ok(()) }
    }

    fn next(&self) -> Option<Link> {
        Value::from_word(self.words[NEXT])
    }
}

impl SortedList {
    /// An empty list.
    ///
    /// # Errors
    /// [`RunError::Full`].
    pub fn new(tm: &Tm, search: Search) -> Result<Self, RunError> {
        Ok(Self { head: tm.new_block([0; 4])?, search })
    }

    /// The list with this root, in another process than that which made it.
    ///
    /// # Errors
    /// [`RunError::Beyond`].
    pub fn open(tm: &Tm, root: u32, search: Search) -> Result<Self, RunError> {
        Ok(Self { head: tm.block(root)?, search })
    }

    /// By which another process [opens](Self::open) it.
    #[must_use]
    pub fn root(&self) -> u32 {
        self.head.index()
    }

    pub(super) fn to_word(self) -> u64 {
        self.head.to_word()
    }

    pub(super) fn from_word(word: u64, search: Search) -> Self {
        Self { head: Value::from_word(word), search }
    }

    /// The value of a key.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    pub fn get(&self, tx: &mut Tx<'_>, key: u64) -> Result<Option<u64>, Abort> {
        Ok(self.find(tx, key, 2)?.at.map(|node| node.words[3]))
    }

    /// Whether the key is there.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    pub fn contains(&self, tx: &mut Tx<'_>, key: u64) -> Result<bool, Abort> {
        Ok(self.get(tx, key)?.is_some())
    }

    /// Adds a key; false, and the old value stays, if it was there.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    pub fn insert(&self, tx: &mut Tx<'_>, key: u64, value: u64) -> Result<bool, Abort> {
        let Place { before, at } = self.find(tx, key, 3)?;
        if at.is_some() {
            return Ok(false);
        }
        let list = self.head.to_word();
        // Searches without locks must not follow it before it is a part of the list.
        let link = tx.new_block([key, GONE, list, value])?;
        tx.write_block(link, [key, before.words[NEXT], list, value])?;
        self.set_next(tx, before, Some(link).to_word())?;
        Ok(true)
    }

    /// Takes a key out; its value, if it was there.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    pub fn remove(&self, tx: &mut Tx<'_>, key: u64) -> Result<Option<u64>, Abort> {
        let Place { before, at } = self.find(tx, key, 3)?;
        let Some(node) = at else { return Ok(None) };
        self.set_next(tx, before, node.words[NEXT])?;
        self.set_next(tx, node, GONE)?;
        tx.free_block(node.link)?;
        Ok(Some(node.words[3]))
    }

    /// All keys with their values, in order, at one moment: every node is locked.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    pub fn entries(&self, tx: &mut Tx<'_>) -> Result<Vec<(u64, u64)>, Abort> {
        let mut entries = Vec::new();
        let mut node = Node::read(tx, self.head)?;
        while let Some(next) = node.next() {
            node = Node::read(tx, next)?;
            entries.push((node.words[KEY], node.words[3]));
        }
        Ok(entries)
    }

    fn set_next(&self, tx: &mut Tx<'_>, node: Node, next: u64) -> Result<(), Abort> {
        let [key, _, list, value] = node.words;
        tx.write_block(node.link, [key, next, list, value])
    }

    /// Finds the place of a key, with read locks on both sides of it. An elastic search keeps `kept` locks.
    fn find(&self, tx: &mut Tx<'_>, key: u64, kept: usize) -> Result<Place, Abort> {
        match self.search {
            Search::Plain => self.find_locking(tx, key, usize::MAX),
            Search::EarlyRelease => self.find_locking(tx, key, kept),
            Search::ReadValidation => loop {
                let before = self.walk(tx, key)?;
                if let Some(place) = self.lock_place(tx, before, key)? {
                    return Ok(place);
                }
            },
        }
    }

    /// Hand over hand: reads with locks, and gives those back that are more than `kept` nodes away.
    fn find_locking(&self, tx: &mut Tx<'_>, key: u64, kept: usize) -> Result<Place, Abort> {
        let mut before = Node::read(tx, self.head)?;
        let mut behind = None;
        while let Some(link) = before.next() {
            let node = Node::read(tx, link)?;
            if node.words[KEY] >= key {
                return Ok(Place { before, at: Some(node).filter(|node| node.words[KEY] == key) });
            }
            let oldest = match kept {
                2 => Some(before),
                3 => behind.replace(before),
                _ => None,
            };
            if let Some(oldest) = oldest {
                oldest.release(tx)?;
            }
            before = node;
        }
        Ok(Place { before, at: None })
    }

    /// The last node with a smaller key, without locks.
    fn walk(&self, tx: &mut Tx<'_>, key: u64) -> Result<Link, Abort> {
        let (mut before, mut next) = (self.head, tx.read_word_unlocked(self.head, NEXT)?);
        loop {
            if next == GONE {
                // Its node is being taken out, or was, and what led there is about to change. Whoever takes it out has its
                // lock until that is done.
                Node::read(tx, before)?.release(tx)?;
                (before, next) = (self.head, tx.read_word_unlocked(self.head, NEXT)?);
                continue;
            }
            let Some(node) = Option::<Link>::from_word(next) else { return Ok(before) };
            let found: u64 = tx.read_word_unlocked(node, KEY)?;
            if found >= key {
                return Ok(before);
            }
            (before, next) = (node, tx.read_word_unlocked(node, NEXT)?);
        }
    }

    /// Locks what `walk` has found, unless that is not the place any more.
    fn lock_place(&self, tx: &mut Tx<'_>, before: Link, key: u64) -> Result<Option<Place>, Abort> {
        let before = Node::read(tx, before)?;
        // Its words need not belong together if it was taken out since: an attempt that makes a node of it stores the first ones
        // without a lock, and says so by a link that leads nowhere.
        tx.validate()?;
        let is_head = before.link == self.head;
        let is_here = is_head || before.words[2] == self.head.to_word() && before.words[KEY] < key;
        if !is_here || before.words[NEXT] == GONE {
            before.release(tx)?;
            return Ok(None);
        }
        let Some(link) = before.next() else { return Ok(Some(Place { before, at: None })) };
        let node = Node::read(tx, link)?;
        if node.words[KEY] < key {
            before.release(tx)?;
            node.release(tx)?;
            return Ok(None);
        }
        Ok(Some(Place { before, at: Some(node).filter(|node| node.words[KEY] == key) }))
    }
}

#[cfg(test)]
mod tests {
    use corecast_machine::{Cpu, Machine, Topology};

    use super::*;
    use crate::Form;
    use crate::participant::Participant;

    /// Runs `work` with a list of 1 and 5, as the only participant.
    fn with_list<R: Send>(work: impl Fn(&Tm, &SortedList, &mut Participant) -> R + Sync) -> R {
        let cpus = vec![Cpu::flat(corecast_base::CpuId::new(0))];
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let tm = Tm::builder(&machine).participants(1).form(Form::Shared).variables(64).build().expect("memory");
        let list = SortedList::new(&tm, Search::ReadValidation).expect("room");
        let mut results = tm.run_threads(|mut participant| {
            let inserted = participant.run(|tx| Ok((list.insert(tx, 1, 10)?, list.insert(tx, 5, 50)?)));
            assert_eq!(inserted, Ok((true, true)));
            work(&tm, &list, &mut participant)
        });
        results.as_mut().expect("a thread").remove(0)
    }

    /// The node was freed, and is being made a node of this list again: some of its words are those of another structure.
    #[test]
    fn a_place_that_has_changed_since_the_search_is_not_taken() {
        with_list(|tm, list, participant| {
            let mut attempts = 0;
            let found = participant.run(|tx| {
                attempts += 1;
                let before = list.walk(tx, 9)?;
                if attempts == 1 {
                    assert_eq!(before.index(), list.find_locking(tx, 9, usize::MAX)?.before.link.index());
                    tm.memory().store(before.index() + KEY as u32, 4);
                }
                Ok(list.lock_place(tx, before, 9)?.is_some())
            });
            assert_eq!((found, attempts), (Ok(true), 2));
        });
    }
}
