//! Reading text files whose size is not to be trusted.
//!
//! Take it for every file that comes from the kernel, a captured tree or a stranger. A file that is larger than the stated
//! limit is an error instead of an allocation, and bytes that are not UTF-8 become replacement characters, which no parser
//! accepts.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads the text of `path` if it is at most `limit_bytes` long.
///
/// ```
/// use corecast_base::small_file;
/// let error = small_file::read("/dev/zero".as_ref(), 1000).expect_err("endless");
/// assert_eq!(error.to_string(), "larger than 1000 bytes");
/// ```
///
/// # Errors
///
/// The error of opening or reading, and [`io::ErrorKind::InvalidData`] if the file is longer than the limit.
pub fn read(path: &Path, limit_bytes: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit_bytes {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("larger than {limit_bytes} bytes")));
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_itself_is_allowed() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("file");
        std::fs::write(&path, b"12\xff4").expect("a small file");
        assert_eq!(read(&path, 4).expect("four bytes"), "12\u{fffd}4");
        assert_eq!(read(&path, 3).expect_err("one too many").kind(), io::ErrorKind::InvalidData);
    }
}
