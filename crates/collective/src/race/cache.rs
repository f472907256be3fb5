//! Results of races kept between programs, one file for each machine, set of CPUs, kind of members and way to wait; in it one
//! result for each operation, and for allreduces for each size class.
//!
//! `$XDG_CACHE_HOME/corecast/races/`, or below `~/.cache`. A file is only a hint. It is ignored if it cannot be read, was
//! cut off, is too long, names something unknown, or belongs to another machine, and the next race replaces it.

use std::fs;
use std::io;
use std::path::PathBuf;

use corecast_base::wait::Wait;
use corecast_machine::{Cpu, Fingerprint, Topology, read_bounded, write_atomically};
use serde::{Deserialize, Serialize};

use super::file::RacesJson;
use crate::choice::Races;

const SCHEMA: &str = "corecast-race/3";
/// Many times the longest that is written.
const MAX_LEN_BYTES: u64 = 64 * 1024;

/// The place where the result of one kind of race is kept.
#[derive(Clone, Debug)]
pub(crate) struct RaceCache {
    folder: PathBuf,
    key: Key,
}

/// Members that may share one result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) wait: Wait,
    pub(crate) is_pinned: bool,
    pub(crate) are_processes: bool,
}

/// The conditions under which a result is good.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Key {
    /// Of the machine, with the members' CPUs alone.
    fingerprint: String,
    members: usize,
    wait: String,
    pinned: bool,
    /// True if the members are processes.
    processes: bool,
    /// A number that identifies the trees that raced.
    trees: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RaceFile {
    schema: String,
    key: Key,
    races: RacesJson,
}

impl RaceCache {
    /// Of races among members on these CPUs.
    pub(crate) fn new(folder: PathBuf, cpus: Vec<Cpu>, members: usize, trees: u64, kind: Kind) -> Self {
        let fingerprint = Fingerprint::of_this_machine(&Topology { cpus, ..Topology::default() }).id();
        let Kind { wait, is_pinned, are_processes } = kind;
        let (wait, trees) = (wait.to_string(), format!("{trees:016x}"));
        let key = Key { fingerprint, members, wait, pinned: is_pinned, processes: are_processes, trees };
        Self { folder, key }
    }

    fn path(&self) -> PathBuf {
        let Key { fingerprint, members, wait, pinned, processes, .. } = &self.key;
        let pinned = if *pinned { "pinned" } else { "unpinned" };
        let kind = if *processes { "processes" } else { "threads" };
        self.folder.join(format!("{fingerprint}-{members}-{kind}-{wait}-{pinned}.json"))
    }

    /// True if there is a file, which may be of no use.
    pub(crate) fn is_there(&self) -> bool {
        self.path().exists()
    }

    /// The result of an earlier race, if there is a credible one.
    pub(crate) fn load(&self) -> Option<Races> {
        let text = read_bounded(&self.path(), MAX_LEN_BYTES).ok()?;
        let file: RaceFile = serde_json::from_slice(&text).ok()?;
        (file.schema == SCHEMA && file.key == self.key).then(|| file.races.races())?
    }

    /// Keeps a result.
    pub(crate) fn store(&self, races: &Races) -> io::Result<()> {
        let file = RaceFile { schema: SCHEMA.to_owned(), key: self.key.clone(), races: RacesJson::of(races) };
        fs::create_dir_all(&self.folder)?;
        write_atomically(&self.path(), &serde_json::to_vec(&file)?)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::barrier::Barrier;
    use crate::choice::{AllreduceForm, Entry, Race, SizeClass};
    use corecast_base::CpuId;

    fn cache(folder: PathBuf, members: usize) -> RaceCache {
        let kind = Kind { wait: Wait::Adaptive, is_pinned: false, are_processes: false };
        RaceCache::new(folder, vec![Cpu::flat(CpuId::new(0))], members, 7, kind)
    }

    fn races(is_cached: bool) -> Races {
        let entry = |racer, median_ns| Entry { racer, predicted: 100.0, median_ns, rounds: 31 };
        let entries = vec![entry(Barrier::Dissemination, 50.0), entry(Barrier::Flat, 80.5)];
        let (winner, control) = (Barrier::Dissemination, Barrier::Flat);
        let barrier = Race { entries, winner, control, p: 0.001, left_out: 0, is_cached };
        let entry = Entry { racer: "mst".to_owned(), predicted: 7.0, median_ns: 8.25, rounds: 7 };
        let (winner, control) = (entry.racer.clone(), entry.racer.clone());
        let reduce = Race { entries: vec![entry], winner, control, p: 1.0, left_out: 1, is_cached };
        let form = |class: usize, racer| {
            let entry = Entry { racer, predicted: 3.0, median_ns: 4.5, rounds: 9 };
            let race = Race { entries: vec![entry], winner: racer, control: racer, p: 1.0, left_out: 0, is_cached };
            (SizeClass::of(class), race)
        };
        let allreduce = vec![form(8, AllreduceForm::Trees), form(usize::MAX, AllreduceForm::Direct)];
        Races { barrier, broadcast: None, reduce: Some(reduce), allreduce }
    }

    #[test]
    fn a_result_is_loaded_for_the_same_members_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let two = cache(folder.path().join("not/there/yet"), 2);
        assert_eq!(two.load(), None);
        two.store(&races(false)).expect("stored");
        assert_eq!(two.load(), Some(races(true)));
        let three = RaceCache { key: Key { members: 3, ..two.key.clone() }, ..two.clone() };
        assert_eq!(three.load(), None);
        fs::copy(two.path(), three.path()).expect("copied under a wrong name");
        assert_eq!(three.load(), None, "the key in the file is another");
        let other_trees = RaceCache { key: Key { trees: "0".repeat(16), ..two.key.clone() }, ..two.clone() };
        assert_eq!((other_trees.path(), other_trees.load()), (two.path(), None), "they are to be raced in its place");
        let processes = RaceCache { key: Key { processes: true, ..two.key.clone() }, ..two.clone() };
        assert_ne!(processes.path(), two.path());
        fs::copy(two.path(), processes.path()).expect("copied under a wrong name");
        assert_eq!(processes.load(), None, "what is fast among threads need not be so here");
        let elsewhere = Key { fingerprint: "0".repeat(32), ..two.key.clone() };
        let elsewhere = RaceCache { key: elsewhere, ..two.clone() };
        fs::copy(two.path(), elsewhere.path()).expect("copied from another machine");
        assert_eq!(elsewhere.load(), None);
    }

    #[test]
    fn files_cut_off_or_malicious_are_ignored() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = cache(folder.path().to_owned(), 2);
        cache.store(&races(false)).expect("stored");
        let whole = fs::read_to_string(cache.path()).expect("there");
        for len in 0..whole.len() {
            fs::write(cache.path(), &whole[..len]).expect("written");
            assert_eq!(cache.load(), None, "cut after {len} bytes");
        }
        let wrong = [
            ("corecast-race/3", "corecast-race/2"),
            ("\"winner\":\"dissemination\"", "\"winner\":\"../../etc/passwd\""),
            ("\"winner\":\"dissemination\"", "\"winner\":\"ticket\""),
            ("\"winner\":\"mst\"", "\"winner\":\"cluster\""),
            ("8.25", "-1"),
            ("\"winner\":\"trees\"", "\"winner\":\"direct\""),
            ("\"most_bytes\":8", "\"most_bytes\":9"),
            ("\"most_bytes\":8", "\"most_bytes\":null"),
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
        cache.store(&races(false)).expect_err("a folder is in the way");
    }
}
