//! Where code comes from: the files that the program has mapped.

use crate::Packet;

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

/// The objects that a stream has defined so far.
#[derive(Clone, Debug, Default)]
pub struct Objects(Vec<ObjectDef>);

impl Objects {
    /// Adds the objects of a packet.
    pub fn learn(&mut self, packet: &Packet) {
        self.0.extend(packet.objects.iter().cloned());
    }

    /// The object that held code at `addr` when block `block` was defined; `None` if no file did.
    pub fn of(&self, block: u32, addr: u64) -> Option<&ObjectDef> {
        let mut newest = self.0.iter().rev();
        newest.find(|object| object.first_block <= block && object.holds(addr))
    }

    /// Whether the stream defined any. Recordings of version 1 have none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_belongs_to_the_last_object_before_it_at_its_address() {
        let object = |first_block, addr, path: &str| ObjectDef {
            first_block,
            addr,
            len: 0x1000,
            offset: 0,
            path: path.into(),
        };
        let packet = Packet {
            objects: vec![object(0, 0x1000, "/a"), object(5, 0x1800, "/b")],
            ..Packet::default()
        };
        let mut objects = Objects::default();
        assert!(objects.is_empty());
        objects.learn(&packet);
        let path = |block, addr| objects.of(block, addr).map(|object| object.path.as_str());
        assert_eq!(path(4, 0x1900), Some("/a"), "before /b was mapped");
        assert_eq!(path(5, 0x1900), Some("/b"));
        assert_eq!(path(5, 0x17ff), Some("/a"));
        assert_eq!(path(5, 0x2800), None, "just past /b");
    }
}
