//! The terms on which all ranks of a communicator have to agree.
//!
//! They travel as bytes that are combined by a bitwise or. Words that have to be equal travel beside their complement: if two
//! ranks differ, some bit is set in both.

use std::fs;
use std::hash::Hasher;
use std::os::unix::fs::MetadataExt;

use corecast::CpuSet;
use corecast::machine::pin;
use corecast_base::CpuId;

use crate::library::{Handle, Library};
use crate::settings::Settings;

/// CPUs that terms have room for.
const MOST_CPUS: usize = 1024;
const MASK: usize = MOST_CPUS / 8;
const WORD: usize = size_of::<u64>();
const LEN: usize = 2 * WORD + MASK + 1;

/// The terms that all ranks have found to be equal.
pub(super) struct Terms {
    /// The CPUs on which any rank may run.
    pub(super) cpus: CpuSet,
}

/// Exchanges the terms; `None` if ranks differ, or one of them refuses. All ranks get the same.
pub(super) fn agree(library: &Library, comm: Handle, refuses: bool) -> Option<Terms> {
    let home = home();
    let mut bytes = [0; LEN];
    let word = home.unwrap_or(0);
    bytes[..WORD].copy_from_slice(&word.to_ne_bytes());
    bytes[WORD..2 * WORD].copy_from_slice(&(!word).to_ne_bytes());
    let cpus = pin::affinity().ok();
    for cpu in cpus.iter().flat_map(CpuSet::iter).map(|cpu| cpu.get() as usize).filter(|&cpu| cpu < MOST_CPUS) {
        bytes[2 * WORD + cpu / 8] |= 1 << (cpu % 8);
    }
    bytes[LEN - 1] = u8::from(refuses || home.is_none() || cpus.is_none() || has_devices());
    library.or_bytes(&mut bytes, comm).ok()?;
    let (words, rest) = bytes.split_at(2 * WORD);
    let is_equal = words[..WORD].iter().zip(&words[WORD..]).all(|(word, complement)| word & complement == 0);
    let is_set = |cpu: &usize| rest[cpu / 8] & 1 << (cpu % 8) != 0;
    let cpus = (0..MOST_CPUS).filter(is_set).map(|cpu| CpuId::new(cpu as u32)).collect();
    (is_equal && rest[MASK] == 0).then_some(Terms { cpus })
}

/// True if the process has loaded a library of accelerators: buffers may then lie in their memory, which this object cannot read.
fn has_devices() -> bool {
    let libraries =
        [c"libcuda.so.1", c"libamdhip64.so.5", c"libamdhip64.so.6", c"libamdhip64.so.7", c"libze_loader.so.1"];
    libraries.into_iter().any(|library| {
        // SAFETY: a text; it is asked whether the library is loaded, so no code of it runs.
        let loaded = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
        // It stays open if it is there: closing it could run code that the program does not expect.
        !loaded.is_null()
    })
}

/// A number for everything that ranks have to share: the running system, the namespaces in which one finds the other's
/// descriptors, the user, and the settings. `None` where the system does not tell.
fn home() -> Option<u64> {
    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(&fs::read("/proc/sys/kernel/random/boot_id").ok()?);
    for namespace in ["/proc/self/ns/pid", "/proc/self/ns/user"] {
        let told = fs::metadata(namespace).ok()?;
        hasher.write_u64(told.dev());
        hasher.write_u64(told.ino());
    }
    let Settings { limit_bytes, after, .. } = *Settings::get();
    hasher.write_u64(u64::from(fs::metadata("/proc/self").ok()?.uid()));
    hasher.write_usize(limit_bytes);
    hasher.write_u32(after);
    hasher.write(env!("CARGO_PKG_VERSION").as_bytes());
    Some(hasher.finish())
}
