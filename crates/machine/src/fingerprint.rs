//! The identity of the machine that a measurement belongs to, as a short stable id and in words.
//!
//! Costs are good for as long as all of this stays the same: CPU model and microcode, the topology, the kernel release,
//! the version of corecast, the CPUs allowed, and whether a hypervisor is below. A part that cannot be found out is
//! `unknown` and counts as that. The id is FNV-1a of 128 bits over the parts in their order, as 32 hexadecimal digits:
//! not cryptographic, as the name only serves the user's own cache.
//!
//! Source: G. Fowler, L. C. Noll, K.-P. Vo, D. Eastlake, The FNV Non-Cryptographic Hash Algorithm, 1991.

use std::fmt;
use std::fs;

use corecast_base::CpuSet;

use crate::topology::Topology;

const UNKNOWN: &str = "unknown";

/// The things that costs depend on.
///
/// ```
/// use corecast_machine::{Fingerprint, Topology};
/// let here = Fingerprint::of_this_machine(&Topology::default());
/// assert_eq!(here.id().len(), 32);
/// assert_eq!(here, Fingerprint::of_this_machine(&Topology::default()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    /// The kernel's name for the CPU.
    pub cpu_model: String,
    /// The microcode's revision.
    pub microcode: String,
    /// A hash of the groups that each CPU belongs to.
    pub topology: String,
    /// The kernel's release.
    pub kernel: String,
    /// The version of corecast.
    pub corecast: String,
    /// The CPUs that may be used, such as `0-3,8`.
    pub cpus: String,
    /// `yes`, `no` or `unknown`: whether a hypervisor is below the kernel.
    pub virtualised: String,
}

impl Fingerprint {
    /// The fingerprint of the machine that this process runs on, with the topology found there.
    #[must_use]
    pub fn of_this_machine(topology: &Topology) -> Self {
        let cpu_info = fs::read("/proc/cpuinfo").unwrap_or_default();
        let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
        Self::from_parts(topology, &String::from_utf8_lossy(&cpu_info), &kernel)
    }

    /// The fingerprint of a machine with this text in `/proc/cpuinfo` and this kernel release.
    #[must_use]
    pub fn from_parts(topology: &Topology, cpu_info: &str, kernel: &str) -> Self {
        let cpus: CpuSet = topology.cpus.iter().map(|cpu| cpu.id).collect();
        Self {
            cpu_model: cpu_model(cpu_info),
            microcode: or_unknown(field(cpu_info, "microcode")),
            topology: hex(fnv1a(groups(topology).as_bytes())),
            kernel: or_unknown(Some(kernel)),
            corecast: env!("CARGO_PKG_VERSION").to_owned(),
            cpus: cpus.to_string(),
            virtualised: virtualised(cpu_info).to_owned(),
        }
    }

    /// The id: 32 hexadecimal digits, equal for equal parts, and different otherwise as far as 128 bits can tell.
    #[must_use]
    pub fn id(&self) -> String {
        hex(fnv1a(self.to_string().as_bytes()))
    }

    /// The parts by name, in the order of the id.
    #[must_use]
    pub fn parts(&self) -> [(&'static str, &str); 7] {
        [
            ("cpu model", &self.cpu_model),
            ("microcode", &self.microcode),
            ("topology", &self.topology),
            ("kernel", &self.kernel),
            ("corecast", &self.corecast),
            ("cpus", &self.cpus),
            ("virtualised", &self.virtualised),
        ]
    }
}

impl fmt::Display for Fingerprint {
    /// One line per part. No value holds a line break, so different parts have different texts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts().into_iter().try_for_each(|(name, value)| writeln!(f, "{name}: {value}"))
    }
}

/// The value of the first line of that name.
fn field<'a>(cpu_info: &'a str, name: &str) -> Option<&'a str> {
    let mut fields = cpu_info.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim())
}

/// x86 and others list a name; ARM lists numbers.
fn cpu_model(cpu_info: &str) -> String {
    let named = ["model name", "cpu model", "Model Name", "cpu"].into_iter().find_map(|name| field(cpu_info, name));
    let numbered = || {
        let part = |name| field(cpu_info, name);
        let (implementer, part, variant) = (part("CPU implementer")?, part("CPU part")?, part("CPU variant")?);
        Some(format!("ARM implementer {implementer} part {part} variant {variant}"))
    };
    or_unknown(named.map(str::to_owned).or_else(numbered).as_deref())
}

/// The kernel lists `hypervisor` among the flags of an x86 CPU; on others it does not say.
fn virtualised(cpu_info: &str) -> &'static str {
    match field(cpu_info, "flags") {
        Some(flags) if flags.split_whitespace().any(|flag| flag == "hypervisor") => "yes",
        Some(_) => "no",
        None => UNKNOWN,
    }
}

fn or_unknown(text: Option<&str>) -> String {
    let text = text.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    text.filter(|text| !text.is_empty()).unwrap_or_else(|| UNKNOWN.to_owned())
}

/// The groups of each CPU, one line each.
fn groups(topology: &Topology) -> String {
    let line =
        |cpu: &crate::Cpu| format!("{} {:?}\n", cpu.id, (cpu.core, cpu.package, cpu.numa, cpu.l2, cpu.l3, cpu.kind));
    topology.cpus.iter().map(line).collect()
}

fn fnv1a(bytes: &[u8]) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.iter().fold(OFFSET, |hash, &byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

fn hex(hash: u128) -> String {
    format!("{hash:032x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Cpu;
    use corecast_base::CpuId;

    const X86: &str = "processor\t: 0\nmodel name\t: Some  CPU @ 2.5GHz\nmicrocode\t: 0x42\n\
                       flags\t\t: fpu hypervisor sse2\n\nprocessor\t: 1\nmodel name\t: other\n";
    const ARM: &str = "processor\t: 0\nCPU implementer\t: 0x41\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n";

    fn topology(ids: &[u32]) -> Topology {
        let cpus = ids.iter().map(|&id| Cpu::flat(CpuId::new(id))).collect();
        Topology { cpus, ..Topology::default() }
    }

    #[test]
    fn the_hash_is_fnv1a() {
        // The algorithm's published test vectors.
        assert_eq!(hex(fnv1a(b"")), "6c62272e07bb014262b821756295c58d");
        assert_eq!(hex(fnv1a(b"a")), "d228cb696f1a8caf78912b704e4a8964");
    }

    #[test]
    fn the_id_stays_the_same_from_version_to_version() {
        let mut fingerprint = Fingerprint::from_parts(&topology(&[0, 1]), X86, "6.1.0");
        fingerprint.corecast = "0.1.0".to_owned();
        assert_eq!(fingerprint.cpu_model, "Some CPU @ 2.5GHz");
        assert_eq!((fingerprint.microcode.as_str(), fingerprint.virtualised.as_str()), ("0x42", "yes"));
        assert_eq!(fingerprint.id(), "92958baedd5416c0d3f308f6cf7549bc");
    }

    #[test]
    fn each_part_changes_the_id() {
        let base = Fingerprint::from_parts(&topology(&[0, 1]), X86, "6.1.0");
        let mut other_core = topology(&[0, 1]);
        other_core.cpus[1].core = Some(0);
        for (changed, what) in [
            (Fingerprint::from_parts(&topology(&[0]), X86, "6.1.0"), "allowed set"),
            (Fingerprint::from_parts(&other_core, X86, "6.1.0"), "topology"),
            (Fingerprint::from_parts(&topology(&[0, 1]), X86, "6.1.1"), "kernel"),
            (Fingerprint::from_parts(&topology(&[0, 1]), &X86.replace("0x42", "0x43"), "6.1.0"), "microcode"),
            (Fingerprint::from_parts(&topology(&[0, 1]), &X86.replace("Some", "Any"), "6.1.0"), "model"),
            (Fingerprint::from_parts(&topology(&[0, 1]), &X86.replace("hypervisor", "ht"), "6.1.0"), "virtualised"),
            (Fingerprint { corecast: "9.9.9".to_owned(), ..base.clone() }, "version"),
        ] {
            assert_ne!(changed.id(), base.id(), "{what}");
        }
    }

    #[test]
    fn missing_parts_are_unknown() {
        let arm = Fingerprint::from_parts(&topology(&[0]), ARM, "");
        assert_eq!(arm.cpu_model, "ARM implementer 0x41 part 0xd0c variant 0x3");
        for part in [&arm.microcode, &arm.kernel, &arm.virtualised] {
            assert_eq!(part, UNKNOWN);
        }
        assert_eq!(Fingerprint::from_parts(&topology(&[]), "", "").cpu_model, UNKNOWN);
    }
}
