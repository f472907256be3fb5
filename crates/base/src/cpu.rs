//! Names of CPUs and sets of them, in the notation the kernel and its tools use (`0-3,8`).
//!
//! A CPU here is what Linux numbers: one hardware thread (PU in hwloc's words). Ids may have holes.

use std::fmt;
use std::str::FromStr;

/// The highest CPU id that is believed: far above any machine, and low enough that `0-4000000000` is an error and
/// not an allocation.
pub const MAX_CPU_ID: u32 = 65_535;

/// The number Linux gives to one hardware thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuId(u32);

impl CpuId {
    /// The CPU with this number.
    #[must_use]
    pub const fn new(id: u32) -> Self {
        Self(id)
    }

    /// The number itself.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The CPU that this thread runs on. It may run on another one a moment later, unless it is pinned.
    #[must_use]
    pub fn of_this_thread() -> Self {
        Self(crate::sync::cpu())
    }
}

impl fmt::Display for CpuId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A set of CPUs, kept in ascending order.
///
/// ```
/// use corecast_base::{CpuId, CpuSet};
/// let cpus: CpuSet = "0-2,8".parse()?;
/// assert_eq!(cpus.len(), 4);
/// assert!(cpus.contains(CpuId::new(8)));
/// assert_eq!(cpus.to_string(), "0-2,8");
/// # Ok::<(), corecast_base::CpuSetError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CpuSet(Vec<CpuId>);

/// The reason why a text is not a list of CPUs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CpuSetError {
    /// A part is neither a number nor a range `low-high`.
    #[error("'{part}' in CPU list '{list}' is neither a number nor a range such as 0-3")]
    Syntax {
        /// The part that could not be read.
        part: String,
        /// The whole list.
        list: String,
    },
    /// A range runs downwards.
    #[error("range '{part}' in CPU list '{list}' ends below its start")]
    Backwards {
        /// The range.
        part: String,
        /// The whole list.
        list: String,
    },
    /// A number is beyond [`MAX_CPU_ID`].
    #[error("CPU {part} in list '{list}' is above {MAX_CPU_ID}, the highest id that corecast accepts")]
    TooHigh {
        /// The number.
        part: String,
        /// The whole list.
        list: String,
    },
    /// A CPU is named twice.
    #[error("CPU {cpu} is given twice in list '{list}'")]
    Twice {
        /// The repeated CPU.
        cpu: CpuId,
        /// The whole list.
        list: String,
    },
}

impl CpuSet {
    /// The number of CPUs in the set.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if no CPU is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if `cpu` is in the set.
    #[must_use]
    pub fn contains(&self, cpu: CpuId) -> bool {
        self.0.binary_search(&cpu).is_ok()
    }

    /// The CPUs in ascending order.
    #[must_use]
    pub fn as_slice(&self) -> &[CpuId] {
        &self.0
    }

    /// The CPUs in ascending order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = CpuId> + '_ {
        self.0.iter().copied()
    }

    /// The CPUs that are in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.iter().filter(|&cpu| other.contains(cpu)).collect()
    }

    /// The CPUs of this set that are not in `other`.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        self.iter().filter(|&cpu| !other.contains(cpu)).collect()
    }
}

impl FromIterator<CpuId> for CpuSet {
    /// Repeated CPUs count once.
    fn from_iter<I: IntoIterator<Item = CpuId>>(cpus: I) -> Self {
        let mut cpus: Vec<CpuId> = cpus.into_iter().collect();
        cpus.sort_unstable();
        cpus.dedup();
        Self(cpus)
    }
}

impl FromStr for CpuSet {
    type Err = CpuSetError;

    /// Reads the kernel's list notation. The empty text is the empty set, as in sysfs; a CPU given twice is an error.
    fn from_str(list: &str) -> Result<Self, CpuSetError> {
        let mut cpus = Vec::new();
        for part in list.trim().split(',').map(str::trim) {
            if part.is_empty() && list.trim().is_empty() {
                break;
            }
            let (low, high) = match part.split_once('-') {
                Some((low, high)) => (number(low, list)?, number(high, list)?),
                None => number(part, list).map(|id| (id, id))?,
            };
            if high < low {
                return Err(CpuSetError::Backwards { part: part.to_owned(), list: list.to_owned() });
            }
            cpus.extend((low..=high).map(CpuId::new));
            // More members than ids: one is given twice for sure, and a hostile list must not fill the memory.
            if cpus.len() > MAX_CPU_ID as usize + 1 {
                break;
            }
        }
        cpus.sort_unstable();
        match cpus.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(CpuSetError::Twice { cpu: pair[0], list: list.to_owned() }),
            None => Ok(Self(cpus)),
        }
    }
}

fn number(part: &str, list: &str) -> Result<u32, CpuSetError> {
    let digits = part.trim();
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(CpuSetError::Syntax { part: part.to_owned(), list: list.to_owned() });
    }
    match digits.parse() {
        Ok(id) if id <= MAX_CPU_ID => Ok(id),
        _ => Err(CpuSetError::TooHigh { part: digits.to_owned(), list: list.to_owned() }),
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = self.0.chunk_by(|a, b| b.get() == a.get() + 1);
        for (i, run) in runs.enumerate() {
            let comma = if i == 0 { "" } else { "," };
            match run {
                [one] => write!(f, "{comma}{one}")?,
                [first, .., last] => write!(f, "{comma}{first}-{last}")?,
                [] => unreachable!("chunk_by yields no empty run"),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_the_lists_of_the_kernel() {
        let set: CpuSet = "0-2,8,10-11\n".parse().expect("a kernel list");
        assert_eq!(set.iter().map(CpuId::get).collect::<Vec<_>>(), [0, 1, 2, 8, 10, 11]);
        assert!("".parse::<CpuSet>().expect("sysfs lists may be empty").is_empty());
    }

    #[test]
    fn refuses_bad_lists_by_name() {
        for (list, expected) in [
            ("0,x", "neither a number"),
            ("0,,1", "neither a number"),
            ("-1", "neither a number"),
            ("3-1", "ends below its start"),
            ("0-4000000000", "above 65535"),
            ("99999999999999999999", "above 65535"),
            ("0,1,0-1", "CPU 0 is given twice"),
            (&"0-65535,".repeat(100_000), "CPU 0 is given twice"),
        ] {
            let error = list.parse::<CpuSet>().expect_err(list).to_string();
            assert!(error.contains(expected), "{list}: {error}");
        }
    }

    proptest! {
        #[test]
        fn text_round_trips(ids in proptest::collection::vec(0u32..200, 0..60)) {
            let set: CpuSet = ids.into_iter().map(CpuId::new).collect();
            prop_assert_eq!(set.to_string().parse::<CpuSet>().expect("own text"), set);
        }
    }
}
