//! Segments of processes: in sealed memory, found by what a holder says about itself.

use corecast_base::region::{Announcement, AttachError, CreateError, Forked, SealedMemory, SealedReader};

use super::control::NodeRecord;
use super::error::LayoutError;
use super::held::Held;
use super::layout::SegmentLayout;
use super::reader::SegmentReader;
use super::writer::SegmentWriter;
use crate::NodeId;

/// The reason why a segment of a process could not be made or opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenSegmentError {
    /// The memory could not be made.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// The memory could not be opened, or is not to be trusted.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// The memory is not the segment that was expected.
    #[error("the segment of node {node}: {source}")]
    Layout {
        /// The node whose segment was expected.
        node: NodeId,
        /// The difference.
        source: LayoutError,
    },
    /// This process is a forked child.
    #[error(transparent)]
    Forked(#[from] Forked),
}

/// Makes a segment of `node` that outlives this process for as long as any process holds it. The memory says where others
/// find it ([`SealedMemory::announcement`]).
///
/// # Errors
/// [`OpenSegmentError::Create`], among others if there is not enough memory.
pub fn create_segment(layout: SegmentLayout, node: NodeId) -> Result<(SegmentWriter, SealedMemory), OpenSegmentError> {
    let memory = SealedMemory::create(layout.bytes())?;
    let writer = SegmentWriter::new(layout, node, memory.words()?);
    let writer = writer.map_err(|source| OpenSegmentError::Layout { node, source })?;
    Ok((writer, memory))
}

/// Opens the segment of `node` where a process holds it: where the node published it ([`NodeRecord::place`]), or at a process
/// that [holds](Held::place) it. The second part of the result says where this process holds it now.
///
/// # Errors
/// [`OpenSegmentError`] if it is not there any more, or is not the segment of `node` in a group with these sizes.
pub fn open_segment(
    layout: SegmentLayout,
    node: NodeId,
    at: Announcement,
) -> Result<(SegmentReader, SealedReader), OpenSegmentError> {
    let memory = SealedReader::open_announced(at)?;
    let reader = SegmentReader::new(layout, node, memory.words()?);
    let reader = reader.map_err(|source| OpenSegmentError::Layout { node, source })?;
    Ok((reader, memory))
}

impl NodeRecord {
    /// Where the node holds its own segment.
    #[must_use]
    pub fn place(&self) -> Announcement {
        Announcement { pid: self.pid, fd: self.fd, identity: self.identity }
    }
}

impl Held {
    /// Where process `pid`, which published this, holds the segment.
    #[must_use]
    pub fn place(&self, pid: u32) -> Announcement {
        Announcement { pid, fd: self.fd, identity: self.identity }
    }

    /// The entry of a process that holds the segment of incarnation `inc` as `memory`.
    #[must_use]
    pub fn of(inc: u16, memory: &SealedReader) -> Self {
        let Announcement { fd, identity, .. } = memory.announcement();
        Self { inc, fd, identity }
    }
}
