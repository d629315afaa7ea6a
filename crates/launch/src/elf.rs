//! Inspects ELF files, as far as is needed to run them.

use object::elf::{ELFCLASS64, EM_X86_64, ET_DYN, ET_EXEC, FileHeader64, PT_INTERP};
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, ReadCache, SectionKind};
use std::fs::File;
use std::path::Path;
use stream::marker;

/// How a program is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// By a dynamic linker: its allocator can be replaced.
    Dynamic,
    /// Statically: its allocator cannot be replaced.
    Static,
}

/// Why a program's allocator cannot be replaced by one with markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnAllocator {
    /// Its allocator is linked into it.
    Static,
    /// The runtime of Go allocates by itself.
    Go,
    /// It defines `malloc`, which the dynamic linker prefers to any library's.
    Defined,
    /// The user asked for a library without markers.
    Library,
    /// The user asked for the program's own allocator.
    Kept,
}

impl OwnAllocator {
    /// A clause about the program.
    pub fn clause(self) -> &'static str {
        match self {
            Self::Static => {
                "the program is statically linked, so its allocator cannot be replaced by one \
                 with markers"
            }
            Self::Go => "it is a Go program, whose runtime has its own allocator, without markers",
            Self::Defined => {
                "the program defines malloc itself, without markers; docs/markers.md says how to \
                 add them"
            }
            Self::Library => {
                "the library named by --allocator has no markers; docs/markers.md says how to add \
                 them"
            }
            Self::Kept => "--allocator none leaves the program its own allocator",
        }
    }
}

/// What an ELF file says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inspected {
    /// How it is linked.
    pub linkage: Linkage,
    /// Why its allocator cannot be replaced, if it cannot.
    pub own_allocator: Option<OwnAllocator>,
}

/// Checks an ELF file; the error is the reason why it cannot run.
pub fn inspect(path: &Path) -> Result<Inspected, String> {
    let file = File::open(path).map_err(|e| format!("cannot be read ({e})"))?;
    let data = ReadCache::new(file);
    let ident = object::ReadRef::read_bytes_at(&data, 0, 20)
        .map_err(|()| "a damaged ELF file: its header is cut short".to_owned())?;
    // e_ident[EI_CLASS] and e_machine have the same offsets in both classes.
    let machine = u16::from_le_bytes([ident[18], ident[19]]);
    if ident[4] != ELFCLASS64 || machine != EM_X86_64 {
        return Err(foreign(ident[4], machine));
    }
    let damaged = |e: object::Error| format!("a damaged ELF file: {e}");
    let header = FileHeader64::<Endianness>::parse(&data).map_err(damaged)?;
    let endian = header.endian().map_err(damaged)?;
    if !matches!(header.e_type(endian), ET_EXEC | ET_DYN) {
        return Err("an ELF file that is not a program (an object file?)".to_owned());
    }
    let segments = header.program_headers(endian, &data).map_err(damaged)?;
    if segments.is_empty() {
        return Err("an ELF file without anything to load".to_owned());
    }
    let dynamic = segments.iter().any(|s| s.p_type(endian) == PT_INTERP);
    let linkage = if dynamic { Linkage::Dynamic } else { Linkage::Static };
    Ok(Inspected { linkage, own_allocator: own_allocator(&data, linkage) })
}

/// What cannot be read says nothing: the program may still run.
fn own_allocator(data: &ReadCache<File>, linkage: Linkage) -> Option<OwnAllocator> {
    let fixed = (linkage == Linkage::Static).then_some(OwnAllocator::Static);
    let Ok(file) = ElfFile64::<Endianness, _>::parse(data) else { return fixed };
    // The linker of Go leaves this section in every program, whatever its linkage.
    if file.section_by_name(".go.buildinfo").is_some() {
        return Some(OwnAllocator::Go);
    }
    let malloc = |symbol: object::read::elf::ElfSymbol64<'_, '_, Endianness, _>| {
        symbol.is_definition() && symbol.name_bytes() == Ok(b"malloc")
    };
    let defined = file.dynamic_symbols().any(malloc);
    let own = fixed.or(defined.then_some(OwnAllocator::Defined));
    own.filter(|_| !is_marked(&file))
}

/// Whether the code of a file contains markers of calls.
fn is_marked<'data>(file: &ElfFile64<'data, Endianness, &'data ReadCache<File>>) -> bool {
    let code = file.sections().filter(|section| section.kind() == SectionKind::Text);
    code.filter_map(|section| section.data().ok()).any(marker::begins_calls)
}

/// Checks a library that is to serve as allocator; returns why none of its calls can be measured,
/// if so. The error is the reason why it cannot serve.
pub fn inspect_allocator(path: &Path) -> Result<Option<OwnAllocator>, String> {
    let damaged = |e: object::Error| format!("no library for x86-64: {e}");
    let data = ReadCache::new(File::open(path).map_err(|e| format!("cannot be read ({e})"))?);
    let file = ElfFile64::<Endianness, _>::parse(&data).map_err(damaged)?;
    let machine = file.elf_header().e_machine(file.endian());
    if machine != EM_X86_64 || file.elf_header().e_type(file.endian()) != ET_DYN {
        return Err(if machine == EM_X86_64 {
            "a program, not a library; link it with -shared".to_owned()
        } else {
            foreign(2, machine)
        });
    }
    let names = ["malloc", "free"];
    let defined =
        |name: &&&str| file.dynamic_symbols().any(|s| s.is_definition() && s.name() == Ok(**name));
    if let Some(missing) = names.iter().find(|name| !defined(name)) {
        return Err(format!("a library that does not export {missing}"));
    }
    Ok((!is_marked(&file)).then_some(OwnAllocator::Library))
}

/// Names the machine of a foreign program. Numbers: ELF specification, e_machine.
fn foreign(class: u8, machine: u16) -> String {
    let name = match machine {
        3 => "x86 (32-bit)",
        40 => "ARM (32-bit)",
        62 => "x86-64 with 32-bit pointers (x32)",
        183 => "AArch64",
        21 => "PowerPC 64",
        22 => "S390",
        243 => "RISC-V",
        _ => return format!("a program for another machine (ELF class {class}, {machine})"),
    };
    format!("a program for {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(class: u8, machine: u16) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[..7].copy_from_slice(&[0x7f, b'E', b'L', b'F', class, 1, 1]);
        bytes[16] = 2;
        bytes[18..20].copy_from_slice(&machine.to_le_bytes());
        bytes
    }

    fn inspect_bytes(bytes: &[u8]) -> Result<Inspected, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        inspect(file.path())
    }

    #[test]
    fn this_test_is_a_dynamic_program() {
        let expected = Inspected { linkage: Linkage::Dynamic, own_allocator: None };
        assert_eq!(inspect(&std::env::current_exe().unwrap()), Ok(expected));
    }

    #[test]
    fn programs_for_other_machines_are_named() {
        assert!(inspect_bytes(&header(1, 3)).unwrap_err().contains("32-bit"));
        assert!(inspect_bytes(&header(2, 183)).unwrap_err().contains("AArch64"));
        assert!(inspect_bytes(&header(1, 62)).unwrap_err().contains("x32"));
        assert!(inspect_bytes(&header(2, 999)).unwrap_err().contains("999"));
    }

    #[test]
    fn damaged_files_are_refused_wherever_they_are_cut() {
        let whole = header(2, 62);
        for cut in 4..whole.len() {
            inspect_bytes(&whole[..cut]).unwrap_err();
        }
        inspect_bytes(&whole).unwrap_err();
    }
}
