//! Bounded reading of small files below a root directory.

use std::fs;
use std::path::{Path, PathBuf};

use corecast_base::{CpuId, CpuSet, MAX_CPU_ID, small_file};

use crate::source::mask;

/// Four times the longest possible list of CPUs.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The root directory of a machine. A file that cannot be read or understood is `None`.
pub(super) struct Tree {
    root: PathBuf,
}

impl Tree {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// True if the tree is the machine this runs on.
    pub(super) fn is_this_machine(&self) -> bool {
        self.root == Path::new("/")
    }

    /// The text of a file, without surrounding blanks and without the zero byte that some kernels append.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let text = small_file::read(&self.root.join(path), MAX_FILE_BYTES).ok()?;
        Some(text.trim_matches(|symbol: char| symbol.is_whitespace() || symbol == '\0').to_owned())
    }

    pub(super) fn number<T: std::str::FromStr>(&self, path: &str) -> Option<T> {
        self.text(path)?.parse().ok()
    }

    /// A set of CPUs in list notation.
    pub(super) fn list(&self, path: &str) -> Option<CpuSet> {
        self.text(path)?.parse().ok()
    }

    /// A set of CPUs that the kernel lists twice, as bitmap and as list. The bitmap counts: old kernels have no list.
    pub(super) fn set(&self, bitmap: &str, list: &str) -> Option<CpuSet> {
        self.text(bitmap).and_then(|text| mask::parse(&text)).or_else(|| self.list(list))
    }

    /// The numbers of the entries of `dir` that are named `prefix` and a number.
    pub(super) fn numbered(&self, dir: &str, prefix: &str) -> CpuSet {
        let entries = fs::read_dir(self.root.join(dir)).into_iter().flatten().flatten();
        let number = |name: &str| {
            let digits = name.strip_prefix(prefix)?;
            let number = digits.parse::<u32>().ok()?;
            (number <= MAX_CPU_ID && number.to_string() == digits).then(|| CpuId::new(number))
        };
        entries.filter_map(|entry| number(entry.file_name().to_str()?)).collect()
    }

    /// The value after `key` in a file of `Key: value` lines.
    pub(super) fn field(&self, path: &str, key: &str) -> Option<String> {
        let text = self.text(path)?;
        text.lines().find_map(|line| Some(line.strip_prefix(key)?.strip_prefix(':')?.trim().to_owned()))
    }
}
