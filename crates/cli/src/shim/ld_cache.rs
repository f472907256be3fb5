//! The loader's cache, `/etc/ld.so.cache`: paths of libraries by name.
//!
//! The form is that of glibc since 2.2: a header with the number of entries, the entries with offsets of two strings each, the
//! strings. An older table may stand before it. Source: `ld.so(8)`, `ldconfig(8)`, and caches as `ldconfig -p` prints them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
const OLD_MAGIC: &[u8] = b"ld.so-1.7.0";
/// The bytes before the entries, those of an entry, and the same of the older table.
const HEADER_BYTES: usize = 48;
const ENTRY_BYTES: usize = 24;
const OLD_HEADER_BYTES: usize = 16;
const OLD_ENTRY_BYTES: usize = 12;
/// The largest file that is read; real ones have 100 kB.
const MOST_BYTES: u64 = 64 << 20;

/// The paths of each name, those first that the loader would try first.
#[derive(Clone, Debug, Default)]
pub(crate) struct LdCache(BTreeMap<String, Vec<PathBuf>>);

impl LdCache {
    /// That of this system; an empty one if there is none that can be read.
    pub(crate) fn of_system() -> Self {
        let path = Path::new("/etc/ld.so.cache");
        let is_sane = path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MOST_BYTES);
        let bytes = if is_sane { std::fs::read(path).unwrap_or_default() } else { Vec::new() };
        Self::parse(&bytes)
    }

    /// The whole entries of a cache with these bytes; none if it is no cache.
    fn parse(bytes: &[u8]) -> Self {
        let Some(table) = table(bytes).filter(|table| table.len() >= HEADER_BYTES) else { return Self::default() };
        let count = number(table, MAGIC.len()).unwrap_or(0);
        let mut paths = BTreeMap::<String, Vec<PathBuf>>::new();
        for entry in table[HEADER_BYTES..].chunks_exact(ENTRY_BYTES).take(count) {
            let text = |at| number(entry, at).and_then(|offset| string(table, offset));
            let (Some(name), Some(path)) = (text(4), text(8)) else { continue };
            paths.entry(name).or_default().push(PathBuf::from(path));
        }
        Self(paths)
    }

    /// Where libraries of this name are.
    pub(crate) fn paths(&self, name: &str) -> &[PathBuf] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }
}

/// The part from the header of the newer form on, from which its offsets count.
fn table(bytes: &[u8]) -> Option<&[u8]> {
    if bytes.starts_with(MAGIC) {
        return Some(bytes);
    }
    let count = number(bytes.strip_prefix(OLD_MAGIC).map(|_| bytes)?, OLD_HEADER_BYTES - 4)?;
    let end = count.checked_mul(OLD_ENTRY_BYTES)?.checked_add(OLD_HEADER_BYTES)?.checked_next_multiple_of(8)?;
    bytes.get(end..).filter(|rest| rest.starts_with(MAGIC))
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..)?.first_chunk::<4>()?;
    usize::try_from(u32::from_ne_bytes(*word)).ok()
}

fn string(bytes: &[u8], at: usize) -> Option<String> {
    let from = bytes.get(at..)?;
    let end = from.iter().position(|&byte| byte == 0)?;
    String::from_utf8(from[..end].to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cache with one entry.
    fn cache(name: &str, path: &str) -> Vec<u8> {
        let strings = HEADER_BYTES + ENTRY_BYTES;
        let mut bytes = MAGIC.to_vec();
        bytes.extend(1u32.to_ne_bytes());
        bytes.resize(HEADER_BYTES + 4, 0);
        bytes.extend(u32::try_from(strings).expect("small").to_ne_bytes());
        bytes.extend(u32::try_from(strings + name.len() + 1).expect("small").to_ne_bytes());
        bytes.resize(strings, 0);
        bytes.extend([name.as_bytes(), b"\0", path.as_bytes(), b"\0"].concat());
        bytes
    }

    #[test]
    fn a_cache_is_read_with_an_older_table_before_it_and_without() {
        let new = cache("libx.so.1", "/lib/libx.so.1");
        let mut old = OLD_MAGIC.to_vec();
        old.resize(OLD_HEADER_BYTES - 4, 0);
        old.extend(1u32.to_ne_bytes());
        old.resize(32, 0);
        for bytes in [new.clone(), [old, new].concat()] {
            let cache = LdCache::parse(&bytes);
            assert_eq!(cache.paths("libx.so.1"), [PathBuf::from("/lib/libx.so.1")]);
            assert!(cache.paths("liby.so").is_empty());
        }
    }

    #[test]
    fn a_damaged_cache_has_fewer_entries() {
        let bytes = cache("libx.so.1", "/lib/libx.so.1");
        for length in 0..bytes.len() {
            assert!(LdCache::parse(&bytes[..length]).paths("libx.so.1").is_empty(), "at {length}");
        }
        let mut wrong = bytes;
        wrong[HEADER_BYTES + 4..HEADER_BYTES + 8].copy_from_slice(&u32::MAX.to_ne_bytes());
        assert!(LdCache::parse(&wrong).0.is_empty());
    }
}
