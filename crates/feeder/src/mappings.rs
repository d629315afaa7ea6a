//! Which file is mapped where code is executed.
//!
//! QEMU maps a guest's files into its own process, so `/proc/self/maps` lists them at their host
//! addresses. It is read when a block is new and lies in no mapping that is known already: a few
//! times per library, and never while known code runs. System calls that take a mapping away, or
//! put another in its place, make it unknown again.

use crate::guest;
use stream::ObjectDef;

/// The mappings in which blocks were found.
#[derive(Default)]
pub struct Mappings {
    /// First address and length. What no file holds is known too, or each block that a program
    /// generates would cost a search.
    known: Vec<(u64, u64)>,
}

impl Mappings {
    /// The object that holds new code at `addr`; `None` if no file does, or if the object was
    /// returned before.
    pub fn object_of(&mut self, addr: u64) -> Option<ObjectDef> {
        if self.known.iter().any(|&(first, len)| overlap((first, len), (addr, 1))) {
            return None;
        }
        let host = guest::host(addr);
        let maps = std::fs::read("/proc/self/maps").ok()?;
        let found = line_of(&maps, host)?;
        let object = ObjectDef {
            first_block: 0,
            addr: addr.wrapping_sub(host - found.first),
            len: found.end - found.first,
            offset: found.offset,
            path: found.path,
        };
        self.known.push((object.addr, object.len));
        object.path.starts_with('/').then_some(object)
    }

    /// Forgets the mappings that overlap a range.
    pub fn forget(&mut self, addr: u64, len: u64) {
        self.known.retain(|&known| !overlap(known, (addr, len)));
    }
}

fn overlap((one, one_len): (u64, u64), (other, other_len): (u64, u64)) -> bool {
    one < other.saturating_add(other_len) && other < one.saturating_add(one_len)
}

/// A line of `/proc/self/maps`, see proc(5).
#[derive(Debug, PartialEq, Eq)]
struct Line {
    first: u64,
    end: u64,
    offset: u64,
    /// Empty if it is no file; in brackets if it is the system's own.
    path: String,
}

/// The line whose range holds `host`.
fn line_of(maps: &[u8], host: u64) -> Option<Line> {
    let lines = maps.split(|&byte| byte == b'\n').map(String::from_utf8_lossy);
    lines.filter_map(|line| parse(&line)).find(|line| (line.first..line.end).contains(&host))
}

fn parse(line: &str) -> Option<Line> {
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let (range, rest) = line.split_once(' ')?;
    let (first, end) = range.split_once('-')?;
    // Permissions, offset, device, inode, path.
    let mut words = rest.splitn(5, ' ');
    let offset = hex(words.nth(1)?)?;
    let path = words.nth(2).unwrap_or_default().trim_start();
    // The system's note about a file that has been removed or replaced since.
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    Some(Line { first: hex(first)?, end: hex(end)?, offset, path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
        4000000000-4000003000 r--p 00000000 fe:00 10002627                       /a dir/prog\n\
        4000003000-4000004000 r--p 00002000 fe:00 10002627      /a dir/prog (deleted)\n\
        4000005000-4000026000 rw-p 00000000 00:00 0 \n\
        4002006000-4002806000 rw-p 00000000 00:00 0                              [stack]\n";

    #[test]
    fn a_line_is_found_by_any_address_in_it() {
        let line = |host| line_of(MAPS.as_bytes(), host);
        let second = Line {
            first: 0x40_0000_3000,
            end: 0x40_0000_4000,
            offset: 0x2000,
            path: "/a dir/prog".into(),
        };
        assert_eq!(line(0x40_0000_3000).as_ref(), Some(&second));
        assert_eq!(line(0x40_0000_3fff).as_ref(), Some(&second));
        assert_eq!(line(0x40_0000_2fff).map(|line| line.offset), Some(0));
        assert_eq!(line(0x40_0000_4000), None, "between two mappings");
        assert_eq!(line(0x40_0000_5000).map(|line| line.path), Some(String::new()));
        assert_eq!(line(0x40_0200_6000).map(|line| line.path), Some("[stack]".into()));
    }

    /// The tests run natively, where guest and host addresses are the same.
    #[test]
    fn the_code_of_this_test_is_in_its_file_and_known_until_it_is_unmapped() {
        let here = the_code_of_this_test_is_in_its_file_and_known_until_it_is_unmapped as fn();
        let addr = here as usize as u64;
        let mut mappings = Mappings::default();
        let object = mappings.object_of(addr).expect("a file");
        assert!(object.holds(addr), "{object:?}");
        assert_eq!(std::path::Path::new(&object.path), std::env::current_exe().unwrap());
        assert_eq!(mappings.object_of(addr), None, "returned before");
        mappings.forget(object.addr + object.len, 4096);
        assert_eq!(mappings.object_of(addr), None, "the range behind it");
        mappings.forget(object.addr + object.len - 1, 4096);
        assert_eq!(mappings.object_of(addr), Some(object));
    }

    #[test]
    fn memory_without_a_file_has_no_object() {
        let heap = Box::new(0u64);
        assert_eq!(Mappings::default().object_of(&raw const *heap as u64), None);
    }
}
