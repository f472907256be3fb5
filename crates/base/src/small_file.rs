//! Reading text files whose size is not to be trusted.
//!
//! Take it for every file that comes from the kernel, a captured tree or a stranger. A file that is larger than the stated
//! limit is an error instead of an allocation, and bytes that are not UTF-8 become replacement characters, which no parser
//! accepts.
//!
//! Files are read by system calls and not by the C library, so that `errno` stays as it is: a waiter looks at the limits of its
//! CPUs again, and preload objects wait inside functions that leave `errno` alone.

use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Bytes that are read at once.
const CHUNK: usize = 4096;

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
    let file = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let (mut bytes, mut chunk) = (Vec::new(), [0; CHUNK]);
    loop {
        match rustix::io::read(&file, &mut chunk) {
            Ok(0) => break,
            Ok(len) => bytes.extend_from_slice(&chunk[..len]),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if bytes.len() as u64 > limit_bytes {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("larger than {limit_bytes} bytes")));
        }
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
    fn a_file_that_is_not_there_leaves_errno_alone() {
        // SAFETY: asks for the place of this thread's errno, which is always there.
        let errno = unsafe { libc::__errno_location() };
        // SAFETY: valid for this thread, which is the only one that uses it.
        unsafe { errno.write(77) };
        let error = read("/corecast/none".as_ref(), 4).expect_err("no such file");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        // SAFETY: as above.
        assert_eq!(unsafe { errno.read() }, 77);
    }

    #[test]
    fn a_file_of_several_chunks_is_read_whole() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let text = "word ".repeat(CHUNK);
        std::fs::write(file.path(), &text).expect("a file");
        assert_eq!(read(file.path(), text.len() as u64).expect("within the limit"), text);
    }

    #[test]
    fn the_limit_itself_is_allowed() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("file");
        std::fs::write(&path, b"12\xff4").expect("a small file");
        assert_eq!(read(&path, 4).expect("four bytes"), "12\u{fffd}4");
        assert_eq!(read(&path, 3).expect_err("one too many").kind(), io::ErrorKind::InvalidData);
    }
}
