//! The tables of an ELF file, each read whole within bounds: the loader's path, the dynamic section, the symbols.

use std::collections::BTreeSet;

use object::elf;
use object::pod::slice_from_bytes;
use object::read::elf::{Dyn, FileHeader, ProgramHeader, SectionHeader, Sym};
use object::{Endianness, ReadRef};

use super::{Elf, watched};

/// The longest table that is read. The largest programs of today have symbol tables of 30 MB.
pub(super) const MOST_BYTES: u64 = 256 << 20;
/// The longest path of a loader.
const MOST_PATH: u64 = 4096;
/// The most libraries and folders that a file may name, each.
const MOST_NAMES: usize = 4096;

/// What is wrong with the file.
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

/// The string at this place of a string table.
fn string<'data>(strings: &'data [u8], at: u64, what: &'static str) -> Result<&'data [u8], Malformed> {
    let from = usize::try_from(at).ok().and_then(|at| strings.get(at..)).ok_or(Malformed::NoString(what))?;
    let end = from.iter().position(|&byte| byte == 0).ok_or(Malformed::NoString(what))?;
    Ok(&from[..end])
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
    if bytes > MOST_PATH {
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
    const WHAT: &str = "the dynamic section";
    let Some(segment) = segments.iter().find(|segment| segment.p_type(endian) == elf::PT_DYNAMIC) else {
        return Ok(());
    };
    let (offset, bytes) = segment.file_range(endian);
    let bytes = part(data, [offset, bytes], WHAT)?;
    let (entries, _) =
        slice_from_bytes::<H::Dyn>(bytes, bytes.len() / size_of::<H::Dyn>()).expect("as many as fit, of any alignment");
    let end = entries.iter().position(|entry| entry.tag32(endian) == Some(elf::DT_NULL)).unwrap_or(entries.len());
    let entries = &entries[..end];
    let value =
        |tag| entries.iter().find(|entry| entry.tag32(endian) == Some(tag)).map(|entry| entry.d_val(endian).into());
    let strings = match (value(elf::DT_STRTAB), value(elf::DT_STRSZ)) {
        (Some(address), Some(bytes)) => {
            let place = offset_of::<H>(segments, endian, address).ok_or(Malformed::NoString(WHAT))?;
            part(data, [place, bytes], "the names of the dynamic section")?
        }
        _ => &[],
    };
    let is_pie = |flags: u64| flags & u64::from(elf::DF_1_PIE) != 0;
    facts.is_pie = value(elf::DT_FLAGS_1).is_some_and(is_pie);
    for entry in entries {
        let name = || string(strings, entry.d_val(endian).into(), WHAT).map(owned);
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
        keep::<H>(symbols, endian, strings, kind == elf::SHT_DYNSYM, facts)?;
    }
    Ok(())
}

fn keep<H: FileHeader<Endian = Endianness>>(
    symbols: &[H::Sym],
    endian: Endianness,
    strings: &[u8],
    is_dynamic: bool,
    facts: &mut Elf,
) -> Result<(), Malformed> {
    let imports = if is_dynamic { Some(facts.imports.get_or_insert_with(BTreeSet::new)) } else { None };
    let mut imported = Vec::new();
    for symbol in symbols {
        let name = string(strings, symbol.st_name(endian).into(), "a symbol")?;
        let Some(name) = watched::name(name) else { continue };
        if symbol.is_undefined(endian) {
            imported.push(name.to_owned());
        } else {
            facts.definitions.insert(name.to_owned());
        }
    }
    if let Some(imports) = imports {
        imports.extend(imported);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_within_their_table() {
        assert_eq!(string(b"\0libc.so\0", 1, "it"), Ok(&b"libc.so"[..]));
        assert_eq!(string(b"\0libc.so", 1, "it"), Err(Malformed::NoString("it")));
        assert_eq!(string(b"\0", u64::MAX, "it"), Err(Malformed::NoString("it")));
    }

    #[test]
    fn a_part_is_bounded() {
        assert_eq!(part(&b"abc"[..], [1, 2], "it"), Ok(&b"bc"[..]));
        assert_eq!(part(&b"abc"[..], [2, 2], "it"), Err(Malformed::CutShort("it")));
        assert_eq!(part(&b"abc"[..], [0, u64::MAX], "it"), Err(Malformed::TooLong("it", u64::MAX)));
    }
}
