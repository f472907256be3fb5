//! Reading a file that the user named, which may be anything: a device without end, a pipe that never speaks, 100 GB.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BoundedReadError {
    /// The path leads to a folder, a device or a pipe.
    #[error("this is not a regular file")]
    NoRegularFile,
    /// The file is too large.
    #[error("this is larger than {max_len_bytes} bytes, the most that is read")]
    TooLarge {
        /// The largest length that is read.
        max_len_bytes: u64,
    },
    /// The system refuses.
    #[error("{0}")]
    Io(io::Error),
}

/// The contents of a regular file of at most `max_len_bytes`. A larger one is refused before anything of it is read.
///
/// # Errors
///
/// If the path is not a regular file, the file is larger, or the system refuses.
pub fn read_bounded(path: &Path, max_len_bytes: u64) -> Result<Vec<u8>, BoundedReadError> {
    // Checked before opening, since opening a pipe waits for its other end.
    let metadata = fs::metadata(path).map_err(BoundedReadError::Io)?;
    if !metadata.is_file() {
        return Err(BoundedReadError::NoRegularFile);
    }
    let mut contents = Vec::new();
    if metadata.len() <= max_len_bytes {
        let file = File::open(path).map_err(BoundedReadError::Io)?;
        // Read one byte more than allowed: a file that grows meanwhile is then refused instead of cut off.
        file.take(max_len_bytes + 1).read_to_end(&mut contents).map_err(BoundedReadError::Io)?;
    }
    if metadata.len().max(contents.len() as u64) > max_len_bytes {
        return Err(BoundedReadError::TooLarge { max_len_bytes });
    }
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_up_to_the_limit_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("ten");
        fs::write(&file, "0123456789").expect("written");
        assert_eq!(read_bounded(&file, 10).expect("as large as allowed"), b"0123456789");
        assert!(matches!(read_bounded(&file, 9), Err(BoundedReadError::TooLarge { max_len_bytes: 9 })));
        assert!(matches!(read_bounded(folder.path(), 9), Err(BoundedReadError::NoRegularFile)));
        assert!(matches!(read_bounded(Path::new("/dev/zero"), 9), Err(BoundedReadError::NoRegularFile)));
        assert!(matches!(read_bounded(&folder.path().join("none"), 9), Err(BoundedReadError::Io(_))));
    }
}
