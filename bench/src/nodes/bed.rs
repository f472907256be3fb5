//! Hosts made of network namespaces: a bridge in one of them, and one more with a pair of virtual interfaces for each host.
//!
//! A launcher reaches a host through an agent in the place of its remote shell. The agent enters the host's network and makes
//! namespaces of names, of System V objects and of mounts, with a `/dev/shm` and a meeting directory of its own, so that memory
//! and names end at the host's border. Launchers, their daemons and TCP are the real ones. Only root may make such hosts.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use corecast::rendezvous::SocketDir;
use corecast_race::failure::Failure;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::work::HostMembers;

/// The most hosts.
pub(super) const MAX_HOSTS: usize = 64;

/// The beginning of the names of all namespaces; the number of the process that has made them follows.
const PREFIX: &str = "cc";

/// Some hosts, which end with this value.
pub(super) struct Bed {
    /// Part of the names of all namespaces, unique to this process.
    prefix: String,
    hosts: usize,
    /// Has the agent and the names of hosts.
    folder: TempDir,
}

impl Bed {
    /// Makes hosts `h1` and so on.
    ///
    /// # Errors
    /// The reason why there are none here.
    pub(super) fn make(hosts: usize) -> Result<Self, String> {
        let folder = tempfile::Builder::new().prefix("corecast-nodes-").tempdir();
        let folder = folder.map_err(|error| format!("a temporary folder cannot be made: {error}"))?;
        sweep();
        let bed = Self { prefix: format!("{PREFIX}{}", std::process::id()), hosts, folder };
        let meeting = SocketDir::of_user();
        meeting.make().map_err(|error| error.to_string())?;
        bed.write_files(meeting.path()).map_err(|error| format!("the agent cannot be written: {error}"))?;
        bed.make_switch()?;
        (1..=hosts).try_for_each(|host| bed.make_host(host))?;
        Ok(bed)
    }

    fn make_switch(&self) -> Result<(), String> {
        let switch = self.namespace(0);
        ip(&["netns", "add", &switch])?;
        ip(&["-n", &switch, "link", "set", "lo", "up"])?;
        ip(&["-n", &switch, "link", "add", "name", "br0", "type", "bridge"])?;
        ip(&["-n", &switch, "addr", "add", &format!("{}/24", address(0)), "dev", "br0"])?;
        ip(&["-n", &switch, "link", "set", "br0", "up"])
    }

    fn make_host(&self, host: usize) -> Result<(), String> {
        let (switch, namespace, port) = (self.namespace(0), self.namespace(host), format!("p{host}"));
        ip(&["netns", "add", &namespace])?;
        ip(&["-n", &namespace, "link", "set", "lo", "up"])?;
        let pair = ["-n", &switch, "link", "add", "name", &port, "type", "veth", "peer", "name", "eth0"];
        ip(&[&pair[..], &["netns", &namespace]].concat())?;
        ip(&["-n", &switch, "link", "set", &port, "master", "br0", "up"])?;
        ip(&["-n", &namespace, "addr", "add", &format!("{}/24", address(host)), "dev", "eth0"])?;
        ip(&["-n", &namespace, "link", "set", "eth0", "up"])
    }

    fn write_files(&self, meeting: &Path) -> std::io::Result<()> {
        let names = (0..=self.hosts).map(|host| format!("{} {}\n", address(host), name(host)));
        let names: String = std::iter::once("127.0.0.1 localhost\n".to_owned()).chain(names).collect();
        fs::write(self.path("hosts"), names)?;
        // No host answers there, which a launcher learns at once; it would wait for seconds for a server that it cannot reach.
        fs::write(self.path("resolv.conf"), "nameserver 127.0.0.1\n")?;
        let agent = self.agent();
        let mut file = fs::File::create(&agent)?;
        file.write_all(self.agent_text(meeting).as_bytes())?;
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755))
    }

    /// The agent: options of a remote shell, a host, and words that a shell joins to a command.
    fn agent_text(&self, meeting: &Path) -> String {
        let (hosts, names) = (self.path("hosts"), self.path("resolv.conf"));
        let (prefix, meeting) = (&self.prefix, meeting.display());
        let inside = format!(
            "hostname \"$1\"; mount -t tmpfs tmpfs /dev/shm; mount -t tmpfs -o mode=0700 tmpfs {meeting}; \
             mount --bind {} /etc/hosts; mount --bind {} /etc/resolv.conf 2>/dev/null; shift; exec sh -c \"$*\"",
            hosts.display(),
            names.display()
        );
        format!(
            "#!/bin/sh\nwhile [ \"${{1#-}}\" != \"$1\" ]; do shift; done\nhost=$1; shift\n\
             exec ip netns exec {prefix}-$host unshare --uts --ipc --mount sh -c '{inside}' sh \"$host\" \"$@\"\n"
        )
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program that launchers call in the place of a remote shell.
    pub(super) fn agent(&self) -> PathBuf {
        self.path("agent")
    }

    /// A command line as the host of the bridge runs it, from which launchers reach all hosts.
    pub(super) fn at_switch(&self, line: &str) -> Command {
        let mut command = Command::new(self.agent());
        command.arg(name(0)).arg(line);
        command
    }

    /// The names of the hosts.
    pub(super) fn names(&self) -> Vec<String> {
        (1..=self.hosts).map(name).collect()
    }

    /// The hosts with these numbers of processes, as launchers take them.
    pub(super) fn list(&self, hosts: usize, processes: &HostMembers) -> String {
        let host = |host: usize| format!("{}:{}", name(host), processes.at(host - 1));
        (1..=hosts).map(host).collect::<Vec<_>>().join(",")
    }

    /// A file of the hosts with these numbers of processes. The launchers of MPICH and Intel MPI agree on such files. Of
    /// `-hosts h1:1,h2:1` Intel's leaves out the numbers, and starts as many processes on the first host as that has CPUs.
    ///
    /// # Errors
    /// A [`Failure`] if it cannot be written.
    pub(super) fn machine_file(&self, hosts: usize, processes: &HostMembers) -> Result<PathBuf, Failure> {
        let path = self.path("machines");
        fs::write(&path, self.list(hosts, processes).replace(',', "\n"))
            .map_err(Failure::while_doing("write the names of hosts"))?;
        Ok(path)
    }

    /// Kills all processes of a host, its daemons included.
    pub(super) fn kill_host(&self, host: usize) {
        kill_all(&self.namespace(host));
    }

    /// Kills whatever still runs on any host.
    pub(super) fn clear(&self) {
        (0..=self.hosts).for_each(|host| self.kill_host(host));
    }

    fn namespace(&self, host: usize) -> String {
        format!("{}-{}", self.prefix, name(host))
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        self.clear();
        for host in 0..=self.hosts {
            // Hosts that were not made cannot be taken away.
            let _ = ip(&["netns", "del", &self.namespace(host)]);
        }
    }
}

/// Takes away the hosts of processes that were killed before they could.
fn sweep() {
    let is_stale = |pid: &str| !Path::new("/proc").join(pid).exists();
    let listed = Command::new("ip").args(["netns", "list"]).stdin(Stdio::null()).output();
    let listed = listed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    for namespace in listed.lines().filter_map(|line| line.split_whitespace().next()) {
        if owner(namespace).is_some_and(is_stale) {
            kill_all(namespace);
            // Another process may sweep as well.
            let _ = ip(&["netns", "del", namespace]);
        }
    }
}

/// The process that a namespace was made by, if it is one of these hosts.
fn owner(namespace: &str) -> Option<&str> {
    let (pid, host) = namespace.strip_prefix(PREFIX)?.split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_host = host == name(0) || host.strip_prefix('h').is_some_and(is_number);
    (is_number(pid) && is_host).then_some(pid)
}

/// Kills all processes of a namespace.
fn kill_all(namespace: &str) {
    let listed = Command::new("ip").args(["netns", "pids", namespace]).output();
    let listed = listed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    for pid in listed.lines().filter_map(|line| Pid::from_raw(line.trim().parse().ok()?)) {
        // One that has just ended is as good as killed.
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// The number of the host that this process runs on, from 0; that of the first one, where it runs on none.
pub(super) fn own_host() -> usize {
    let own = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let number = own.trim().strip_prefix('h').and_then(|number| number.parse::<usize>().ok());
    number.unwrap_or(1).saturating_sub(1)
}

/// The name of a host; that of the bridge is 0.
pub(super) fn name(host: usize) -> String {
    if host == 0 { "switch".to_owned() } else { format!("h{host}") }
}

fn address(host: usize) -> String {
    format!("10.77.0.{}", if host == 0 { 254 } else { host })
}

/// Runs `ip`.
fn ip(arguments: &[&str]) -> Result<(), String> {
    let output = Command::new("ip").args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("`ip` cannot be started (package iproute2): {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(format!(
        "hosts cannot be made of network namespaces, which takes root's rights: `ip {}`: {words}",
        arguments.join(" ")
    ))
}

#[cfg(test)]
mod tests {
    use super::owner;

    #[test]
    fn only_own_hosts_have_an_owner() {
        assert_eq!(["cc17-h3", "cc17-switch"].map(owner), [Some("17"); 2]);
        for other in ["cc17", "cc-h3", "cc17-x3", "cc17-h", "ccx-h3", "dd17-h3"] {
            assert_eq!(owner(other), None, "{other}");
        }
    }
}
