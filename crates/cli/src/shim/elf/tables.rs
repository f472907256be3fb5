//! The tables of an ELF file, each read whole within bounds: the loader's path, the dynamic section, the symbols.

use object::elf;
use object::pod::slice_from_bytes;
use object::read::elf::{Dyn, FileHeader, ProgramHeader, SectionHeader, Sym};
use object::{Endianness, ReadRef};

use super::{Elf, watched};

/// The longest table that is read. The largest programs of today have symbol tables of 30 MB.
pub(super) const MOST_BYTES: u64 = 256 << 20;
/// The longest path of a loader, name of a library, or list of folders.
const MOST_PATH: usize = 4096;
/// The longest symbol that is looked at: all that are watched are shorter.
const MOST_SYMBOL: usize = 128;
/// The most libraries and folders that a file may name, each.
const MOST_NAMES: usize = 512;

const DYNAMIC: &str = "the dynamic section";

/// The fault of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Malformed {
    #[error("it ends within {0}")]
    CutShort(&'static str),
    #[error("{0} has {1} bytes, more than any real one")]
    TooLong(&'static str, u64),
    #[error("{0} names a string that is not there")]
    NoString(&'static str),
    #[error("it needs more than {MOST_NAMES} libraries")]
    TooMany,
}

/// A part of the file.
fn part<'data, R: ReadRef<'data>>(
    data: R,
    [offset, bytes]: [u64; 2],
    what: &'static str,
) -> Result<&'data [u8], Malformed> {
    if bytes > MOST_BYTES {
        return Err(Malformed::TooLong(what, bytes));
    }
    data.read_bytes_at(offset, bytes).map_err(|()| Malformed::CutShort(what))
}

/// The string at this place of a string table, if it has `most` bytes at most: the same long one could be named for ever.
fn string(strings: &[u8], at: u64, most: usize) -> Option<&[u8]> {
    let from = strings.get(usize::try_from(at).ok()?..)?;
    let end = from.iter().take(most + 1).position(|&byte| byte == 0)?;
    Some(&from[..end])
}

fn owned(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The path of the loader.
pub(super) fn interpreter<'data, H: FileHeader<Endian = Endianness>, R: ReadRef<'data>>(
    segment: &H::ProgramHeader,
    endian: Endianness,
    data: R,
) -> Result<String, Malformed> {
    const WHAT: &str = "the path of the loader";
    let (offset, bytes) = segment.file_range(endian);
    if bytes > MOST_PATH as u64 {
        return Err(Malformed::TooLong(WHAT, bytes));
    }
    let path = part(data, [offset, bytes], WHAT)?;
    Ok(owned(path.split(|&byte| byte == 0).next().unwrap_or_default()))
}

/// The dynamic section: libraries, folders, and whether it is a program.
pub(super) fn dynamic<'data, H: FileHeader<Endian = Endianness>, R: ReadRef<'data>>(
    segments: &[H::ProgramHeader],
    endian: Endianness,
    data: R,
    facts: &mut Elf,
) -> Result<(), Malformed> {
    let Some(segment) = segments.iter().find(|segment| segment.p_type(endian) == elf::PT_DYNAMIC) else {
        return Ok(());
    };
    let (offset, bytes) = segment.file_range(endian);
    let bytes = part(data, [offset, bytes], DYNAMIC)?;
    let (entries, _) =
        slice_from_bytes::<H::Dyn>(bytes, bytes.len() / size_of::<H::Dyn>()).expect("as many as fit, of any alignment");
    let end = entries.iter().position(|entry| entry.tag32(endian) == Some(elf::DT_NULL)).unwrap_or(entries.len());
    let entries = &entries[..end];
    let value =
        |tag| entries.iter().find(|entry| entry.tag32(endian) == Some(tag)).map(|entry| entry.d_val(endian).into());
    let is_pie = |flags: u64| flags & u64::from(elf::DF_1_PIE) != 0;
    facts.is_pie = value(elf::DT_FLAGS_1).is_some_and(is_pie);
    match (value(elf::DT_STRTAB), value(elf::DT_STRSZ)) {
        (Some(address), Some(bytes)) => {
            let place = offset_of::<H>(segments, endian, address).ok_or(Malformed::NoString(DYNAMIC))?;
            let strings = part(data, [place, bytes], "the names of the dynamic section")?;
            facts.newest_glibc = newest_glibc(strings);
            names::<H>(entries, endian, strings, facts)
        }
        _ => names::<H>(entries, endian, &[], facts),
    }
}

/// The N of the newest `GLIBC_2.N` among the strings: versions that are defined or needed have their names here.
fn newest_glibc(strings: &[u8]) -> Option<u32> {
    let minor = |name: &[u8]| std::str::from_utf8(name.strip_prefix(b"GLIBC_2.")?).ok()?.parse().ok();
    strings.split(|&byte| byte == 0).filter_map(minor).max()
}

/// The libraries and folders that the dynamic section names.
fn names<H: FileHeader<Endian = Endianness>>(
    entries: &[H::Dyn],
    endian: Endianness,
    strings: &[u8],
    facts: &mut Elf,
) -> Result<(), Malformed> {
    for entry in entries {
        let name =
            || string(strings, entry.d_val(endian).into(), MOST_PATH).map(owned).ok_or(Malformed::NoString(DYNAMIC));
        match entry.tag32(endian) {
            Some(elf::DT_NEEDED) => facts.needed.push(name()?),
            Some(elf::DT_SONAME) => facts.soname = Some(name()?),
            Some(elf::DT_RPATH) => facts.rpath.extend(name()?.split(':').map(str::to_owned)),
            Some(elf::DT_RUNPATH) => facts.runpath.extend(name()?.split(':').map(str::to_owned)),
            _ => {}
        }
        if [&facts.needed, &facts.rpath, &facts.runpath].iter().any(|names| names.len() > MOST_NAMES) {
            return Err(Malformed::TooMany);
        }
    }
    Ok(())
}

/// The place in the file of what is loaded at this address.
fn offset_of<H: FileHeader<Endian = Endianness>>(
    segments: &[H::ProgramHeader],
    endian: Endianness,
    address: u64,
) -> Option<u64> {
    let within = |segment: &H::ProgramHeader| {
        let (offset, bytes) = segment.file_range(endian);
        let ahead = address.checked_sub(segment.p_vaddr(endian).into()).filter(|&ahead| ahead < bytes)?;
        offset.checked_add(ahead)
    };
    segments.iter().filter(|segment| segment.p_type(endian) == elf::PT_LOAD).find_map(within)
}

/// The symbols that concern a shim.
pub(super) fn symbols<'data, H: FileHeader<Endian = Endianness>, R: ReadRef<'data>>(
    header: &H,
    endian: Endianness,
    data: R,
    facts: &mut Elf,
) -> Result<(), Malformed> {
    // A program may lack the section headers, which no loader reads. More than 65 279 sections have no linker's program.
    if header.e_shoff(endian).into() == 0 || header.e_shnum(endian) == 0 {
        return Ok(());
    }
    let sections = header.section_headers(endian, data).map_err(|_| Malformed::CutShort("the section headers"))?;
    // One of each kind: real files have no more, and made-up ones could have thousands.
    for kind in [elf::SHT_DYNSYM, elf::SHT_SYMTAB] {
        let Some(section) = sections.iter().find(|section| section.sh_type(endian) == kind) else { continue };
        let strings = sections.get(section.sh_link(endian) as usize).ok_or(Malformed::NoString("a symbol table"))?;
        let range = |section: &H::SectionHeader| [section.sh_offset(endian).into(), section.sh_size(endian).into()];
        let table = part(data, range(section), "a symbol table")?;
        let strings = part(data, range(strings), "the names of symbols")?;
        let (symbols, _) = slice_from_bytes::<H::Sym>(table, table.len() / size_of::<H::Sym>())
            .expect("as many as fit, of any alignment");
        keep::<H>(symbols, endian, strings, kind == elf::SHT_DYNSYM, facts);
    }
    Ok(())
}

fn keep<H: FileHeader<Endian = Endianness>>(
    symbols: &[H::Sym],
    endian: Endianness,
    strings: &[u8],
    is_dynamic: bool,
    facts: &mut Elf,
) {
    let watched =
        |symbol: &&H::Sym| string(strings, symbol.st_name(endian).into(), MOST_SYMBOL).and_then(watched::name);
    let (imported, defined): (Vec<_>, Vec<_>) =
        symbols.iter().filter(|symbol| watched(symbol).is_some()).partition(|symbol| symbol.is_undefined(endian));
    facts.definitions.extend(defined.iter().filter_map(watched).map(str::to_owned));
    if is_dynamic {
        facts.imports = Some(imported.iter().filter_map(watched).map(str::to_owned).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_within_their_table() {
        assert_eq!(string(b"\0libc.so\0", 1, 7), Some(&b"libc.so"[..]));
        assert_eq!(string(b"\0libc.so\0", 1, 6), None);
        assert_eq!(string(b"\0libc.so", 1, 9), None);
        assert_eq!(string(b"\0", u64::MAX, 9), None);
    }

    #[test]
    fn a_part_is_bounded() {
        assert_eq!(part(&b"abc"[..], [1, 2], "it"), Ok(&b"bc"[..]));
        assert_eq!(part(&b"abc"[..], [2, 2], "it"), Err(Malformed::CutShort("it")));
        assert_eq!(part(&b"abc"[..], [0, u64::MAX], "it"), Err(Malformed::TooLong("it", u64::MAX)));
    }
}
