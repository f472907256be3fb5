//! The kernel's text files about control groups: small, and of any content.

use std::path::Path;

use crate::small_file;

/// The size limit of control files. None of interest comes near it.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The text of a control file, `None` if it cannot be read.
pub(super) fn read(path: &Path) -> Option<String> {
    small_file::read(path, MAX_FILE_BYTES).ok()
}
