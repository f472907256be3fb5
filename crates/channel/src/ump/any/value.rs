//! How a value travels: its tags, its announcement and its parts.

use crate::slots::INLINE_BYTES;
use crate::ump::header::Kind;

/// The tag of a message that assigns a tag to a type.
pub(super) const ANNOUNCE: Kind = Kind::tagged(1);
pub(super) const FIRST_TAG: u8 = 2;
/// The number of tags. Few in tests, so that tags are soon reused.
pub(super) const TAGS: usize = if cfg!(test) { 3 } else { 254 };

/// An announced type: the number of its tag, counted from [`FIRST_TAG`], and its signature.
pub(super) type Announcement = [u64; 2];

/// Offset and length of the parts in which `len` bytes travel; a value of no bytes is one empty part. A value that fits
/// into one slot always travels whole, so that its length is known when the program is compiled.
#[inline(always)]
pub(super) fn parts(len: usize, longest: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = if len <= INLINE_BYTES { 1 } else { len.div_ceil(longest) };
    (0..count).map(move |i| if count == 1 { (0, len) } else { (i * longest, longest.min(len - i * longest)) })
}
