//! The facts about a program or a library that its ELF file tells: what loads it, which libraries it needs, and which functions
//! of runtimes it calls or has.
//!
//! Files are strangers' data. Each table is read whole and only if it has at most [`tables::MOST_BYTES`]; a file that lies about
//! itself is an error, never a panic. Names are kept only if they concern a shim.

mod tables;
mod watched;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, FileKind, ReadCache, ReadRef};

pub(crate) use self::tables::Malformed;

/// The longest first line of a script that is looked at, in bytes.
const SCRIPT_LINE: u64 = 256;

/// Why a file is not a program whose facts can be told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ElfError {
    #[error("it cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    #[error("it is a directory")]
    Directory,
    #[error("it is neither a program nor a library, but a device, a pipe or a socket")]
    NotRegular,
    #[error("it is empty")]
    Empty,
    #[error("it is a script of {0}, which is the program to name")]
    Script(String),
    #[error("it is no ELF file")]
    NotElf,
    #[error("it is an object file or a core dump, which nobody can start")]
    NotLoadable,
    #[error("it is a damaged ELF file: {0}")]
    Malformed(#[from] Malformed),
}

/// The facts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Elf {
    pub(crate) format: Format,
    /// `e_type` is that of a program at a fixed place.
    pub(crate) is_fixed: bool,
    /// It is marked as a program that can be loaded anywhere.
    pub(crate) is_pie: bool,
    /// The loader that the system starts for it.
    pub(crate) interpreter: Option<String>,
    pub(crate) needed: Vec<String>,
    pub(crate) soname: Option<String>,
    /// Folders of `DT_RPATH` and of `DT_RUNPATH`, as they are written.
    pub(crate) rpath: Vec<String>,
    pub(crate) runpath: Vec<String>,
    /// The symbols that concern a shim and that others are to define; `None` if the file has no table of them.
    pub(crate) imports: Option<BTreeSet<String>>,
    /// The N of the newest version `GLIBC_2.N` that it names: the newest one that it needs of glibc, or that it has, if it is
    /// glibc.
    pub(crate) newest_glibc: Option<u32>,
    /// Those that it defines, in either of its tables.
    pub(crate) definitions: BTreeSet<String>,
}

/// For which processors a file is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) is_64: bool,
    pub(crate) is_little: bool,
    /// `e_machine`.
    pub(crate) machine: u16,
}

impl Format {
    /// That of this program, for which the preload objects are built, too.
    pub(crate) const fn own() -> Self {
        let machine = if cfg!(target_arch = "x86_64") { elf::EM_X86_64 } else { elf::EM_AARCH64 };
        Self { is_64: cfg!(target_pointer_width = "64"), is_little: cfg!(target_endian = "little"), machine }
    }

    /// The usual name.
    pub(crate) fn name(self) -> String {
        match (self.machine, self.is_64) {
            (elf::EM_X86_64, true) => "x86-64".to_owned(),
            (elf::EM_X86_64, false) => "x32".to_owned(),
            (elf::EM_386, _) => "i386".to_owned(),
            (elf::EM_AARCH64, _) => "aarch64".to_owned(),
            (elf::EM_ARM, _) => "arm".to_owned(),
            (elf::EM_RISCV, _) => "riscv".to_owned(),
            (elf::EM_PPC64, _) => "ppc64".to_owned(),
            (elf::EM_S390, _) => "s390".to_owned(),
            (machine, is_64) => format!("machine {machine}, {} bits", if is_64 { 64 } else { 32 }),
        }
    }
}

impl Elf {
    /// True if the system can start it; false of a library.
    pub(crate) fn is_program(&self) -> bool {
        self.interpreter.is_some() || self.is_fixed || self.is_pie
    }

    /// True of a program that loads no libraries, so that nothing can be preloaded.
    pub(crate) fn is_static(&self) -> bool {
        self.is_program() && self.interpreter.is_none()
    }

    /// True if it imports this.
    pub(crate) fn imports(&self, name: &str) -> bool {
        self.imports.as_ref().is_some_and(|imports| imports.contains(name))
    }
}

/// Reads the file at this path.
pub(crate) fn read(path: &Path) -> Result<Elf, ElfError> {
    // Before it is opened, as that of a pipe would wait for a writer.
    let kind = path.metadata()?;
    if kind.is_dir() {
        return Err(ElfError::Directory);
    }
    if !kind.is_file() {
        return Err(ElfError::NotRegular);
    }
    let mut file = File::open(path)?;
    let mut start = Vec::new();
    file.by_ref().take(SCRIPT_LINE).read_to_end(&mut start)?;
    if let Some(error) = not_elf(&start) {
        return Err(error);
    }
    parse(&ReadCache::new(file))
}

/// Why a file that begins so is none to be parsed.
fn not_elf(start: &[u8]) -> Option<ElfError> {
    if start.is_empty() {
        return Some(ElfError::Empty);
    }
    if let Some(line) = start.strip_prefix(b"#!") {
        let line = line.split(|&byte| byte == b'\n').next().unwrap_or_default();
        return Some(ElfError::Script(String::from_utf8_lossy(line).trim().to_owned()));
    }
    (!start.starts_with(&elf::ELFMAG)).then_some(ElfError::NotElf)
}

/// The facts of the file with these bytes.
pub(crate) fn parse<'data, R: ReadRef<'data>>(data: R) -> Result<Elf, ElfError> {
    match FileKind::parse(data).map_err(|_| Malformed::CutShort("the header"))? {
        FileKind::Elf32 => parse_as::<FileHeader32<Endianness>, R>(data),
        FileKind::Elf64 => parse_as::<FileHeader64<Endianness>, R>(data),
        _ => Err(ElfError::NotElf),
    }
}

fn parse_as<'data, H: FileHeader<Endian = Endianness>, R: ReadRef<'data>>(data: R) -> Result<Elf, ElfError> {
    let header = H::parse(data).map_err(|_| Malformed::CutShort("the header"))?;
    let endian = header.endian().map_err(|_| Malformed::CutShort("the header"))?;
    let kind = header.e_type(endian);
    if kind != elf::ET_EXEC && kind != elf::ET_DYN {
        return Err(ElfError::NotLoadable);
    }
    let machine = header.e_machine(endian);
    let format = Format { is_64: header.is_class_64(), is_little: endian == Endianness::Little, machine };
    let mut facts = Elf { format, is_fixed: kind == elf::ET_EXEC, ..Elf::default() };
    if header.e_phnum(endian) == elf::PN_XNUM {
        return Err(Malformed::TooLong("the list of program headers", u64::from(elf::PN_XNUM)).into());
    }
    let segments = header.program_headers(endian, data).map_err(|_| Malformed::CutShort("the program headers"))?;
    for segment in segments.iter().filter(|segment| segment.p_type(endian) == elf::PT_INTERP) {
        facts.interpreter = Some(tables::interpreter::<H, R>(segment, endian, data)?);
    }
    tables::dynamic::<H, R>(segments, endian, data, &mut facts)?;
    tables::symbols::<H, R>(header, endian, data, &mut facts)?;
    Ok(facts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This test's own file: a real program.
    fn own_bytes() -> Vec<u8> {
        std::fs::read(std::env::current_exe().expect("a program has a path")).expect("readable")
    }

    #[test]
    fn a_program_tells_its_loader_and_its_libraries() {
        let facts = parse(own_bytes().as_slice()).expect("a program");
        assert_eq!(facts.format, Format::own());
        assert!(facts.is_program() && !facts.is_static());
        assert!(facts.interpreter.as_deref().is_some_and(|path| path.contains("ld-linux")), "{facts:?}");
        assert!(facts.needed.iter().any(|name| name.starts_with("libc.so")), "{facts:?}");
        assert!(facts.imports.is_some());
        assert!(facts.newest_glibc.is_some_and(|newest| (17..1000).contains(&newest)), "{facts:?}");
    }

    #[test]
    fn a_file_that_is_cut_short_anywhere_is_an_error_or_has_fewer_facts() {
        let bytes = own_bytes();
        let whole = parse(bytes.as_slice()).expect("a program");
        for length in (0..bytes.len().min(8192)).chain((8192..bytes.len()).step_by(bytes.len() / 64)) {
            if let Ok(facts) = parse(&bytes[..length]) {
                assert!(facts.needed.is_empty() || facts.needed == whole.needed, "at {length}");
            }
        }
    }

    #[test]
    fn no_damage_makes_it_panic() {
        // A small program is parsed in microseconds, this test's own file in milliseconds.
        let mut bytes = std::fs::read("/bin/sh").unwrap_or_else(|_| own_bytes());
        let seed = fastrand::u64(..);
        let mut random = fastrand::Rng::with_seed(seed);
        let header_bytes = 4096.min(bytes.len());
        for _ in 0..2000 {
            let place = if random.bool() { random.usize(..header_bytes) } else { random.usize(..bytes.len()) };
            bytes[place] = random.u8(..);
            // The magic number stays, or all would be told at once.
            bytes[..4].copy_from_slice(&elf::ELFMAG);
            let outcome = std::panic::catch_unwind(|| parse(bytes.as_slice()).is_ok());
            assert!(outcome.is_ok(), "seed {seed}: it panicked");
        }
    }

    #[test]
    fn files_of_other_kinds_are_told_apart() {
        let told = |start: &[u8]| not_elf(start).map(|error| error.to_string());
        assert_eq!(told(b"").as_deref(), Some("it is empty"));
        let script = told(b"#! /usr/bin/env python3\nprint(1)\n").expect("a script");
        assert_eq!(script, "it is a script of /usr/bin/env python3, which is the program to name");
        assert_eq!(told(b"hello").as_deref(), Some("it is no ELF file"));
        assert!(told(b"\x7fELF\x02").is_none());
        assert!(matches!(parse(b"\x7fELF\x02".as_slice()), Err(ElfError::Malformed(_))));
        assert!(matches!(read(Path::new("/")), Err(ElfError::Directory)));
        assert!(matches!(read(Path::new("/dev/null")), Err(ElfError::NotRegular)));
    }
}
