//! Results of races kept between programs, one file for each machine, set of CPUs and way to wait.
//!
//! `$XDG_CACHE_HOME/corecast/races/`, or below `~/.cache`. A file is only a hint which barrier to build: what cannot be
//! read, was cut off, is too long or names what there is not, or belongs to another machine, is ignored, and the next race
//! replaces it.

use std::fs;
use std::io;
use std::path::PathBuf;

use corecast_base::wait::Wait;
use corecast_machine::{Cpu, Fingerprint, Topology, read_bounded, write_atomically};
use serde::{Deserialize, Serialize};

use super::{Entry, Race};
use crate::barrier::Barrier;

const SCHEMA: &str = "corecast-race/1";
/// Many times the longest that is written.
const MAX_LEN_BYTES: u64 = 64 * 1024;

/// Where the result of one kind of race is kept.
#[derive(Clone, Debug)]
pub(crate) struct RaceCache {
    folder: PathBuf,
    key: Key,
}

/// What a result is good for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Key {
    /// Of the machine, with the members' CPUs alone.
    fingerprint: String,
    members: usize,
    wait: String,
    pinned: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RaceFile {
    schema: String,
    key: Key,
    winner: String,
    control: String,
    p: f64,
    entries: Vec<EntryJson>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryJson {
    barrier: String,
    predicted: f64,
    median_ns: f64,
    rounds: usize,
}

impl RaceCache {
    /// Of races among so many members on these CPUs.
    pub(crate) fn new(folder: PathBuf, cpus: Vec<Cpu>, members: usize, wait: Wait, pinned: bool) -> Self {
        let fingerprint = Fingerprint::of_this_machine(&Topology { cpus, ..Topology::default() }).id();
        Self { folder, key: Key { fingerprint, members, wait: wait.to_string(), pinned } }
    }

    fn path(&self) -> PathBuf {
        let Key { fingerprint, members, wait, pinned } = &self.key;
        let pinned = if *pinned { "pinned" } else { "unpinned" };
        self.folder.join(format!("{fingerprint}-{members}-{wait}-{pinned}.json"))
    }

    /// The result of an earlier race, if there is one that can be believed.
    pub(crate) fn load(&self) -> Option<Race> {
        let text = read_bounded(&self.path(), MAX_LEN_BYTES).ok()?;
        let file: RaceFile = serde_json::from_slice(&text).ok()?;
        (file.schema == SCHEMA && file.key == self.key).then_some(())?;
        let entries = file.entries.iter().map(EntryJson::entry).collect::<Option<Vec<_>>>()?;
        let ran = |name: &str| entries.iter().map(|entry| entry.barrier).find(|barrier| barrier.name() == name);
        let (winner, control) = (ran(&file.winner)?, ran(&file.control)?);
        (0.0..=1.0).contains(&file.p).then_some(Race { winner, control, p: file.p, entries, is_cached: true })
    }

    /// Keeps a result.
    pub(crate) fn store(&self, race: &Race) -> io::Result<()> {
        let file = RaceFile {
            schema: SCHEMA.to_owned(),
            key: self.key.clone(),
            winner: race.winner.to_string(),
            control: race.control.to_string(),
            p: race.p,
            entries: race.entries.iter().map(EntryJson::of).collect(),
        };
        fs::create_dir_all(&self.folder)?;
        write_atomically(&self.path(), &serde_json::to_vec(&file)?)
    }
}

impl EntryJson {
    fn of(entry: &Entry) -> Self {
        let Entry { barrier, predicted, median_ns, rounds } = *entry;
        Self { barrier: barrier.to_string(), predicted, median_ns, rounds }
    }

    /// `None` if there is no such barrier, or its costs are none.
    fn entry(&self) -> Option<Entry> {
        let barrier = self.barrier.parse::<Barrier>().ok()?;
        let is_cost = |cost: f64| cost.is_finite() && cost >= 0.0;
        let entry = Entry { barrier, predicted: self.predicted, median_ns: self.median_ns, rounds: self.rounds };
        (is_cost(self.predicted) && is_cost(self.median_ns)).then_some(entry)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use corecast_base::CpuId;

    fn cache(folder: PathBuf, members: usize) -> RaceCache {
        RaceCache::new(folder, vec![Cpu::flat(CpuId::new(0))], members, Wait::Adaptive, false)
    }

    fn race() -> Race {
        let entry = |barrier, median_ns| Entry { barrier, predicted: 100.0, median_ns, rounds: 31 };
        let entries = vec![entry(Barrier::Dissemination, 50.0), entry(Barrier::Flat, 80.5)];
        Race { entries, winner: Barrier::Dissemination, control: Barrier::Flat, p: 0.001, is_cached: false }
    }

    #[test]
    fn what_is_stored_is_loaded_for_the_same_members_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let two = cache(folder.path().join("not/there/yet"), 2);
        assert_eq!(two.load(), None);
        two.store(&race()).expect("stored");
        assert_eq!(two.load(), Some(Race { is_cached: true, ..race() }));
        let three = RaceCache { key: Key { members: 3, ..two.key.clone() }, ..two.clone() };
        assert_eq!(three.load(), None);
        fs::copy(two.path(), three.path()).expect("copied under a wrong name");
        assert_eq!(three.load(), None, "the key in the file is another");
        let elsewhere = Key { fingerprint: "0".repeat(32), ..two.key.clone() };
        let elsewhere = RaceCache { key: elsewhere, ..two.clone() };
        fs::copy(two.path(), elsewhere.path()).expect("copied from another machine");
        assert_eq!(elsewhere.load(), None);
    }

    #[test]
    fn files_cut_off_or_malicious_are_ignored() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = cache(folder.path().to_owned(), 2);
        cache.store(&race()).expect("stored");
        let whole = fs::read_to_string(cache.path()).expect("there");
        for len in 0..whole.len() {
            fs::write(cache.path(), &whole[..len]).expect("written");
            assert_eq!(cache.load(), None, "cut after {len} bytes");
        }
        let wrong = [
            ("corecast-race/1", "corecast-race/2"),
            ("\"winner\":\"dissemination\"", "\"winner\":\"../../etc/passwd\""),
            ("\"winner\":\"dissemination\"", "\"winner\":\"ticket\""),
            ("80.5", "-1"),
            ("80.5", "1e999"),
            ("\"p\":0.001", "\"p\":7"),
            ("\"p\":", "\"run\":\"this\",\"p\":"),
        ];
        for (from, to) in wrong {
            assert!(whole.contains(from), "{from}");
            fs::write(cache.path(), whole.replace(from, to)).expect("written");
            assert_eq!(cache.load(), None, "{to}");
        }
        fs::write(cache.path(), whole.clone() + &" ".repeat(MAX_LEN_BYTES as usize)).expect("written");
        assert_eq!(cache.load(), None, "too long");
        fs::write(cache.path(), whole).expect("written");
        assert!(cache.load().is_some());
        fs::remove_file(cache.path()).expect("removed");
        fs::create_dir(cache.path()).expect("a folder of that name");
        assert_eq!(cache.load(), None);
        cache.store(&race()).expect_err("a folder is in the way");
    }
}
