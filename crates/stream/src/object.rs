//! Where code comes from: the files that the program has mapped.

/// A file that is mapped where code was executed: the program itself, a library, or the dynamic
/// linker. Code that no object holds was made at run time.
///
/// It holds for blocks from [`ObjectDef::first_block`] on, until a later object overlaps it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ObjectDef {
    /// The first block that it holds for ([`crate::BlockDef::id`]).
    pub first_block: u32,
    /// Guest virtual address of the mapping.
    pub addr: u64,
    /// Its length in bytes.
    pub len: u64,
    /// Offset in the file of its first byte.
    pub offset: u64,
    /// Path of the file, as the system names it.
    pub path: String,
}

impl ObjectDef {
    /// The longest path of a file in bytes (`PATH_MAX` of `linux/limits.h`).
    pub const PATH_MAX: usize = 4096;

    /// Whether an address lies in the mapping.
    pub fn holds(&self, addr: u64) -> bool {
        addr.checked_sub(self.addr).is_some_and(|at| at < self.len)
    }
}
