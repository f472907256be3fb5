//! The CPUs that a process may use, and its share of their time.

use corecast_base::CpuSet;
use corecast_base::cgroup::Limits;

use super::tree::Tree;
use crate::pin;
use crate::source::error::DiscoverError;
#[cfg(feature = "hwloc")]
use crate::topology::Topology;

/// The CPUs of a machine and the part that a process may use.
pub(super) struct Usable {
    /// The CPUs that are switched on.
    pub(super) online: CpuSet,
    /// Those of them that the process may use; never empty.
    pub(super) cpus: CpuSet,
    /// The NUMA nodes whose memory it may use; `None` is all.
    pub(super) nodes: Option<Vec<u32>>,
    /// CPU time, in CPUs.
    pub(super) quota: Option<f64>,
    /// Notes for the user.
    pub(super) notes: Vec<String>,
}

impl Usable {
    /// For this machine the process is the caller; for a captured one it is the one that captured it.
    pub(super) fn read(tree: &Tree) -> Result<Self, DiscoverError> {
        let mut notes = Vec::new();
        let limits = Limits::read(tree.root());
        let allowed = allowed(tree, &limits, &mut notes);
        let online = match online(tree, &mut notes) {
            online if !online.is_empty() => online,
            _ => allowed.clone().ok_or_else(|| DiscoverError::NotARoot { root: tree.root().to_owned() })?,
        };
        let cpus = allowed.as_ref().map_or_else(|| online.clone(), |allowed| online.intersection(allowed));
        if cpus.is_empty() {
            let allowed = allowed.unwrap_or_default();
            let why = format!("CPUs '{online}' are online, the process may use '{allowed}'");
            return Err(DiscoverError::NoUsableCpu { input: tree.root().display().to_string(), why });
        }
        notes.extend(left_out(&online, &cpus));
        notes.extend(scarce(limits.quota, &cpus));
        let nodes = both(limits.nodes, status_nodes(tree));
        Ok(Self { online, cpus, nodes, quota: limits.quota, notes })
    }
}

/// Reduces `topology`, which another source made for this machine, to the part that the calling process may use.
#[cfg(feature = "hwloc")]
pub(in crate::source) fn limit_to_this_process(topology: &mut Topology) -> Result<(), DiscoverError> {
    let usable = Usable::read(&Tree::new("/".as_ref()))?;
    topology.cpus.retain(|cpu| usable.cpus.contains(cpu.id));
    topology.quota = usable.quota;
    topology.notes.extend(usable.notes);
    Ok(())
}

/// The CPUs that are switched on, as far as known: by the kernel's list, or else by the folders of the CPUs, and not
/// denied by the switch of the CPU itself.
fn online(tree: &Tree, notes: &mut Vec<String>) -> CpuSet {
    let folders = tree.numbered("sys/devices/system/cpu", "cpu");
    let told = tree.list("sys/devices/system/cpu/online").filter(|cpus| !cpus.is_empty());
    let switched_off = |cpu| tree.text(&format!("sys/devices/system/cpu/cpu{cpu}/online")).as_deref() == Some("0");
    let online: CpuSet = told.unwrap_or_else(|| folders.clone()).iter().filter(|&cpu| !switched_off(cpu)).collect();
    let offline = folders.difference(&online);
    if !offline.is_empty() {
        notes.push(format!("offline CPUs: {offline}"));
    }
    online
}

/// The CPUs that mask and control groups leave to the process; `None` if nothing limits it.
fn allowed(tree: &Tree, limits: &Limits, notes: &mut Vec<String>) -> Option<CpuSet> {
    let mask = if tree.is_this_machine() { own_mask(notes) } else { captured_mask(tree) };
    [mask, limits.cpuset.clone()].into_iter().flatten().reduce(|a, b| a.intersection(&b))
}

/// The mask of the calling thread; its process may have pinned other threads elsewhere.
fn own_mask(notes: &mut Vec<String>) -> Option<CpuSet> {
    pin::affinity().map_err(|error| notes.push(error.to_string())).ok()
}

fn captured_mask(tree: &Tree) -> Option<CpuSet> {
    tree.field("proc/self/status", "Cpus_allowed_list")?.parse().ok()
}

fn status_nodes(tree: &Tree) -> Option<Vec<u32>> {
    let nodes: CpuSet = tree.field("proc/self/status", "Mems_allowed_list")?.parse().ok()?;
    Some(nodes.iter().map(|node| node.get()).collect())
}

fn both(a: Option<Vec<u32>>, b: Option<Vec<u32>>) -> Option<Vec<u32>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.into_iter().filter(|node| b.contains(node)).collect()),
        (a, b) => a.or(b),
    }
}

fn left_out(online: &CpuSet, cpus: &CpuSet) -> Option<String> {
    let others = online.difference(cpus);
    (!others.is_empty()).then(|| format!("online, but not for this process: CPUs {others}"))
}

fn scarce(quota: Option<f64>, cpus: &CpuSet) -> Option<String> {
    let quota = quota.filter(|&quota| quota < cpus.len() as f64)?;
    Some(format!("control groups grant {quota} CPUs of time on {} CPUs: busy threads will be stopped", cpus.len()))
}
