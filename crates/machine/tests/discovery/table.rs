//! The contents of a Linux machine's files, as a table: the form of `machines/systems/`, which its README describes.
//!
//! [`collect`] reads the files that discovery reads, [`render`] and [`parse`] are the table, and [`lay_out`] writes the
//! files anew. Between them sets of CPUs are lists, whether the kernel tells them as bitmaps or as lists.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use corecast_base::{CpuId, CpuSet};

/// The text of each file, without blanks around it, by its path below the root. A path that ends in `/` is a folder.
pub(crate) type Files = BTreeMap<String, String>;

const CPU: &str = "sys/devices/system/cpu/cpu";
const NODES: &str = "sys/devices/system/node";

/// Files of a CPU with a number or a word.
const PLAIN: [&str; 6] = [
    "online",
    "cpu_capacity",
    "cpufreq/cpuinfo_max_freq",
    "acpi_cppc/highest_perf",
    "topology/core_id",
    "topology/physical_package_id",
];

/// Files of a CPU with a bitmap, which `_list` behind the name tells once more as a list.
const SIBLINGS: [&str; 4] =
    ["topology/core_cpus", "topology/thread_siblings", "topology/package_cpus", "topology/core_siblings"];

/// The names of files whose text is a bitmap.
const BITMAPS: [&str; 6] =
    ["core_cpus", "thread_siblings", "package_cpus", "core_siblings", "shared_cpu_map", "cpumap"];

/// The files of a control group that limit CPUs, memory nodes and CPU time.
const LIMITS: [&str; 9] = [
    "cpuset.cpus.effective",
    "cpuset.cpus",
    "cpus",
    "cpuset.mems.effective",
    "cpuset.mems",
    "mems",
    "cpu.max",
    "cpu.cfs_quota_us",
    "cpu.cfs_period_us",
];

/// The files below `root` that discovery reads, so far as they are there.
pub(crate) fn collect(root: &Path) -> Files {
    let mut collected = Collected { root, files: Files::new() };
    for cpu in numbered(root, "sys/devices/system/cpu", "cpu") {
        collected.cpu(cpu);
    }
    for node in numbered(root, NODES, "node") {
        collected.either(&format!("{NODES}/node{node}/cpumap"), &format!("{NODES}/node{node}/cpulist"));
        collected.plain(&format!("{NODES}/node{node}/distance"));
    }
    for file in ["sys/devices/system/cpu/online", "sys/devices/system/node/online"] {
        collected.plain(file);
    }
    for counter in ["cpu_core", "cpu_atom", "cpu_lowpower"] {
        collected.plain(&format!("sys/devices/{counter}/cpus"));
    }
    collected.process();
    collected.files
}

/// The numbers of the folders in `folder` that are named `prefix` and a number.
fn numbered(root: &Path, folder: &str, prefix: &str) -> BTreeSet<u32> {
    let entries = fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.strip_prefix(prefix)?.parse().ok()).collect()
}

struct Collected<'a> {
    root: &'a Path,
    files: Files,
}

impl Collected<'_> {
    fn text(&self, path: &str) -> Option<String> {
        let text = fs::read_to_string(self.root.join(path)).ok()?;
        Some(text.trim_matches(|symbol: char| symbol.is_whitespace() || symbol == '\0').to_owned())
    }

    /// Takes the file if it is there, and tells whether it is.
    fn plain(&mut self, path: &str) -> bool {
        let text = self.text(path);
        let is_there = text.is_some();
        self.files.extend(text.map(|text| (path.to_owned(), as_told(path, &text))));
        is_there
    }

    /// Takes the bitmap, or the list where there is no bitmap.
    fn either(&mut self, bitmap: &str, list: &str) {
        let _ = self.plain(bitmap) || self.plain(list);
    }

    fn cpu(&mut self, cpu: u32) {
        let file = |name: &str| format!("{CPU}{cpu}/{name}");
        self.files.insert(file(""), String::new());
        for name in PLAIN {
            self.plain(&file(name));
        }
        for name in SIBLINGS {
            self.either(&file(name), &file(&format!("{name}_list")));
        }
        for index in 0.. {
            let cache = |name: &str| file(&format!("cache/index{index}/{name}"));
            if !self.plain(&cache("level")) {
                break;
            }
            self.plain(&cache("type"));
            self.either(&cache("shared_cpu_map"), &cache("shared_cpu_list"));
        }
    }

    /// The limits of the process that captures: its mask, and those of its control groups.
    fn process(&mut self) {
        let keep = |text: String, wanted: fn(&str) -> bool| {
            text.lines().filter(|line| wanted(line)).collect::<Vec<_>>().join("\n")
        };
        if let Some(status) = self.text("proc/self/status") {
            let masks =
                keep(status, |line| line.starts_with("Cpus_allowed_list:") || line.starts_with("Mems_allowed_list:"));
            self.files.insert("proc/self/status".to_owned(), masks);
        }
        let groups =
            ["proc/self/cgroup", "proc/self/cpuset"].map(|file| self.plain(file).then(|| self.files[file].clone()));
        let groups: Vec<String> = groups.into_iter().flatten().collect();
        let tables = ["proc/self/mountinfo", "proc/self/mounts", "proc/mounts"];
        let Some((table, mounts)) = tables.iter().find_map(|file| Some((file, self.text(file)?))) else { return };
        let mounts = keep(mounts, |line| line.split(' ').any(|word| ["cgroup", "cgroup2", "cpuset"].contains(&word)));
        self.limits(&mounts, if table.ends_with("mountinfo") { 4 } else { 1 }, &groups);
        self.files.insert((*table).to_owned(), mounts);
    }

    /// The limits of every group that may be one of the process: a mount may show only a part of the hierarchy, so that
    /// any part of a group's path may be its folder.
    fn limits(&mut self, mounts: &str, point_field: usize, groups: &[String]) {
        let lines = groups.iter().flat_map(|text| text.lines());
        let paths: BTreeSet<&str> = lines.map(|line| line.splitn(3, ':').last().unwrap_or(line)).collect();
        for mount in mounts.lines() {
            let Some(point) = mount.split(' ').nth(point_field) else { continue };
            for path in &paths {
                let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != "..").collect();
                for (begin, end) in (0..=parts.len()).flat_map(|end| (0..=end).map(move |begin| (begin, end))) {
                    let folder = [&[point.trim_matches('/')], &parts[begin..end]].concat().join("/");
                    for file in LIMITS {
                        self.plain(&format!("{folder}/{file}"));
                    }
                }
            }
        }
    }
}

/// The text in the form of the table: bitmaps as lists.
fn as_told(path: &str, text: &str) -> String {
    if is_bitmap(path) {
        cpus_of_bitmap(text).map_or_else(|| text.to_owned(), |cpus| cpus.to_string())
    } else {
        text.to_owned()
    }
}

fn is_bitmap(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| BITMAPS.contains(&name))
}

fn cpus_of_bitmap(text: &str) -> Option<CpuSet> {
    let mut cpus = Vec::new();
    for (word, digits) in (0..).zip(text.split(',').rev()) {
        let bits = u32::from_str_radix(digits, 16).ok()?;
        cpus.extend((0..32).filter(|bit| bits >> bit & 1 == 1).map(|bit| CpuId::new(word * 32 + bit)));
    }
    Some(cpus.into_iter().collect())
}

/// A list as the kernel's bitmap.
pub(crate) fn bitmap(list: &str) -> String {
    let cpus: CpuSet = list.parse().expect("a CPU list");
    let mut words = vec![0_u32; cpus.iter().last().map_or(0, |last| last.get() as usize / 32) + 1];
    for cpu in cpus.iter() {
        words[cpu.get() as usize / 32] |= 1 << (cpu.get() % 32);
    }
    let words: Vec<String> = words.iter().rev().map(|word| format!("{word:08x}")).collect();
    words.join(",")
}

/// The table: a line for each line of a file, and one for all files that many CPUs have.
pub(crate) fn render(files: &Files) -> String {
    let mut of_cpus: BTreeMap<&str, BTreeMap<&str, Vec<CpuId>>> = BTreeMap::new();
    let mut lines = Vec::new();
    for (path, text) in files {
        match cpu_and_name(path).filter(|_| !text.contains([' ', '\n'])) {
            Some((cpu, name)) => of_cpus.entry(name).or_default().entry(text).or_default().push(CpuId::new(cpu)),
            None => lines.extend(text.split('\n').map(|line| format!("{path}: {line}"))),
        }
    }
    lines.extend(of_cpus.iter().map(|(name, texts)| format!("{CPU}*/{name}: {}", entries(texts))));
    lines.iter().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// `3` and `topology/core_id` of a file of CPU 3.
fn cpu_and_name(path: &str) -> Option<(u32, &str)> {
    let (cpu, name) = path.strip_prefix(CPU)?.split_once('/')?;
    Some((cpu.parse().ok()?, name))
}

/// `0-3=1` for CPUs 0 to 3 with the text `1`, and `0-3` where the text is the list of those CPUs, in order of CPUs.
fn entries(texts: &BTreeMap<&str, Vec<CpuId>>) -> String {
    let mut entries: Vec<(CpuId, String)> = Vec::new();
    for (text, cpus) in texts {
        let list = cpus.iter().copied().collect::<CpuSet>().to_string();
        let entry = if list == *text { list } else { format!("{list}={text}") };
        entries.push((*cpus.iter().min().expect("each text is of some CPU"), entry));
    }
    entries.sort();
    entries.into_iter().map(|(_, entry)| entry).collect::<Vec<_>>().join(" ")
}

/// The files that a table tells of. Lines that are empty or begin with `#` or `hwloc ` tell of none.
pub(crate) fn parse(table: &str) -> Files {
    let mut files = Files::new();
    for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#') && !line.starts_with("hwloc ")) {
        let (path, text) = line.split_once(':').unwrap_or_else(|| panic!("no path and text: {line}"));
        let text = text.trim_start();
        match path.strip_prefix(CPU).and_then(|path| path.strip_prefix("*/")) {
            Some(name) => files.extend(of_each_cpu(name, text)),
            None => match files.get_mut(path) {
                Some(lines) => lines.extend(["\n", text]),
                None => drop(files.insert(path.to_owned(), text.to_owned())),
            },
        }
    }
    files
}

fn of_each_cpu(name: &str, entries: &str) -> Files {
    let mut files = Files::new();
    for entry in entries.split(' ') {
        let (list, text) = entry.split_once('=').unwrap_or((entry, entry));
        let cpus: CpuSet = list.parse().unwrap_or_else(|_| panic!("{name}: no list of CPUs in {entry}"));
        files.extend(cpus.iter().map(|cpu| (format!("{CPU}{cpu}/{name}"), text.to_owned())));
    }
    files
}

/// Writes the files below `root`, as a kernel would.
pub(crate) fn lay_out(files: &Files, root: &Path) {
    for (path, text) in files {
        let text = if is_bitmap(path) { bitmap(text) } else { text.clone() };
        let file = root.join(path);
        let folder = if path.ends_with('/') { &file } else { file.parent().expect("below the root") };
        fs::create_dir_all(folder).expect("folders");
        if !path.ends_with('/') {
            fs::write(&file, text + "\n").expect("a small file");
        }
    }
}
