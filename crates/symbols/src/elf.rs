//! Functions of an ELF file.

use std::fs::File;
use std::path::Path;

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSegment, ObjectSymbol, ReadCache, ReadRef, SymbolKind};

/// A function.
struct Function {
    address: u64,
    /// In bytes; 0 if the file does not say.
    size: u64,
    name: String,
}

/// A file's functions, and where its contents are loaded.
pub struct Elf {
    data: ReadCache<File>,
    /// Address, offset in the file and length of each loaded part.
    segments: Vec<(u64, u64, u64)>,
    /// By address; one of several names for the same.
    functions: Vec<Function>,
}

impl Elf {
    /// Reads a file; `None` if it cannot be read, or is no ELF file for x86-64.
    pub fn open(path: &Path) -> Option<Self> {
        let data = ReadCache::new(File::open(path).ok()?);
        let (segments, functions) = {
            let file = ElfFile64::<Endianness, _>::parse(&data).ok()?;
            let segments = file.segments().map(|segment| {
                let (offset, length) = segment.file_range();
                (segment.address(), offset, length)
            });
            // A stripped library still has the symbols that it exports.
            let symbols = file.symbols().chain(file.dynamic_symbols());
            let defined = symbols.filter(|s| s.is_definition() && s.kind() == SymbolKind::Text);
            let mut functions: Vec<(u8, Function)> = defined
                .filter_map(|symbol| {
                    let name = symbol.name().ok().filter(|name| !name.is_empty())?;
                    // `name@@VERSION` in symbol tables.
                    let name = name.split('@').next().unwrap_or(name).to_owned();
                    let (address, size) = (symbol.address(), symbol.size());
                    Some((rank(&symbol), Function { address, size, name }))
                })
                .collect();
            // Global before local names, plain names before those with underscores, short names
            // before long ones: `free` and not `__libc_free` or `cfree`.
            functions.sort_by(|(one_rank, one), (other_rank, other)| {
                let key = |rank: u8, f: &Function| {
                    let underscores = f.name.bytes().take_while(|b| *b == b'_').count();
                    (f.address, f.size == 0, rank, underscores, f.name.len())
                };
                key(*one_rank, one)
                    .cmp(&key(*other_rank, other))
                    .then_with(|| one.name.cmp(&other.name))
            });
            let mut functions: Vec<Function> = functions.into_iter().map(|(_, f)| f).collect();
            functions.dedup_by_key(|function| function.address);
            (segments.collect(), functions)
        };
        Some(Self { data, segments, functions })
    }

    /// The address, in the file's own terms, of what lies at an offset; `None` if it is not loaded.
    pub fn address(&self, offset: u64) -> Option<u64> {
        let holds = |&&(_, first, length): &&(u64, u64, u64)| {
            offset.checked_sub(first).is_some_and(|at| at < length)
        };
        let (address, first, _) = self.segments.iter().find(holds)?;
        Some(address + (offset - first))
    }

    /// Whether the file holds these bytes at an offset.
    pub fn has(&self, offset: u64, bytes: &[u8]) -> bool {
        (&self.data).read_bytes_at(offset, bytes.len() as u64) == Ok(bytes)
    }

    /// The symbol of the function that an address is in.
    pub fn function(&self, address: u64) -> Option<&str> {
        let after = self.functions.partition_point(|function| function.address <= address);
        let found = self.functions.get(after.checked_sub(1)?)?;
        let inside = found.size == 0 || address - found.address < found.size;
        inside.then_some(found.name.as_str())
    }
}

/// Global symbols first, then weak ones, then local ones.
fn rank<'data>(symbol: &impl ObjectSymbol<'data>) -> u8 {
    match (symbol.is_global(), symbol.is_weak()) {
        (_, true) => 1,
        (true, false) => 0,
        (false, false) => 2,
    }
}
