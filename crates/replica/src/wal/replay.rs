//! The records of a log, in order.

use std::collections::VecDeque;
use std::vec;

use super::error::WalError;
use super::segment::{name_of, read};
use crate::Index;
use crate::directory::Directory;

/// A record of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its index.
    pub index: Index,
    /// Its bytes, as they were appended.
    pub bytes: Vec<u8>,
}

/// Reads the records of a [`Wal`](super::Wal), a file at a time. It ends after the first error.
#[derive(Debug)]
pub struct Replay<'a> {
    directory: &'a Directory,
    group: u64,
    /// The first records of the files that are still to be read.
    firsts: VecDeque<Index>,
    /// The file that is being read.
    file: Vec<u8>,
    bodies: vec::IntoIter<(usize, usize)>,
    /// The record at `bodies`.
    index: Index,
    from: Index,
    /// The index after the last record.
    end: Index,
}

impl<'a> Replay<'a> {
    pub(super) fn new(directory: &'a Directory, group: u64, firsts: &[Index], from: Index, end: Index) -> Self {
        let skipped = firsts.iter().skip(1).take_while(|first| **first <= from).count();
        let firsts = VecDeque::from(firsts[skipped..].to_vec());
        let index = firsts.front().copied().unwrap_or(end);
        Self { directory, group, firsts, file: Vec::new(), bodies: Vec::new().into_iter(), index, from, end }
    }

    fn open(&mut self, first: Index) -> Result<(), WalError> {
        let (header, bytes) = read(self.directory, self.group, first)?;
        let contents = header.scan(&bytes);
        let next = self.firsts.front().copied().unwrap_or(self.end);
        if first + (contents.bodies.len() as u64) < next {
            let file = self.directory.path_of(&name_of(first));
            return Err(WalError::Damaged { file, offset: contents.end as u64 });
        }
        self.file = bytes;
        self.bodies = contents.bodies.into_iter();
        self.index = first;
        Ok(())
    }
}

impl Iterator for Replay<'_> {
    type Item = Result<Record, WalError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some((at, len)) = self.bodies.next() else {
                let first = self.firsts.pop_front()?;
                if let Err(error) = self.open(first) {
                    self.firsts.clear();
                    return Some(Err(error));
                }
                continue;
            };
            let index = self.index;
            self.index += 1;
            if index >= self.from {
                return Some(Ok(Record { index, bytes: self.file[at..at + len].to_vec() }));
            }
        }
    }
}
