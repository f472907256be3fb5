//! A look at a region without joining it: read-only, without a participant slot. For `corecast top`.

use std::fmt;
use std::fs::File;

use super::attachment::read_layout;
use super::directory::Entry;
use super::error::{AttachError, Forked, Subject};
use super::mapping::Mapping;
use super::participant::{Participant, Table};
use super::validate::Layout;
use crate::sync::Ordering;

/// A read-only view of a region. The words that it reads may change at any time and mean anything.
pub struct Observer {
    mapping: Mapping,
    layout: Layout,
    file: File,
    has_own_file: bool,
}

impl Observer {
    pub(super) fn begin(what: &str, file: File, has_own_file: bool, len: usize) -> Result<Self, AttachError> {
        let subject = Subject(what);
        let mapping = Mapping::read_only(&file, len).map_err(subject.refused("map"))?;
        let layout = read_layout(subject, &mapping)?;
        Ok(Self { mapping, layout, file, has_own_file })
    }

    /// All channels, in the order of their declaration.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.layout.entries
    }

    /// The user and the process that made the region, as its header says.
    #[must_use]
    pub fn creator(&self) -> (u32, u32) {
        (self.layout.creator_uid, self.layout.creator_pid)
    }

    /// A number that no other region has.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.layout.generation
    }

    /// The length of the region, in bytes.
    #[must_use]
    pub fn total_bytes(&self) -> usize {
        self.mapping.len()
    }

    /// All participants that have not left, among them dead ones that no participant has noted yet.
    ///
    /// # Errors
    /// [`Forked`] in a forked child.
    pub fn participants(&self) -> Result<Vec<Participant>, Forked> {
        self.mapping.check_fork()?;
        let table = Table {
            mapping: &self.mapping,
            count: self.layout.participants,
            file: Some(&self.file),
            has_own_file: self.has_own_file,
        };
        Ok(table.present().map(|who| table.describe(who, None)).collect())
    }

    /// The word at `offset`, in bytes from the start of the channel; `None` if it is not inside or not aligned.
    ///
    /// # Errors
    /// [`Forked`] in a forked child.
    pub fn word(&self, entry: &Entry, offset: u64) -> Result<Option<u64>, Forked> {
        self.mapping.check_fork()?;
        let is_ours = self.layout.entries.contains(entry);
        let is_inside = offset.checked_add(8).is_some_and(|end| end <= entry.bytes) && offset % 8 == 0;
        // ORDERING: Relaxed, a look from outside that orders nothing
        let load = || self.mapping.word((entry.offset + offset) as usize).load(Ordering::Relaxed);
        Ok((is_ours && is_inside).then(load))
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Observer({:#x}, {} bytes)", self.generation(), self.total_bytes())
    }
}
